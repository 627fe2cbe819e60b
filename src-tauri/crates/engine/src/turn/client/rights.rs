//! Rights of the program that uses the local API. Every check of what a key allows is here, for
//! `/v1` and for the chat socket alike.
//!
//! A key without limits may do what the server's own token may. A key with a limit may talk: it
//! sends messages, asks for replies, and runs the commands that only concern its own turn. It sees
//! no personas, templates, notes or other chats, puts no words into another mouth, and takes
//! nothing away.

use domain::chat::Chat;
use domain::slash::{self, SlashCommand, Typed};
use domain::{CharacterId, ChatId};

use crate::api::client::ClientError;
use crate::api::{ApiError, ApiGrant, CommandOutcome, TurnOptions};
use crate::turn::client::Clients;

/// Whether a key may use a character.
pub(crate) fn allows(grant: &ApiGrant, character: CharacterId) -> bool {
    grant.allows_character(character)
}

/// Whether a key may run a command of the chat.
fn allows_command(grant: &ApiGrant, command: SlashCommand) -> bool {
    if !grant.is_limited() {
        return true;
    }
    match command {
        SlashCommand::Help => true,
        SlashCommand::Continue
        | SlashCommand::Regenerate
        | SlashCommand::Swipe
        | SlashCommand::Roll
        | SlashCommand::Mode
        | SlashCommand::Remember => !grant.read_only,
        SlashCommand::Model => grant.raw_models && !grant.read_only,
        SlashCommand::Impersonate
        | SlashCommand::As
        | SlashCommand::SendAs
        | SlashCommand::DeleteSwipe
        | SlashCommand::Narrate
        | SlashCommand::Sys
        | SlashCommand::Scene
        | SlashCommand::Note
        | SlashCommand::Persona
        | SlashCommand::Template
        | SlashCommand::Forget
        | SlashCommand::Branch
        | SlashCommand::Checkpoint
        | SlashCommand::Hide
        | SlashCommand::Unhide
        | SlashCommand::Search
        | SlashCommand::Export => false,
    }
}

/// Refuses what stores something, if the key may only read.
pub(crate) fn check_storing(grant: &ApiGrant) -> Result<(), ClientError> {
    if grant.read_only {
        Err(ClientError::Forbidden(format!(
            "The key \"{}\" may not store anything.",
            grant.name
        )))
    } else {
        Ok(())
    }
}

/// Refuses a character that the key may not use.
pub(crate) fn check_character(grant: &ApiGrant, character: CharacterId) -> Result<(), ClientError> {
    if allows(grant, character) {
        Ok(())
    } else {
        Err(ClientError::Forbidden(format!(
            "The key \"{}\" may not use this character.",
            grant.name
        )))
    }
}

/// Refuses a text whose command the key may not run. A message and an unknown command pass.
fn check_command(grant: &ApiGrant, text: &str) -> Result<(), ClientError> {
    let Typed::Command(typed) = slash::read(text) else {
        return Ok(());
    };
    match slash::command(typed.name).filter(|info| !allows_command(grant, info.command)) {
        Some(info) => {
            let message = format!(
                "The key \"{}\" may not use the command /{}.",
                grant.name, info.name
            );
            Err(ClientError::Forbidden(message))
        }
        None => Ok(()),
    }
}

impl Clients {
    /// A chat that a key may use: its character and all members of its group are allowed.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` if the key does not allow it.
    pub(crate) async fn allowed_chat(
        &self,
        grant: &ApiGrant,
        id: ChatId,
    ) -> Result<Chat, ClientError> {
        let chat = self.library().chat_lookup.chat(id).await?;
        let members = self
            .base()
            .store()
            .read(move |store| store.groups().members(id))
            .await
            .map_err(ApiError::from)?;
        if !members
            .iter()
            .chain([&chat.character])
            .all(|member| allows(grant, *member))
        {
            let message = format!(
                "The key \"{}\" may not use all characters of this chat.",
                grant.name
            );
            return Err(ClientError::Forbidden(message));
        }
        Ok(chat)
    }

    /// Sends a text of a program in a chat, or runs its command, as far as the key allows it.
    ///
    /// # Errors
    /// `Forbidden` if the key does not allow it; the errors of
    /// [`Slash::run_command_with`](crate::turn::slash::Slash::run_command_with).
    pub(crate) async fn client_command(
        &self,
        grant: ApiGrant,
        chat: ChatId,
        text: String,
        options: TurnOptions,
    ) -> Result<CommandOutcome, ClientError> {
        check_storing(&grant)?;
        check_command(&grant, &text)?;
        self.allowed_chat(&grant, chat).await?;
        let options = TurnOptions {
            limited_sender: grant.is_limited(),
            ..options
        };
        let mut outcome = self.slash.run_command_with(chat, text, options).await?;
        if let CommandOutcome::Help { commands } = &mut outcome {
            commands.retain(|shown| {
                slash::command(&shown.name).is_some_and(|info| allows_command(&grant, info.command))
            });
        }
        Ok(outcome)
    }
}

#[cfg(test)]
mod tests {
    use domain::slash::COMMANDS;

    use super::*;

    fn allowed(grant: &ApiGrant) -> Vec<&'static str> {
        COMMANDS
            .iter()
            .filter(|info| allows_command(grant, info.command))
            .map(|info| info.name)
            .collect()
    }

    #[test]
    fn limited_key_only_talks() {
        let talks = [
            "continue",
            "regenerate",
            "swipe",
            "roll",
            "mode",
            "remember",
            "help",
        ];
        let one = ApiGrant {
            characters: Some(vec![CharacterId(uuid::Uuid::now_v7())]),
            raw_models: false,
            ..ApiGrant::full("one")
        };
        assert_eq!(allowed(&one), talks);
        let all = ApiGrant {
            raw_models: false,
            ..ApiGrant::full("all")
        };
        assert_eq!(allowed(&all), talks);
        let models = ApiGrant {
            characters: Some(vec![CharacterId(uuid::Uuid::now_v7())]),
            ..ApiGrant::full("models")
        };
        assert!(allowed(&models).contains(&"model") && !allowed(&models).contains(&"persona"));
        assert_eq!(
            allowed(&ApiGrant {
                read_only: true,
                ..ApiGrant::full("reader")
            }),
            ["help"]
        );
        assert_eq!(allowed(&ApiGrant::full("token")).len(), COMMANDS.len());
    }

    #[test]
    fn refused_command_is_named() {
        let grant = ApiGrant {
            raw_models: false,
            ..ApiGrant::full("Lamp")
        };
        for text in ["/persona", "  /PERSONA Ann", "/note\nx"] {
            assert!(
                matches!(check_command(&grant, text), Err(ClientError::Forbidden(_))),
                "{text}"
            );
        }
        for text in [
            "Hello",
            "//persona",
            "/usr/bin",
            "/nosuch",
            "/mode study",
            "1/persona",
        ] {
            assert_eq!(check_command(&grant, text), Ok(()), "{text}");
        }
    }
}
