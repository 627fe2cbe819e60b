//! Padding of texts.

use std::rc::Rc;

use super::args::Called;
use crate::error::RenderError;
use crate::meter::{Buffer, Meter};
use crate::value::Value;

/// `center`, `ljust`, `rjust` and `zfill`.
pub(crate) fn padded(
    meter: &Rc<Meter>,
    text: &str,
    name: &str,
    called: &Called,
) -> Result<Option<Value>, RenderError> {
    if !matches!(name, "center" | "ljust" | "rjust" | "zfill") {
        return Ok(None);
    }
    let width = usize::try_from(called.int(0, "width", if name == "center" { 80 } else { 0 })?)
        .unwrap_or(0);
    let missing = width.saturating_sub(text.chars().count());
    meter.room(missing.saturating_mul(4))?;
    let fill = if name == "zfill" {
        "0"
    } else {
        called.optional_text(1, "fillchar")?.unwrap_or(" ")
    };
    if fill.chars().count() != 1 {
        return Err(RenderError::failed(
            "the fill character must be a single character",
        ));
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
