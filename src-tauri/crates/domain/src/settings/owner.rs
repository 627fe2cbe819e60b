//! Owners of settings layers, and origins of resolved values.

use uuid::Uuid;

use crate::model::ModelChoice;
use crate::{CharacterId, ChatId};

/// A kind of stored layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    Global,
    Model,
    Character,
    Chat,
}

impl Scope {
    pub const ALL: [Self; 4] = [Self::Global, Self::Model, Self::Character, Self::Chat];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Model => "model",
            Self::Character => "character",
            Self::Chat => "chat",
        }
    }
}

/// A stored layer and the object it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    Global,
    Model(ModelChoice),
    Character(CharacterId),
    Chat(ChatId),
}

impl Owner {
    pub fn scope(self) -> Scope {
        match self {
            Self::Global => Scope::Global,
            Self::Model(_) => Scope::Model,
            Self::Character(_) => Scope::Character,
            Self::Chat(_) => Scope::Chat,
        }
    }

    /// `None` for the global layer.
    pub fn id(self) -> Option<Uuid> {
        match self {
            Self::Global => None,
            Self::Model(ModelChoice::Local(id)) => Some(id.0),
            Self::Model(ModelChoice::Remote(id)) => Some(id.0),
            Self::Character(id) => Some(id.0),
            Self::Chat(id) => Some(id.0),
        }
    }
}

/// Origin of a resolved value. Later variants have precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SettingOrigin {
    BuiltIn,
    /// Suggested by the selected prompt template.
    Template,
    Global,
    Model,
    Character,
    Chat,
    Environment,
}

impl From<Scope> for SettingOrigin {
    fn from(scope: Scope) -> Self {
        match scope {
            Scope::Global => Self::Global,
            Scope::Model => Self::Model,
            Scope::Character => Self::Character,
            Scope::Chat => Self::Chat,
        }
    }
}
