//! Converts values to text like Python's `str`, `repr` and `json.dumps`.

use std::rc::Rc;

use super::meter::{Buffer, Meter};
use super::value::{TextValue, Value};
use crate::error::RenderError;

impl Value {
    /// Writes the value like `str`.
    pub(crate) fn write(&self, out: &mut Buffer) -> Result<(), RenderError> {
        match self {
            Self::Undefined => Ok(()),
            Self::Text(text) => out.push(text),
            other => other.write_repr(out),
        }
    }

    /// The value as a text; texts are returned unchanged.
    pub(crate) fn to_text(&self, meter: &Rc<Meter>) -> Result<TextValue, RenderError> {
        if let Self::Text(text) = self {
            return Ok(text.clone());
        }
        let mut out = Buffer::new(meter)?;
        self.write(&mut out)?;
        Ok(out.into())
    }

    pub(super) fn write_repr(&self, out: &mut Buffer) -> Result<(), RenderError> {
        match self {
            Self::Undefined => out.push("Undefined"),
            Self::None => out.push("None"),
            Self::Bool(true) => out.push("True"),
            Self::Bool(false) => out.push("False"),
            Self::Int(value) => out.push(&value.to_string()),
            Self::Float(value) => out.push(&float(*value)),
            Self::Text(text) => quoted(text, out),
            Self::List(list) => {
                let (open, close) = match (list.is_tuple(), list.len()) {
                    (false, _) => ("[", "]"),
                    (true, 1) => ("(", ",)"),
                    (true, _) => ("(", ")"),
                };
                out.push(open)?;
                for (index, item) in list.iter().enumerate() {
                    out.push(if index > 0 { ", " } else { "" })?;
                    item.write_repr(out)?;
                }
                out.push(close)
            }
            Self::Map(map) => {
                out.push("{")?;
                for (index, (key, value)) in map.iter().enumerate() {
                    out.push(if index > 0 { ", " } else { "" })?;
                    key.write_repr(out)?;
                    out.push(": ")?;
                    value.write_repr(out)?;
                }
                out.push("}")
            }
            other => Err(RenderError::failed(format!(
                "{} cannot be written",
                other.kind()
            ))),
        }
    }
}

/// Formats a float like Python.
fn float(value: f64) -> String {
    match value {
        _ if value.is_nan() => "nan".into(),
        _ if value.is_infinite() => (if value > 0.0 { "inf" } else { "-inf" }).into(),
        _ if value != 0.0 && (value.abs() >= 1e16 || value.abs() < 1e-4) => {
            let text = format!("{value:e}");
            let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
            let (sign, digits) = exponent
                .strip_prefix('-')
                .map_or(('+', exponent), |digits| ('-', digits));
            format!("{mantissa}e{sign}{digits:0>2}")
        }
        _ => format!("{value:?}"),
    }
}

fn quoted(text: &str, out: &mut Buffer) -> Result<(), RenderError> {
    let quote = if text.contains('\'') && !text.contains('"') {
        '"'
    } else {
        '\''
    };
    out.push_char(quote)?;
    for char in text.chars() {
        match char {
            '\\' => out.push("\\\\")?,
            '\n' => out.push("\\n")?,
            '\r' => out.push("\\r")?,
            '\t' => out.push("\\t")?,
            _ if char == quote => out.push(&format!("\\{char}"))?,
            _ if (char as u32) < 0x20 || char as u32 == 0x7f => {
                out.push(&format!("\\x{:02x}", char as u32))?
            }
            _ => out.push_char(char)?,
        }
    }
    out.push_char(quote)
}

/// Options of the JSON output.
pub(crate) struct Layout {
    pub(crate) indent: Option<usize>,
    pub(crate) item: TextValue,
    pub(crate) key: TextValue,
    pub(crate) sorted: bool,
    pub(crate) ascii: bool,
}

/// Writes JSON like `json.dumps`, without HTML escapes.
pub(crate) fn json(
    value: &Value,
    layout: &Layout,
    level: usize,
    out: &mut Buffer,
) -> Result<(), RenderError> {
    match value {
        Value::None => out.push("null"),
        Value::Bool(value) => out.push(if *value { "true" } else { "false" }),
        Value::Int(_) | Value::Float(_) => value.write_repr(out),
        Value::Text(text) => json_text(text, layout.ascii, out),
        Value::List(list) => {
            out.push("[")?;
            for (index, item) in list.iter().enumerate() {
                before_item(index, layout, level, out)?;
                json(item, layout, level + 1, out)?;
            }
            after_items(list.is_empty(), layout, level, out)?;
            out.push("]")
        }
        Value::Map(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            if layout.sorted {
                entries.sort_by(|a, b| a.0.str().cmp(&b.0.str()));
            }
            out.push("{")?;
            for (index, (key, value)) in entries.into_iter().enumerate() {
                before_item(index, layout, level, out)?;
                json_key(key, layout, out)?;
                out.push(&layout.key)?;
                json(value, layout, level + 1, out)?;
            }
            after_items(map.is_empty(), layout, level, out)?;
            out.push("}")
        }
        other => Err(RenderError::failed(format!(
            "{} cannot be written as JSON",
            other.kind()
        ))),
    }
}

fn before_item(
    index: usize,
    layout: &Layout,
    level: usize,
    out: &mut Buffer,
) -> Result<(), RenderError> {
    if index > 0 {
        out.push(&layout.item)?;
    }
    new_line(layout, level + 1, out)
}

fn after_items(
    empty: bool,
    layout: &Layout,
    level: usize,
    out: &mut Buffer,
) -> Result<(), RenderError> {
    if empty {
        Ok(())
    } else {
        new_line(layout, level, out)
    }
}

fn new_line(layout: &Layout, level: usize, out: &mut Buffer) -> Result<(), RenderError> {
    let Some(indent) = layout.indent else {
        return Ok(());
    };
    out.push("\n")?;
    out.meter().room(indent.saturating_mul(level))?;
    out.push(&" ".repeat(indent * level))
}

/// JSON keys are always texts.
fn json_key(key: &Value, layout: &Layout, out: &mut Buffer) -> Result<(), RenderError> {
    if let Value::Text(text) = key {
        return json_text(text, layout.ascii, out);
    }
    out.push("\"")?;
    json(key, layout, 0, out)?;
    out.push("\"")
}

fn json_text(text: &str, ascii: bool, out: &mut Buffer) -> Result<(), RenderError> {
    out.push("\"")?;
    for char in text.chars() {
        match char {
            '"' => out.push("\\\"")?,
            '\\' => out.push("\\\\")?,
            '\n' => out.push("\\n")?,
            '\r' => out.push("\\r")?,
            '\t' => out.push("\\t")?,
            '\x08' => out.push("\\b")?,
            '\x0c' => out.push("\\f")?,
            _ if (char as u32) < 0x20 => out.push(&format!("\\u{:04x}", char as u32))?,
            _ if ascii && !char.is_ascii() => {
                for unit in char.encode_utf16(&mut [0; 2]) {
                    out.push(&format!("\\u{unit:04x}"))?;
                }
            }
            _ => out.push_char(char)?,
        }
    }
    out.push("\"")
}
