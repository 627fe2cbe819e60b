//! Events of one reply.

use domain::token_choice::TokenChoice;
use domain::{SignedThought, ToolCall};
use serde::{Deserialize, Serialize};

/// Why the reply ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FinishReason {
    /// The model ended its turn, or a stop text matched.
    Stop,
    /// `max_tokens` was reached.
    Length,
    /// The caller cancelled.
    Cancelled,
}

/// Token counts of a finished request. `None` if the endpoint does not report a count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the whole prompt.
    pub prompt: Option<u32>,
    /// Prompt tokens reused from the cache of an earlier request.
    pub reused: Option<u32>,
    /// Prompt tokens that were processed: `prompt - reused`.
    pub evaluated: Option<u32>,
    pub generated: Option<u32>,
}

/// Durations in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Timings {
    /// Prompt processing.
    pub prefill_ms: f64,
    /// Text generation.
    pub decode_ms: f64,
    /// From the request to the first text.
    pub first_text_ms: f64,
}

/// Events of one reply, in order.
#[derive(Debug, Clone, PartialEq)]
pub enum GenerationEvent {
    /// The model is busy with another request.
    Queued,
    /// The model is loading; 0 to 1.
    Loading { fraction: f32 },
    /// `done` of `total` prompt tokens are processed; the first `reused` came from the cache.
    Prefill { done: u32, total: u32, reused: u32 },
    /// A piece of the reply, of one or more tokens; it never splits a character.
    Text(String),
    /// A piece of the model's thoughts, which are no part of the reply. Some services send them
    /// apart from the text.
    Thoughts(String),
    /// A thought that the service demands back with the results of the calls. Sent before the
    /// calls.
    SignedThought(SignedThought),
    /// The probabilities of the tokens of the text so far, if the request wants them. Only local
    /// models report them.
    Choices(Vec<TokenChoice>),
    /// A complete tool call, sent after all text. The provider never runs it.
    ToolCall(ToolCall),
    /// The request failed before its first token and will be sent again after `after_ms`.
    Retrying {
        attempt: u32,
        after_ms: u64,
        why: String,
    },
    /// Nothing has arrived for `seconds`; the request continues.
    Stalled { seconds: u32 },
    /// The last event.
    Finished {
        reason: FinishReason,
        usage: Usage,
        timings: Timings,
    },
}
