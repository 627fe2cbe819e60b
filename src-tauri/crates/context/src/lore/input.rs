//! Input of one turn: messages, texts, and values from outside this crate.

use std::str::FromStr;

use super::{Chance, TimedState};

/// One turn.
#[derive(Clone, Copy)]
pub struct LoreInput<'a> {
    /// Oldest first, hidden messages included.
    pub messages: &'a [LoreMessage<'a>],
    /// Older messages, which are not scanned but count for timers.
    pub earlier: Earlier,
    pub texts: CardTexts<'a>,
    /// Other prompt texts to scan: first the author's note if it is inserted in this turn, then the
    /// rest.
    pub injections: &'a [&'a str],
    pub character: LoreCharacter<'a>,
    pub kind: GenerationKind,
    /// A preview neither uses nor sets sticky and cooldown effects.
    pub dry_run: bool,
    /// Entries found by other means, such as a vector search: book and uid.
    pub external: &'a [(&'a str, &'a str)],
    /// Tokens of the prompt: the context minus the reply.
    pub context_tokens: u32,
    pub chance: Chance,
    /// State after the previous turn.
    pub timed: &'a TimedState,
    /// Index of the greeting that the chat began with: 0 is the first message, then the alternates.
    pub greeting: Option<u32>,
    /// The user icon of the card in use.
    pub user_icon: Option<&'a str>,
    /// Resolves macros in keys and texts.
    pub expand: &'a dyn Fn(Written<'_>) -> ExpandedText,
    /// Counts the tokens of a text.
    pub count: &'a dyn Fn(&str) -> u32,
}

/// A text of a book, before macros are resolved.
#[derive(Debug, Clone, Copy)]
pub enum Written<'t> {
    Key(&'t str),
    Entry(&'t str),
    /// The text of a constant entry, which may be in a part of the prompt that must not change.
    Constant(&'t str),
}

impl<'t> Written<'t> {
    pub fn text(self) -> &'t str {
        match self {
            Self::Key(text) | Self::Entry(text) | Self::Constant(text) => text,
        }
    }
}

/// A text of a book, with macros resolved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExpandedText {
    pub text: String,
    /// Hidden keys in the text, which other entries can match and which are not sent.
    pub hidden_keys: Vec<String>,
}

impl From<String> for ExpandedText {
    fn from(text: String) -> Self {
        Self {
            text,
            hidden_keys: Vec::new(),
        }
    }
}

/// Number of messages that are not passed in, and how many of them are by the character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Earlier {
    pub messages: u32,
    pub of_character: u32,
}

#[derive(Debug, Clone, Copy, Default)]
pub struct LoreMessage<'a> {
    pub name: &'a str,
    pub text: &'a str,
    pub from_user: bool,
    /// Neither scanned nor counted.
    pub hidden: bool,
}

/// Texts that an entry may request for scanning. Empty texts are absent.
#[derive(Debug, Clone, Copy, Default)]
pub struct CardTexts<'a> {
    pub persona: &'a str,
    pub description: &'a str,
    pub personality: &'a str,
    pub depth_prompt: &'a str,
    pub scenario: &'a str,
    pub creator_notes: &'a str,
}

impl<'a> CardTexts<'a> {
    pub(super) fn all(&self) -> [&'a str; 6] {
        [
            self.persona,
            self.description,
            self.personality,
            self.depth_prompt,
            self.scenario,
            self.creator_notes,
        ]
    }
}

/// The character that filters refer to.
#[derive(Debug, Clone, Copy, Default)]
pub struct LoreCharacter<'a> {
    /// The name of its file, without extension.
    pub file: &'a str,
    /// Ids of its tags.
    pub tags: &'a [&'a str],
}

/// The purpose of the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GenerationKind {
    #[default]
    Normal,
    Continue,
    Impersonate,
    Swipe,
    Regenerate,
    Quiet,
}

impl GenerationKind {
    /// The word in an entry's `triggers`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Continue => "continue",
            Self::Impersonate => "impersonate",
            Self::Swipe => "swipe",
            Self::Regenerate => "regenerate",
            Self::Quiet => "quiet",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a kind of generation")]
pub struct UnknownKind(String);

impl FromStr for GenerationKind {
    type Err = UnknownKind;

    fn from_str(word: &str) -> Result<Self, UnknownKind> {
        let all = [
            Self::Normal,
            Self::Continue,
            Self::Impersonate,
            Self::Swipe,
            Self::Regenerate,
            Self::Quiet,
        ];
        all.into_iter()
            .find(|kind| kind.word() == word)
            .ok_or_else(|| UnknownKind(word.to_owned()))
    }
}
