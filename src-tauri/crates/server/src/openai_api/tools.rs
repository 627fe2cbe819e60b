//! Reads the tools that a client offers, and writes the calls of a reply.

use domain::{ToolArguments, ToolCall, ToolDefinition};
use serde_json::{Value, json};

use super::error::Fault;
use super::fields::Fields;

const MAX_TOOLS: usize = 128;

/// The tools, and whether the model must answer with text.
pub(super) fn definitions(fields: &Fields) -> Result<(Vec<ToolDefinition>, bool), Fault> {
    let wrong = || Fault::field("tools", "`tools` must be a list of functions, each with a name.");
    let tools = match fields.get("tools") {
        None => Vec::new(),
        Some(Value::Array(tools)) if tools.len() <= MAX_TOOLS => {
            tools.iter().map(|tool| definition(tool).ok_or_else(wrong)).collect::<Result<_, _>>()?
        }
        Some(_) => return Err(wrong()),
    };
    Ok((tools, is_forbidden(fields)?))
}

fn definition(tool: &Value) -> Option<ToolDefinition> {
    let function = tool["type"].as_str().filter(|kind| *kind == "function").and(tool.get("function"))?;
    let name = function["name"].as_str().filter(|name| is_name(name))?;
    let parameters = match &function["parameters"] {
        Value::Null => json!({ "type": "object", "properties": {} }),
        parameters => parameters.is_object().then(|| parameters.clone())?,
    };
    let description = function["description"].as_str().unwrap_or_default().to_owned();
    Some(ToolDefinition { name: name.to_owned(), description, parameters })
}

fn is_name(name: &str) -> bool {
    let allowed = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    (1..=64).contains(&name.len()) && name.chars().all(allowed)
}

/// Whether the client forbids calls. A call cannot be forced, so a request for it is refused.
fn is_forbidden(fields: &Fields) -> Result<bool, Fault> {
    match fields.get("tool_choice") {
        None => Ok(false),
        Some(Value::String(choice)) if choice == "auto" => Ok(false),
        Some(Value::String(choice)) if choice == "none" => Ok(true),
        Some(_) => {
            let message = "`tool_choice` must be `auto` or `none`: a model here cannot be forced to call a tool.";
            Err(Fault::unsupported("tool_choice", message))
        }
    }
}

/// The calls of an assistant's message. A missing id is made up from its place.
pub(super) fn calls(value: &Value, place: usize) -> Option<Vec<ToolCall>> {
    let calls = match value {
        Value::Null => return Some(Vec::new()),
        Value::Array(calls) => calls,
        _ => return None,
    };
    let call = |(index, call): (usize, &Value)| {
        let function = &call["function"];
        let id = call["id"].as_str().filter(|id| !id.is_empty());
        let arguments = match &function["arguments"] {
            Value::String(text) => ToolArguments::read(text),
            Value::Null => ToolArguments::read(""),
            value => ToolArguments::read(&value.to_string()),
        };
        Some(ToolCall {
            id: Some(id.map_or_else(|| format!("call_{place}_{index}"), str::to_owned)),
            name: function["name"].as_str()?.to_owned(),
            arguments,
        })
    };
    calls.iter().enumerate().map(call).collect()
}

/// A call as OpenAI writes it.
pub(super) fn shown(call: &ToolCall, index: usize, reply: &str) -> Value {
    let id = call.id.clone().unwrap_or_else(|| format!("call_{reply}_{index}"));
    let function = json!({ "name": call.name, "arguments": call.arguments.text() });
    json!({ "id": id, "type": "function", "function": function })
}
