//! Memories: short texts that outlive the window, each with the messages it came from.

use serde::{Deserialize, Serialize};

use crate::{CharacterId, ChatId, LorebookId, MemoryId, MessageId, PersonaId, Timestamp};

/// What a memory is about (S4.51).
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

    /// What nobody knows is a note.
    pub fn of(word: &str) -> Self {
        Self::ALL.into_iter().find(|each| each.as_str() == word).unwrap_or_default()
    }
}

/// Where a memory counts; nowhere else (design, section 6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MemoryScope {
    /// Everywhere.
    Profile,
    /// In every chat with the character.
    Character(CharacterId),
    /// In every chat of the character with one persona. No persona is one of its own: the nameless user.
    Pair {
        character: CharacterId,
        persona: Option<PersonaId>,
    },
    Chat(ChatId),
    /// In every chat in which the lorebook counts: it tells of a world, whoever talks about it.
    World(LorebookId),
}

impl MemoryScope {
    /// The name of its kind.
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

/// What wrote a memory down.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum MemoryOrigin {
    /// Somebody, in their own words, or with a correction.
    #[default]
    User,
    /// Somebody asked for it in a chat ("Remember that ...").
    Rule,
    /// A model that looked for facts.
    Model,
    /// A model that summed up a stretch of a chat.
    Keyframe,
}

impl MemoryOrigin {
    pub const ALL: [Self; 4] = [Self::User, Self::Rule, Self::Model, Self::Keyframe];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Rule => "rule",
            Self::Model => "model",
            Self::Keyframe => "keyframe",
        }
    }
}

/// Why a memory is kept and told no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ArchivedAs {
    /// Another one says the same.
    Merged,
    /// A newer one says that it is so no longer. It is still told where its words are called up, with its date.
    Superseded,
    /// It is old, of little weight and unsure, and nobody has called it up.
    Retired,
    /// There are too many of its scope, and it is worth the least.
    Crowded,
}

impl ArchivedAs {
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

/// That a memory is archived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Archived {
    pub why: ArchivedAs,
    /// Of a superseded one: since when it is so no longer.
    pub since: Timestamp,
    /// What it gave way to: of a merged or superseded one.
    pub by: Option<MemoryId>,
}

/// The confidence of what somebody said themselves.
pub const CERTAIN: u8 = 10;

/// One thing remembered (S4.50).
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
    /// 1 to 10: how sure it is that it is so.
    pub confidence: u8,
    /// It is told whatever else there is to tell.
    pub pinned: bool,
    /// The messages it was made from; it stands only while all of them do.
    pub sources: Vec<MessageId>,
    /// The messages that say the same: those of memories that were merged into it. It stands without them.
    pub echoes: Vec<MessageId>,
    /// `None` while it counts.
    pub archived: Option<Archived>,
    pub created: Timestamp,
    pub updated: Timestamp,
}

impl Memory {
    /// Nothing archives it but its user: they wrote it down themselves, or pinned it.
    pub fn is_kept(&self) -> bool {
        self.pinned || self.origin == MemoryOrigin::User
    }

    /// Of two that say the same the greater one stands: what is pinned, or said by somebody, surer, more important, newer.
    pub fn rank(&self) -> impl Ord + use<> {
        let origin = match self.origin {
            MemoryOrigin::User => 3,
            MemoryOrigin::Rule => 2,
            MemoryOrigin::Model => 1,
            MemoryOrigin::Keyframe => 0,
        };
        (self.pinned, origin, self.confidence, self.importance, self.created, self.id)
    }

    /// It may be called up: it counts, or it did once and is told with its date.
    pub fn may_be_told(&self) -> bool {
        self.archived.is_none_or(|archived| archived.why == ArchivedAs::Superseded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_has_a_word_and_unknown_words_are_notes() {
        for kind in MemoryType::ALL {
            assert_eq!(MemoryType::of(kind.as_str()), kind);
        }
        assert_eq!(MemoryType::of("prophecy"), MemoryType::Note);
    }
}
