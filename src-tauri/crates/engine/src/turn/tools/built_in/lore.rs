//! Looks up lorebook entries that apply in the chat.

use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};

use crate::base::error::ApiResult;
use crate::base::tool_source::{SourceTool, ToolOutput};
use crate::turn::inputs::turn_inputs::TurnInputs;
use crate::turn::tools::Tools;
use crate::turn::tools::built_in::tool::{BuiltIn, object, reading, text};

pub(super) const NAME: &str = "look_up_lore";
/// Maximum number of entries in a result.
const MAX_FOUND: usize = 5;

/// An entry with expanded macros.
struct LoreText {
    title: String,
    keys: String,
    content: String,
}

pub(super) struct LoreTool {
    entries: Vec<LoreText>,
}

impl LoreTool {
    /// `None` if no book with entries applies.
    pub(super) async fn new(room: &Tools, inputs: &TurnInputs) -> ApiResult<Option<Self>> {
        if inputs.bound.is_empty() && inputs.voice().0.character_book().is_none() {
            return Ok(None);
        }
        let shelf = room.lore_activation.shelf(inputs).await?;
        let names = inputs.snapshot.macro_names();
        let moment = inputs.now(room.base().clock());
        let expand = |text: &str| {
            names
                .expand(text, &moment, &mut inputs.snapshot.variables.clone())
                .text
        };
        let entry = |entry: &domain::lorebook::Entry| LoreText {
            title: crate::library::lorebooks::entries::title(entry).to_owned(),
            keys: entry.keys.join(", ").to_lowercase(),
            content: expand(&entry.content),
        };
        let entries: Vec<LoreText> = shelf
            .entries()
            .filter(|entry| !entry.disable)
            .map(entry)
            .collect();
        Ok(Some(Self { entries }).filter(|tool| !tool.entries.is_empty()))
    }

    fn find(&self, about: &str) -> String {
        let words: Vec<String> = about
            .to_lowercase()
            .split_whitespace()
            .map(str::to_owned)
            .collect();
        let score = |entry: &LoreText| -> usize {
            let title = entry.title.to_lowercase();
            let content = entry.content.to_lowercase();
            let of = |word: &String| {
                3 * usize::from(title.contains(word.as_str()))
                    + 2 * usize::from(entry.keys.contains(word.as_str()))
                    + usize::from(content.contains(word.as_str()))
            };
            words.iter().map(of).sum()
        };
        let mut found: Vec<(usize, &LoreText)> = self
            .entries
            .iter()
            .map(|entry| (score(entry), entry))
            .filter(|(score, _)| *score > 0)
            .collect();
        found.sort_by(|(one, _), (other, _)| other.cmp(one));
        let lines = found
            .iter()
            .take(MAX_FOUND)
            .map(|(_, entry)| format!("{}: {}", entry.title, entry.content.trim()));
        lines.collect::<Vec<_>>().join("\n\n")
    }
}

impl BuiltIn for LoreTool {
    fn tool(&self) -> SourceTool {
        let about = json!({ "about": { "type": "string", "description": "Names or words." } });
        reading(
            NAME,
            "Looks up places, people and things of this world.",
            object(about),
        )
    }

    fn run<'a>(
        &'a self,
        arguments: &'a Map<String, Value>,
    ) -> BoxFuture<'a, ApiResult<ToolOutput>> {
        Box::pin(async {
            let found = self.find(text(arguments, "about"));
            Ok(ToolOutput::text(if found.is_empty() {
                "Nothing is known about that.".to_owned()
            } else {
                found
            }))
        })
    }
}
