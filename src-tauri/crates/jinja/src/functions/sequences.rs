//! List filters.

use std::cmp::Ordering;
use std::rc::Rc;

use super::args::Called;
use super::{filters, groups, methods, tests_of_values};
use crate::error::RenderError;
use crate::field::field;
use crate::meter::Meter;
use crate::ops;
use crate::value::{ListValue, Value, ValueResult};

/// `value | name(args)`, or `None` if there is no such list filter.
pub(crate) fn apply(
    meter: &Rc<Meter>,
    name: &str,
    value: &Value,
    called: &Called,
) -> Result<Option<Value>, RenderError> {
    Ok(Some(match name {
        "list" => Value::List(value.items(meter)?),
        "first" => value
            .items(meter)?
            .first()
            .cloned()
            .unwrap_or(Value::Undefined),
        "last" => value
            .items(meter)?
            .last()
            .cloned()
            .unwrap_or(Value::Undefined),
        "reverse" => reverse(meter, value)?,
        "join" => join(meter, value, called)?,
        "items" => match value {
            Value::Map(map) => methods::pairs(meter, map)?,
            Value::Undefined => Value::list(meter, Vec::new())?,
            _ => return Err(RenderError::failed("`items` needs a map")),
        },
        "dictsort" => match value {
            Value::Map(map) => sorted(meter, &methods::pairs(meter, map)?, &Called::default())?,
            _ => return Err(RenderError::failed("`dictsort` needs a map")),
        },
        "attr" => field(meter, value, called.text(0, "name")?)?,
        "map" => mapped(meter, value, called)?,
        "select" | "reject" => chosen(meter, value, called, false, name == "select")?,
        "selectattr" | "rejectattr" => chosen(meter, value, called, true, name == "selectattr")?,
        "sort" => sorted(meter, value, called)?,
        "unique" => unique(meter, value)?,
        "min" | "max" => extreme(
            meter,
            value,
            if name == "min" {
                Ordering::Less
            } else {
                Ordering::Greater
            },
        )?,
        "sum" => {
            let mut sum = called.get(1, "start").cloned().unwrap_or(Value::Int(0));
            for item in value.items(meter)?.iter() {
                let item = match called.optional_text(0, "attribute")? {
                    Some(path) => attribute(meter, item, path)?,
                    None => item.clone(),
                };
                sum = ops::binary(meter, crate::ast::Op::Add, &sum, &item)?;
            }
            sum
        }
        "batch" => groups::batch(meter, value, called)?,
        "slice" => groups::slice(meter, value, called)?,
        "groupby" => groups::by_attribute(meter, value, called)?,
        _ => return Ok(None),
    }))
}

fn reverse(meter: &Rc<Meter>, value: &Value) -> ValueResult {
    if let Value::Text(text) = value {
        meter.spend(text.len())?;
        meter.room(text.len())?;
        return Value::text(meter, &text.chars().rev().collect::<String>());
    }
    Value::list(meter, value.items(meter)?.iter().rev().cloned().collect())
}

fn join(meter: &Rc<Meter>, value: &Value, called: &Called) -> ValueResult {
    let separator = called.optional_text(0, "d")?.unwrap_or_default();
    match called.optional_text(1, "attribute")? {
        Some(attribute) => methods::join(
            meter,
            separator,
            &Value::List(attributes(meter, value, attribute)?),
        ),
        None => methods::join(meter, separator, value),
    }
}

/// `item.a.b` of each item.
fn attributes(meter: &Rc<Meter>, value: &Value, path: &str) -> Result<ListValue, RenderError> {
    let mut found = Vec::new();
    for item in value.items(meter)?.iter() {
        found.push(attribute(meter, item, path)?);
    }
    ListValue::new(meter, found)
}

pub(crate) fn attribute(meter: &Rc<Meter>, item: &Value, path: &str) -> ValueResult {
    let mut value = item.clone();
    for name in path.split('.') {
        meter.spend(0)?;
        value = match (&value, name.parse::<usize>()) {
            (Value::List(items), Ok(place)) => {
                items.get(place).cloned().unwrap_or(Value::Undefined)
            }
            _ => field(meter, &value, name)?,
        };
    }
    Ok(value)
}

fn mapped(meter: &Rc<Meter>, value: &Value, called: &Called) -> ValueResult {
    if !value.is_true() {
        return Value::list(meter, Vec::new());
    }
    let mut made = Vec::new();
    let rest = called.after(meter, 1)?;
    meter.deeper()?;
    for item in value.items(meter)?.iter() {
        meter.spend(0)?;
        made.push(match called.get(usize::MAX, "attribute") {
            Some(Value::Text(path)) => match (
                attribute(meter, item, path)?,
                called.get(usize::MAX, "default"),
            ) {
                (Value::Undefined, Some(default)) => default.clone(),
                (found, _) => found,
            },
            _ => filters::apply(meter, called.text(0, "filter")?, item, &rest)?,
        });
    }
    meter.back();
    Value::list(meter, made)
}

