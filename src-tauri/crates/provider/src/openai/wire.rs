//! What endpoints send, read leniently: everything may be missing, and what is not ours is skipped.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

/// One event of a stream, or the whole of a reply that was not streamed.
#[derive(Debug)]
pub(super) enum Payload {
    Chunk(Chunk),
    Error(ApiError),
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Chunk {
    pub(super) choices: Option<Vec<Choice>>,
    pub(super) usage: Option<WireUsage>,
    /// llama.cpp only.
    pub(super) timings: Option<WireTimings>,
    /// llama.cpp only, when asked for.
    pub(super) prompt_progress: Option<Progress>,
    error: Option<IgnoredAny>,
    message: Option<Content>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Choice {
    delta: Option<Delta>,
    /// Instead of `delta` in a reply that was not streamed.
    message: Option<Delta>,
    pub(super) finish_reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Delta {
    content: Option<Content>,
    /// Read by [`Calls`](super::calls::Calls).
    pub(super) tool_calls: Option<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<Value>),
    Other(IgnoredAny),
}

impl Choice {
    pub(super) fn into_delta(self) -> Delta {
        self.delta.or(self.message).unwrap_or_default()
    }
}

impl Delta {
    /// Its text, the text parts of several joined; never empty (S3.27).
    pub(super) fn take_text(&mut self) -> Option<String> {
        let text = match self.content.take()? {
            Content::Text(text) => text,
            Content::Parts(parts) => parts.iter().filter_map(text_part).collect(),
            Content::Other(IgnoredAny) => return None,
        };
        (!text.is_empty()).then_some(text)
    }
}

fn text_part(part: &Value) -> Option<&str> {
    matches!(part["type"].as_str(), Some("text" | "output_text")).then(|| part["text"].as_str()).flatten()
}

/// Numbers are read as `f64`: some endpoints write `12.0`, and a wild value saturates instead of failing.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WireUsage {
    pub(super) prompt_tokens: Option<f64>,
    pub(super) completion_tokens: Option<f64>,
    pub(super) prompt_tokens_details: Option<PromptDetails>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct PromptDetails {
    pub(super) cached_tokens: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WireTimings {
    pub(super) cache_n: Option<f64>,
    pub(super) prompt_n: Option<f64>,
    pub(super) prompt_ms: Option<f64>,
    pub(super) predicted_n: Option<f64>,
    pub(super) predicted_ms: Option<f64>,
}

/// `processed` includes `cache`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Progress {
    pub(super) total: f64,
    pub(super) cache: f64,
    pub(super) processed: f64,
}

/// Reads one payload.
pub(super) fn parse(data: &str) -> Result<Payload, serde_json::Error> {
    let chunk: Chunk = serde_json::from_str(data)?;
    // An error has no choices, and comes wrapped in `error` or bare.
    if chunk.error.is_some() || (chunk.choices.is_none() && matches!(chunk.message, Some(Content::Text(_)))) {
        return Ok(Payload::Error(ApiError::of(&serde_json::from_str(data)?)));
    }
    Ok(Payload::Chunk(chunk))
}

/// An endpoint's own account of a failure.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ApiError {
    pub(super) message: String,
    /// `type` and `code` in words, joined.
    pub(super) class: String,
    /// An HTTP status that stands in the body.
    pub(super) status: Option<u16>,
    /// Tokens of the prompt, where the prompt is too long.
    pub(super) needed: Option<u64>,
    /// Tokens that the model takes, where the prompt is too long.
    pub(super) limit: Option<u64>,
}

impl ApiError {
    /// Reads an error's body; text that is no JSON is taken as the message, a web page says nothing.
    pub(super) fn read(body: &str) -> Self {
        match serde_json::from_str::<Value>(body) {
            Ok(value) => Self::of(&value),
            Err(_) if body.trim_start().starts_with('<') => Self::default(),
            Err(_) => Self { message: body.to_owned(), ..Self::default() },
        }
    }

    fn of(body: &Value) -> Self {
        let error = body.get("error").filter(|error| !error.is_null()).unwrap_or(body);
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let message = text(error)
            .or_else(|| text(&error["message"]))
            .or_else(|| text(&body["message"]))
            .or_else(|| text(&body["detail"]))
            .or_else(|| text(&body["detail"][0]["msg"]))
            .unwrap_or_default();
        let words = [&error["type"], &error["code"]].into_iter().filter_map(Value::as_str);
        let status = error["code"].as_u64().or_else(|| error["code"].as_str()?.parse().ok());
        Self {
            message,
            class: words.collect::<Vec<_>>().join(" "),
            status: status.and_then(|code| u16::try_from(code).ok()).filter(|code| (400..600).contains(code)),
            needed: error["n_prompt_tokens"].as_u64(),
            limit: error["n_ctx"].as_u64(),
        }
    }

    /// Whether the prompt was too long, in the words of the endpoints that are known.
    pub(super) fn is_overflow(&self) -> bool {
        const CLASSES: [&str; 3] = ["exceed_context_size", "context_length_exceeded", "context_exceeded"];
        const WORDS: [&str; 6] = [
            "context length",
            "context size",
            "context window",
            "maximum context",
            "prompt is too long",
            "input is too long",
        ];
        let message = self.message.to_lowercase();
        CLASSES.iter().any(|class| self.class.contains(class)) || WORDS.iter().any(|words| message.contains(words))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(data: &str) -> Option<String> {
        match parse(data).unwrap() {
            Payload::Chunk(chunk) => chunk.choices.unwrap_or_default().into_iter().next()?.into_delta().take_text(),
            Payload::Error(error) => Some(format!("error: {}", error.message)),
        }
    }

    #[test]
    fn text_is_found_and_all_else_is_skipped() {
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
    fn errors_are_read_in_every_known_form() {
        let llama = r#"{"error":{"code":400,"message":"request (3031 tokens) exceeds the available context size (1024
            tokens)","type":"exceed_context_size_error","n_prompt_tokens":3031,"n_ctx":1024}}"#;
        let error = ApiError::read(&llama.replace('\n', " "));
        assert!(error.is_overflow());
        assert_eq!((error.needed, error.limit, error.status), (Some(3031), Some(1024), Some(400)));

        let fastapi =
            ApiError::read(r#"{"detail":[{"loc":["body"],"msg":"Field required","input":{"messages":"a"}}]}"#);
        assert_eq!(fastapi.message, "Field required");
        assert_eq!(ApiError::read("<html>Bad gateway</html>").message, "");
        assert_eq!(ApiError::read("upstream gone").message, "upstream gone");
        assert!(ApiError::read(r#"{"error":{"code":"context_length_exceeded"}}"#).is_overflow());
    }
}
