//! Draws at random from a table of the user, or from options that the model names.

use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};

use crate::base::error::ApiResult;
use crate::base::random::random_below;
use crate::base::tool_source::{SourceTool, ToolOutput};
use crate::turn::tools::built_in::tool::{BuiltIn, reading, text};

/// Maximum number of tables, and of entries in one.
const MAX: usize = 500;

pub(super) struct Tables {
    tables: Vec<(String, Vec<String>)>,
}

impl Tables {
    /// `written` has one table per line: name, colon, entries separated by semicolons.
    pub(super) fn new(written: &str) -> Self {
        let table = |line: &str| {
            let (name, entries) = line.split_once(':')?;
            let entries = entries
                .split(';')
                .map(str::trim)
                .filter(|entry| !entry.is_empty());
            let entries: Vec<String> = entries.take(MAX).map(str::to_owned).collect();
            (!name.trim().is_empty() && !entries.is_empty())
                .then(|| (name.trim().to_owned(), entries))
        };
        Self {
            tables: written.lines().filter_map(table).take(MAX).collect(),
        }
    }

    fn draw(&self, arguments: &Map<String, Value>, below: impl Fn(u64) -> u64) -> ToolOutput {
        let given: Vec<String> = match arguments.get("options").and_then(Value::as_array) {
            Some(options) => options
                .iter()
                .filter_map(Value::as_str)
                .take(MAX)
                .map(str::to_owned)
                .collect(),
            None => Vec::new(),
        };
        let name = text(arguments, "table");
        let table = self
            .tables
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name));
        let entries = if given.is_empty() {
            table.map(|(_, entries)| entries)
        } else {
            Some(&given)
        };
        match entries {
            Some(entries) => {
                let index = usize::try_from(below(entries.len() as u64)).unwrap_or_default();
                ToolOutput::text(entries.get(index).cloned().unwrap_or_default())
            }
            None => ToolOutput::error("Name one of the tables, or give options to draw from."),
        }
    }
}

impl BuiltIn for Tables {
    fn tool(&self) -> SourceTool {
        let names: Vec<&str> = self.tables.iter().map(|(name, _)| name.as_str()).collect();
        let options = json!({ "type": "array", "items": { "type": "string" } });
        let properties = if names.is_empty() {
            json!({ "options": options })
        } else {
            json!({ "table": { "type": "string", "enum": names }, "options": options })
        };
        let schema = json!({ "type": "object", "properties": properties });
        reading(
            "draw_from_table",
            "Draws one entry at random from a table or from options.",
            schema,
        )
    }

    fn run<'a>(
        &'a self,
        arguments: &'a Map<String, Value>,
    ) -> BoxFuture<'a, ApiResult<ToolOutput>> {
        Box::pin(async { Ok(self.draw(arguments, random_below)) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_from_tables_and_options() {
        let tables = Tables::new("Weather: rain; fog ;; sun\nno table\n: x\nEmpty: ;");
        let draw = |json: Value| tables.draw(json.as_object().unwrap(), |count| count - 1);
        assert_eq!(draw(json!({ "table": "weather" })), ToolOutput::text("sun"));
        assert_eq!(
            draw(json!({ "options": ["a", "b", 3] })),
            ToolOutput::text("b")
        );
        assert!(draw(json!({ "table": "Empty" })).error && draw(json!({ "options": [] })).error);
    }
}
