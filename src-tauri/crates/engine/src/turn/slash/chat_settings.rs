//! Commands that change the settings of a chat.

use domain::chat::Chat;
use domain::slash::CommandInfo;

use crate::api::{CommandOutcome, CommandSetting, SettingOwner, SettingValue};
use crate::base::error::ApiResult;
use crate::turn::slash::Slash;
use crate::turn::slash::choose::choose;
use crate::turn::slash::halt::Halt;
use crate::turn::slash::run::{NOTHING, firsts};

impl Slash {
    pub(super) async fn note(&self, chat: &Chat, text: &str) -> Result<CommandOutcome, Halt> {
        let setting = CommandSetting::Note;
        if text.is_empty() {
            let value = self
                .config()
                .setting_layers
                .resolved(chat, None, None)
                .await?
                .values
                .author_note;
            return Ok(CommandOutcome::Shown {
                setting,
                value,
                choices: Vec::new(),
            });
        }
        let value = if text == NOTHING {
            String::new()
        } else {
            text.to_owned()
        };
        self.set(chat, "author_note", Some(value.clone())).await?;
        Ok(CommandOutcome::Set { setting, value })
    }

    pub(super) async fn choose_mode(
        &self,
        info: &CommandInfo,
        chat: &Chat,
        text: &str,
    ) -> Result<CommandOutcome, Halt> {
        let setting = CommandSetting::Mode;
        let names = self.mode_names().await?;
        if text.is_empty() {
            let value = self
                .config()
                .setting_layers
                .resolved(chat, None, None)
                .await?
                .values
                .mode;
            return Ok(CommandOutcome::Shown {
                setting,
                value,
                choices: names,
            });
        }
        let (value, ()) = choose(
            info,
            text,
            names.into_iter().map(|name| (name, ())).collect(),
        )?;
        self.set(chat, "mode", Some(value.clone())).await?;
        Ok(CommandOutcome::Set { setting, value })
    }

    pub(super) async fn choose_persona(
        &self,
        info: &CommandInfo,
        chat: &Chat,
        text: &str,
    ) -> Result<CommandOutcome, Halt> {
        let setting = CommandSetting::Persona;
        let names = self.persona_names().await?;
        if text.is_empty() {
            let value = self.library().personas.persona_in(chat).await?.name;
            return Ok(CommandOutcome::Shown {
                setting,
                value,
                choices: firsts(names),
            });
        }
        let (value, persona) = choose(info, text, names)?;
        self.library()
            .chats
            .set_chat_persona(chat.id, persona)
            .await?;
        Ok(CommandOutcome::Set { setting, value })
    }

    pub(super) async fn choose_model(
        &self,
        info: &CommandInfo,
        chat: &Chat,
        text: &str,
    ) -> Result<CommandOutcome, Halt> {
        let setting = CommandSetting::Model;
        let names = self.model_names().await?;
        if text.is_empty() {
            let value = self.chosen_model(chat).await?;
            return Ok(CommandOutcome::Shown {
                setting,
                value,
                choices: firsts(names),
            });
        }
        let (value, model) = choose(info, text, names)?;
        self.library().chats.set_chat_model(chat.id, model).await?;
        Ok(CommandOutcome::Set { setting, value })
    }

    pub(super) async fn choose_template(
        &self,
        info: &CommandInfo,
        chat: &Chat,
        text: &str,
    ) -> Result<CommandOutcome, Halt> {
        let setting = CommandSetting::Template;
        let names = self.template_names().await?;
        if text.is_empty() {
            let chosen = self
                .config()
                .setting_layers
                .resolved(chat, None, None)
                .await?
                .values
                .template;
            let named = names
                .iter()
                .find(|(_, id)| *id == chosen)
                .map(|(name, _)| name.clone());
            return Ok(CommandOutcome::Shown {
                setting,
                value: named.unwrap_or(chosen),
                choices: firsts(names),
            });
        }
        let (value, template) = choose(info, text, names)?;
        self.set(chat, "template", Some(template).filter(|id| id != "auto"))
            .await?;
        Ok(CommandOutcome::Set { setting, value })
    }

    pub(super) async fn set(&self, chat: &Chat, key: &str, value: Option<String>) -> ApiResult<()> {
        let owner = SettingOwner::Chat { id: chat.id };
        self.config()
            .setting_edits
            .set_setting(owner, key.to_owned(), value.map(SettingValue::Text))
            .await
            .map(drop)
    }
}
