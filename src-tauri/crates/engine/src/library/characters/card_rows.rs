//! The rows of a chat's card, as they are stored.

use domain::chat::Chat;
use domain::overrides::Overrides;
use store::{Character, ReadTransaction, StoreError};

#[derive(Clone)]
pub(crate) struct CardRows {
    pub(crate) character: Option<Character>,
    /// Texts of the chat in place of the card's.
    pub(crate) own: Overrides,
}

impl CardRows {
    pub(crate) fn read(store: &ReadTransaction<'_>, chat: &Chat) -> Result<Self, StoreError> {
        Ok(Self {
            character: store.characters().get(chat.character)?,
            own: store.chat_texts().of(chat.id)?,
        })
    }
}
