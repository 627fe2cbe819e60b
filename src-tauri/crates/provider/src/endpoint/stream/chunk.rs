//! One piece of a reply, as every API reports it.

use serde_json::Value;

use super::lenient::{self, ParsedChunk};
use crate::endpoint::api_error::{EndpointError, number};

/// One stream event, or a complete reply that was not streamed.
#[derive(Debug, Default)]
pub(crate) struct StreamChunk {
    /// The payload is part of a reply.
    pub(crate) replies: bool,
    pub(crate) text: Option<TextPiece>,
    /// The text may contain surrogates whose pair is split across chunks.
    pub(crate) has_surrogates: bool,
    /// The piece contains pictures, which a reply cannot hold.
    pub(crate) pictures: PictureCount,
    /// Thoughts outside the text, in order.
    pub(crate) thoughts: Vec<ThoughtPiece>,
    /// Calls in the form of OpenAI's `tool_calls`, parsed by
    /// [`ToolCallAssembler`](super::tool_calls::ToolCallAssembler).
    pub(crate) tool_calls: Option<Value>,
    pub(crate) end: Option<End>,
    /// The content filter's own word for its reason.
    pub(crate) filter_reason: Option<String>,
    /// Nothing follows this event.
    pub(crate) last: bool,
    pub(crate) usage: Option<WireUsage>,
    /// llama.cpp and Ollama only.
    pub(crate) timings: Option<WireTimings>,
    /// llama.cpp only, on request.
    pub(crate) progress: Option<PromptProgress>,
    /// A failure that the event reports in addition to other content.
    pub(crate) error: Option<EndpointError>,
}

/// Number of pictures and whether they may have come before.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PictureCount {
    pub(crate) count: usize,
    /// From a `message`: all pictures of the reply, even if they came before.
    pub(crate) whole: bool,
}

/// Text and its kind; never empty.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TextPiece {
    Delta(String),
    /// From a `message`: the whole reply, even if its pieces came before.
    Message(String),
}

impl TextPiece {
    pub(crate) fn len(&self) -> usize {
        let (Self::Delta(text) | Self::Message(text)) = self;
        text.len()
    }

    /// `None` for an empty text.
    pub(crate) fn delta(text: String) -> Option<Self> {
        (!text.is_empty()).then_some(Self::Delta(text))
    }
}

/// A piece of the thoughts outside the text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ThoughtPiece {
    Delta(String),
    /// All thoughts, even if their pieces came before.
    Whole(String),
    /// A piece of the signature of the current block.
    Signature(String),
    /// A block of encrypted thoughts.
    Redacted(String),
    /// Thoughts without a text.
    Hidden,
}

impl ThoughtPiece {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Delta(text)
            | Self::Whole(text)
            | Self::Signature(text)
            | Self::Redacted(text) => text.len(),
            Self::Hidden => 0,
        }
    }

    /// `None` for an empty text.
    pub(crate) fn delta(text: String) -> Option<Self> {
        (!text.is_empty()).then_some(Self::Delta(text))
    }
}

/// Finish reason reported by the endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Stop,
    Length,
    /// A content filter removed the rest.
    Filtered,
    Failed,
    /// An unknown reason. The reply may have ended.
    Unknown,
}

/// Token counts. `prompt` includes `cached`.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct WireUsage {
    pub(crate) prompt: Option<f64>,
    pub(crate) cached: Option<f64>,
    pub(crate) generated: Option<f64>,
}

#[derive(Debug, Default, PartialEq)]
pub(crate) struct WireTimings {
    pub(crate) cache_n: Option<f64>,
    pub(crate) prompt_n: Option<f64>,
    pub(crate) prompt_ms: Option<f64>,
    pub(crate) predicted_n: Option<f64>,
    pub(crate) predicted_ms: Option<f64>,
}

/// `processed` includes `cache`.
#[derive(Debug, PartialEq)]
pub(crate) struct PromptProgress {
    pub(crate) total: f64,
    pub(crate) cache: f64,
    pub(crate) processed: f64,
}

/// Reason why an event cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unreadable {
    /// The cause contains a position, but no text.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    #[error("{0}")]
    Shape(&'static str),
}

impl Unreadable {
    /// Whether the payload may be truncated.
    pub(crate) fn is_cut(&self) -> bool {
        matches!(self, Self::Json(error) if error.is_eof())
    }
}

/// Parses a payload that must be a JSON object.
pub(crate) fn object(data: &str) -> Result<ParsedChunk, Unreadable> {
    let parsed = lenient::parse(data)?;
    if !parsed.value.is_object() {
        return Err(Unreadable::Shape("it is JSON, but not an object"));
    }
    Ok(parsed)
}

/// Reads a finish reason. Only known reasons end a reply, because some servers write an empty text
/// or `"null"` into every chunk.
pub(crate) fn end(reason: &Value) -> Option<End> {
    let word = match reason {
        Value::String(word) => word.trim().to_ascii_lowercase(),
        Value::Object(fields) => {
            let named = ["type", "reason"]
                .iter()
                .find_map(|key| fields.get(*key)?.as_str());
            named?.trim().to_ascii_lowercase()
        }
        _ => return None,
    };
    match word.as_str() {
        ""
        | "null"
        | "none"
        | "nil"
        | "undefined"
        | "false"
        | "true"
        | "unspecified"
        | "finish_reason_unspecified"
        | "in_progress"
        | "not_finished"
        | "continue" => None,
        "stop" | "stopped" | "eos" | "eos_token" | "end_turn" | "end" | "endoftext"
        | "stop_sequence" | "stop_token" | "complete" | "completed" | "done" | "finish"
        | "finished" | "tool_calls" | "tool_call" | "tool_use" | "function_call" => Some(End::Stop),
        "length"
        | "max_tokens"
        | "max_output_tokens"
        | "max_length"
        | "model_length"
        | "token_limit"
        | "model_context_window_exceeded" => Some(End::Length),
        "content_filter" | "content_filtered" | "safety" | "recitation" | "blocklist"
        | "prohibited_content" | "refusal" | "sensitive" | "spii" | "language" | "image_safety" => {
            Some(End::Filtered)
        }
        "error"
        | "failed"
        | "abort"
        | "aborted"
        | "cancelled"
        | "insufficient_system_resource"
        | "malformed_function_call"
        | "unexpected_tool_call"
        | "too_many_tool_calls" => Some(End::Failed),
        _ => Some(End::Unknown),
    }
}

/// Reads the first of `names` that holds a number.
pub(crate) fn count(fields: &Value, names: &[&str]) -> Option<f64> {
    names
        .iter()
        .find_map(|name| fields.get(*name).and_then(number))
}
