//! What a block is, where it stands, and how dear it is.

use serde::{Deserialize, Serialize};

/// Zones of the prompt, top to bottom (design, section 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Zone {
    /// Rules, character, persona, scenario, constant lore, examples: changes when a card or a setting is edited.
    Head,
    /// Facts, keyframes and excerpts that stand in for what left the window: changes with the epoch.
    Digest,
    /// Messages from the anchor on, with their frozen context blocks.
    Window,
    /// This turn's context block and the words that are answered.
    Input,
}

/// How dear a block is. What is dearer goes later (requirements, section 2.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Priority {
    Trimmable,
    Medium,
    High,
    Must,
}

/// The part of the retrieval budget that a block draws on (C12).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Share {
    Memory,
    Lore,
    Chat,
    Documents,
}

/// What a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum BlockKind {
    Rules,
    /// Any other section of a prompt template.
    Section,
    Description,
    Personality,
    Scenario,
    Persona,
    Examples,
    PostHistory,
    /// How two people stand to each other.
    Relationship,
    Fact,
    LastSession,
    /// A memory that is none of the above.
    Memory,
    /// The summary of messages that left the window.
    Keyframe,
    /// A message outside the window, kept word for word in the digest.
    Pinned,
    Lore,
    /// An older message that was found again.
    Excerpt,
    /// A passage of a document.
    Document,
    Clock,
    Mode,
    /// The author's note.
    Note,
    Reminder,
    Message,
}

impl BlockKind {
    /// As the X-ray and the command line name it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rules => "rules",
            Self::Section => "section",
            Self::Description => "description",
            Self::Personality => "personality",
            Self::Scenario => "scenario",
            Self::Persona => "persona",
            Self::Examples => "examples",
            Self::PostHistory => "postHistory",
            Self::Relationship => "relationship",
            Self::Fact => "fact",
            Self::LastSession => "lastSession",
            Self::Memory => "memory",
            Self::Keyframe => "keyframe",
            Self::Pinned => "pinned",
            Self::Lore => "lore",
            Self::Excerpt => "excerpt",
            Self::Document => "document",
            Self::Clock => "clock",
            Self::Mode => "mode",
            Self::Note => "note",
            Self::Reminder => "reminder",
            Self::Message => "message",
        }
    }

    /// The share it draws on; `None` for what must stay and for messages.
    pub fn share(self) -> Option<Share> {
        match self {
            Self::Relationship | Self::Fact | Self::LastSession | Self::Memory => Some(Share::Memory),
            Self::Lore => Some(Share::Lore),
            Self::Excerpt | Self::Keyframe | Self::Pinned => Some(Share::Chat),
            Self::Document => Some(Share::Documents),
            _ => None,
        }
    }

    /// Stands where the head has the character.
    pub(crate) fn is_character(self) -> bool {
        matches!(self, Self::Description | Self::Personality | Self::Scenario | Self::Persona)
    }
}
