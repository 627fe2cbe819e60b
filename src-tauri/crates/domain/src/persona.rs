//! Personas: characters that the user plays.

use serde::{Deserialize, Serialize};

use crate::PersonaId;

/// The user's side of a chat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Persona {
    pub id: PersonaId,
    /// Value of `{{user}}`. Never empty.
    pub name: String,
    /// Part of the prompt's head; may be empty.
    pub description: String,
    /// Instructions for chats with this persona. They replace those of chat and card. May be empty.
    pub instructions: String,
}
