//! A compiled prompt. The preview, the token count and the request all use this one value.

use serde::{Deserialize, Serialize};

use crate::tool_call::{ToolDefinition, ToolRound};

/// A part of the prompt's text. Text from people, cards or models is never `control`: the worker
/// tokenizes it as plain text, so it cannot become a control token.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Segment {
    pub text: String,
    /// True for text of the chat template: role markers and end-of-turn tokens.
    pub control: bool,
}

/// Role of a message, before an adapter converts it to the provider's term.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PromptRole {
    System,
    User,
    Character,
}

impl PromptRole {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Character => "character",
        }
    }
}

/// One message of the compiled prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptMessage {
    pub role: PromptRole,
    pub text: String,
}

/// A picture attached to a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptPicture {
    /// Index into [`Prompt::messages`].
    pub message: usize,
    /// Index into [`Prompt::segments`] of the text after it; `None` if the prompt has no segments.
    #[serde(default)]
    pub segment: Option<usize>,
    /// A `data:` URI with the whole picture.
    pub url: String,
}

/// Tool rounds before a message of the prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptToolRound {
    /// Index into [`Prompt::messages`] of the reply that the round led to; the number of messages
    /// for a round of the reply that is being written.
    pub before: usize,
    pub round: ToolRound,
}

/// The calls that a reply may contain.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// The model must answer with text. The definitions are sent because rounds refer to them.
    Never,
    /// The model must call a tool.
    Required,
    /// The model must call the tool with this name.
    Named(String),
}

impl ToolChoice {
    /// Whether the model must call a tool.
    pub fn is_forced(&self) -> bool {
        matches!(self, Self::Required | Self::Named(_))
    }
}

/// Tools of a prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptTools {
    /// Empty if the model may not call tools.
    pub definitions: Vec<ToolDefinition>,
    #[serde(default)]
    pub choice: ToolChoice,
    /// The reply may contain at most one call.
    #[serde(default)]
    pub single_call: bool,
    /// In the order of the messages and of the rounds.
    pub rounds: Vec<PromptToolRound>,
}

/// The input of a model. Remote chat endpoints use `messages`. The local worker uses `segments`:
/// the same messages, rendered by the model's chat template.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prompt {
    pub messages: Vec<PromptMessage>,
    /// Indexes of messages that are no part of the chat. An endpoint that takes several messages of
    /// one role in a row gets them as messages of their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub apart: Vec<usize>,
    /// Empty for a remote chat endpoint, which applies its own template.
    pub segments: Vec<Segment>,
    /// In message order. Empty for models without image input.
    pub pictures: Vec<PromptPicture>,
    #[serde(default)]
    pub tools: PromptTools,
    /// The last message is an unfinished reply that the model continues.
    pub continues: bool,
    /// Stop sequences.
    pub stop: Vec<String>,
}
