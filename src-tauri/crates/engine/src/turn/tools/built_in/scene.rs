//! Changes the background of the chat.

use domain::ChatId;
use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};

use crate::api::SettingOwner;
use crate::base::error::ApiResult;
use crate::base::tool_source::{SourceTool, ToolOutput};
use crate::turn::inputs::turn_inputs::TurnInputs;
use crate::turn::tools::Tools;
use crate::turn::tools::built_in::tool::{BuiltIn, changing, object, text};

/// Maximum number of backgrounds that the model may choose from.
const MAX: usize = 50;

pub(super) struct SceneTool {
    room: Tools,
    chat: ChatId,
    /// Names of the backgrounds, with their pictures.
    backgrounds: Vec<(String, String)>,
}

impl SceneTool {
    /// `None` if the gallery is empty.
    pub(super) async fn new(room: &Tools, inputs: &TurnInputs) -> ApiResult<Option<Self>> {
        let all = room.library().backgrounds.list_backgrounds().await?;
        let backgrounds: Vec<_> = all
            .into_iter()
            .take(MAX)
            .map(|one| (one.name, one.picture))
            .collect();
        let chat = inputs.snapshot.chat.id;
        Ok(Some(Self {
            room: room.clone(),
            chat,
            backgrounds,
        })
        .filter(|tool| !tool.backgrounds.is_empty()))
    }

    async fn show(&self, name: &str) -> ApiResult<ToolOutput> {
        let names = || {
            self.backgrounds
                .iter()
                .map(|(name, _)| name.as_str())
                .collect::<Vec<_>>()
                .join(", ")
        };
        let Some((_, picture)) = self.backgrounds.iter().find(|(known, _)| known == name) else {
            return Ok(ToolOutput::error(format!("Choose one of: {}.", names())));
        };
        let owner = SettingOwner::Chat { id: self.chat };
        self.room
            .config()
            .setting_edits
            .set_setting_in_words(owner, "background".to_owned(), picture.clone())
            .await?;
        Ok(ToolOutput::text(format!("The chat shows {name}.")))
    }
}

impl BuiltIn for SceneTool {
    fn tool(&self) -> SourceTool {
        let names: Vec<&str> = self
            .backgrounds
            .iter()
            .map(|(name, _)| name.as_str())
            .collect();
        let background = json!({ "background": { "type": "string", "enum": names } });
        changing(
            "change_scene",
            "Changes the picture behind the chat.",
            object(background),
        )
    }

    fn run<'a>(
        &'a self,
        arguments: &'a Map<String, Value>,
    ) -> BoxFuture<'a, ApiResult<ToolOutput>> {
        Box::pin(self.show(text(arguments, "background")))
    }
}
