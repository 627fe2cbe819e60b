//! Fields of values by name.

use std::rc::Rc;

use crate::error::RenderError;
use crate::meter::Meter;
use crate::value::Loop;
use crate::value::Value;
use crate::value::ValueResult;

/// `value.name`
pub(crate) fn field(meter: &Rc<Meter>, value: &Value, name: &str) -> ValueResult {
    match value {
        Value::Map(map) => Ok(map.get(meter, name)?.unwrap_or(Value::Undefined)),
        Value::Namespace(fields) => Ok(fields
            .borrow()
            .get(name)
            .cloned()
            .unwrap_or(Value::Undefined)),
        Value::Loop(state) => Ok(loop_field(state, name)),
        Value::Stepper(stepper) => Ok(stepper.field(name)),
        // The pairs of `groupby`.
        Value::List(pair)
            if pair.is_tuple() && pair.len() == 2 && matches!(name, "grouper" | "list") =>
        {
            Ok(pair[usize::from(name == "list")].clone())
        }
        Value::Undefined => Err(RenderError::failed(format!(
            "an undefined value has no `{name}`"
        ))),
        _ => Ok(Value::Undefined),
    }
}

pub(super) fn loop_field(state: &Loop, name: &str) -> Value {
    let index = state.index.get();
    let length = state.items.len();
    let int = |value: usize| Value::Int(value as i64);
    let neighbour = |place: Option<usize>| place.and_then(|place| state.items.get(place)).cloned();
    match name {
        "index" => int(index + 1),
        "index0" => int(index),
        "revindex" => int(length - index),
        "revindex0" => int(length - index - 1),
        "first" => Value::Bool(index == 0),
        "last" => Value::Bool(index + 1 == length),
        "length" => int(length),
        "depth" => int(state.depth + 1),
        "depth0" => int(state.depth),
        "previtem" => neighbour(index.checked_sub(1)).unwrap_or(Value::Undefined),
        "nextitem" => neighbour(Some(index + 1)).unwrap_or(Value::Undefined),
        _ => Value::Undefined,
    }
}
