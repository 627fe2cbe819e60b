//! Names of those who speak in a chat.

use std::collections::HashMap;

use domain::chat::{Chat, Speaker};
use domain::persona::Persona;
use domain::{MessageId, PersonaId};
use store::{ReadTransaction, StoreError};

use crate::base::error::{ApiResult, not_found};
use crate::base::records::convert::Speakers;
use crate::library::groups::Groups;
use crate::library::personas::persona;

/// The rows of the names in a chat.
pub(crate) struct SpeakerRows {
    character: Option<store::Character>,
    others: HashMap<MessageId, Speaker>,
    persona: Persona,
}

impl SpeakerRows {
    pub(crate) fn read(
        store: &ReadTransaction<'_>,
        chat: &Chat,
        default: Option<PersonaId>,
    ) -> Result<Self, StoreError> {
        Ok(Self {
            character: store.characters().get(chat.character)?,
            others: store.groups().speakers(chat.id)?,
            persona: persona::of_chat(store, chat, default)?,
        })
    }
}

impl Groups {
    pub(crate) async fn speakers(&self, chat: &Chat) -> ApiResult<Speakers> {
        let row = chat.clone();
        let default = self.personas.default_persona();
        let rows = self
            .base()
            .store()
            .read(move |store| SpeakerRows::read(store, &row, default))
            .await?;
        self.names(rows)
    }

    pub(crate) fn names(&self, rows: SpeakerRows) -> ApiResult<Speakers> {
        let SpeakerRows {
            character,
            others,
            persona,
        } = rows;
        let character = character.ok_or_else(|| not_found("character"))?;
        let spoken = self
            .characters
            .card(&character)
            .map(|(card, _)| card.display_name().to_owned())
            .unwrap_or(character.name);
        Ok(Speakers {
            character: spoken,
            persona: persona.name,
            others,
        })
    }
}
