//! Searches the messages of the chat that the model may know.

use domain::ChatId;
use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};

use crate::base::error::ApiResult;
use crate::base::tool_source::{SourceTool, ToolOutput};
use crate::library::groups::presence::Knowledge;
use crate::turn::inputs::turn_inputs::TurnInputs;
use crate::turn::tools::Tools;
use crate::turn::tools::built_in::tool::{BuiltIn, object, reading, text};

pub(super) const NAME: &str = "search_chat";
/// Maximum number of messages in a result.
const MAX_FOUND: usize = 10;

pub(super) struct ChatSearch {
    room: Tools,
    chat: ChatId,
    known: Knowledge,
    persona: String,
}

impl ChatSearch {
    pub(super) fn new(room: &Tools, inputs: &TurnInputs) -> Self {
        let chat = inputs.snapshot.chat.id;
        let known = inputs.known.clone();
        Self {
            room: room.clone(),
            chat,
            known,
            persona: inputs.snapshot.persona.name.clone(),
        }
    }

    async fn find(&self, words: &str) -> ApiResult<ToolOutput> {
        let found = self
            .room
            .library()
            .chats
            .search_messages(words.to_owned(), Some(self.chat), 0)
            .await?;
        let mut lines = Vec::new();
        for hit in found.hits.into_iter().filter(|hit| hit.is_shown) {
            let id = hit.message;
            let message = self
                .room
                .base()
                .store()
                .read(move |store| store.messages().get(id))
                .await?;
            let Some(message) =
                message.filter(|message| !message.hidden && !self.known.missed(&id))
            else {
                continue;
            };
            let day = self.room.base().clock().day(message.created);
            let speaker = hit.name.as_deref().unwrap_or(&self.persona);
            let text = context::display::display(message.text())
                .map_or_else(|| message.text().to_owned(), |it| it.text);
            lines.push(format!("{speaker} ({day}): {text}"));
            if lines.len() == MAX_FOUND {
                break;
            }
        }
        Ok(ToolOutput::text(if lines.is_empty() {
            "Nothing was found.".to_owned()
        } else {
            lines.join("\n\n")
        }))
    }
}

impl BuiltIn for ChatSearch {
    fn tool(&self) -> SourceTool {
        let words = json!({ "words": { "type": "string", "description": "Words that the messages contain." } });
        reading(
            NAME,
            "Searches all messages of this chat, also those that are no longer visible.",
            object(words),
        )
    }

    fn run<'a>(
        &'a self,
        arguments: &'a Map<String, Value>,
    ) -> BoxFuture<'a, ApiResult<ToolOutput>> {
        Box::pin(self.find(text(arguments, "words")))
    }
}
