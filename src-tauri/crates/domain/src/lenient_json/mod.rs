//! JSON as JavaScript's readers accept it, for every file that people import: cards, chunks of pictures, lorebooks, presets,
//! regex scripts, personas, lines of chats.
//!
//! - UTF-8 with or without a byte order mark, and UTF-16 of either byte order.
//! - Half of a UTF-16 pair becomes U+FFFD, in values and in keys; so does a byte that is no UTF-8.
//! - `NaN`, `Infinity` and numbers beyond a double become `null`.
//! - Of equal keys the last one wins. U+0000 stays.
//! - Size, depth and the number of values are bounded before anything is allocated for them.
//!
//! Every replacement is a [`Repair`], which the report of an import shows as a warning.

mod encoding;
mod scan;

use std::borrow::Cow;

use serde_json::{Map, Value};

/// Largest JSON text, in bytes of UTF-8.
pub const MAX_JSON: usize = 24 << 20;
/// Deep enough for every real file, and below the parser's own limit even after an upgrade of a card added a level.
pub const MAX_DEPTH: usize = 100;
/// A value takes about 70 bytes in memory, its name as many again, and an object with a member 500: counted as they weigh,
/// this keeps the worst of files near 100 MB, and has room for a lorebook of 10,000 full entries.
pub const MAX_VALUES: usize = 1_200_000;

/// Something in the text that strict JSON does not have, and that was replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repair {
    pub fault: Fault,
    /// How often it was found.
    pub count: usize,
    /// Where it was found first, counted from 1; columns are bytes of UTF-8.
    pub line: usize,
    pub column: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Half of a UTF-16 pair, such as half of an emoji.
    HalfCharacter,
    /// Bytes that belong to no text.
    NotText,
    /// `NaN`, `Infinity`, or a number that is too large.
    NotANumber,
}

impl std::fmt::Display for Repair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { fault, count, line, column } = self;
        let what = match fault {
            Fault::HalfCharacter => "half of a character (as of an emoji that was cut) was replaced by \u{fffd}",
            Fault::NotText => {
                "bytes that are no UTF-8 text were replaced by \u{fffd}; if letters are missing, save the file as UTF-8 \
                 and import it again"
            }
            Fault::NotANumber => "NaN, Infinity or a number that is too large was read as empty",
        };
        match count {
            1 => write!(f, "line {line}, column {column}: {what}"),
            count => write!(f, "line {line}, column {column}, and {count} places in all: {what}"),
        }
    }
}

/// Why a text is no JSON that can be read. The caller says what kind of file it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    #[error("it has {bytes} bytes of JSON; at most {limit} are read")]
    TooLarge { bytes: usize, limit: usize },
    #[error("the JSON has {what}, the limit is {limit}; a real file stays far below it")]
    TooComplex { what: &'static str, limit: usize },
    #[error("it is not valid JSON, line {line}, column {column}: {problem}")]
    Syntax { line: usize, column: usize, problem: String },
}

/// A text that strict parsers read, and what was replaced for that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clean<'a> {
    pub text: Cow<'a, str>,
    pub repairs: Vec<Repair>,
}

/// The text of a JSON file as strict UTF-8 without a byte order mark, and with every [`Fault`] replaced. It is not parsed, so it
/// may still be no JSON.
///
/// # Errors
/// [`JsonError::TooLarge`] or [`JsonError::TooComplex`] for what would fill the memory.
pub fn clean(bytes: &[u8]) -> Result<Clean<'_>, JsonError> {
    // UTF-16 takes at most twice the bytes of the same text in UTF-8.
    check_size(bytes.len() / 2)?;
    let (text, repair) = encoding::decode(bytes);
    check_size(text.len())?;
    let mut repairs: Vec<Repair> = repair.into_iter().collect();
    let (text, found) = scan::scan(text)?;
    for one in found {
        match repairs.iter_mut().find(|known| known.fault == one.fault) {
            Some(known) => known.count += one.count,
            None => repairs.push(one),
        }
    }
    Ok(Clean { text, repairs })
}

/// The value in a JSON file or in one line of a file, and what was replaced to read it.
///
/// # Errors
/// [`JsonError`] if it is no JSON even so, or beyond the limits.
pub fn read(bytes: &[u8]) -> Result<(Value, Vec<Repair>), JsonError> {
    let Clean { text, repairs } = clean(bytes)?;
    let value = serde_json::from_str(&text).map_err(|error| JsonError::Syntax {
        line: error.line(),
        column: error.column(),
        problem: error.to_string().split(" at line ").next().unwrap_or_default().to_owned(),
    })?;
    Ok((value, repairs))
}

/// The object in a JSON file, if it is one.
pub fn object(bytes: &[u8]) -> Option<Map<String, Value>> {
    match read(bytes).ok()?.0 {
        Value::Object(root) => Some(root),
        _ => None,
    }
}

/// Whether a file begins as JSON does that holds an object or a list, whatever its encoding.
pub fn begins_as_json(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(256)];
    let (text, _) = encoding::decode(start);
    text.trim_start().starts_with(['{', '['])
}

/// The text of a file in UTF-8 or UTF-16 without its byte order mark, whatever is in it. Bytes that belong to no text become
/// U+FFFD, which the repair tells.
pub fn text(bytes: &[u8]) -> (Cow<'_, str>, Option<Repair>) {
    encoding::decode(bytes)
}

/// Counts values and nesting before anything is allocated for them.
///
/// # Errors
/// [`JsonError::TooComplex`] above [`MAX_DEPTH`] or [`MAX_VALUES`].
pub fn check_complexity(json: &[u8]) -> Result<(), JsonError> {
    scan::check_complexity(json)
}

fn check_size(bytes: usize) -> Result<(), JsonError> {
    match bytes > MAX_JSON {
        true => Err(JsonError::TooLarge { bytes, limit: MAX_JSON }),
        false => Ok(()),
    }
}

/// A repair whose first place is this offset into `text`.
fn repair(fault: Fault, count: usize, text: &[u8], offset: usize) -> Repair {
    let before = &text[..offset.min(text.len())];
    let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
    Repair { fault, count, line, column: 1 + before.len() - line_start }
}

#[cfg(test)]
mod tests;
