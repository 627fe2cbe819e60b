//! The file format of prompt templates.

use serde::{Deserialize, Serialize};

/// The value of the `schema` field.
pub const SCHEMA: &str = "inglenook.promptTemplate";

/// The current version of the format. Older files are migrated when they are loaded.
pub const VERSION: u32 = 2;

/// A template file. Its parent is named but not merged.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PromptTemplate {
    /// Location of the JSON Schema, for editors.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    pub json_schema: Option<String>,
    /// Always "inglenook.promptTemplate".
    pub schema: String,
    /// Version of the format, not of the text.
    pub version: u32,
    /// Unique in a library; used by `extends`. Lower-case letters, digits and dashes.
    pub id: String,
    /// Name for display.
    pub name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    #[serde(default)]
    pub kind: TemplateKind,
    /// If unset, the style of the parent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub style: Option<Style>,
    /// Id or name of the template whose sections this one inherits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extends: Option<String>,
    #[serde(default, skip_serializing_if = "Defaults::is_empty")]
    pub defaults: Defaults,
    /// Pieces of text usable as `${name}`, also in one another.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<OwnVariable>,
    #[serde(default, skip_serializing_if = "Roles::is_empty")]
    pub roles: Roles,
    /// Their order in the file has no meaning; `order` decides.
    #[serde(default)]
    pub sections: Vec<Section>,
}

/// The purpose of a template.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum TemplateKind {
    /// A chat.
    #[default]
    Roleplay,
    /// A background job: summary, extraction, title.
    Utility,
}

/// The style of replies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Style {
    #[default]
    Narrative,
    /// Short messages.
    Sms,
    /// Instructions without acting.
    Directive,
}

/// Defaults for settings that the user has not set.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Defaults {
    /// Maximum number of tokens of a reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_tokens: Option<u32>,
    /// Texts that end a reply; they may contain variables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Vec<String>>,
    /// Text that every reply begins with; it may contain macros.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_start: Option<String>,
    /// The text between a reply and its continuation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continue_postfix: Option<Postfix>,
}

/// The text between a reply and its continuation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Postfix {
    /// A blank after the end of a sentence.
    Auto,
    None,
    Space,
    Line,
    Paragraph,
}

impl Postfix {
    /// The value of the setting `continue_postfix`.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::None => "none",
            Self::Space => "space",
            Self::Line => "line",
            Self::Paragraph => "paragraph",
        }
    }
}

impl Defaults {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A piece of text with a name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct OwnVariable {
    pub name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    pub text: String,
}

/// The sections of each part of the prompt. Without a list, a role takes every section placed in
/// it.
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

/// The content of one part of the prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RoleBlock {
    /// Names of sections. They get this role, whatever role they set themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sections: Option<Vec<String>>,
    /// Text before the sections.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<TemplateLine>,
    /// True adds the line with the content rating.
    #[serde(default, skip_serializing_if = "is_false")]
    pub consent: bool,
}

/// A part of the prompt that is present or absent as a whole.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Section {
    /// Unique in its template.
    pub name: String,
    /// Lower values come first; ties are sorted by name. An override without a value keeps the
    /// parent's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<i32>,
    /// The kind of content, which identifies the block in the X-ray.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<SectionKind>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<SectionRole>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<SectionPlacement>,
    /// Number of messages from the end, for `inChat`; 0 is after the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// For `inChat`: lower values come first among the texts at one depth. The default is 100,
    /// which lorebook entries and notes have too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub injection_order: Option<i32>,
    /// When it is present: flags and variables with `!`, `&&`, `||`, `==`, `!=`, `<`, `>` and
    /// parentheses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// True: excluding it is an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required: Option<bool>,
    /// True: this text replaces the parent's. False: it follows the parent's text.
    #[serde(rename = "override", default, skip_serializing_if = "is_false")]
    pub overrides: bool,
    /// True: the parent's section with this name is removed.
    #[serde(default, skip_serializing_if = "is_false")]
    pub exclude: bool,
    /// The text of the card that replaces this section if the card has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot: Option<Slot>,
    /// Precedes the text; absent if there is no text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heading: Option<String>,
    /// Repeats the heading before each block of `${character.examples}`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub repeat_heading: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<TemplateLine>,
    /// Like `lines`, but numbered from 1 without gaps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<TemplateLine>,
}

/// A line: a text, or a text with a condition. A sentence with an empty variable is left out, and
/// so is a line of which nothing is left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum TemplateLine {
    Always(String),
    When { text: String, condition: String },
}

impl TemplateLine {
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

impl From<&str> for TemplateLine {
    fn from(text: &str) -> Self {
        Self::Always(text.to_owned())
    }
}

/// The speaker: system text, introduction of the persona (user), or introduction of the character
/// (assistant).
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum SectionRole {
    #[default]
    System,
    User,
    Assistant,
}

/// The kind of content of a section.
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
    /// The input of a utility prompt.
    Task,
    #[default]
    Other,
}

/// The position of a section.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum SectionPlacement {
    /// The head, which the model reads again only when a card or a setting changes.
    #[default]
    Head,
    /// The context block of this turn, before the user's message.
    Context,
    /// Among the messages, `depth` from the end. Costs re-reading: `cache-first` puts it into the
    /// context block.
    InChat,
    /// After the last message. Costs re-reading, like `inChat`.
    AfterHistory,
}

/// A text of the card that replaces text of the template.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Slot {
    /// The card's `system_prompt`.
    SystemPrompt,
    /// The card's `post_history_instructions`.
    PostHistory,
}

impl Slot {
    /// The variable with the card's text.
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
