//! Reads the tools that a client offers, and writes the calls of a reply.

use domain::prompt::ToolChoice;
use domain::{ToolArguments, ToolCall, ToolDefinition};
use serde_json::{Value, json};

use super::error::Fault;
use super::fields::Fields;

const MAX_TOOLS: usize = 128;

/// The tools of a request and their use.
pub(super) struct ToolFields {
    pub(super) definitions: Vec<ToolDefinition>,
    pub(super) choice: ToolChoice,
    /// The reply may contain at most one call.
    pub(super) single_call: bool,
}

pub(super) fn read(fields: &Fields) -> Result<ToolFields, Fault> {
    let definitions = definitions(fields)?;
    let choice = choice(fields, &definitions)?;
    let single_call =
        fields.get("parallel_tool_calls").is_some() && !fields.flag("parallel_tool_calls")?;
    Ok(ToolFields {
        definitions,
        choice,
        single_call,
    })
}

fn definitions(fields: &Fields) -> Result<Vec<ToolDefinition>, Fault> {
    let wrong = || {
        Fault::field(
            "tools",
            "`tools` must be a list of functions, each with a name.",
        )
    };
    match fields.get("tools") {
        None => Ok(Vec::new()),
        Some(Value::Array(tools)) if tools.len() <= MAX_TOOLS => tools
            .iter()
            .map(|tool| definition(tool).ok_or_else(wrong))
            .collect(),
        Some(_) => Err(wrong()),
    }
}

fn definition(tool: &Value) -> Option<ToolDefinition> {
    let function = tool["type"]
        .as_str()
        .filter(|kind| *kind == "function")
        .and(tool.get("function"))?;
    let name = function["name"].as_str().filter(|name| is_name(name))?;
    let parameters = match &function["parameters"] {
        Value::Null => json!({ "type": "object", "properties": {} }),
        parameters => parameters.is_object().then(|| parameters.clone())?,
    };
    let description = function["description"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    Some(ToolDefinition {
        name: name.to_owned(),
        description,
        parameters,
    })
}

fn is_name(name: &str) -> bool {
    let allowed = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    (1..=64).contains(&name.len()) && name.chars().all(allowed)
}

/// The calls that the client wants. A demanded tool must be among those that it offers.
fn choice(fields: &Fields, definitions: &[ToolDefinition]) -> Result<ToolChoice, Fault> {
    let Some(value) = fields.get("tool_choice") else {
        return Ok(ToolChoice::Auto);
    };
    let name = (value["type"] == "function")
        .then(|| value["function"]["name"].as_str())
        .flatten();
    match (value.as_str(), name) {
        (Some("auto"), _) => Ok(ToolChoice::Auto),
        (Some("none"), _) => Ok(ToolChoice::Never),
        (Some("required"), _) if !definitions.is_empty() => Ok(ToolChoice::Required),
        (_, Some(name)) if definitions.iter().any(|tool| tool.name == name) => {
            Ok(ToolChoice::Named(name.to_owned()))
        }
        (Some("required"), _) | (_, Some(_)) => Err(Fault::field(
            "tool_choice",
            "`tool_choice` demands a tool that is not in `tools`.",
        )),
        _ => {
            let message =
                "`tool_choice` must be `auto`, `none`, `required` or a function with its name.";
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
    let id = call
        .id
        .clone()
        .unwrap_or_else(|| format!("call_{reply}_{index}"));
    let function = json!({ "name": call.name, "arguments": call.arguments.text() });
    json!({ "id": id, "type": "function", "function": function })
}
