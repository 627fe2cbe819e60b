//! What a condition may ask (S4.11).

use std::collections::BTreeSet;

use super::variables::Variables;

/// A yes or no about this turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Flag {
    Always,
    HasEpisodes,
    IncludeScene,
    HasMemories,
    SupportsMedia,
    UseNlp,
    HasImageTags,
    HasRating,
    HasMode,
    HasCitations,
    ReminderDue,
    Assist,
    IsGroup,
}

impl Flag {
    pub const ALL: [Self; 13] = [
        Self::Always,
        Self::HasEpisodes,
        Self::IncludeScene,
        Self::HasMemories,
        Self::SupportsMedia,
        Self::UseNlp,
        Self::HasImageTags,
        Self::HasRating,
        Self::HasMode,
        Self::HasCitations,
        Self::ReminderDue,
        Self::Assist,
        Self::IsGroup,
    ];

    /// Those that no variable tells: the settings of the chat do.
    pub const SWITCHES: [Self; 4] = [Self::IncludeScene, Self::SupportsMedia, Self::ReminderDue, Self::Assist];

    /// As conditions spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::HasEpisodes => "hasEpisodes",
            Self::IncludeScene => "includeScene",
            Self::HasMemories => "hasMemories",
            Self::SupportsMedia => "supportsMedia",
            Self::UseNlp => "useNLP",
            Self::HasImageTags => "hasImageTags",
            Self::HasRating => "hasRating",
            Self::HasMode => "hasMode",
            Self::HasCitations => "hasCitations",
            Self::ReminderDue => "reminderDue",
            Self::Assist => "assist",
            Self::IsGroup => "isGroup",
        }
    }

    /// When it is on.
    pub fn description(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::HasEpisodes => "the chat has episodes",
            Self::IncludeScene => "the chat's setting \"include the scene\" is on",
            Self::HasMemories => "this turn recalled at least one memory",
            Self::SupportsMedia => "pictures or voice are on",
            Self::UseNlp => "a goal is set",
            Self::HasImageTags => "there are picture tags",
            Self::HasRating => "a content rating is set",
            Self::HasMode => "the mode has a text",
            Self::HasCitations => "passages of attached documents were found",
            Self::ReminderDue => "a reminder is due this turn",
            Self::Assist => "the chat begins with introductions",
            Self::IsGroup => "more than one character takes part",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|flag| flag.name() == name)
    }

    /// Whether it may ever be on: the program has no pictures or voice of its own making.
    pub(super) fn supplied(self) -> bool {
        self != Self::SupportsMedia
    }

    /// The variables that tell it.
    fn tellers(self) -> &'static [&'static str] {
        match self {
            Self::HasEpisodes => &["episodes", "episode.theme"],
            Self::HasMemories => &["memory.count"],
            Self::UseNlp => &["goal"],
            Self::HasImageTags => &["imageTags"],
            Self::HasRating => &["rating"],
            Self::HasMode => &["mode.text"],
            Self::HasCitations => &["user.citations"],
            Self::IsGroup => &["group.members"],
            Self::Always | Self::IncludeScene | Self::SupportsMedia | Self::ReminderDue | Self::Assist => &[],
        }
    }

    fn told_by(self, variables: &Variables) -> bool {
        match self {
            Self::Always => true,
            Self::IsGroup => variables.size("group.members").is_some_and(|members| members > 1),
            _ => self.tellers().iter().any(|name| variables.is_true(name)),
        }
    }
}

/// The flags that are on this turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flags(BTreeSet<Flag>);

impl Flags {
    /// What the variables tell, and the `switches` that are on.
    pub fn of(variables: &Variables, switches: &[Flag]) -> Self {
        let told = Flag::ALL.into_iter().filter(|flag| flag.told_by(variables));
        Self(told.chain(switches.iter().copied()).collect())
    }

    /// These and no others, but `always`.
    pub fn only(flags: impl IntoIterator<Item = Flag>) -> Self {
        Self(flags.into_iter().chain([Flag::Always]).collect())
    }

    pub fn has(&self, flag: Flag) -> bool {
        self.0.contains(&flag)
    }
}
