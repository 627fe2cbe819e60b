//! One read of a chat: its card, persona, group, macro variables and scripts.

use std::collections::BTreeMap;
use std::sync::Arc;

use context::macros::MacroState;
use domain::card::Card;
use domain::chat::Chat;
use domain::overrides::{CardText, InstructionSource, Overrides, instructions};
use domain::persona::Persona;
use domain::{ChatId, PersonaId, Timestamp};
use store::{ReadTransaction, StoreError};

use crate::base::error::{ApiResult, not_found};
use crate::base::records::convert::Speakers;
use crate::library::characters::card_rows::CardRows;
use crate::library::characters::chat_texts::ChatCard;
use crate::library::groups::next_turns::GroupRows;
use crate::library::groups::scene::{NextSpeaker, Scene};
use crate::library::personas::persona;
use crate::library::scripts::on_messages::ScriptRows;
use crate::library::snapshots::chat_macros::StoredMacroState;
use crate::library::snapshots::macro_scope::MacroNames;
use crate::library::snapshots::{Snapshots, macro_variables};

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
    pub(crate) scripts: ScriptRows,
}

/// The rows of a snapshot, from one transaction.
struct SnapshotRows {
    card: CardRows,
    persona: Persona,
    group: GroupRows,
    global: BTreeMap<String, String>,
    scripts: ScriptRows,
}

impl SnapshotRows {
    fn read(
        store: &ReadTransaction<'_>,
        chat: &Chat,
        default: Option<PersonaId>,
    ) -> Result<Self, StoreError> {
        Ok(Self {
            card: CardRows::read(store, chat)?,
            persona: persona::of_chat(store, chat, default)?,
            group: GroupRows::read(store, chat)?,
            global: macro_variables::globals(store)?,
            scripts: ScriptRows::read(store)?,
        })
    }
}

impl Snapshots {
    /// The snapshot of a stored chat.
    ///
    /// # Errors
    /// `NotFound` if the chat or its character is gone.
    pub(crate) async fn snapshot_of(&self, id: ChatId) -> ApiResult<ChatSnapshot> {
        let default = self.personas.default_persona();
        let read = self.base().store().read(move |store| {
            let Some(chat) = store.chats().get(id)? else {
                return Ok(None);
            };
            let rows = SnapshotRows::read(store, &chat, default)?;
            Ok(Some((chat, rows)))
        });
        let (chat, rows) = read.await?.ok_or_else(|| not_found("chat"))?;
        self.compose_snapshot(chat, rows)
    }

    /// The snapshot of `chat`, which may differ from its row.
    ///
    /// # Errors
    /// `NotFound` if the character is gone.
    pub(crate) async fn snapshot(&self, chat: Chat) -> ApiResult<ChatSnapshot> {
        let row = chat.clone();
        let default = self.personas.default_persona();
        let rows = self
            .base()
            .store()
            .read(move |store| SnapshotRows::read(store, &row, default))
            .await?;
        self.compose_snapshot(chat, rows)
    }

    fn compose_snapshot(&self, chat: Chat, rows: SnapshotRows) -> ApiResult<ChatSnapshot> {
        let SnapshotRows {
            card,
            persona,
            group,
            global,
            scripts,
        } = rows;
        let group = self.groups.scene(&chat, group, card.clone())?;
        let ChatCard {
            card,
            hash: card_hash,
            own: own_texts,
        } = self.characters.card_of(card)?;
        let variables = MacroState {
            local: StoredMacroState::of(&chat).variables,
            global,
        };
        Ok(ChatSnapshot {
            chat,
            card,
            card_hash,
            own_texts,
            persona,
            group,
            variables,
            scripts,
        })
    }
}

impl ChatSnapshot {
    /// Macro scope of the chat's texts.
    pub(crate) fn macro_names(&self) -> MacroNames<'_> {
        MacroNames::new(&self.card, &self.persona, self.chat.id).among(&self.group)
    }

    /// Macro scope of the texts of one speaker; of the chat's own character outside a group scene.
    pub(crate) fn macro_names_of<'s>(&'s self, speaker: &'s NextSpeaker) -> MacroNames<'s> {
        match self.group.member(speaker) {
            Some(member) => self.macro_names().spoken_by(member),
            None if self.group.is_scene() => self
                .macro_names()
                .spoken_as(speaker.name(self.card.display_name())),
            None => self.macro_names(),
        }
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

    /// The instructions for the model and their source. In a group scene these are the group's,
    /// without the card's, which are written for one character alone.
    pub(crate) fn instructions(&self) -> (InstructionSource, &str) {
        match instructions(&self.persona, &self.own_texts, &self.card) {
            (InstructionSource::Card, _) if self.group.is_scene() => {
                (InstructionSource::Template, "")
            }
            instructions => instructions,
        }
    }

    /// Instructions after the history, in place of the user's own text; those of the group in a
    /// group scene.
    pub(crate) fn post_history(&self) -> &str {
        let own = self.own_texts.get(CardText::PostHistory);
        if self.group.is_scene() {
            own.unwrap_or_default()
        } else {
            self.card.post_history_instructions()
        }
    }
}
