//! The commands `/as` and `/sendas`: somebody else speaks.

use domain::chat::{Chat, Role, Speaker};
use domain::slash::{CommandInfo, leading_word, named_argument};

use crate::api::CommandOutcome;
use crate::base::error::ApiResult;
use crate::base::records::convert;
use crate::turn::slash::Slash;
use crate::turn::slash::choose::choose;
use crate::turn::slash::halt::{Halt, argument_missing};

/// The word for the narrator in commands.
pub(crate) const NARRATOR: &str = "narrator";

/// A participant other than the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Participant {
    /// The chat's own character.
    Own,
    Member {
        id: String,
    },
    Narrator,
}

impl Slash {
    /// All participants by name, the chat's own character first and the narrator last.
    pub(crate) async fn participants(&self, chat: &Chat) -> ApiResult<Vec<(String, Participant)>> {
        let (card, members) = tokio::try_join!(
            self.library().characters.chat_card(chat),
            self.library().groups.shown_members(chat.id)
        )?;
        let own = (card.card.display_name().to_owned(), Participant::Own);
        let members = members.into_iter().map(|member| {
            (
                member.name,
                Participant::Member {
                    id: member.id.to_string(),
                },
            )
        });
        let narrator = (NARRATOR.to_owned(), Participant::Narrator);
        Ok(std::iter::once(own)
            .chain(members)
            .chain([narrator])
            .collect())
    }

    /// With a text, stores it as said by the participant. Without one, lets the participant speak.
    pub(crate) async fn speak_as(
        &self,
        info: &CommandInfo,
        chat: &Chat,
        text: &str,
    ) -> Result<CommandOutcome, Halt> {
        let (name, text) = named_argument(text, "name").unwrap_or_else(|| leading_word(text));
        if name.is_empty() {
            return Err(argument_missing(info));
        }
        let (_, participant) = choose(info, name, self.participants(chat).await?)?;
        if text.is_empty() {
            self.call(chat, participant).await
        } else {
            self.store_as(chat, participant, text).await
        }
    }

    /// Lets the participant speak.
    pub(crate) async fn call(
        &self,
        chat: &Chat,
        participant: Participant,
    ) -> Result<CommandOutcome, Halt> {
        let id = chat.id;
        let is_group = !self
            .library()
            .groups
            .shown_members(chat.id)
            .await?
            .is_empty();
        let started = match participant {
            Participant::Own if !is_group => self.answer(chat).await?,
            Participant::Own => {
                self.sending()
                    .let_speak(id, Some(chat.character.to_string()))
                    .await?
            }
            Participant::Member { id: member } => {
                self.sending().let_speak(id, Some(member)).await?
            }
            Participant::Narrator => self.sending().let_speak(id, None).await?,
        };
        Ok(CommandOutcome::Started { started })
    }

    /// The character's reply to the last message, if the last message waits for one.
    async fn answer(&self, chat: &Chat) -> ApiResult<crate::api::Started> {
        let id = chat.id;
        let (_, last) = self.inputs().chat_and_last(id).await?;
        match last {
            Some(last) if convert::is_reply(last.role) => self.sending().continue_reply(id).await,
            _ => self.sending().regenerate(id).await,
        }
    }

    pub(crate) async fn store_as(
        &self,
        chat: &Chat,
        participant: Participant,
        text: &str,
    ) -> Result<CommandOutcome, Halt> {
        let (role, speaker) = match participant {
            Participant::Own => (Role::Character, None),
            Participant::Narrator => (
                Role::Narrator,
                Some(Speaker {
                    character: None,
                    name: "Narrator".to_owned(),
                }),
            ),
            Participant::Member { id } => {
                let turn = self.library().groups.turn_named(chat, Some(&id)).await?;
                (turn.role, turn.speaker)
            }
        };
        let message = self.add_message(chat, role, speaker, text).await?;
        Ok(CommandOutcome::Added { message })
    }
}
