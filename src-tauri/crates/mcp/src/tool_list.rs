//! Reads the tools of a server one by one, so that an odd tool costs only itself.

use domain::tool_server::ServerTool;
use serde_json::Value;

use crate::nesting::TOO_DEEP;
use crate::text::{clean, clean_line};
use crate::{Limits, schema};

/// Bytes of a name, a title or an address that are kept.
pub(crate) const MAX_LINE: usize = 500;

/// Tools that are named as left out. Further ones are only counted.
const MAX_LEFT_OUT: usize = 50;

/// The tools of a server, cleaned and within the limits.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolList {
    pub tools: Vec<ServerTool>,
    pub left_out: Vec<LeftOutTool>,
}

/// A tool that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct LeftOutTool {
    /// Its name, or its number in the list.
    pub name: String,
    /// A sentence without its full stop.
    pub reason: String,
}

impl ToolList {
    /// Adds the tools of one page.
    pub(crate) fn add(&mut self, page: &[Value], limits: &Limits) {
        for tool in page {
            let number = self.tools.len() + self.left_out.len() + 1;
            match self.usable(tool, limits) {
                Ok(tool) => self.tools.push(tool),
                Err(reason) => self.leave_out(shown_name(tool, number), reason),
            }
        }
    }

    fn usable(&self, tool: &Value, limits: &Limits) -> Result<ServerTool, String> {
        let tool = read(tool, limits)?;
        if self.tools.iter().any(|known| known.name == tool.name) {
            return Err("the server has another tool with this name".to_owned());
        }
        if self.tools.len() >= limits.tools {
            return Err(format!("the server has more than {} tools", limits.tools));
        }
        Ok(tool)
    }

    fn leave_out(&mut self, name: String, reason: String) {
        tracing::info!(name, reason, "a tool was left out");
        if self.left_out.len() < MAX_LEFT_OUT {
            self.left_out.push(LeftOutTool { name, reason });
        }
    }
}

fn read(tool: &Value, limits: &Limits) -> Result<ServerTool, String> {
    let name = tool["name"].as_str().ok_or("it has no name")?;
    // The name identifies the tool in calls, so it cannot be shortened or cleaned.
    if name.is_empty() || name.len() > MAX_LINE || clean_line(name, MAX_LINE) != name {
        return Err("its name is empty, too long or has invisible letters".to_owned());
    }
    let given = &tool["inputSchema"];
    let size = given.to_string();
    if size.contains(TOO_DEEP) {
        return Err("its arguments are nested too deeply".to_owned());
    }
    let parameters = schema::of_object(given)?;
    if size.len() > limits.schema_bytes {
        return Err(format!(
            "the description of its arguments has more than {} kB",
            limits.schema_bytes.div_ceil(1024)
        ));
    }
    let title = tool["title"]
        .as_str()
        .or_else(|| tool["annotations"]["title"].as_str());
    Ok(ServerTool {
        name: name.to_owned(),
        title: title
            .map(|title| clean_line(title, MAX_LINE))
            .filter(|title| !title.is_empty()),
        description: clean(
            tool["description"].as_str().unwrap_or_default(),
            limits.description_bytes,
        ),
        parameters,
        reads_only: tool["annotations"]["readOnlyHint"]
            .as_bool()
            .unwrap_or(false),
    })
}

fn shown_name(tool: &Value, number: usize) -> String {
    let name = clean_line(tool["name"].as_str().unwrap_or_default(), 100);
    if name.is_empty() {
        format!("number {number}")
    } else {
        name
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn listed(tools: &Value) -> ToolList {
        let mut list = ToolList::default();
        list.add(
            tools.as_array().unwrap(),
            &Limits {
                tools: 3,
                ..Limits::default()
            },
        );
        list
    }

    #[test]
    fn odd_tool_costs_only_itself() {
        let good = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" } });
        for (odd, name) in [
            (json!({ "name": "bad", "inputSchema": null }), "bad"),
            (json!({ "name": "bad", "description": "d" }), "bad"),
            (json!({ "name": "bad", "inputSchema": "x" }), "bad"),
            (json!({ "name": 7, "inputSchema": {} }), "number 2"),
            (
                json!({ "name": "bad", "inputSchema": { "type": "object", "a": TOO_DEEP } }),
                "bad",
            ),
            (json!("tool"), "number 2"),
            (json!(null), "number 2"),
            (good("first"), "first"),
        ] {
            let list = listed(&json!([good("first"), odd, good("last")]));
            let names: Vec<&str> = list.tools.iter().map(|tool| tool.name.as_str()).collect();
            assert_eq!(names, ["first", "last"], "{odd}");
            assert_eq!(list.left_out.len(), 1, "{odd}");
            assert_eq!(
                (
                    list.left_out[0].name.as_str(),
                    list.left_out[0].reason.is_empty()
                ),
                (name, false),
                "{odd}"
            );
        }
        let many = listed(&json!([good("a"), good("b"), good("c"), good("d")]));
        assert_eq!((many.tools.len(), many.left_out[0].name.as_str()), (3, "d"));
    }

    #[test]
    fn odd_side_fields_are_ignored() {
        let odd = json!([{
            "name": "tool", "title": 7, "description": { "text": "x" }, "inputSchema": {}, "outputSchema": [],
            "annotations": { "title": [], "readOnlyHint": "yes" }, "icons": "none", "execution": 1,
        }]);
        let list = listed(&odd);
        assert_eq!(list.left_out, []);
        assert_eq!(
            (
                list.tools[0].title.clone(),
                list.tools[0].description.as_str()
            ),
            (None, "")
        );
        assert!(!list.tools[0].reads_only);
    }
}
