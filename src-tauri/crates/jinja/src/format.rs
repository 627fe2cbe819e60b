//! Text formatting: `str.format` and padding.

use std::rc::Rc;

use super::RenderError;
use super::args::Called;
use super::meter::{Buffer, Meter};
use super::value::Value;

/// `'{} {0} {name}'.format(…)`, without format specifications.
pub(crate) fn braces(meter: &Rc<Meter>, pattern: &str, called: &Called) -> Result<Value, RenderError> {
    let mut out = Buffer::new(meter)?;
    let mut rest = pattern;
    let mut place = 0;
    while let Some(at) = rest.find(['{', '}']) {
        meter.spend(called.named.len() * 8)?;
        out.push(&rest[..at])?;
        let brace = &rest[at..at + 1];
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix(brace) {
            out.push(brace)?;
            rest = after;
            continue;
        }
        let (field, after) =
            rest.split_once('}').ok_or_else(|| RenderError::failed("a brace is not closed in the format text"))?;
        let value = match field {
            "" => called.positional.get(place),
            _ => match field.parse::<usize>() {
                Ok(index) => called.positional.get(index),
                Err(_) => called.get(usize::MAX, field),
            },
        };
        place += usize::from(field.is_empty());
        value.ok_or_else(|| RenderError::failed("a value to format is missing"))?.write(&mut out)?;
        rest = after;
    }
    out.push(rest)?;
    Ok(Value::Text(out.into()))
}

/// `center`, `ljust`, `rjust` and `zfill`.
pub(crate) fn padded(meter: &Rc<Meter>, text: &str, name: &str, called: &Called) -> Result<Option<Value>, RenderError> {
    if !matches!(name, "center" | "ljust" | "rjust" | "zfill") {
        return Ok(None);
    }
    let width = usize::try_from(called.int(0, "width", if name == "center" { 80 } else { 0 })?).unwrap_or(0);
    let missing = width.saturating_sub(text.chars().count());
    meter.room(missing.saturating_mul(4))?;
    let fill = if name == "zfill" { "0" } else { called.optional_text(1, "fillchar")?.unwrap_or(" ") };
    if fill.chars().count() != 1 {
        return Err(RenderError::failed("the fill character must be a single character"));
    }
    let left = match name {
        "center" => missing / 2 + (missing & width & 1),
        "ljust" => 0,
        _ => missing,
    };
    let mut out = Buffer::new(meter)?;
    out.push(&fill.repeat(left))?;
    out.push(text)?;
    out.push(&fill.repeat(missing - left))?;
    Ok(Some(Value::Text(out.into())))
}
