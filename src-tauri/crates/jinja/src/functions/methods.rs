//! Methods of texts, lists and maps, with Python semantics. None of them mutates its object, as in
//! Jinja's sandbox.

use std::rc::Rc;

use super::args::Called;
use crate::error::RenderError;
use crate::meter::{Buffer, Meter};
use crate::ops;
use crate::value::{MapValue, TextValue, Value, ValueResult};

pub(crate) fn call(meter: &Rc<Meter>, value: &Value, name: &str, called: &Called) -> ValueResult {
    let found = match value {
        Value::Text(text) => text_method(meter, text, name, called)?,
        Value::Map(map) => map_method(meter, map, name, called)?,
        Value::List(list) => match name {
            "index" => {
                let needle = called.need(0, "value")?;
                let mut place = None;
                for (index, item) in list.iter().enumerate() {
                    if place.is_none() && ops::equal(meter, item, needle)? {
                        place = Some(index as i64);
                    }
                }
                Some(Value::Int(place.ok_or_else(|| {
                    RenderError::failed("the value is not in the list")
                })?))
            }
            "count" => {
                let needle = called.need(0, "value")?;
                let mut count = 0;
                for item in list.iter() {
                    count += i64::from(ops::equal(meter, item, needle)?);
                }
                Some(Value::Int(count))
            }
            "copy" => Some(value.clone()),
            _ => None,
        },
        Value::Loop(state) if name == "cycle" && !called.positional.is_empty() => {
            Some(called.positional[state.index.get() % called.positional.len()].clone())
        }
        Value::Loop(state) if name == "changed" => Some(Value::Bool(state.changed(meter, called)?)),
        Value::Stepper(stepper) => stepper.method(name),
        Value::Undefined => {
            return Err(RenderError::failed(format!(
                "an undefined value has no `{name}`"
            )));
        }
        _ => None,
    };
    found.ok_or_else(|| {
        RenderError::failed(format!(
            "{} has no method `{name}` in chat templates",
            value.kind()
        ))
    })
}

fn map_method(
    meter: &Rc<Meter>,
    map: &MapValue,
    name: &str,
    called: &Called,
) -> Result<Option<Value>, RenderError> {
    Ok(Some(match name {
        "get" => {
            let found = map.at(meter, called.need(0, "key")?)?;
            found
                .or_else(|| called.get(1, "default").cloned())
                .unwrap_or(Value::None)
        }
        "items" => pairs(meter, map)?,
        "keys" => Value::list(meter, map.iter().map(|(key, _)| key.clone()).collect())?,
        "values" => Value::list(meter, map.iter().map(|(_, value)| value.clone()).collect())?,
        "copy" => Value::Map(map.clone()),
        _ => return Ok(None),
    }))
}

/// The entries of a map as pairs.
pub(crate) fn pairs(meter: &Rc<Meter>, map: &MapValue) -> ValueResult {
    let mut pairs = Vec::with_capacity(map.len());
    for (key, value) in map.iter() {
        pairs.push(Value::tuple(meter, vec![key.clone(), value.clone()])?);
    }
    Value::list(meter, pairs)
}

