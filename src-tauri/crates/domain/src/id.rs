//! Typed ids. Every id is a UUID, so user text is never part of a path or a key. New ids use
//! version 7, which sorts by age.

use std::fmt;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use uuid::Uuid;

/// The text is not a UUID.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not an id")]
pub struct NotAnId(pub String);

/// Reads an optional id of which an empty text means that there is none, for `deserialize_with`.
///
/// # Errors
/// If the text is neither empty nor an id.
pub fn none_if_empty<'de, D, T>(reader: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err = NotAnId>,
{
    let text = Option::<String>::deserialize(reader)?.filter(|text| !text.is_empty());
    text.map(|text| text.parse().map_err(D::Error::custom))
        .transpose()
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "specta", derive(specta::Type))]
        #[serde(transparent)]
        pub struct $name(#[cfg_attr(feature = "specta", specta(type = String))] pub Uuid);

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
    /// A memory.
    MemoryId
    /// A character in the library.
    CharacterId
    /// A chat with a character.
    ChatId
    /// A message in a chat.
    MessageId
    /// One of the alternative texts of a message.
    SwipeId
    /// A persona of the user.
    PersonaId
    /// A remote, OpenAI-compatible endpoint.
    EndpointId
    /// A server that offers tools.
    ToolServerId
    /// A model file in the library.
    ModelId
    /// A document attached to a chat, a character or a lorebook.
    DocumentId
    /// A lorebook. One in a card has the id of its character.
    LorebookId
    /// A folder of chats or characters.
    FolderId
    /// A summary of a range of messages.
    KeyframeId
    /// A key of the local API.
    ApiKeyId
}
