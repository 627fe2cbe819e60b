//! Lenient JSON, as JavaScript parsers accept it, for all imported files: cards, PNG chunks,
//! lorebooks, presets, regex scripts, personas and chat lines.
//!
//! - The text is UTF-8 with or without a byte order mark, or UTF-16 in either byte order.
//! - Unpaired surrogates in values and keys become U+FFFD, and so do invalid UTF-8 bytes.
//! - `NaN`, `Infinity` and numbers outside the range of a double become `null`.
//! - The last of several equal keys wins. U+0000 is preserved.
//! - Limits on size, depth and number of values apply before allocation.
//!
//! Each replacement is a [`Repair`], which the import report shows as a warning.

mod encoding;
mod scan;

use std::borrow::Cow;

use serde_json::{Map, Value};

/// Maximum size of a JSON text, in bytes of UTF-8.
pub const MAX_JSON: usize = 24 << 20;
/// Maximum nesting depth. Real files stay below it. The parser accepts more, so a card upgrade can
/// add a level.
pub const MAX_DEPTH: usize = 100;
/// Limits memory use to about 100 MB and leaves room for a card with a lorebook of 10,000 full
/// entries. A value needs about 70 bytes, its key the same, and a non-empty object 500, so values
/// are weighted.
pub const MAX_VALUES: usize = 1_200_000;

/// How large a JSON text may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of UTF-8.
    pub bytes: usize,
    /// Weighted values, as in [`MAX_VALUES`].
    pub values: usize,
}

impl Limits {
    /// For cards, presets and lines of chats.
    pub const USUAL: Self = Self {
        bytes: MAX_JSON,
        values: MAX_VALUES,
    };
    /// For lorebooks and the exports of assistants: 100,000 full entries need about 10 million
    /// values and 1 GB.
    pub const LARGE: Self = Self {
        bytes: 128 << 20,
        values: 12_000_000,
    };
}

/// A replaced fault, which strict JSON does not allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repair {
    pub fault: RepairKind,
    /// Number of occurrences.
    pub count: usize,
    /// Position of the first occurrence, starting at 1. Columns are bytes of UTF-8.
    pub line: usize,
    pub column: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepairKind {
    /// An unpaired surrogate, such as half of an emoji.
    HalfCharacter,
    /// Bytes that are not valid text.
    NotText,
    /// `NaN`, `Infinity`, or a number that is too large.
    NotANumber,
}

impl std::fmt::Display for Repair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            fault,
            count,
            line,
            column,
        } = self;
        let what = match fault {
            RepairKind::HalfCharacter => {
                "half of a character (for example of a cut emoji) was replaced by \u{fffd}"
            }
            RepairKind::NotText => {
                "bytes that are not UTF-8 text were replaced by \u{fffd}; if letters are missing, save the file as UTF-8 \
                 and import it again"
            }
            RepairKind::NotANumber => {
                "NaN, Infinity or a number that is too large was read as empty"
            }
        };
        match count {
            1 => write!(f, "line {line}, column {column}: {what}"),
            count => write!(
                f,
                "line {line}, column {column}, {count} places in total: {what}"
            ),
        }
    }
}

/// Why JSON cannot be read. The caller adds the kind of file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    #[error("it has {bytes} bytes of JSON, and the limit is {limit}")]
    TooLarge { bytes: usize, limit: usize },
    #[error("the JSON has {what} (the limit is {limit}); real files have fewer")]
    TooComplex { what: &'static str, limit: usize },
    #[error("it is not valid JSON, line {line}, column {column}: {problem}")]
    Syntax {
        line: usize,
        column: usize,
        problem: String,
    },
}

/// Strict JSON text, and the replacements that made it strict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clean<'a> {
    pub text: Cow<'a, str>,
    pub repairs: Vec<Repair>,
}

/// Converts a JSON file to strict UTF-8 without a byte order mark, and replaces each
/// [`RepairKind`]. The text is not parsed, so it may still be invalid JSON.
///
/// # Errors
/// [`JsonError::TooLarge`] or [`JsonError::TooComplex`] if the text would need too much memory.
pub fn clean(bytes: &[u8]) -> Result<Clean<'_>, JsonError> {
    clean_within(bytes, Limits::USUAL)
}

/// Works like [`clean`], with other limits.
///
/// # Errors
/// The errors of [`clean`].
pub fn clean_within(bytes: &[u8], limits: Limits) -> Result<Clean<'_>, JsonError> {
    // UTF-16 needs at most twice as many bytes as UTF-8.
    check_size(bytes.len() / 2, limits)?;
    let (text, repair) = encoding::decode(bytes);
    check_size(text.len(), limits)?;
    let mut repairs: Vec<Repair> = repair.into_iter().collect();
    let (text, found) = scan::scan(text, limits)?;
    for one in found {
        match repairs.iter_mut().find(|known| known.fault == one.fault) {
            Some(known) => known.count += one.count,
            None => repairs.push(one),
        }
    }
    Ok(Clean { text, repairs })
}

/// Reads the value in a JSON file or in one line, and returns the replacements.
///
/// # Errors
/// [`JsonError`] if the text is still invalid JSON after the repairs, or exceeds the limits.
pub fn read(bytes: &[u8]) -> Result<(Value, Vec<Repair>), JsonError> {
    read_within(bytes, Limits::USUAL)
}

/// Works like [`read`], with other limits.
///
/// # Errors
/// The errors of [`read`].
pub fn read_within(bytes: &[u8], limits: Limits) -> Result<(Value, Vec<Repair>), JsonError> {
    let Clean { text, repairs } = clean_within(bytes, limits)?;
    let value = serde_json::from_str(&text).map_err(|error| JsonError::Syntax {
        line: error.line(),
        column: error.column(),
        problem: error
            .to_string()
            .split(" at line ")
            .next()
            .unwrap_or_default()
            .to_owned(),
    })?;
    Ok((value, repairs))
}

/// Reads the object in a JSON file; `None` for any other value.
pub fn object(bytes: &[u8]) -> Option<Map<String, Value>> {
    match read(bytes).ok()?.0 {
        Value::Object(root) => Some(root),
        _ => None,
    }
}

/// Whether a file starts like a JSON object or list, in any supported encoding.
pub fn begins_as_json(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(256)];
    let (text, _) = encoding::decode(start);
    text.trim_start().starts_with(['{', '['])
}

/// Decodes any UTF-8 or UTF-16 text and removes the byte order mark. Invalid bytes become U+FFFD,
/// and the [`Repair`] reports them.
pub fn text(bytes: &[u8]) -> (Cow<'_, str>, Option<Repair>) {
    encoding::decode(bytes)
}

/// Checks the number of values and the nesting before allocation.
///
/// # Errors
/// [`JsonError::TooComplex`] above [`MAX_DEPTH`] or [`MAX_VALUES`].
pub fn check_complexity(json: &[u8]) -> Result<(), JsonError> {
    scan::check_complexity(json)
}

fn check_size(bytes: usize, limits: Limits) -> Result<(), JsonError> {
    if bytes > limits.bytes {
        Err(JsonError::TooLarge {
            bytes,
            limit: limits.bytes,
        })
    } else {
        Ok(())
    }
}

/// Creates a repair whose first occurrence is at `offset` in `text`.
fn repair(fault: RepairKind, count: usize, text: &[u8], offset: usize) -> Repair {
    let before = &text[..offset.min(text.len())];
    let line_start = before
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
    Repair {
        fault,
        count,
        line,
        column: 1 + before.len() - line_start,
    }
}

#[cfg(test)]
mod tests;
