//! Tools as chat templates see them, in the form that Hugging Face's `apply_chat_template` passes:
//! `tools`, `message.tool_calls`, `message.tool_call_id` and `message.name`.

use std::rc::Rc;

use super::meter::Meter;
use super::value::{MapValue, Value, ValueResult};
use crate::error::RenderError;

/// The tools of one render. All texts are passed as they are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolInput {
    pub definitions: Vec<ToolDefinitionInput>,
    /// Index of a message of the model, and its calls.
    pub calls: Vec<(usize, Vec<ToolCallInput>)>,
    /// Index of a message with a result, and the call that it answers.
    pub results: Vec<(usize, ToolCallInput)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolDefinitionInput {
    pub name: String,
    pub description: String,
    pub parameters: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCallInput {
    pub id: String,
    pub name: String,
    /// Unused for a result.
    pub arguments: String,
}

impl ToolInput {
    /// The variable `tools`. Without tools it is an empty list if `lists` is true, else none.
    pub(crate) fn definitions(&self, meter: &Rc<Meter>, lists: bool) -> ValueResult {
        if self.definitions.is_empty() && !lists {
            return Ok(Value::None);
        }
        let tool = |tool: &ToolDefinitionInput| {
            let fields = [
                ("name", &tool.name),
                ("description", &tool.description),
                ("parameters", &tool.parameters),
            ];
            map(
                meter,
                [
                    ("type", Value::text(meter, "function")?),
                    ("function", texts(meter, fields)?),
                ],
            )
        };
        Value::list(
            meter,
            self.definitions
                .iter()
                .map(tool)
                .collect::<Result<_, RenderError>>()?,
        )
    }

    /// The entries of message `index` in addition to role and content.
    pub(crate) fn of_message(
        &self,
        meter: &Rc<Meter>,
        index: usize,
    ) -> Result<Vec<(Value, Value)>, RenderError> {
        let mut entries = Vec::new();
        if let Some((_, calls)) = self.calls.iter().find(|(at, _)| *at == index) {
            let call = |call: &ToolCallInput| {
                let function = texts(
                    meter,
                    [("name", &call.name), ("arguments", &call.arguments)],
                )?;
                let kind = Value::text(meter, "function")?;
                let id = Value::text(meter, &call.id)?;
                map(meter, [("type", kind), ("id", id), ("function", function)])
            };
            let calls = calls.iter().map(call).collect::<Result<_, RenderError>>()?;
            entries.push((
                Value::text(meter, "tool_calls")?,
                Value::list(meter, calls)?,
            ));
        }
        if let Some((_, answered)) = self.results.iter().find(|(at, _)| *at == index) {
            for (key, text) in [("tool_call_id", &answered.id), ("name", &answered.name)] {
                entries.push((Value::text(meter, key)?, Value::text(meter, text)?));
            }
        }
        Ok(entries)
    }
}

fn texts<const N: usize>(meter: &Rc<Meter>, fields: [(&str, &String); N]) -> ValueResult {
    let mut entries = Vec::with_capacity(N);
    for (key, text) in fields {
        entries.push((Value::text(meter, key)?, Value::text(meter, text)?));
    }
    MapValue::new(meter, entries).map(Value::Map)
}

fn map<const N: usize>(meter: &Rc<Meter>, fields: [(&str, Value); N]) -> ValueResult {
    let mut entries = Vec::with_capacity(N);
    for (key, value) in fields {
        entries.push((Value::text(meter, key)?, value));
    }
    MapValue::new(meter, entries).map(Value::Map)
}
