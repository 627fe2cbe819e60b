//! Lenient parser for endpoint payloads. Any field may be missing or have another type, and unknown fields are ignored.

use serde_json::Value;

use super::api_error::{EndpointError, number};
use super::lenient::{self, ParsedChunk};

/// One stream event, or a complete reply that was not streamed.
#[derive(Debug, Default)]
pub(super) struct StreamChunk {
    /// The payload has choices, so it is part of a reply.
    pub(super) replies: bool,
    pub(super) text: Option<TextPiece>,
    /// The text may contain surrogates whose pair is split across chunks.
    pub(super) has_surrogates: bool,
    /// The payload contains thoughts outside its text.
    pub(super) thinks: bool,
    /// Parsed by [`ToolCallAssembler`](super::tool_calls::ToolCallAssembler).
    pub(super) tool_calls: Option<Value>,
    pub(super) end: Option<End>,
    pub(super) usage: Option<WireUsage>,
    /// llama.cpp only.
    pub(super) timings: Option<WireTimings>,
    /// llama.cpp only, on request.
    pub(super) progress: Option<PromptProgress>,
    /// A failure that the event reports in addition to other content.
    pub(super) error: Option<EndpointError>,
}

/// Text and its kind; never empty.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TextPiece {
    Delta(String),
    /// From a `message`: the whole reply, even if its pieces came before.
    Message(String),
}

impl TextPiece {
    pub(super) fn len(&self) -> usize {
        let (Self::Delta(text) | Self::Message(text)) = self;
        text.len()
    }
}

/// Finish reason reported by the endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Stop,
    Length,
    /// A content filter removed the rest.
    Filtered,
    Failed,
    /// An unknown reason. The reply may have ended.
    Unknown,
}

/// Token counts.
#[derive(Debug, Default, PartialEq)]
pub(super) struct WireUsage {
    pub(super) prompt: Option<f64>,
    pub(super) cached: Option<f64>,
    pub(super) generated: Option<f64>,
}

#[derive(Debug, Default, PartialEq)]
pub(super) struct WireTimings {
    pub(super) cache_n: Option<f64>,
    pub(super) prompt_n: Option<f64>,
    pub(super) prompt_ms: Option<f64>,
    pub(super) predicted_n: Option<f64>,
    pub(super) predicted_ms: Option<f64>,
}

/// `processed` includes `cache`.
#[derive(Debug, PartialEq)]
pub(super) struct PromptProgress {
    pub(super) total: f64,
    pub(super) cache: f64,
    pub(super) processed: f64,
}

/// Reason why an event cannot be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unreadable {
    /// The cause contains a position, but no text.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    #[error("{0}")]
    Shape(&'static str),
}

impl Unreadable {
    /// Whether the payload may be truncated.
    pub(super) fn is_cut(&self) -> bool {
        matches!(self, Self::Json(error) if error.is_eof())
    }
}

/// Parses one payload.
pub(super) fn parse(data: &str) -> Result<StreamChunk, Unreadable> {
    let ParsedChunk { mut value, has_surrogates: halves } = lenient::parse(data)?;
    if !value.is_object() {
        return Err(Unreadable::Shape("it is JSON, but not an object"));
    }
    let usage = usage(&value["usage"]).or_else(|| usage(&value["choices"][0]["usage"]));
    let (timings, progress) = (timings(&value["timings"]), progress(&value["prompt_progress"]));
    let replies = match &value["choices"] {
        Value::Null => false,
        Value::Array(choices) => !choices.is_empty(),
        _ => return Err(Unreadable::Shape("its choices are not a list")),
    };
    let error = EndpointError::within(&value, replies);
    let mut chunk = StreamChunk {
        replies: value["choices"].is_array(),
        has_surrogates: halves,
        usage,
        timings,
        progress,
        error,
        ..StreamChunk::default()
    };
    if let Some(choice) = choice(value["choices"].take()) {
        chunk.take(choice);
    }
    Ok(chunk)
}

/// Returns the choice with index 0, else the first one. Requests ask for one choice, but servers number it as they
/// like.
fn choice(choices: Value) -> Option<Value> {
    let Value::Array(choices) = choices else { return None };
    let mut choices: Vec<Value> = choices.into_iter().filter(Value::is_object).collect();
    let first = choices.iter().position(|choice| number(&choice["index"]).unwrap_or(0.0) == 0.0);
    (!choices.is_empty()).then(|| choices.swap_remove(first.unwrap_or(0)))
}

