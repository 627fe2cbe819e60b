//! The trait of the app's own tools, and parts of their descriptions.

use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};

use crate::base::error::ApiResult;
use crate::base::tool_source::{SourceTool, ToolOutput};

/// One tool of the app, ready for a turn.
pub(super) trait BuiltIn: Send + Sync {
    fn tool(&self) -> SourceTool;
    fn run<'a>(&'a self, arguments: &'a Map<String, Value>)
    -> BoxFuture<'a, ApiResult<ToolOutput>>;
}

/// A tool that reads this chat and runs without a question.
pub(super) fn reading(name: &str, description: &str, parameters: Value) -> SourceTool {
    let name = name.to_owned();
    let description = description.to_owned();
    SourceTool {
        name,
        model_name: None,
        description,
        parameters,
        reads_only: true,
        harmless: true,
    }
}

/// A tool that changes something, so the user is asked.
pub(super) fn changing(name: &str, description: &str, parameters: Value) -> SourceTool {
    SourceTool {
        reads_only: false,
        harmless: false,
        ..reading(name, description, parameters)
    }
}

/// The schema of an object whose properties are all required.
pub(super) fn object(properties: Value) -> Value {
    let required: Vec<&String> = properties
        .as_object()
        .into_iter()
        .flat_map(Map::keys)
        .collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

/// A text among the arguments, without spaces around it; empty if it is missing.
pub(super) fn text<'a>(arguments: &'a Map<String, Value>, name: &str) -> &'a str {
    arguments
        .get(name)
        .and_then(Value::as_str)
        .unwrap_or_default()
        .trim()
}