/// The items for which a test is true. With `by_attribute`, the test applies to an attribute;
/// without a test, the value itself decides.
fn chosen(
    meter: &Rc<Meter>,
    value: &Value,
    called: &Called,
    by_attribute: bool,
    wanted: bool,
) -> ValueResult {
    // Like the reference implementation: filtering none gives an empty list. Templates get none for
    // `tools`.
    if !value.is_true() {
        return Value::list(meter, Vec::new());
    }
    let tests = usize::from(by_attribute);
    let rest = called.after(meter, tests + 1)?;
    let mut kept = Vec::new();
    for item in value.items(meter)?.iter() {
        meter.spend(0)?;
        let tested = if by_attribute {
            attribute(meter, item, called.text(0, "attribute")?)?
        } else {
            item.clone()
        };
        let holds = match called.positional.get(tests) {
            None => tested.is_true(),
            Some(_) => {
                let name = called.text(tests, "test")?;
                tests_of_values::holds(meter, test_name(name), &tested, &rest)?
            }
        };
        if holds == wanted {
            kept.push(item.clone());
        }
    }
    Value::list(meter, kept)
}

/// Operators are also names of tests.
fn test_name(name: &str) -> &str {
    match name {
        "==" => "eq",
        "!=" => "ne",
        "<" => "lt",
        "<=" => "le",
        ">" => "gt",
        ">=" => "ge",
        other => other,
    }
}

/// Stable sort; ignores case unless the arguments say otherwise.
pub(crate) fn sorted(meter: &Rc<Meter>, value: &Value, called: &Called) -> ValueResult {
    let reverse = called.flag(0, "reverse");
    let cased = called.flag(1, "case_sensitive");
    // Insertion sort, because the standard sort may panic if the values have no consistent order.
    let mut kept: Vec<(Value, Value)> = Vec::new();
    for item in value.items(meter)?.iter() {
        let key = match called.optional_text(2, "attribute")? {
            Some(path) => attribute(meter, item, path)?,
            None => item.clone(),
        };
        let key = if cased {
            key
        } else {
            without_case(meter, key)?
        };
        let place = place_for(meter, &kept, &key, reverse)?;
        meter.spend(kept.len() - place)?;
        kept.insert(place, (key, item.clone()));
    }
    Value::list(meter, kept.into_iter().map(|(_, item)| item).collect())
}

/// Index after all items that do not sort after `key`.
fn place_for(
    meter: &Meter,
    kept: &[(Value, Value)],
    key: &Value,
    reverse: bool,
) -> Result<usize, RenderError> {
    let mut low = 0;
    let mut high = kept.len();
    while low < high {
        let middle = low.midpoint(high);
        let order = ops::order(meter, &kept[middle].0, key)?;
        let after = if reverse {
            order.is_lt()
        } else {
            order.is_gt()
        };
        if after {
            high = middle
        } else {
            low = middle + 1
        }
    }
    Ok(low)
}

pub(crate) fn without_case(meter: &Rc<Meter>, key: Value) -> ValueResult {
    match &key {
        Value::Text(text) => Ok(methods::case_method(meter, text, "lower")?.unwrap_or(key)),
        Value::List(items) => match &items[..] {
            [first, rest @ ..] => {
                let mut lowered = vec![without_case(meter, first.clone())?];
                lowered.extend(rest.iter().cloned());
                Value::list(meter, lowered)
            }
            [] => Ok(key),
        },
        _ => Ok(key),
    }
}

fn unique(meter: &Rc<Meter>, value: &Value) -> ValueResult {
    let mut kept: Vec<Value> = Vec::new();
    for item in value.items(meter)?.iter() {
        let mut known = false;
        for other in &kept {
            known = known
                || ops::equal(
                    meter,
                    &without_case(meter, item.clone())?,
                    &without_case(meter, other.clone())?,
                )?;
        }
        if !known {
            kept.push(item.clone());
        }
    }
    Value::list(meter, kept)
}

fn extreme(meter: &Rc<Meter>, value: &Value, wanted: Ordering) -> ValueResult {
    let items = value.items(meter)?;
    let Some(mut found) = items.first().cloned() else {
        return Ok(Value::Undefined);
    };
    for item in items.iter() {
        if ops::order(meter, item, &found)? == wanted {
            found = item.clone();
        }
    }
    Ok(found)
}
