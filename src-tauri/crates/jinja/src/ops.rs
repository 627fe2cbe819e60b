//! Operators with Python semantics.

use std::cmp::Ordering;
use std::rc::Rc;

use super::ast::{ComparisonOp, Op};
use super::meter::{Buffer, Meter};
use super::value::{ListValue, Value};
use crate::error::RenderError;

/// Equality as in Python: `1 == 1.0 == True`; texts, lists and maps compare by content.
pub(crate) fn equal(meter: &Meter, a: &Value, b: &Value) -> Result<bool, RenderError> {
    meter.spend(0)?;
    Ok(match (a, b) {
        (Value::Undefined, Value::Undefined) | (Value::None, Value::None) => true,
        (Value::Text(a), Value::Text(b)) => {
            meter.spend(a.len().min(b.len()))?;
            **a == **b
        }
        (Value::List(a), Value::List(b)) => {
            if a.len() != b.len() {
                return Ok(false);
            }
            for (a, b) in a.iter().zip(b.iter()) {
                if !equal(meter, a, b)? {
                    return Ok(false);
                }
            }
            true
        }
        (Value::Map(a), Value::Map(b)) => {
            if a.len() != b.len() {
                return Ok(false);
            }
            for (key, value) in a.iter() {
                match b.at(meter, key)? {
                    Some(other) if equal(meter, value, &other)? => {}
                    _ => return Ok(false),
                }
            }
            true
        }
        (Value::Function(a), Value::Function(b)) => a == b,
        _ => match (a.int(), b.int()) {
            (Some(a), Some(b)) => a == b,
            _ => matches!((a.float(), b.float()), (Some(a), Some(b)) if a == b),
        },
    })
}

/// Compares two numbers, texts or lists; other values have no order.
pub(crate) fn order(meter: &Meter, a: &Value, b: &Value) -> Result<Ordering, RenderError> {
    meter.spend(0)?;
    match (a, b) {
        (Value::Text(a), Value::Text(b)) => {
            meter.spend(a.len().min(b.len()))?;
            Ok(a.cmp(b))
        }
        (Value::List(a), Value::List(b)) => {
            for (a, b) in a.iter().zip(b.iter()) {
                match order(meter, a, b)? {
                    Ordering::Equal => {}
                    other => return Ok(other),
                }
            }
            Ok(a.len().cmp(&b.len()))
        }
        _ => match (a.int(), b.int()) {
            (Some(a), Some(b)) => Ok(a.cmp(&b)),
            _ => match (a.float(), b.float()) {
                (Some(a), Some(b)) => Ok(a.partial_cmp(&b).unwrap_or(Ordering::Equal)),
                _ => Err(RenderError::failed(format!(
                    "{} and {} have no order",
                    a.kind(),
                    b.kind()
                ))),
            },
        },
    }
}

pub(crate) fn compare(
    meter: &Rc<Meter>,
    comparison: ComparisonOp,
    a: &Value,
    b: &Value,
) -> Result<bool, RenderError> {
    Ok(match comparison {
        ComparisonOp::Eq => equal(meter, a, b)?,
        ComparisonOp::Ne => !equal(meter, a, b)?,
        ComparisonOp::Lt => order(meter, a, b)?.is_lt(),
        ComparisonOp::Le => order(meter, a, b)?.is_le(),
        ComparisonOp::Gt => order(meter, a, b)?.is_gt(),
        ComparisonOp::Ge => order(meter, a, b)?.is_ge(),
        ComparisonOp::In => contains(meter, b, a)?,
        ComparisonOp::NotIn => !contains(meter, b, a)?,
    })
}

