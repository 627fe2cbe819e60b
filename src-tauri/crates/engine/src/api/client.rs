//! Requests of programs that use the local API, and the events of their replies. No page sees these
//! types.

use domain::prompt::ToolChoice;
use domain::sampling::{LogitBias, SamplerOptions};
use domain::token_choice::TokenChoice;
use domain::tool_call::{ToolCall, ToolResult};
use domain::{ChatId, MessageId, ToolDefinition};
use tokio::sync::mpsc;
use tokio_util::sync::DropGuard;

use super::{ApiError, ProviderClass};

/// A model name that a client can send.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedModel {
    pub id: String,
    /// Unix time in seconds; 0 if unknown.
    pub created: i64,
    pub kind: ModelKind,
    /// Name of the character, or of the endpoint.
    pub about: String,
}

/// Kind of a model that the API lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelKind {
    Character,
    Local,
    Endpoint,
    Embeddings,
}

/// Role of a client's message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientRole {
    System,
    User,
    Assistant,
    Tool,
}

/// A message of a client.
#[derive(Debug, Clone, PartialEq)]
pub struct ClientMessage {
    pub role: ClientRole,
    pub text: String,
    /// `data:` URIs.
    pub pictures: Vec<String>,
    /// Calls of an assistant's message, each with an id.
    pub calls: Vec<ToolCall>,
    /// The result that a tool's message reports.
    pub result: Option<ToolResult>,
}

impl ClientMessage {
    pub fn new(role: ClientRole, text: impl Into<String>) -> Self {
        Self {
            role,
            text: text.into(),
            pictures: Vec::new(),
            calls: Vec::new(),
            result: None,
        }
    }
}

/// Options of a client for one reply.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClientOptions {
    /// System messages before the first other message.
    pub instructions: String,
    /// System messages after that.
    pub late_instructions: String,
    pub sampler: SamplerOptions,
    pub frequency_penalty: Option<f32>,
    pub presence_penalty: Option<f32>,
    pub logit_bias: Vec<LogitBias>,
    /// They end the reply and are not part of it.
    pub stop: Vec<String>,
    /// JSON Schema of the reply. Local models apply it as a grammar.
    pub json_schema: Option<String>,
    /// Number of alternatives to report for each token, if the model can; `None` reports no
    /// probabilities.
    pub top_logprobs: Option<u32>,
    /// Tools that the client runs.
    pub tools: Vec<ToolDefinition>,
    pub tool_choice: ToolChoice,
    /// The reply may contain at most one call.
    pub single_call: bool,
    /// The app runs its own tools for this reply, because it is stored.
    pub runs_tools: bool,
}

/// A request for one reply.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClientRequest {
    pub model: String,
    pub messages: Vec<ClientMessage>,
    pub options: ClientOptions,
    /// Id of the chat to continue, if the request names one.
    pub chat: Option<String>,
    /// Store a conversation that the request brings along.
    pub store: bool,
    /// The only message is the beginning of a text that the model continues.
    pub plain_text: bool,
}

/// Whether a local model failed because its grammar, or the JSON schema of the request, cannot be
/// used.
pub fn is_grammar_refused(error: &ApiError) -> bool {
    matches!(error, ApiError::Provider { class: ProviderClass::BadRequest, hint, .. }
        if hint.trim_end_matches('.').eq_ignore_ascii_case(local::GRAMMAR_HINT))
}

/// Why a reply ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyFinish {
    Stop,
    Length,
    ToolCalls,
    /// The content filter of a service ended the reply, or refused the request.
    ContentFilter,
}

/// Token counts of a reply; 0 if unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReplyUsage {
    pub prompt: u32,
    /// Prompt tokens from the cache of an earlier request.
    pub cached: u32,
    pub generated: u32,
}

/// End of a reply.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplyEnd {
    pub finish: ReplyFinish,
    pub usage: ReplyUsage,
    /// The text as it is stored, which scripts may have changed; `None` if it is what was streamed.
    pub text: Option<String>,
}

/// An event of a reply.
#[derive(Debug, Clone, PartialEq)]
pub enum ReplyEvent {
    /// Why there is no text yet. The text is for people.
    Waiting(String),
    /// In a group chat, the speaker of the text that follows. The text begins with the name.
    Speaker(ReplySpeaker),
    Text(String),
    Thoughts(String),
    /// The tokens of the text so far.
    Tokens(Vec<TokenChoice>),
    ToolCall(ToolCall),
    /// The last event.
    Ended(ReplyEnd),
}

/// A character that speaks in a group chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplySpeaker {
    pub name: String,
    /// Id of the message.
    pub message: MessageId,
}

/// Ids under which a reply is recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReplyPlace {
    /// The chat that the reply belongs to, if it is stored.
    pub chat: Option<ChatId>,
    pub message: Option<MessageId>,
    /// Id under which the X-ray finds the prompt.
    pub manifest: Option<String>,
    /// Name of the character.
    pub character: Option<String>,
}

/// A reply while it is written. Dropping it stops the model.
#[derive(Debug)]
pub struct ReplyStream {
    pub place: ReplyPlace,
    pub(crate) events: mpsc::Receiver<Result<ReplyEvent, ApiError>>,
    pub(crate) _stops: DropGuard,
}

impl ReplyStream {
    /// The next event; `None` after the last event or an error.
    pub async fn next(&mut self) -> Option<Result<ReplyEvent, ApiError>> {
        self.events.recv().await
    }
}

/// Vectors of texts.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedded {
    pub model: String,
    pub vectors: Vec<Vec<f32>>,
    pub tokens: u32,
}

/// Why a request was refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ClientError {
    #[error("The model `{name}` does not exist or you do not have access to it.")]
    UnknownModel {
        name: String,
        /// Similar names, best first.
        near: Vec<String>,
    },
    #[error("{0}")]
    Forbidden(String),
    /// A field of the request cannot be used with this model.
    #[error("{message}")]
    Field { param: String, message: String },
    #[error(transparent)]
    Failed(#[from] ApiError),
}
