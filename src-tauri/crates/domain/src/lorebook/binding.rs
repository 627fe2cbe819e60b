//! Where a book outside a card counts (formats 1.4.3, step 1).

use crate::{CharacterId, ChatId, PersonaId};

/// A place where a book counts. A book may have several, and one without any is silent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Binding {
    /// In every chat.
    Global,
    Character(CharacterId),
    Chat(ChatId),
    Persona(PersonaId),
}
