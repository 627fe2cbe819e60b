//! Bindings: where a lorebook outside a card applies.

use crate::{CharacterId, ChatId, PersonaId};

/// A place where a lorebook applies. A book may have several; one without any is inactive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Binding {
    /// In every chat.
    Global,
    Character(CharacterId),
    Chat(ChatId),
    Persona(PersonaId),
}