fn text_method(
    meter: &Rc<Meter>,
    text: &TextValue,
    name: &str,
    called: &Called,
) -> Result<Option<Value>, RenderError> {
    meter.spend(text.len())?;
    let whole: &str = text;
    let made = |text: &str| Value::text(meter, text).map(Some);
    match name {
        "strip" => made(strip(whole, called.optional_text(0, "chars")?, true, true)),
        "lstrip" => made(strip(whole, called.optional_text(0, "chars")?, true, false)),
        "rstrip" => made(strip(whole, called.optional_text(0, "chars")?, false, true)),
        "removeprefix" => made(
            whole
                .strip_prefix(called.text(0, "prefix")?)
                .unwrap_or(whole),
        ),
        "removesuffix" => made(
            whole
                .strip_suffix(called.text(0, "suffix")?)
                .unwrap_or(whole),
        ),
        "startswith" => affix(called, |affix| whole.starts_with(affix)).map(Some),
        "endswith" => affix(called, |affix| whole.ends_with(affix)).map(Some),
        "split" => split(meter, whole, called, false).map(Some),
        "rsplit" => split(meter, whole, called, true).map(Some),
        "splitlines" => Value::texts(meter, whole.lines()).map(Some),
        "partition" | "rpartition" => {
            partition(meter, whole, called.text(0, "sep")?, name == "partition").map(Some)
        }
        "replace" => {
            let count = usize::try_from(called.int(2, "count", -1)?).unwrap_or(usize::MAX);
            replace(
                meter,
                whole,
                called.text(0, "old")?,
                called.text(1, "new")?,
                count,
            )
            .map(Some)
        }
        "find" | "rfind" | "index" | "rindex" => {
            find(whole, called.text(0, "sub")?, name).map(Some)
        }
        "count" => count(whole, called.text(0, "sub")?).map(Some),
        "join" => join(meter, whole, called.need(0, "iterable")?).map(Some),
        "format" => crate::braces::braces(meter, whole, called).map(Some),
        _ => match case_method(meter, whole, name)? {
            Some(value) => Ok(Some(value)),
            None => Ok(
                super::format::padded(meter, whole, name, called)?.or(kind_of_text(whole, name))
            ),
        },
    }
}

pub(crate) fn case_method(
    meter: &Rc<Meter>,
    text: &str,
    name: &str,
) -> Result<Option<Value>, RenderError> {
    meter.spend(text.len() * 4)?;
    meter.room(text.len() * 4)?;
    let cased = match name {
        "upper" => text.to_uppercase(),
        "lower" => text.to_lowercase(),
        "casefold" => text.chars().map(folded).collect(),
        "swapcase" => {
            let mut swapped = String::with_capacity(text.len());
            for char in text.chars() {
                if char.is_uppercase() {
                    swapped.extend(char.to_lowercase())
                } else {
                    swapped.extend(char.to_uppercase())
                }
            }
            swapped
        }
        "capitalize" => capitalized(text),
        "title" => {
            let mut inside = false;
            let mut titled = String::with_capacity(text.len());
            for char in text.chars() {
                match (char.is_alphabetic(), inside) {
                    (true, false) => titled.extend(char.to_uppercase()),
                    (true, true) => titled.extend(char.to_lowercase()),
                    _ => titled.push(char),
                }
                inside = char.is_alphabetic();
            }
            titled
        }
        _ => return Ok(None),
    };
    Value::text(meter, &cased).map(Some)
}

/// Full case folding: letters that differ only in case become the same, `ß` and `ss` too.
fn folded(char: char) -> String {
    match char {
        'ı' => "ı".to_owned(),
        'ẞ' => "ss".to_owned(),
        char => char.to_uppercase().flat_map(char::to_lowercase).collect(),
    }
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars
        .next()
        .map(|first| first.to_uppercase().collect::<String>())
        .unwrap_or_default();
    first + &chars.as_str().to_lowercase()
}

fn kind_of_text(text: &str, name: &str) -> Option<Value> {
    let all = |test: fn(char) -> bool| !text.is_empty() && text.chars().all(test);
    let cased = text.chars().any(|c| c.is_uppercase() || c.is_lowercase());
    Some(Value::Bool(match name {
        "isdigit" | "isdecimal" | "isnumeric" => all(char::is_numeric),
        "isalpha" => all(char::is_alphabetic),
        "isalnum" => all(char::is_alphanumeric),
        "isspace" => all(char::is_whitespace),
        "isupper" => cased && !text.chars().any(char::is_lowercase),
        "islower" => cased && !text.chars().any(char::is_uppercase),
        _ => return None,
    }))
}

