//! Lenient parser for endpoint payloads. Any field may be missing or have another type, and unknown
//! fields are ignored.

use serde_json::Value;

use crate::endpoint::api_error::{EndpointError, number};
use crate::endpoint::stream::chunk::{
    PictureCount, PromptProgress, StreamChunk, TextPiece, ThoughtPiece, Unreadable, WireTimings,
    WireUsage, end, object,
};
use crate::endpoint::stream::lenient::{self, ParsedChunk};

/// Parses one payload.
pub(crate) fn parse(data: &str) -> Result<StreamChunk, Unreadable> {
    let ParsedChunk {
        mut value,
        has_surrogates: halves,
    } = object(data)?;
    let usage = usage(&value["usage"]).or_else(|| usage(&value["choices"][0]["usage"]));
    let timings = timings(&value["timings"]);
    let progress = progress(&value["prompt_progress"]);
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
        take(&mut chunk, choice);
    }
    Ok(chunk)
}

/// Returns the choice with index 0, else the first one. Requests ask for one choice, but servers
/// number it as they like.
fn choice(choices: Value) -> Option<Value> {
    let Value::Array(choices) = choices else {
        return None;
    };
    let mut choices: Vec<Value> = choices.into_iter().filter(Value::is_object).collect();
    let first = choices
        .iter()
        .position(|choice| number(&choice["index"]).unwrap_or(0.0) == 0.0);
    (!choices.is_empty()).then(|| choices.swap_remove(first.unwrap_or(0)))
}

fn take(chunk: &mut StreamChunk, mut choice: Value) {
    let mut delta = choice["delta"].take();
    let mut message = choice["message"].take();
    chunk
        .thoughts
        .extend(thoughts(&delta).map(ThoughtPiece::Delta));
    chunk
        .thoughts
        .extend(thoughts(&message).map(ThoughtPiece::Whole));
    if chunk.thoughts.is_empty() && (thinks(&delta) || thinks(&message)) {
        chunk.thoughts.push(ThoughtPiece::Hidden);
    }
    let new = pictures(&delta);
    let all = pictures(&message);
    chunk.pictures = PictureCount {
        count: if new > 0 { new } else { all },
        whole: new == 0 && all > 0,
    };
    chunk.end = end(&choice["finish_reason"]);
    let tools = [&mut delta, &mut message]
        .into_iter()
        .map(|part| part.get_mut("tool_calls").map(Value::take));
    chunk.tool_calls = tools.flatten().find(Value::is_array);
    if let Some(tools) = chunk.tool_calls.as_mut().filter(|_| chunk.has_surrogates) {
        lenient::replace_lone_surrogates(tools);
    }
    let of_delta = match delta {
        Value::String(_) => text(delta),
        mut delta => delta.get_mut("content").map(Value::take).and_then(text),
    };
    let of_message = || {
        message
            .get_mut("content")
            .map(Value::take)
            .and_then(text)
            .map(TextPiece::Message)
    };
    let of_text = |choice: &mut Value| text(choice["text"].take()).map(TextPiece::Delta);
    chunk.text = of_delta
        .map(TextPiece::Delta)
        .or_else(of_message)
        .or_else(|| of_text(&mut choice));
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

/// Counts the pictures of a delta or a message: those of OpenRouter's `images`, and parts of the
/// content.
fn pictures(part: &Value) -> usize {
    let is_picture = |part: &&Value| {
        let kind = part["type"].as_str().unwrap_or_default();
        kind.contains("image") || part.get("image_url").is_some() || part.get("b64_json").is_some()
    };
    let listed = part["images"].as_array().map_or(0, Vec::len);
    let parts = match &part["content"] {
        Value::Array(parts) => parts.iter().filter(is_picture).count(),
        part @ Value::Object(_) => usize::from(is_picture(&part)),
        _ => 0,
    };
    listed.max(parts)
}

/// Deepest nesting of thoughts.
const THOUGHT_DEPTH: usize = 4;

/// Fields of a delta or a message that hold thoughts.
const THOUGHTS: [&str; 5] = [
    "reasoning_content",
    "reasoning",
    "reasoning_details",
    "thinking",
    "thoughts",
];

/// Whether a delta or a message contains thoughts, even without a text.
fn thinks(part: &Value) -> bool {
    let holds = |value: &Value| match value {
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    };
    let mut parts = part["content"].as_array().into_iter().flatten();
    THOUGHTS
        .iter()
        .any(|field| part.get(*field).is_some_and(holds))
        || parts.any(|part| matches!(part["type"].as_str(), Some("thinking" | "reasoning")))
}

/// Returns the thoughts of a delta or a message; never empty. Servers repeat them in several
/// fields, so the first counts.
fn thoughts(part: &Value) -> Option<String> {
    let of_field = THOUGHTS
        .iter()
        .find_map(|field| thought_text(part.get(*field)?, THOUGHT_DEPTH));
    of_field.or_else(|| {
        let parts = part["content"].as_array()?.iter();
        let thoughts =
            parts.filter(|part| matches!(part["type"].as_str(), Some("thinking" | "reasoning")));
        let text: String = thoughts
            .filter_map(|part| thought_text(part, THOUGHT_DEPTH))
            .collect();
        (!text.is_empty()).then_some(text)
    })
}

fn thought_text(value: &Value, depth: usize) -> Option<String> {
    let depth = depth.checked_sub(1)?;
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items
            .iter()
            .filter_map(|item| thought_text(item, depth))
            .collect(),
        Value::Object(fields) => {
            let texts = ["text", "thinking", "summary", "reasoning", "content"];
            texts
                .iter()
                .find_map(|key| thought_text(fields.get(*key)?, depth))?
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => return None,
    };
    (!text.is_empty()).then_some(text)
}

fn usage(usage: &Value) -> Option<WireUsage> {
    let usage = usage.as_object()?;
    let count = |names: &[&str]| {
        names
            .iter()
            .find_map(|name| usage.get(*name).and_then(number))
    };
    let details = usage
        .get("prompt_tokens_details")
        .and_then(|details| details.get("cached_tokens"));
    Some(WireUsage {
        prompt: count(&["prompt_tokens", "input_tokens"]),
        cached: details
            .and_then(number)
            .or_else(|| count(&["prompt_cache_hit_tokens"])),
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
    Some(PromptProgress {
        total: of("total")?,
        cache: of("cache").unwrap_or(0.0),
        processed: of("processed")?,
    })
}

#[cfg(test)]
mod tests;
