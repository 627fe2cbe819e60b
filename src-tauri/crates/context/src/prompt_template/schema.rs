//! The one form of every prompt template, as its file says it (S4.10, S4.16).

use serde::{Deserialize, Serialize};

/// What the `schema` field of a template says.
pub const SCHEMA: &str = "inglenook.promptTemplate";

/// The version of the form that is written today. Older ones are brought up when they are read.
pub const VERSION: u32 = 2;

/// A template as its file says it: its parent is named, not yet merged in.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PromptTemplate {
    /// For editors: where the JSON Schema lies.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    pub json_schema: Option<String>,
    /// Always "inglenook.promptTemplate".
    pub schema: String,
    /// The version of the form, not of the text.
    pub version: u32,
    /// Unique in a library; what `extends` names. Lower-case letters, digits and dashes.
    pub id: String,
    /// As people see it.
    pub name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    #[serde(default)]
    pub kind: Kind,
    /// The parent's, where a template that extends another says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub style: Option<Style>,
    /// The id or the name of the template whose sections this one starts from (S4.7).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extends: Option<String>,
    #[serde(default, skip_serializing_if = "Defaults::is_empty")]
    pub defaults: Defaults,
    /// Pieces of text of the template's own, usable as `${name}` and in one another.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<OwnVariable>,
    #[serde(default, skip_serializing_if = "Roles::is_empty")]
    pub roles: Roles,
    /// Their order in the file means nothing: `order` decides (S4.5).
    #[serde(default)]
    pub sections: Vec<Section>,
}

/// What a template is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A chat.
    #[default]
    Roleplay,
    /// A job beside the chat: summary, extraction, title.
    Utility,
}

/// How replies read (S4.8).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Style {
    #[default]
    Narrative,
    /// Short messages.
    Sms,
    /// Instructions that are followed, nothing acted.
    Directive,
}

/// What the settings take from a template where the user set nothing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Defaults {
    /// Tokens of a reply at the most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_tokens: Option<u32>,
    /// Texts that end a reply; they may hold variables (S4.79).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Vec<String>>,
}

impl Defaults {
    pub(super) fn is_empty(&self) -> bool {
        self.reply_tokens.is_none() && self.stop.is_none()
    }
}

/// A piece of text that a template names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct OwnVariable {
    pub name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    pub text: String,
}

/// Which sections each part of the prompt takes (S4.9). A role that says nothing takes every section placed in it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Roles {
    /// The system text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<RoleBlock>,
    /// The introduction of the persona.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<RoleBlock>,
    /// The introduction of the character.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assistant: Option<RoleBlock>,
}

impl Roles {
    pub(super) fn is_empty(&self) -> bool {
        self.system.is_none() && self.user.is_none() && self.assistant.is_none()
    }

    pub(super) fn of(&self, role: SectionRole) -> Option<&RoleBlock> {
        match role {
            SectionRole::System => self.system.as_ref(),
            SectionRole::User => self.user.as_ref(),
            SectionRole::Assistant => self.assistant.as_ref(),
        }
    }
}

/// What one part of the prompt is made of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RoleBlock {
    /// Names of sections. They are placed in this role, whatever they say themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sections: Option<Vec<String>>,
    /// Text of its own, before the sections.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<Line>,
    /// True adds the line on the content rating.
    #[serde(default, skip_serializing_if = "is_false")]
    pub consent: bool,
}

/// A part of the prompt that comes or goes as a whole.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Section {
    /// Unique in its template.
    pub name: String,
    /// Smaller stands higher; equal ones stand by name. An override that says none keeps its parent's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<i32>,
    /// What it stands for, so that a block can be told from another in the X-ray.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<SectionKind>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<SectionRole>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,
    /// Messages from the end, for `inChat`; 0 is after the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// When it is there: flags and variables with `!`, `&&`, `||`, `==`, `!=`, `<`, `>` and parentheses (S4.11).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// True: leaving it out is an error (S4.6).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required: Option<bool>,
    /// True: this text instead of the parent's. False: the parent's text, then this.
    #[serde(rename = "override", default, skip_serializing_if = "is_false")]
    pub overrides: bool,
    /// True: the parent's section of this name is left out.
    #[serde(default, skip_serializing_if = "is_false")]
    pub exclude: bool,
    /// The text of the card's own that stands instead of this one where the card has it (V2-04, V2-08).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot: Option<Slot>,
    /// Stands above the text, and only where there is text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heading: Option<String>,
    /// Repeats the heading before each block of `${character.examples}`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub repeat_heading: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<Line>,
    /// As `lines`, but each is numbered: 1 to n, without gaps (S4.12).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<Line>,
}

/// A line of a section: its text, or its text and when it is there. A line whose variables are all empty is left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Line {
    Always(String),
    When { text: String, condition: String },
}

impl Line {
    pub fn text(&self) -> &str {
        match self {
            Self::Always(text) | Self::When { text, .. } => text,
        }
    }

    pub fn condition(&self) -> Option<&str> {
        match self {
            Self::Always(_) => None,
            Self::When { condition, .. } => Some(condition),
        }
    }
}

impl From<&str> for Line {
    fn from(text: &str) -> Self {
        Self::Always(text.to_owned())
    }
}

/// Whose words a section is: the three flows of S4.2 are the system text, the introduction of the persona and that of
/// the character.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum SectionRole {
    #[default]
    System,
    User,
    Assistant,
}

/// What a section stands for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum SectionKind {
    Rules,
    Rating,
    /// The user's own instructions.
    Extra,
    LoreBefore,
    Description,
    Personality,
    Scenario,
    LoreAfter,
    Persona,
    Scene,
    Episode,
    Perspective,
    Memory,
    Examples,
    Media,
    Group,
    PostHistory,
    Citations,
    Mode,
    Note,
    Reminder,
    /// The text a utility prompt works on.
    Task,
    #[default]
    Other,
}

/// Where a section goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Placement {
    /// Zone A: re-read only when a card or a setting changes.
    #[default]
    Head,
    /// This turn's context block, before the user's words.
    Context,
    /// Among the messages, `depth` from the end. Costs re-reading: `cache-first` puts it into the context block.
    InChat,
    /// After the last message. Costs re-reading, as `inChat`.
    AfterHistory,
}

/// A text of the card's own that replaces what the template says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Slot {
    /// The card's `system_prompt` (V2-04..06).
    SystemPrompt,
    /// The card's `post_history_instructions` (V2-08..10).
    PostHistory,
}

impl Slot {
    /// The variable that holds the card's text.
    pub fn variable(self) -> &'static str {
        match self {
            Self::SystemPrompt => "character.systemPrompt",
            Self::PostHistory => "character.postHistory",
        }
    }
}

fn is_false(value: &bool) -> bool {
    !value
}
