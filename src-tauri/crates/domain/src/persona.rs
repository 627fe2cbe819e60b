//! Whom the user plays.

use serde::{Deserialize, Serialize};

use crate::PersonaId;

/// The user's side of a chat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Persona {
    pub id: PersonaId,
    /// What `{{user}}` becomes. Never empty.
    pub name: String,
    /// Goes into the head of the prompt; may be empty.
    pub description: String,
    /// How the model is to deal with this persona: stands for the instructions of chat and card (S2.20). May be empty.
    pub instructions: String,
}
