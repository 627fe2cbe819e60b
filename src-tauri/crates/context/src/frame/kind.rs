//! Kinds, zones and priorities of blocks.

use serde::{Deserialize, Serialize};

/// Zones of the prompt, top to bottom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum Zone {
    /// Rules, character, persona, scenario, constant lore, examples. Changes when a card or a
    /// setting is edited.
    Head,
    /// Facts, keyframes and excerpts that cover messages which left the window. Changes with the
    /// epoch.
    Digest,
    /// Messages from the anchor on, with their frozen context blocks.
    Window,
    /// The context block of this turn and the message to answer.
    Input,
}

/// Priority of a block. Blocks of lower priority are dropped first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum Priority {
    Trimmable,
    Medium,
    High,
    Must,
}

/// The share of the retrieval budget that a block uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Share {
    Memory,
    Lore,
    Chat,
    Documents,
}

/// The kind of a block.
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
    /// The relationship between two people.
    Relationship,
    Fact,
    LastSession,
    /// A memory of no other kind.
    Memory,
    /// A summary of messages that left the window.
    Keyframe,
    /// A message outside the window, kept verbatim in the digest.
    Pinned,
    Lore,
    /// An older message that was retrieved.
    Excerpt,
    /// A passage of a document.
    Document,
    Clock,
    Mode,
    /// The author's note.
    Note,
    Reminder,
    /// Something around the user's message that only this turn reports.
    Event,
    Message,
    /// Definitions of tools, or the calls and results of a reply.
    Tool,
}

impl BlockKind {
    /// The name in the X-ray and on the command line.
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
            Self::Event => "event",
            Self::Message => "message",
            Self::Tool => "tool",
        }
    }

    /// The share of the budget; `None` for required blocks and messages.
    pub fn share(self) -> Option<Share> {
        match self {
            Self::Relationship | Self::Fact | Self::LastSession | Self::Memory => {
                Some(Share::Memory)
            }
            Self::Lore => Some(Share::Lore),
            Self::Excerpt | Self::Keyframe | Self::Pinned => Some(Share::Chat),
            Self::Document => Some(Share::Documents),
            _ => None,
        }
    }

    /// True if the block belongs to the character part of the head.
    pub(crate) fn is_character(self) -> bool {
        matches!(
            self,
            Self::Description | Self::Personality | Self::Scenario | Self::Persona
        )
    }
}
