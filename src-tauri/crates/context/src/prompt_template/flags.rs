//! Flags that conditions can use.

use std::collections::BTreeSet;

use crate::prompt_template::variables::TemplateVariables;

/// A boolean property of a turn.
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

    /// Flags set by chat settings instead of variables.
    pub const SWITCHES: [Self; 4] = [
        Self::IncludeScene,
        Self::SupportsMedia,
        Self::ReminderDue,
        Self::Assist,
    ];

    /// The name in conditions.
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

    /// The situation in which the flag is true.
    pub fn description(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::HasEpisodes => "the chat has episodes",
            Self::IncludeScene => "the chat's setting \"include the scene\" is on",
            Self::HasMemories => "this turn recalled at least one memory",
            Self::SupportsMedia => {
                "the setting \"offer pictures of the card\" is on, and the character has pictures to show"
            }
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

    /// The variables that determine the flag.
    fn sources(self) -> &'static [&'static str] {
        match self {
            Self::HasEpisodes => &["episodes", "episode.theme"],
            Self::HasMemories => &["memory.count"],
            Self::UseNlp => &["goal"],
            Self::HasImageTags => &["imageTags"],
            Self::HasRating => &["rating"],
            Self::HasMode => &["mode.text"],
            Self::HasCitations => &["user.citations"],
            Self::IsGroup => &["group.members"],
            Self::Always
            | Self::IncludeScene
            | Self::SupportsMedia
            | Self::ReminderDue
            | Self::Assist => &[],
        }
    }

    fn is_set_by(self, variables: &TemplateVariables) -> bool {
        match self {
            Self::Always => true,
            Self::IsGroup => variables
                .size("group.members")
                .is_some_and(|members| members > 1),
            _ => self.sources().iter().any(|name| variables.is_true(name)),
        }
    }
}

/// The flags that are true in this turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateFlags(BTreeSet<Flag>);

impl TemplateFlags {
    /// The flags determined by the variables, and the given `switches`.
    pub fn of(variables: &TemplateVariables, switches: &[Flag]) -> Self {
        let derived = Flag::ALL
            .into_iter()
            .filter(|flag| flag.is_set_by(variables));
        Self(derived.chain(switches.iter().copied()).collect())
    }

    /// Only these flags and `always`.
    pub fn only(flags: impl IntoIterator<Item = Flag>) -> Self {
        Self(flags.into_iter().chain([Flag::Always]).collect())
    }

    pub fn has(&self, flag: Flag) -> bool {
        self.0.contains(&flag)
    }
}
