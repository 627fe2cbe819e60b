//! Tools: their definitions, the calls in a model's reply, and the results.

use std::collections::BTreeMap;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

/// A tool that a model may call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolDefinition {
    /// `[a-zA-Z0-9_-]`, 1 to 64 characters: the rule that all providers share.
    pub name: String,
    pub description: String,
    /// JSON Schema of an object.
    pub parameters: serde_json::Value,
}

/// The result of one call. It is text for the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    /// [`ToolCall::id`] of the call.
    pub call_id: String,
    pub text: String,
    /// The tool failed, was refused or does not exist; `text` gives the reason.
    #[serde(default)]
    pub error: bool,
}

/// One round of a reply: the model calls tools and receives their results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolRound {
    /// Text of the model before the calls, often empty.
    #[serde(default)]
    pub text: String,
    /// Never empty; each has an id.
    pub calls: Vec<ToolCall>,
    /// One for each call, in the same order.
    pub results: Vec<ToolResult>,
    /// The thoughts before the calls, with which the service continues.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub thoughts: Vec<SignedThought>,
}

/// A thought before calls, in the form in which its service demands it back with the results. Other
/// services get none of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum SignedThought {
    /// A block of thoughts with its signature (Anthropic).
    Block { text: String, signature: String },
    /// Encrypted thoughts (Anthropic).
    Redacted { data: String },
    /// Thoughts without a signature. Some services want them back as `reasoning_content`
    /// (DeepSeek).
    Plain { text: String },
    /// The signature of the call with this number in its round (Gemini).
    Call { number: usize, signature: String },
}

/// One tool call, as the model wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Id from the endpoint. A round generates one where it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    pub name: String,
    pub arguments: ToolArguments,
}

/// The arguments of a call, verbatim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "text", rename_all = "camelCase")]
pub enum ToolArguments {
    /// A JSON object.
    Object(String),
    /// Anything else, such as incomplete JSON.
    Malformed(String),
}

impl ToolArguments {
    /// Detects whether the text is a JSON object. An empty text is treated as an empty object,
    /// because many servers send nothing for a tool without arguments.
    pub fn read(text: &str) -> Self {
        if text.trim().is_empty() {
            return Self::Object("{}".to_owned());
        }
        match serde_json::from_str::<BTreeMap<String, IgnoredAny>>(text) {
            Ok(_) => Self::Object(text.to_owned()),
            Err(_) => Self::Malformed(text.to_owned()),
        }
    }

    pub fn text(&self) -> &str {
        match self {
            Self::Object(text) | Self::Malformed(text) => text,
        }
    }

    pub fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detects_objects_and_keeps_arguments_verbatim() {
        for text in [
            "{}",
            "{ \"city\" : \"Oslo\" }",
            "{\"a\": {\"b\": [1, null]}}",
        ] {
            assert_eq!(
                ToolArguments::read(text),
                ToolArguments::Object(text.to_owned()),
                "{text}"
            );
        }
        for text in ["{\"city\": \"Os", "Oslo", "[1]", "7", "{} {}"] {
            assert_eq!(
                ToolArguments::read(text),
                ToolArguments::Malformed(text.to_owned()),
                "{text}"
            );
        }
        assert_eq!(
            ToolArguments::read(" \n"),
            ToolArguments::Object("{}".to_owned())
        );
        assert!(
            !ToolArguments::read(&"[".repeat(100_000)).is_object(),
            "deep nesting is safe"
        );
        assert!(
            ToolArguments::read(&format!(
                "{{\"a\":{}1{}}}",
                "[".repeat(50_000),
                "]".repeat(50_000)
            ))
            .is_object()
        );
    }
}
