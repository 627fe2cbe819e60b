//! One read of a chat: its card, persona, group and macro variables.

use std::sync::Arc;

use context::macros::MacroState;
use domain::Timestamp;
use domain::card::Card;
use domain::chat::Chat;
use domain::overrides::{CardText, InstructionSource, Overrides, instructions};
use domain::persona::Persona;

use crate::base::convert::Speakers;
use crate::base::error::ApiResult;
use crate::library::chat_macros::StoredMacroState;
use crate::library::chat_texts::ChatCard;
use crate::library::group::Scene;
use crate::library::handle::Library;
use crate::library::macro_scope::MacroNames;

/// A chat and everything that its texts refer to, as of one moment.
pub(crate) struct ChatSnapshot {
    pub(crate) chat: Chat,
    /// The character's card with the chat's overrides.
    pub(crate) card: Arc<Card>,
    /// Changes whenever the character's card changes.
    pub(crate) card_hash: u64,
    pub(crate) own_texts: Overrides,
    pub(crate) persona: Persona,
    pub(crate) group: Scene,
    /// Macro variables before the turn.
    pub(crate) variables: MacroState,
}

impl Library {
    /// # Errors
    /// `NotFound` if the character is gone.
    pub(crate) async fn snapshot(&self, chat: Chat) -> ApiResult<ChatSnapshot> {
        let (ChatCard { card, hash: card_hash, own: own_texts }, persona, group, variables) = tokio::try_join!(
            self.chat_card(&chat),
            self.persona_in(&chat),
            self.group(&chat),
            self.macro_state(&chat),
        )?;
        Ok(ChatSnapshot { chat, card, card_hash, own_texts, persona, group, variables })
    }
}

impl ChatSnapshot {
    /// Macro scope of the chat's texts.
    pub(crate) fn words(&self) -> MacroNames<'_> {
        MacroNames::new(&self.card, &self.persona, self.chat.id).among(&self.group)
    }

    /// Names under which messages are sent.
    pub(crate) fn speakers(&self) -> Speakers {
        Speakers {
            character: self.card.display_name().to_owned(),
            persona: self.persona.name.clone(),
            others: self.group.speakers().clone(),
        }
    }

    /// Time that the prompt head shows in the current epoch.
    pub(crate) fn head_at(&self) -> Option<Timestamp> {
        StoredMacroState::of(&self.chat).head_at
    }

    /// The instructions for the model and their source. In a group scene these are the group's, without the card's, which
    /// are written for one character alone.
    pub(crate) fn instructions(&self) -> (InstructionSource, &str) {
        match instructions(&self.persona, &self.own_texts, &self.card) {
            (InstructionSource::Card, _) if self.group.is_scene() => (InstructionSource::Template, ""),
            instructions => instructions,
        }
    }

    /// Instructions after the history, in place of the user's own text; those of the group in a group scene.
    pub(crate) fn post_history(&self) -> &str {
        let own = self.own_texts.get(CardText::PostHistory);
        match self.group.is_scene() {
            true => own.unwrap_or_default(),
            false => self.card.post_history_instructions(),
        }
    }
}