impl StreamChunk {
    fn take(&mut self, mut choice: Value) {
        let (mut delta, mut message) = (choice["delta"].take(), choice["message"].take());
        self.thinks = thinks(&delta) || thinks(&message);
        self.end = end(&choice["finish_reason"]);
        let tools = [&mut delta, &mut message].into_iter().map(|part| part.get_mut("tool_calls").map(Value::take));
        self.tool_calls = tools.flatten().find(Value::is_array);
        if let Some(tools) = self.tool_calls.as_mut().filter(|_| self.has_surrogates) {
            lenient::replace_lone_surrogates(tools);
        }
        let of_delta = match delta {
            Value::String(_) => text(delta),
            mut delta => delta.get_mut("content").map(Value::take).and_then(text),
        };
        let of_message = || message.get_mut("content").map(Value::take).and_then(text).map(TextPiece::Message);
        let of_text = |choice: &mut Value| text(choice["text"].take()).map(TextPiece::Delta);
        self.text = of_delta.map(TextPiece::Delta).or_else(of_message).or_else(|| of_text(&mut choice));
    }
}

/// Returns the text of a content value and joins its text parts; never empty.
fn text(content: Value) -> Option<String> {
    let text = match content {
        Value::String(text) => text,
        Value::Array(parts) => parts.into_iter().filter_map(text_part).collect(),
        part @ Value::Object(_) => text_part(part)?,
        Value::Null | Value::Bool(_) | Value::Number(_) => return None,
    };
    (!text.is_empty()).then_some(text)
}

fn text_part(mut part: Value) -> Option<String> {
    if let Value::String(text) = part {
        return Some(text);
    }
    let is_text = match part.get("type") {
        None => true,
        Some(kind) => matches!(kind.as_str(), Some("text" | "output_text")),
    };
    match part.get_mut("text").filter(|_| is_text)?.take() {
        Value::String(text) => Some(text),
        _ => None,
    }
}

fn thinks(part: &Value) -> bool {
    const FIELDS: [&str; 5] = ["reasoning_content", "reasoning", "reasoning_details", "thinking", "thoughts"];
    let holds = |value: &Value| match value {
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    };
    let mut parts = part["content"].as_array().into_iter().flatten();
    FIELDS.iter().any(|field| part.get(*field).is_some_and(holds))
        || parts.any(|part| matches!(part["type"].as_str(), Some("thinking" | "reasoning")))
}

