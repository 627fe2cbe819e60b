//! The data of a card, and the size limits of its files.

use serde_json::{Map, Value};

/// Maximum size of a card file, in bytes.
pub const MAX_FILE: usize = 64 << 20;

/// Maximum size of a card's base64 text in a PNG, in bytes.
pub const MAX_PNG_TEXT: usize = 32 << 20;

/// Maximum size of a card's JSON, in bytes. As base64 it fits into [`MAX_PNG_TEXT`].
pub const MAX_JSON: usize = crate::lenient_json::MAX_JSON;

/// Maximum length of a character's name, in characters. Each name macro repeats it in the prompt.
pub const MAX_NAME: usize = 300;

/// The card format version that a card was read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CardVersion {
    V1,
    V2,
    V3,
}

/// A character card. It always has a non-blank name.
#[derive(Debug, Clone, PartialEq)]
pub struct Card {
    pub(super) version: CardVersion,
    /// The card fields, such as name and description, including unknown ones.
    pub(super) fields: Map<String, Value>,
    /// For V2 and V3, the outer object of the file; its `data` is a placeholder for `fields`. Empty
    /// for V1.
    pub(super) outer: Map<String, Value>,
}

impl CardVersion {
    /// Value of `spec`. V1 has none.
    pub(super) fn spec(self) -> &'static str {
        match self {
            Self::V1 => "",
            Self::V2 => "chara_card_v2",
            Self::V3 => "chara_card_v3",
        }
    }

    /// Value of `spec_version`.
    pub(super) fn number(self) -> &'static str {
        match self {
            Self::V1 => "1.0",
            Self::V2 => "2.0",
            Self::V3 => "3.0",
        }
    }
}
