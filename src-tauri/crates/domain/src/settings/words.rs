//! Settings whose value is one of a few words.

use super::value::{ConfigValue, FromValue};

macro_rules! words {
    ($($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal),* $(,)? })*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$variant_doc])* $variant),* }

        impl $name {
            /// The default comes first.
            pub const WORDS: &'static [&'static str] = &[$($word),*];

            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }
        }

        impl Default for $name {
            fn default() -> Self {
                [$(Self::$variant),*][0]
            }
        }

        impl FromValue for $name {
            fn from_value(value: &ConfigValue) -> Option<Self> {
                let ConfigValue::Text(text) = value else { return None };
                [$(Self::$variant),*].into_iter().find(|each| each.as_str() == text)
            }
        }
    )*};
}

words! {
    /// Placement of lore and notes in the prompt.
    PlacementMode {
        /// Near the end, where changes require the least re-reading.
        CacheFirst = "cache-first",
        /// Exactly where SillyTavern would put them.
        Classic = "classic",
    }

    /// Owner of the main prompt, post-history text and scenario in a group chat.
    GroupTexts {
        /// Those of the character that speaks, as in SillyTavern.
        Speaker = "speaker",
        /// Those of the group: the template's instructions and the first character's scenario.
        Group = "group",
    }

    /// Whether a context block stays in the prompt after its turn.
    ContextRetention {
        AppendOnly = "append-only",
        Ephemeral = "ephemeral",
    }

    /// Sorting of the character's books and global books. It decides which entries are added first
    /// if the lore budget is short, and the order of entries with equal `order`.
    LoreStrategy {
        CharacterFirst = "character-first",
        GlobalFirst = "global-first",
        /// Only by the order of their entries.
        Evenly = "evenly",
    }

    /// Role of the author's note in the prompt.
    NoteRole {
        /// Sent as instructions.
        System = "system",
        User = "user",
        Character = "character",
    }

    /// Place of the author's note in the prompt.
    NotePlace {
        /// Among the messages, at its depth.
        InChat = "in-chat",
        BeforeCharacter = "before-character",
        AfterCharacter = "after-character",
    }

    /// Place of the character's note next to the author's note.
    CharacterNotePlace {
        Before = "before",
        After = "after",
        /// Only the character's note is sent.
        Replace = "replace",
    }

    /// How lorebook entries are activated.
    LoreProfile {
        /// Follows the card specifications. Word boundaries follow Unicode.
        Corrected = "corrected",
        /// Behaves like SillyTavern, including its quirks.
        Compatible = "compatible",
    }

    /// Author of the first message of a chat.
    StartMode {
        /// The card's greeting is the first message.
        Character = "character",
        /// The chat starts empty, and the user writes first.
        Empty = "empty",
    }

    /// Data type of a local model's KV cache.
    KvCacheType {
        F16 = "f16",
        /// Half the memory. Needs flash attention.
        Q8 = "q8_0",
    }

    /// Whether a local model computes attention in one fused step.
    FlashAttention {
        /// On, if the device supports it.
        Auto = "auto",
        On = "on",
        Off = "off",
    }

    /// Position of the characters' pictures in the chat.
    SpritePlace {
        Beside = "beside",
        Behind = "behind",
        Above = "above",
        Off = "off",
    }

    /// How to continue an unfinished reply.
    ContinueBy {
        /// Ends the prompt with the unfinished reply. Endpoints that have rejected this get the
        /// `continue` prompt.
        Auto = "auto",
        Prefill = "prefill",
        /// Appends the `continue` prompt.
        Asking = "asking",
    }

    /// The text between a reply and its continuation.
    ContinuePostfix {
        /// A blank after the end of a sentence, where the language writes one.
        Auto = "auto",
        Nothing = "none",
        Space = "space",
        Line = "line",
        Paragraph = "paragraph",
    }

    /// Whether a model names chats when idle.
    ChatTitles {
        /// Only local models, because endpoints may cost money.
        Auto = "auto",
        On = "on",
        Off = "off",
    }

    /// Whether a model creates keyframes and extracts facts when idle.
    MemoryLearning {
        /// Only local models, because endpoints may cost money.
        Auto = "auto",
        On = "on",
        /// No model is used.
        Off = "off",
    }

    /// Which prompts of past turns are kept.
    PromptKeeping {
        All = "on",
        /// Those of the last 30 days.
        Month = "30-days",
        Nothing = "off",
    }

    /// Content rating that templates receive. Messages are never rewritten for it.
    ContentRating {
        /// Templates receive nothing.
        Unset = "unset",
        Everyone = "everyone",
        Teen = "teen",
        Mature = "mature",
        Adult = "adult",
    }
}
