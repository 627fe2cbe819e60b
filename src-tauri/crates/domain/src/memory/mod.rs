//! Memories: short texts that stay available after their source messages leave the context window.

pub mod document;
pub mod embedding;
pub mod keyframe;

use serde::{Deserialize, Serialize};

use crate::{CharacterId, ChatId, LorebookId, MemoryId, MessageId, PersonaId, Timestamp};

/// Category of a memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryType {
    #[default]
    Note,
    Fact,
    Event,
    Relationship,
    Personality,
    Preference,
    Rule,
    Outcome,
    Decision,
    Emotion,
    OpenThread,
}

impl MemoryType {
    pub const ALL: [Self; 11] = [
        Self::Note,
        Self::Fact,
        Self::Event,
        Self::Relationship,
        Self::Personality,
        Self::Preference,
        Self::Rule,
        Self::Outcome,
        Self::Decision,
        Self::Emotion,
        Self::OpenThread,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Fact => "fact",
            Self::Event => "event",
            Self::Relationship => "relationship",
            Self::Personality => "personality",
            Self::Preference => "preference",
            Self::Rule => "rule",
            Self::Outcome => "outcome",
            Self::Decision => "decision",
            Self::Emotion => "emotion",
            Self::OpenThread => "open_thread",
        }
    }

    /// Parses a category; unknown words become notes.
    pub fn of(word: &str) -> Self {
        Self::ALL
            .into_iter()
            .find(|each| each.as_str() == word)
            .unwrap_or_default()
    }
}

/// Scope of a memory, which is never used outside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MemoryScope {
    /// In all chats.
    Profile,
    /// In every chat with the character.
    Character(CharacterId),
    /// In every chat of the character with one persona. `None` is the user without a persona.
    Pair {
        character: CharacterId,
        persona: Option<PersonaId>,
    },
    Chat(ChatId),
    /// In every chat where the lorebook applies. Such a memory describes a world, independent of
    /// the characters.
    World(LorebookId),
}

impl MemoryScope {
    /// Name of the kind of scope.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Profile => "profile",
            Self::Character(_) => "character",
            Self::Pair { .. } => "pair",
            Self::Chat(_) => "chat",
            Self::World(_) => "world",
        }
    }
}

/// How a memory was created.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum MemoryOrigin {
    /// The user wrote or corrected it.
    #[default]
    User,
    /// The user asked for it in a chat ("Remember that ...").
    Command,
    /// A model extracted it as a fact.
    Model,
    /// A model summarized a range of messages.
    Keyframe,
}

impl MemoryOrigin {
    pub const ALL: [Self; 4] = [Self::User, Self::Command, Self::Model, Self::Keyframe];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Command => "rule",
            Self::Model => "model",
            Self::Keyframe => "keyframe",
        }
    }
}

/// Why a memory is archived. Archived memories are not recalled, except superseded ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ArchiveReason {
    /// Another memory says the same.
    Merged,
    /// A newer memory contradicts it. Recall can still return it, with its date.
    Superseded,
    /// It is old, uncertain, unimportant and never recalled.
    Retired,
    /// Its scope has too many memories, and it ranks lowest.
    Crowded,
}

impl ArchiveReason {
    pub const ALL: [Self; 4] = [Self::Merged, Self::Superseded, Self::Retired, Self::Crowded];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Merged => "merged",
            Self::Superseded => "superseded",
            Self::Retired => "retired",
            Self::Crowded => "crowded",
        }
    }
}

/// The archived state of a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArchivedState {
    pub reason: ArchiveReason,
    /// When it stopped being true, for a superseded memory.
    pub since: Timestamp,
    /// The replacement of a merged or superseded memory.
    pub replaced_by: Option<MemoryId>,
}

/// Confidence of statements by the user.
pub const MAX_CONFIDENCE: u8 = 10;

/// A stored memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory {
    pub id: MemoryId,
    pub kind: MemoryType,
    pub scope: MemoryScope,
    /// Never empty.
    pub text: String,
    /// 1 to 10.
    pub importance: u8,
    pub origin: MemoryOrigin,
    /// 1 to 10: how certain it is.
    pub confidence: u8,
    /// Included in every prompt, with priority.
    pub pinned: bool,
    /// The messages it was made from. The memory is valid only while all of them are present and
    /// unchanged.
    pub sources: Vec<MessageId>,
    /// Messages from memories that were merged into this one. It does not depend on them.
    pub merged_sources: Vec<MessageId>,
    /// `None` while it is active.
    pub archived: Option<ArchivedState>,
    pub created: Timestamp,
    pub updated: Timestamp,
}

impl Memory {
    /// Whether only the user may archive it, because they wrote or pinned it.
    pub fn is_protected(&self) -> bool {
        self.pinned || self.origin == MemoryOrigin::User
    }

    /// Sort key that decides which of two duplicates stays: pinned, origin, confidence, importance,
    /// then newer.
    pub fn duplicate_rank(&self) -> impl Ord + use<> {
        let origin = match self.origin {
            MemoryOrigin::User => 3,
            MemoryOrigin::Command => 2,
            MemoryOrigin::Model => 1,
            MemoryOrigin::Keyframe => 0,
        };
        (
            self.pinned,
            origin,
            self.confidence,
            self.importance,
            self.created,
            self.id,
        )
    }

    /// Whether recall may return it: active, or superseded.
    pub fn is_recallable(&self) -> bool {
        self.archived
            .is_none_or(|archived| archived.reason == ArchiveReason::Superseded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_memory_types_are_notes() {
        for kind in MemoryType::ALL {
            assert_eq!(MemoryType::of(kind.as_str()), kind);
        }
        assert_eq!(MemoryType::of("prophecy"), MemoryType::Note);
    }
}