/// Only known reasons end a reply, because some servers write an empty text or `"null"` into every chunk.
fn end(reason: &Value) -> Option<End> {
    let word = match reason {
        Value::String(word) => word.trim().to_ascii_lowercase(),
        Value::Object(fields) => {
            let named = ["type", "reason"].iter().find_map(|key| fields.get(*key)?.as_str());
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
        "stop" | "stopped" | "eos" | "eos_token" | "end_turn" | "end" | "endoftext" | "stop_sequence"
        | "stop_token" | "complete" | "completed" | "done" | "finish" | "finished" | "tool_calls" | "tool_call"
        | "tool_use" | "function_call" => Some(End::Stop),
        "length" | "max_tokens" | "max_output_tokens" | "max_length" | "model_length" | "token_limit" => {
            Some(End::Length)
        }
        "content_filter" | "content_filtered" | "safety" | "recitation" | "blocklist" | "prohibited_content"
        | "refusal" | "sensitive" => Some(End::Filtered),
        "error" | "failed" | "abort" | "aborted" | "cancelled" | "insufficient_system_resource" => Some(End::Failed),
        _ => Some(End::Unknown),
    }
}

fn usage(usage: &Value) -> Option<WireUsage> {
    let usage = usage.as_object()?;
    let count = |names: &[&str]| names.iter().find_map(|name| usage.get(*name).and_then(number));
    let details = usage.get("prompt_tokens_details").and_then(|details| details.get("cached_tokens"));
    Some(WireUsage {
        prompt: count(&["prompt_tokens", "input_tokens"]),
        cached: details.and_then(number).or_else(|| count(&["prompt_cache_hit_tokens"])),
        generated: count(&["completion_tokens", "output_tokens"]),
    })
}

fn timings(timings: &Value) -> Option<WireTimings> {
    let timings = timings.as_object()?;
    let of = |name: &str| timings.get(name).and_then(number);
    Some(WireTimings {
        cache_n: of("cache_n"),
        prompt_n: of("prompt_n"),
        prompt_ms: of("prompt_ms"),
        predicted_n: of("predicted_n"),
        predicted_ms: of("predicted_ms"),
    })
}

fn progress(progress: &Value) -> Option<PromptProgress> {
    let of = |name: &str| progress.get(name).and_then(number);
    Some(PromptProgress { total: of("total")?, cache: of("cache").unwrap_or(0.0), processed: of("processed")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(data: &str) -> Option<String> {
        let chunk = parse(data).unwrap();
        match (chunk.error, chunk.text) {
            (Some(error), _) => Some(format!("error: {}", error.message)),
            (None, said) => said.map(|(TextPiece::Delta(text) | TextPiece::Message(text))| text),
        }
    }

    #[test]
    fn finds_text_and_skips_the_rest() {
        for (data, expected) in [
            (r#"{"choices":[{"delta":{"content":"Hi"}}]}"#, Some("Hi")),
            (r#"{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}"#, Some("Hi")),
            (r#"{"choices":[{"delta":{"role":"assistant","content":null}}]}"#, None),
            (r#"{"choices":[{"delta":{"reasoning_content":"Hm."}}]}"#, None),
            (r#"{"choices":[{"delta":{"content":[{"type":"thinking"}]}}]}"#, None),
            (
                r#"{"choices":[{"delta":{"content":[{"type":"text","text":"H"},7,{"type":"text","text":"i"}]}}]}"#,
                Some("Hi"),
            ),
            (r#"{"choices":[{"delta":{"content":[{"type":"thinking","text":"Hm."},{"type":"text"}]}}]}"#, None),
            (r#"{"choices":[{"delta":{"content":{"type":"text","text":"Hi"}}}]}"#, Some("Hi")),
            (r#"{"choices":[{"delta":{"content":["H","i"]}}]}"#, Some("Hi")),
            (r#"{"choices":[{"delta":"Hi"}]}"#, Some("Hi")),
            (r#"{"choices":[{"text":"Hi"}]}"#, Some("Hi")),
            (r#"{"choices":[{"delta":null,"message":{"content":"Hi"}}]}"#, Some("Hi")),
            (r#"{"choices":[{"delta":[],"logprobs":7,"index":"0"}]}"#, None),
            (r#"{"choices":[null,{"delta":{"content":"Hi"}}]}"#, Some("Hi")),
            (r#"{"choices":[{"index":1,"delta":{"content":"No"}},{"index":0,"delta":{"content":"Hi"}}]}"#, Some("Hi")),
            (r#"{"choices":[{"index":1,"delta":{"content":"Hi"}}]}"#, Some("Hi")),
            (r#"{"choices":[],"usage":{"prompt_tokens":12.0},"error":null}"#, None),
            (r#"{"choices":null}"#, None),
            (r#"{"choices":[{"delta":{"content":"Hi"},"message":{"content":"Hi"}}]}"#, Some("Hi")),
            (r#"{"message":{"content":"of another API"}}"#, None),
            ("{}", None),
            (r#"{"error":{"message":"no"}}"#, Some("error: no")),
            (r#"{"error":"no"}"#, Some("error: no")),
            (r#"{"object":"error","message":"no","code":400}"#, Some("error: no")),
        ] {
            assert_eq!(text(data).as_deref(), expected, "{data}");
        }
        for data in ["", "42", "[1]", "{", r#"{"choices":7}"#, r#"{"choices":[{"delta":{"content":"#] {
            assert!(parse(data).is_err(), "{data}");
        }
    }

    #[test]
    fn odd_side_fields_do_not_end_a_reply() {
        for odd in [
            "null",
            "7",
            "-1e300",
            "\"9\"",
            "\"x\"",
            "true",
            "false",
            "[]",
            "[1]",
            "{}",
            "{\"a\":null}",
            "{\"prompt_tokens\":\"9\"}",
            "{\"prompt_tokens\":{}}",
        ] {
            for field in
                ["usage", "timings", "prompt_progress", "id", "created", "model", "service_tier", "system_fingerprint"]
            {
                let data = format!(
                    "{{\"choices\":[{{\"delta\":{{\"role\":{odd},\"content\":\"Hi\"}},\"logprobs\":{odd}}}],\"{field}\":{odd}}}"
                );
                assert_eq!(text(&data).as_deref(), Some("Hi"), "{data}");
                assert_eq!(parse(&data).unwrap().end, None, "{data}");
            }
        }
        let counts = parse(
            r#"{"choices":[],"usage":{"prompt_tokens":"9","completion_tokens":"3","prompt_tokens_details":null}}"#,
        )
        .unwrap();
        assert_eq!(counts.usage, Some(WireUsage { prompt: Some(9.0), cached: None, generated: Some(3.0) }));
    }

    #[test]
    fn only_known_reasons_end_a_reply() {
        for (reason, expected) in [
            ("null", None),
            ("\"\"", None),
            ("\"null\"", None),
            ("\" None \"", None),
            ("false", None),
            ("0", None),
            ("[]", None),
            ("{}", None),
            ("\"stop\"", Some(End::Stop)),
            ("\"STOP\"", Some(End::Stop)),
            ("{\"type\":\"eos_token\"}", Some(End::Stop)),
            ("\"MAX_TOKENS\"", Some(End::Length)),
            ("\"content_filter\"", Some(End::Filtered)),
            ("\"error\"", Some(End::Failed)),
            ("\"quokka\"", Some(End::Unknown)),
        ] {
            let data = format!("{{\"choices\":[{{\"delta\":{{}},\"finish_reason\":{reason}}}]}}");
            assert_eq!(parse(&data).unwrap().end, expected, "{reason}");
        }
    }
}
