//! WantedBindings for another version of a reply.

use serde::{Deserialize, Serialize};
use specta::Type;

use crate::api::ModelRef;

/// How another version of a reply should differ. The model reads it for this version alone; it is
/// never part of the chat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum RegenerateHint {
    Shorter,
    Longer,
    /// The same content with other words.
    OtherWords,
    Own {
        text: String,
    },
}

/// Options of one more version of a reply.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase", default)]
pub struct RegenerateOptions {
    pub hint: Option<RegenerateHint>,
    /// Another model for this version alone, to compare both.
    pub model: Option<ModelRef>,
}
