//! Searches the memories that apply in the chat.

use domain::PersonaId;
use domain::chat::Chat;
use domain::settings::Values;
use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};

use crate::base::error::ApiResult;
use crate::base::tool_source::{SourceTool, ToolOutput};
use crate::library::groups::presence::Knowledge;
use crate::turn::inputs::turn_inputs::TurnInputs;
use crate::turn::tools::Tools;
use crate::turn::tools::built_in::tool::{BuiltIn, object, reading, text};

pub(super) const NAME: &str = "search_memory";

pub(super) struct MemoryTool {
    room: Tools,
    chat: Chat,
    known: Knowledge,
    persona: PersonaId,
    values: Values,
}

impl MemoryTool {
    pub(super) fn new(room: &Tools, inputs: &TurnInputs) -> Self {
        Self {
            room: room.clone(),
            chat: inputs.snapshot.chat.clone(),
            known: inputs.known.clone(),
            persona: inputs.snapshot.persona.id,
            values: inputs.values.clone(),
        }
    }
}

impl BuiltIn for MemoryTool {
    fn tool(&self) -> SourceTool {
        let about = json!({ "about": { "type": "string", "description": "Words or a question." } });
        reading(
            NAME,
            "Searches what you remember about the user and earlier events.",
            object(about),
        )
    }

    fn run<'a>(
        &'a self,
        arguments: &'a Map<String, Value>,
    ) -> BoxFuture<'a, ApiResult<ToolOutput>> {
        Box::pin(async {
            let about = text(arguments, "about").to_owned();
            let place = (&self.chat, &self.known);
            let found = self
                .room
                .recall_service()
                .memories_about(place, self.persona, &self.values, about)
                .await?;
            let text = if found.is_empty() {
                "Nothing is remembered about that.".to_owned()
            } else {
                found.join("\n")
            };
            Ok(ToolOutput::text(text))
        })
    }
}
