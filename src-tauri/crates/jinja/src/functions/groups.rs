//! Filters that divide a list: `batch`, `slice` and `groupby`.

use std::rc::Rc;

use super::args::Called;
use super::sequences::{attribute, sorted, without_case};
use crate::error::RenderError;
use crate::meter::Meter;
use crate::ops;
use crate::value::{Value, ValueResult};

/// Maximum number of columns of `slice`, and of items that fill a row.
const MOST: usize = 10_000;

fn count(called: &Called, name: &str) -> Result<usize, RenderError> {
    let count = called
        .need(0, name)?
        .int()
        .and_then(|count| usize::try_from(count).ok());
    count
        .filter(|count| (1..=MOST).contains(count))
        .ok_or(RenderError::Limit("items in a row"))
}

/// Rows of `linecount` items. `fill_with` completes the last one.
pub(crate) fn batch(meter: &Rc<Meter>, value: &Value, called: &Called) -> ValueResult {
    let items = value.items(meter)?;
    let count = count(called, "linecount")?;
    let fill = called
        .get(1, "fill_with")
        .filter(|fill| !matches!(fill, Value::None));
    let mut rows = Vec::new();
    for row in items.chunks(count) {
        meter.room(count * 32)?;
        let missing = fill.map_or(0, |_| count - row.len());
        let filling = fill.into_iter().cycle().take(missing);
        rows.push(Value::list(
            meter,
            row.iter().chain(filling).cloned().collect(),
        )?);
    }
    Value::list(meter, rows)
}

/// That many columns, the first ones longer if the items do not divide.
pub(crate) fn slice(meter: &Rc<Meter>, value: &Value, called: &Called) -> ValueResult {
    let items = value.items(meter)?;
    let slices = count(called, "slices")?;
    let fill = called
        .get(1, "fill_with")
        .filter(|fill| !matches!(fill, Value::None));
    let each = items.len() / slices;
    let longer = items.len() % slices;
    let mut columns = Vec::new();
    let mut from = 0;
    for column in 0..slices {
        meter.spend(0)?;
        let length = each + usize::from(column < longer);
        let mut part = items[from..from + length].to_vec();
        if column >= longer && longer > 0 {
            part.extend(fill.cloned());
        }
        columns.push(Value::list(meter, part)?);
        from += length;
    }
    Value::list(meter, columns)
}

/// Pairs of a value of the attribute and the items that have it, in the order of the values.
pub(crate) fn by_attribute(meter: &Rc<Meter>, value: &Value, called: &Called) -> ValueResult {
    let path = called.need(0, "attribute")?.to_text(meter)?;
    let cased = called.flag(2, "case_sensitive");
    let default = called.get(1, "default");
    let mut keyed = Vec::new();
    for item in value.items(meter)?.iter() {
        let key = match (attribute(meter, item, &path)?, default) {
            (Value::Undefined, Some(default)) => default.clone(),
            (found, _) => found,
        };
        keyed.push(Value::tuple(meter, vec![key, item.clone()])?);
    }
    let order = Called {
        positional: vec![
            Value::Bool(false),
            Value::Bool(cased),
            Value::text(meter, "0")?,
        ],
        named: Vec::new(),
    };
    let ordered = sorted(meter, &Value::list(meter, keyed)?, &order)?.items(meter)?;
    let compared = |key: &Value| {
        if cased {
            Ok(key.clone())
        } else {
            without_case(meter, key.clone())
        }
    };
    let mut groups: Vec<(Value, Vec<Value>)> = Vec::new();
    for pair in ordered.iter() {
        let Value::List(pair) = pair else { continue };
        let key = pair[0].clone();
        let item = pair[1].clone();
        match groups.last_mut() {
            Some((known, items)) if ops::equal(meter, &compared(known)?, &compared(&key)?)? => {
                items.push(item)
            }
            _ => groups.push((key, vec![item])),
        }
    }
    let group = |(key, items)| Value::tuple(meter, vec![key, Value::list(meter, items)?]);
    Value::list(
        meter,
        groups.into_iter().map(group).collect::<Result<_, _>>()?,
    )
}
