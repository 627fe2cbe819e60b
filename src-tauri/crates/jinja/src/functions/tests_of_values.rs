//! The tests of `is`, such as `x is defined`.

use std::rc::Rc;

use super::args::Called;
use crate::ast::ComparisonOp;
use crate::error::RenderError;
use crate::meter::Meter;
use crate::ops;
use crate::value::Value;

/// Evaluates `value is name(args)`.
pub(crate) fn holds(
    meter: &Rc<Meter>,
    name: &str,
    value: &Value,
    called: &Called,
) -> Result<bool, RenderError> {
    let compared = |comparison| ops::compare(meter, comparison, value, called.need(0, "other")?);
    let whole = || {
        value
            .int()
            .ok_or_else(|| RenderError::failed(format!("{} is not a whole number", value.kind())))
    };
    Ok(match name {
        "defined" => !matches!(value, Value::Undefined),
        "undefined" => matches!(value, Value::Undefined),
        "none" => matches!(value, Value::None),
        "string" => matches!(value, Value::Text(_)),
        "mapping" => matches!(value, Value::Map(_)),
        "sequence" => matches!(
            value,
            Value::Text(_) | Value::List(_) | Value::Map(_) | Value::Undefined
        ),
        "iterable" => {
            matches!(
                value,
                Value::Text(_) | Value::List(_) | Value::Map(_) | Value::Undefined | Value::Loop(_)
            )
        }
        "number" => matches!(value, Value::Int(_) | Value::Float(_) | Value::Bool(_)),
        "integer" => matches!(value, Value::Int(_)),
        "float" => matches!(value, Value::Float(_)),
        "boolean" => matches!(value, Value::Bool(_)),
        "true" => matches!(value, Value::Bool(true)),
        "false" => matches!(value, Value::Bool(false)),
        "callable" => matches!(
            value,
            Value::Macro(_) | Value::Function(_) | Value::Caller(_)
        ),
        "odd" => whole()?.rem_euclid(2) == 1,
        "even" => whole()?.rem_euclid(2) == 0,
        "divisibleby" => match called.int(0, "num", 0)? {
            0 => return Err(RenderError::failed("division by zero")),
            divisor => whole()?.checked_rem(divisor) == Some(0),
        },
        "upper" => {
            text(value)?.chars().any(char::is_alphabetic)
                && !text(value)?.chars().any(char::is_lowercase)
        }
        "lower" => {
            text(value)?.chars().any(char::is_alphabetic)
                && !text(value)?.chars().any(char::is_uppercase)
        }
        "eq" | "equalto" | "sameas" => compared(ComparisonOp::Eq)?,
        "ne" => compared(ComparisonOp::Ne)?,
        "lt" | "lessthan" => compared(ComparisonOp::Lt)?,
        "le" => compared(ComparisonOp::Le)?,
        "gt" | "greaterthan" => compared(ComparisonOp::Gt)?,
        "ge" => compared(ComparisonOp::Ge)?,
        "in" => compared(ComparisonOp::In)?,
        "escaped" => false,
        other => {
            return Err(RenderError::failed(format!(
                "the test `{other}` is not supported in chat templates"
            )));
        }
    })
}

fn text(value: &Value) -> Result<&str, RenderError> {
    value
        .str()
        .ok_or_else(|| RenderError::failed(format!("{} is not a text", value.kind())))
}
