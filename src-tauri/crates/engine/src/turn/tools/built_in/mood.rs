//! Sets the emotion that the reply shows.

use domain::emotion;
use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};

use crate::base::error::ApiResult;
use crate::base::tool_source::{SourceTool, ToolOutput};
use crate::turn::tools::built_in::tool::{BuiltIn, changing, object, text};
use crate::turn::tools::turn_tools::Mood;

pub(super) struct MoodTool {
    labels: Vec<String>,
    mood: Mood,
}

impl MoodTool {
    pub(super) fn new(labels: &str, mood: Mood) -> Self {
        Self {
            labels: emotion::labels(labels),
            mood,
        }
    }
}

impl BuiltIn for MoodTool {
    fn tool(&self) -> SourceTool {
        let mood = json!({ "mood": { "type": "string", "enum": self.labels } });
        changing(
            "set_mood",
            "Sets the emotion that your picture shows.",
            object(mood),
        )
    }

    fn run<'a>(
        &'a self,
        arguments: &'a Map<String, Value>,
    ) -> BoxFuture<'a, ApiResult<ToolOutput>> {
        Box::pin(async {
            let emotion = emotion::of_tag(text(arguments, "mood"), &self.labels);
            if emotion.unknown_tag.is_some() {
                return Ok(ToolOutput::error(format!(
                    "Choose one of: {}.",
                    self.labels.join(", ")
                )));
            }
            self.mood.set(emotion.label.clone());
            Ok(ToolOutput::text(format!(
                "Your picture shows {}.",
                emotion.label
            )))
        })
    }
}
