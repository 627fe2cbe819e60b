//! Ids. Every one is a UUID (version 7 where it is made here, so that ids sort by age), and no user text is ever part of
//! a path or a key.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Text that is not a UUID where an id was expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not an id")]
pub struct NotAnId(pub String);

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = NotAnId;
            fn from_str(text: &str) -> Result<Self, NotAnId> {
                Uuid::parse_str(text).map(Self).map_err(|_| NotAnId(text.to_owned()))
            }
        }
    )*};
}

ids! {
    /// Something remembered.
    MemoryId
    /// A character in the library.
    CharacterId
    /// A chat with a character.
    ChatId
    /// A place in a chat.
    MessageId
    /// One of the alternative texts of a message.
    SwipeId
    /// Whom the user plays.
    PersonaId
    /// A remote, OpenAI-compatible endpoint.
    EndpointId
    /// A model file in the library.
    ModelId
    /// A text that is attached to a chat.
    DocumentId
    /// A lorebook outside a card.
    LorebookId
    /// The summary of a stretch of a chat.
    KeyframeId
}
