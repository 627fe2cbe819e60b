//! What a model asks for in place of words: a tool, by name, with arguments.

use std::collections::BTreeMap;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

/// One call of a tool, as the model wrote it (S3.4, S3.27).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// As the endpoint gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    pub name: String,
    pub arguments: Arguments,
}

/// The arguments of a call, word for word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "text", rename_all = "camelCase")]
pub enum Arguments {
    /// A JSON object.
    Object(String),
    /// Anything else: cut off, or never JSON.
    Malformed(String),
}

impl Arguments {
    /// Tells an object from anything else. Nothing at all is an object without members: many servers write nothing where a
    /// tool takes nothing.
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
    fn objects_are_told_from_what_is_none_and_both_are_kept_word_for_word() {
        for text in ["{}", "{ \"city\" : \"Oslo\" }", "{\"a\": {\"b\": [1, null]}}"] {
            assert_eq!(Arguments::read(text), Arguments::Object(text.to_owned()), "{text}");
        }
        for text in ["{\"city\": \"Os", "Oslo", "[1]", "7", "{} {}"] {
            assert_eq!(Arguments::read(text), Arguments::Malformed(text.to_owned()), "{text}");
        }
        assert_eq!(Arguments::read(" \n"), Arguments::Object("{}".to_owned()));
        assert!(!Arguments::read(&"[".repeat(100_000)).is_object(), "depth is no danger");
        assert!(Arguments::read(&format!("{{\"a\":{}1{}}}", "[".repeat(50_000), "]".repeat(50_000))).is_object());
    }
}
