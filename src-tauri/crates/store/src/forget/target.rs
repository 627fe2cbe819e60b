//! A subject that a user wants to forget.

use domain::{CharacterId, PersonaId, Timestamp};
use serde::{Deserialize, Serialize};

/// A character, a persona or a span of time about which nothing may stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ForgetTarget {
    /// The character with the chats that it leads alone, and its messages in groups.
    Character {
        id: CharacterId,
        /// Assets without references since then go too. Small copies of a card's own pictures have
        /// none, and nothing tells whose they are; a newer asset may be about to be used.
        unreferred_since: Timestamp,
    },
    Persona {
        id: PersonaId,
        /// It plays in the chats without a persona.
        by_default: bool,
    },
    /// The messages sent at `from` or later, and before `until`.
    Span { from: Timestamp, until: Timestamp },
}