pub(crate) fn contains(
    meter: &Meter,
    container: &Value,
    value: &Value,
) -> Result<bool, RenderError> {
    match container {
        Value::Undefined => Ok(false),
        Value::Text(text) => match value {
            Value::Text(part) => {
                meter.spend(text.len() + part.len())?;
                Ok(text.contains(&**part))
            }
            other => Err(RenderError::failed(format!(
                "{} cannot be in a text",
                other.kind()
            ))),
        },
        Value::List(list) => {
            for item in list.iter() {
                if equal(meter, item, value)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        Value::Map(map) => Ok(map.at(meter, value)?.is_some()),
        other => Err(RenderError::failed(format!(
            "{} cannot contain values",
            other.kind()
        ))),
    }
}

pub(crate) fn binary(
    meter: &Rc<Meter>,
    op: Op,
    a: &Value,
    b: &Value,
) -> Result<Value, RenderError> {
    match (op, a, b) {
        (Op::Add, Value::Text(a), Value::Text(b)) => {
            let mut out = Buffer::new(meter)?;
            out.push(a)?;
            out.push(b)?;
            Ok(Value::Text(out.into()))
        }
        (Op::Add, Value::List(a), Value::List(b)) => {
            joined(meter, [a, b].into_iter(), a.is_tuple() && b.is_tuple())
        }
        (Op::Mul, Value::Text(text), count) | (Op::Mul, count, Value::Text(text))
            if count.int().is_some() =>
        {
            let count = times(count);
            meter.room(text.len().saturating_mul(count))?;
            let mut out = Buffer::new(meter)?;
            out.push(&text.repeat(count))?;
            Ok(Value::Text(out.into()))
        }
        (Op::Mul, Value::List(list), count) | (Op::Mul, count, Value::List(list))
            if count.int().is_some() =>
        {
            let count = times(count);
            meter.room(list.len().saturating_mul(count).saturating_mul(64))?;
            joined(meter, std::iter::repeat_n(list, count), list.is_tuple())
        }
        (Op::Rem, Value::Text(pattern), value) => {
            crate::functions::printf::percent(meter, pattern, value)
        }
        _ => arithmetic(op, a, b),
    }
}

fn times(count: &Value) -> usize {
    count
        .int()
        .and_then(|count| usize::try_from(count).ok())
        .unwrap_or(0)
}

fn joined<'l>(
    meter: &Rc<Meter>,
    lists: impl Iterator<Item = &'l ListValue>,
    tuple: bool,
) -> Result<Value, RenderError> {
    let mut items = Vec::new();
    for list in lists {
        meter.spend(list.len() * 32)?;
        meter.room((items.len() + list.len()) * 32)?;
        items.extend(list.iter().cloned());
    }
    if tuple {
        Value::tuple(meter, items)
    } else {
        Value::list(meter, items)
    }
}

fn arithmetic(op: Op, a: &Value, b: &Value) -> Result<Value, RenderError> {
    let odd = || RenderError::failed(format!("cannot compute with {} and {}", a.kind(), b.kind()));
    if op != Op::Div
        && let (Some(a), Some(b)) = (a.int(), b.int())
    {
        return whole(op, a, b);
    }
    let (Some(a), Some(b)) = (a.float(), b.float()) else {
        return Err(odd());
    };
    if b == 0.0 && matches!(op, Op::Div | Op::FloorDiv | Op::Rem) {
        return Err(RenderError::failed("division by zero"));
    }
    Ok(Value::Float(match op {
        Op::Add => a + b,
        Op::Sub => a - b,
        Op::Mul => a * b,
        Op::Div => a / b,
        Op::FloorDiv => (a / b).floor(),
        Op::Rem => a - b * (a / b).floor(),
        Op::Pow => a.powf(b),
    }))
}

fn whole(op: Op, a: i64, b: i64) -> Result<Value, RenderError> {
    if b == 0 && matches!(op, Op::FloorDiv | Op::Rem) {
        return Err(RenderError::failed("division by zero"));
    }
    let result = match op {
        Op::Add => a.checked_add(b),
        Op::Sub => a.checked_sub(b),
        Op::Mul => a.checked_mul(b),
        Op::FloorDiv => a.checked_div(b).map(|q| {
            if a % b != 0 && (a < 0) != (b < 0) {
                q - 1
            } else {
                q
            }
        }),
        Op::Rem => a.checked_rem(b).map(|r| {
            if r != 0 && (r < 0) != (b < 0) {
                r + b
            } else {
                r
            }
        }),
        Op::Pow if b < 0 => return Ok(Value::Float((a as f64).powf(b as f64))),
        Op::Pow => u32::try_from(b).ok().and_then(|b| a.checked_pow(b)),
        Op::Div => None,
    };
    result
        .map(Value::Int)
        .ok_or_else(|| RenderError::failed("the result is too large"))
}

/// `[start:stop:step]` on texts and lists, as in Python.
pub(crate) fn slice(
    meter: &Rc<Meter>,
    value: &Value,
    parts: [Value; 3],
) -> Result<Value, RenderError> {
    let number = |part: &Value| match part {
        Value::None => Ok(None),
        other => other
            .int()
            .map(Some)
            .ok_or_else(|| RenderError::failed("a slice needs whole numbers")),
    };
    let [start, stop, step] = [number(&parts[0])?, number(&parts[1])?, number(&parts[2])?];
    let step = step.unwrap_or(1);
    match value {
        Value::Text(text) => {
            meter.spend(text.len())?;
            meter.room(text.len() * 8)?;
            let chars: Vec<char> = text.chars().collect();
            let mut out = Buffer::new(meter)?;
            for index in indices(chars.len(), start, stop, step)? {
                out.push_char(chars[index])?;
            }
            Ok(Value::Text(out.into()))
        }
        Value::List(list) => {
            let picked = indices(list.len(), start, stop, step)?;
            meter.spend(list.len())?;
            Value::list(meter, picked.map(|index| list[index].clone()).collect())
        }
        other => Err(RenderError::failed(format!(
            "{} cannot be sliced",
            other.kind()
        ))),
    }
}

fn indices(
    length: usize,
    start: Option<i64>,
    stop: Option<i64>,
    step: i64,
) -> Result<Box<dyn Iterator<Item = usize>>, RenderError> {
    let end = length as i64;
    let from_end = |at: i64| if at < 0 { at.saturating_add(end) } else { at };
    let width = usize::try_from(step.unsigned_abs()).unwrap_or(usize::MAX);
    match step {
        0 => Err(RenderError::failed("a slice's step cannot be zero")),
        1.. => {
            let start = start.map_or(0, from_end).clamp(0, end);
            let stop = stop.map_or(end, from_end).clamp(start, end);
            Ok(Box::new((start as usize..stop as usize).step_by(width)))
        }
        _ => {
            let start = start.map_or(end - 1, from_end).clamp(-1, end - 1);
            let stop = stop.map_or(-1, from_end).clamp(-1, start);
            Ok(Box::new(
                ((stop + 1) as usize..(start + 1) as usize)
                    .rev()
                    .step_by(width),
            ))
        }
    }
}
