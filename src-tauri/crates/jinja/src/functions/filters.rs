//! Filters. List filters are in [`sequences`](super::sequences).

use std::rc::Rc;

use super::args::Called;
use super::{format, methods, printf, sequences};
use crate::error::RenderError;
use crate::meter::{Buffer, Meter};
use crate::print::{Layout, json};
use crate::value::{TextValue, Value, ValueResult};

/// `value | name(args)`
pub(crate) fn apply(meter: &Rc<Meter>, name: &str, value: &Value, called: &Called) -> ValueResult {
    match name {
        "trim" => trim(meter, value, called),
        "upper" | "lower" | "capitalize" | "title" => {
            Ok(methods::case_method(meter, &value.to_text(meter)?, name)?
                .unwrap_or(Value::Undefined))
        }
        "string" | "safe" => value.to_text(meter).map(Value::Text),
        "escape" | "e" | "forceescape" => escape(meter, &value.to_text(meter)?),
        "replace" => replace(meter, value, called),
        "indent" => indent(meter, &value.to_text(meter)?, called),
        "center" => {
            let text = value.to_text(meter)?;
            Ok(format::padded(meter, &text, "center", called)?.unwrap_or(Value::Undefined))
        }
        "truncate" => truncate(meter, &value.to_text(meter)?, called),
        "format" => printf::filter(meter, &value.to_text(meter)?, called),
        "default" | "d" => default(meter, value, called),
        "length" | "count" => length(meter, value),
        "wordcount" => Ok(Value::Int(
            value.to_text(meter)?.split_whitespace().count() as i64
        )),
        "tojson" => to_json(meter, value, called),
        "int" => Ok(Value::Int(
            to_int(value).unwrap_or(called.int(0, "default", 0)?),
        )),
        "float" => {
            let text = value.str().and_then(|text| text.trim().parse::<f64>().ok());
            Ok(Value::Float(value.float().or(text).unwrap_or(0.0)))
        }
        "abs" => absolute(value),
        "round" => round(value, called),
        _ => match sequences::apply(meter, name, value, called)? {
            Some(value) => Ok(value),
            None => Err(RenderError::failed(format!(
                "the filter `{name}` is not supported in chat templates"
            ))),
        },
    }
}

fn default(meter: &Rc<Meter>, value: &Value, called: &Called) -> ValueResult {
    let missing =
        matches!(value, Value::Undefined) || (called.flag(1, "boolean") && !value.is_true());
    match called.get(0, "default_value") {
        Some(default) if missing => Ok(default.clone()),
        None if missing => Value::text(meter, ""),
        _ => Ok(value.clone()),
    }
}

fn replace(meter: &Rc<Meter>, value: &Value, called: &Called) -> ValueResult {
    let text = value.to_text(meter)?;
    let count = usize::try_from(called.int(2, "count", -1)?).unwrap_or(usize::MAX);
    let old = called.need(0, "old")?.to_text(meter)?;
    let new = called.need(1, "new")?.to_text(meter)?;
    methods::replace(meter, &text, &old, &new, count)
}

fn trim(meter: &Rc<Meter>, value: &Value, called: &Called) -> ValueResult {
    let text = value.to_text(meter)?;
    meter.spend(text.len())?;
    Value::text(
        meter,
        methods::strip(&text, called.optional_text(0, "chars")?, true, true),
    )
}

fn absolute(value: &Value) -> ValueResult {
    match value {
        Value::Float(value) => Ok(Value::Float(value.abs())),
        _ => value
            .int()
            .and_then(i64::checked_abs)
            .map(Value::Int)
            .ok_or_else(|| RenderError::failed("`abs` needs a number")),
    }
}

/// Cuts a text at a word, unless it is only a little longer.
fn truncate(meter: &Rc<Meter>, text: &str, called: &Called) -> ValueResult {
    meter.spend(text.len())?;
    let whole = |place, name, default| -> Result<usize, RenderError> {
        Ok(usize::try_from(called.int(place, name, default)?).unwrap_or(0))
    };
    let length = whole(0, "length", 255)?;
    let leeway = whole(3, "leeway", 5)?;
    let end = called.optional_text(2, "end")?.unwrap_or("...");
    let kept = length.checked_sub(end.chars().count());
    let kept =
        kept.ok_or_else(|| RenderError::failed("`truncate` needs a length of at least its end"))?;
    if text.chars().count() <= length.saturating_add(leeway) {
        return Value::text(meter, text);
    }
    let cut: String = text.chars().take(kept).collect();
    let cut = if called.flag(1, "killwords") {
        cut.as_str()
    } else {
        cut.rsplit_once(' ')
            .map_or(cut.as_str(), |(words, _)| words)
    };
    Value::text(meter, &format!("{cut}{end}"))
}

