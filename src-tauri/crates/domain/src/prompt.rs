//! A compiled prompt: the one thing that is previewed, counted and sent (invariant 2).

use serde::{Deserialize, Serialize};

/// A run of the prompt's text. Text by people, cards or models is never `control`, so it can never become a control
/// token: the worker tokenizes it as plain text (design, section 4).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Segment {
    pub text: String,
    /// True for what the chat template wrote: role markers, end-of-turn tokens.
    pub control: bool,
}

/// The role of a message on the way to a model, before an adapter names it in the provider's words.
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

/// A picture that goes with the words of a message (S2.8).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptPicture {
    /// Index into [`Prompt::messages`].
    pub message: usize,
    /// A `data:` address that holds all of it.
    pub url: String,
}

/// What is sent. Remote chat endpoints take `messages`; the local worker takes `segments`, which are the same messages
/// rendered by the model's own chat template.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prompt {
    pub messages: Vec<PromptMessage>,
    /// Empty for a remote chat endpoint, which applies its own template.
    pub segments: Vec<Segment>,
    /// In the order of their messages; none for models that see none.
    pub pictures: Vec<PromptPicture>,
    /// The last message is an unfinished reply that the model should go on writing.
    pub continues: bool,
    /// Texts that end the reply.
    pub stop: Vec<String>,
}
