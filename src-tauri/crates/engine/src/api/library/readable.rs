//! Chats as documents for people.

pub use domain::readable_chat::ReadableOptions;
use serde::{Deserialize, Serialize};
use specta::Type;

use crate::api::ChatFileFormat;

/// The formats of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "lowercase")]
pub enum ReadableFormat {
    /// One file with its pictures, which runs no script and loads nothing.
    Html,
    Markdown,
    Text,
}

impl ChatFileFormat {
    /// `None` for the formats of other apps.
    pub fn readable(self) -> Option<ReadableFormat> {
        match self {
            Self::Html => Some(ReadableFormat::Html),
            Self::Markdown => Some(ReadableFormat::Markdown),
            Self::Text => Some(ReadableFormat::Text),
            Self::Jsonl | Self::Group => None,
        }
    }
}

/// A chat as a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct RenderedChat {
    pub text: String,
    /// Number of messages in the text.
    pub messages: u32,
    /// The parts that the text lacks, in English.
    pub warnings: Vec<String>,
}