fn length(meter: &Meter, value: &Value) -> ValueResult {
    let length = match value {
        Value::Undefined => 0,
        Value::Text(text) => {
            meter.spend(text.len())?;
            text.chars().count()
        }
        Value::List(list) => list.len(),
        Value::Map(map) => map.len(),
        other => {
            return Err(RenderError::failed(format!(
                "{} has no length",
                other.kind()
            )));
        }
    };
    Ok(Value::Int(length as i64))
}

fn to_int(value: &Value) -> Option<i64> {
    match value {
        Value::Float(value) => Some(value.trunc() as i64),
        Value::Text(text) => text
            .trim()
            .parse()
            .ok()
            .or_else(|| Some(text.trim().parse::<f64>().ok()?.trunc() as i64)),
        other => other.int(),
    }
}

fn round(value: &Value, called: &Called) -> ValueResult {
    let value = value
        .float()
        .ok_or_else(|| RenderError::failed("`round` needs a number"))?;
    let scale =
        10f64.powi(i32::try_from(called.int(0, "precision", 0)?.clamp(-300, 300)).unwrap_or(0));
    Ok(Value::Float(match called.optional_text(1, "method")? {
        Some("ceil") => (value * scale).ceil() / scale,
        Some("floor") => (value * scale).floor() / scale,
        _ => (value * scale).round_ties_even() / scale,
    }))
}

fn escape(meter: &Rc<Meter>, text: &str) -> ValueResult {
    let mut out = Buffer::new(meter)?;
    for char in text.chars() {
        match char {
            '&' => out.push("&amp;")?,
            '<' => out.push("&lt;")?,
            '>' => out.push("&gt;")?,
            '"' => out.push("&#34;")?,
            '\'' => out.push("&#39;")?,
            _ => out.push_char(char)?,
        }
    }
    Ok(Value::Text(out.into()))
}

/// Indents all lines except the first and empty ones, unless the arguments say otherwise.
fn indent(meter: &Rc<Meter>, text: &str, called: &Called) -> ValueResult {
    let width = match called.get(0, "width") {
        Some(Value::Text(text)) => text.clone(),
        _ => {
            let width = usize::try_from(called.int(0, "width", 4)?).unwrap_or(0);
            meter.room(width)?;
            TextValue::new(meter, &" ".repeat(width))?
        }
    };
    let first = called.flag(1, "first");
    let blank = called.flag(2, "blank");
    let mut out = Buffer::new(meter)?;
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            out.push("\n")?;
        }
        let indented = if index == 0 {
            first
        } else {
            blank || !line.is_empty()
        };
        if indented {
            out.push(&width)?;
        }
        out.push(line)?;
    }
    Ok(Value::Text(out.into()))
}

/// `json.dumps`, with the arguments of Hugging Face's `tojson`: `indent`, `ensure_ascii` (off by
/// default), `separators` and `sort_keys`.
fn to_json(meter: &Rc<Meter>, value: &Value, called: &Called) -> ValueResult {
    let named = |name: &str| called.get(usize::MAX, name);
    let indent = match called.get(0, "indent").or_else(|| named("indent")) {
        None | Some(Value::None) => None,
        Some(indent) => Some(
            indent
                .int()
                .and_then(|indent| usize::try_from(indent).ok())
                .unwrap_or(0),
        ),
    };
    let mut item = TextValue::new(meter, if indent.is_some() { "," } else { ", " })?;
    let mut key = TextValue::new(meter, ": ")?;
    if let Some(Value::List(separators)) = named("separators")
        && let [Value::Text(first), Value::Text(second)] = &separators[..]
    {
        (item, key) = (first.clone(), second.clone());
    }
    let sorted = named("sort_keys").is_some_and(Value::is_true);
    let ascii = named("ensure_ascii").is_some_and(Value::is_true);
    let mut out = Buffer::new(meter)?;
    json(
        value,
        &Layout {
            indent,
            item,
            key,
            sorted,
            ascii,
        },
        0,
        &mut out,
    )?;
    Ok(Value::Text(out.into()))
}
