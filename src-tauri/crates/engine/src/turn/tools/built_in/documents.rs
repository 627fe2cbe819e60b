//! Reads documents that are attached to the chat, its character or its lorebooks.

use domain::DocumentId;
use domain::document::Document;
use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};
use store::ChatParticipants;

use crate::base::error::ApiResult;
use crate::base::tool_source::{SourceTool, ToolOutput};
use crate::turn::inputs::turn_inputs::TurnInputs;
use crate::turn::tools::Tools;
use crate::turn::tools::built_in::tool::{BuiltIn, object, reading, text};

pub(super) const NAME: &str = "read_document";
/// Maximum number of passages in a result. A passage has at most some hundred words.
const MAX_PASSAGES: u32 = 2_000;

pub(super) struct Documents {
    room: Tools,
    documents: Vec<(DocumentId, String)>,
}

impl Documents {
    /// `None` if no document applies.
    pub(super) async fn new(room: &Tools, inputs: &TurnInputs) -> ApiResult<Option<Self>> {
        let chat = &inputs.snapshot.chat;
        let character = inputs.known.character(chat);
        let persona = inputs.snapshot.persona.id;
        let owners = room
            .library()
            .documents
            .documents_in(ChatParticipants {
                character,
                chat: chat.id,
                persona,
            })
            .await?;
        let read = room.base().store().read(move |store| {
            let all = owners.into_iter().map(|owner| store.documents().of(owner));
            Ok(all
                .collect::<Result<Vec<Vec<Document>>, _>>()?
                .into_iter()
                .flatten()
                .collect::<Vec<_>>())
        });
        let documents = read
            .await?
            .into_iter()
            .map(|document| (document.id, document.name))
            .collect();
        Ok(Some(Self {
            room: room.clone(),
            documents,
        })
        .filter(|tool| !tool.documents.is_empty()))
    }

    async fn read(&self, name: &str) -> ApiResult<ToolOutput> {
        let Some((id, _)) = self.documents.iter().find(|(_, known)| known == name) else {
            let names: Vec<&str> = self
                .documents
                .iter()
                .map(|(_, name)| name.as_str())
                .collect();
            return Ok(ToolOutput::error(format!(
                "There is no such document. The documents are: {}.",
                names.join(", ")
            )));
        };
        let id = *id;
        let passages = self
            .room
            .base()
            .store()
            .read(move |store| store.documents().beginning(id, MAX_PASSAGES))
            .await?;
        let mut heading = String::new();
        let mut text = String::new();
        for passage in passages {
            if passage.heading != heading && !passage.heading.is_empty() {
                text.push_str(&format!("## {}\n", passage.heading));
            }
            heading = passage.heading;
            text.push_str(&passage.text);
            text.push_str("\n\n");
        }
        Ok(ToolOutput::text(text.trim_end()))
    }
}

impl BuiltIn for Documents {
    fn tool(&self) -> SourceTool {
        let names: Vec<&str> = self
            .documents
            .iter()
            .map(|(_, name)| name.as_str())
            .collect();
        reading(
            NAME,
            "Reads an attached document.",
            object(json!({ "name": { "type": "string", "enum": names } })),
        )
    }

    fn run<'a>(
        &'a self,
        arguments: &'a Map<String, Value>,
    ) -> BoxFuture<'a, ApiResult<ToolOutput>> {
        Box::pin(self.read(text(arguments, "name")))
    }
}
