//! A compiled prompt. The preview, the token count and the request all use this one value.

use serde::{Deserialize, Serialize};

/// A part of the prompt's text. Text from people, cards or models is never `control`: the worker tokenizes it as plain
/// text, so it cannot become a control token.
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
    /// A `data:` URI with the whole picture.
    pub url: String,
}

/// The input of a model. Remote chat endpoints use `messages`. The local worker uses `segments`: the same messages,
/// rendered by the model's chat template.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prompt {
    pub messages: Vec<PromptMessage>,
    /// Empty for a remote chat endpoint, which applies its own template.
    pub segments: Vec<Segment>,
    /// In message order. Empty for models without image input.
    pub pictures: Vec<PromptPicture>,
    /// The last message is an unfinished reply that the model continues.
    pub continues: bool,
    /// Stop sequences.
    pub stop: Vec<String>,
}