/// Removes `chars` (or whitespace) from the ends.
pub(crate) fn strip<'s>(text: &'s str, chars: Option<&str>, left: bool, right: bool) -> &'s str {
    let gone = |c: char| chars.map_or(c.is_whitespace(), |chars| chars.contains(c));
    let text = if left {
        text.trim_start_matches(gone)
    } else {
        text
    };
    if right {
        text.trim_end_matches(gone)
    } else {
        text
    }
}

fn affix(called: &Called, fits: impl Fn(&str) -> bool) -> ValueResult {
    let fits_one = |value: &Value| {
        value
            .str()
            .map(&fits)
            .ok_or_else(|| RenderError::failed("expected a text or a list of texts"))
    };
    match called.need(0, "prefix")? {
        Value::List(affixes) => {
            for affix in affixes.iter() {
                if fits_one(affix)? {
                    return Ok(Value::Bool(true));
                }
            }
            Ok(Value::Bool(false))
        }
        one => fits_one(one).map(Value::Bool),
    }
}

fn split(meter: &Rc<Meter>, text: &str, called: &Called, from_right: bool) -> ValueResult {
    let most = usize::try_from(called.int(1, "maxsplit", -1)?)
        .map_or(usize::MAX, |most| most.saturating_add(1));
    meter.room(text.len() * 32)?;
    let Some(separator) = called.optional_text(0, "sep")? else {
        return Value::texts(meter, words(text, most).into_iter());
    };
    if separator.is_empty() {
        return Err(RenderError::failed("the separator of `split` is empty"));
    }
    if from_right {
        let mut parts: Vec<&str> = text.rsplitn(most, separator).collect();
        parts.reverse();
        return Value::texts(meter, parts.into_iter());
    }
    Value::texts(meter, text.splitn(most, separator))
}

/// At most `most` whitespace-separated parts; the last one contains the rest.
fn words(text: &str, most: usize) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        if words.len() + 1 == most {
            words.push(rest);
            break;
        }
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        words.push(&rest[..end]);
        rest = rest[end..].trim_start();
    }
    words
}

fn partition(meter: &Rc<Meter>, text: &str, separator: &str, first: bool) -> ValueResult {
    let found = if first {
        text.split_once(separator)
    } else {
        text.rsplit_once(separator)
    };
    let parts = match found {
        Some((before, after)) => [before, separator, after],
        None if first => [text, "", ""],
        None => ["", "", text],
    };
    let parts = parts
        .into_iter()
        .map(|part| Value::text(meter, part))
        .collect::<Result<_, _>>()?;
    Value::tuple(meter, parts)
}

pub(crate) fn replace(
    meter: &Rc<Meter>,
    text: &str,
    old: &str,
    new: &str,
    count: usize,
) -> ValueResult {
    meter.spend(text.len() + old.len())?;
    let mut out = Buffer::new(meter)?;
    let mut from = 0;
    for (at, found) in text.match_indices(old).take(count) {
        out.push(&text[from..at])?;
        out.push(new)?;
        from = at + found.len();
    }
    out.push(&text[from..])?;
    Ok(Value::Text(out.into()))
}

fn find(text: &str, part: &str, name: &str) -> ValueResult {
    let at = if name.starts_with('r') {
        text.rfind(part)
    } else {
        text.find(part)
    };
    match at {
        Some(at) => Ok(Value::Int(text[..at].chars().count() as i64)),
        None if name.ends_with("index") => Err(RenderError::failed("the substring was not found")),
        None => Ok(Value::Int(-1)),
    }
}

fn count(text: &str, part: &str) -> ValueResult {
    Ok(Value::Int(text.matches(part).count() as i64))
}

pub(crate) fn join(meter: &Rc<Meter>, separator: &str, values: &Value) -> ValueResult {
    let mut out = Buffer::new(meter)?;
    for (index, item) in values.items(meter)?.iter().enumerate() {
        if index > 0 {
            out.push(separator)?;
        }
        item.write(&mut out)?;
    }
    Ok(Value::Text(out.into()))
}
