//! Scans a JSON text once, estimates its size in memory and finds the parts that strict JSON does
//! not allow.

use std::borrow::Cow;

use super::{JsonError, Limits, MAX_DEPTH, Repair, RepairKind, repair};

const WEIGHT_OF_OBJECT: usize = 5;
/// Length of an escape such as `\ud83d`, in bytes.
const ESCAPE: usize = 6;
const REPLACEMENT: &str = "\\ufffd";
const NULL: &str = "null";
/// A number with fewer digits and no exponent fits the range of a double.
const MAX_PLAIN_DIGITS: usize = 300;

/// Replaces the faults. Returns the borrowed text if there are none.
pub(super) fn scan(
    text: Cow<'_, str>,
    limits: Limits,
) -> Result<(Cow<'_, str>, Vec<Repair>), JsonError> {
    let mut edits = Edits::default();
    let mut size = JsonSize::within(limits);
    let json = text.as_bytes();
    let mut at = 0;
    while let Some(byte) = json.get(at).copied() {
        size.add(byte)?;
        at = match byte {
            b'"' => string(json, at + 1, &mut edits),
            b'N' | b'I' | b'-' | b'0'..=b'9' => number(json, at, &mut edits),
            _ => at + 1,
        };
    }
    let repairs = edits.repairs(json);
    Ok((
        if edits.list.is_empty() {
            text
        } else {
            Cow::Owned(edits.applied(&text))
        },
        repairs,
    ))
}

pub(super) fn check_complexity(json: &[u8]) -> Result<(), JsonError> {
    let mut size = JsonSize::within(Limits::USUAL);
    let mut at = 0;
    while let Some(byte) = json.get(at).copied() {
        size.add(byte)?;
        at = if byte == b'"' {
            end_of_string(json, at + 1)
        } else {
            at + 1
        };
    }
    Ok(())
}

/// Estimated size of the text in memory.
struct JsonSize {
    depth: usize,
    values: usize,
    limit: usize,
}

impl JsonSize {
    fn within(limits: Limits) -> Self {
        Self {
            depth: 0,
            values: 1,
            limit: limits.values,
        }
    }

    /// Adds a byte outside strings.
    fn add(&mut self, byte: u8) -> Result<(), JsonError> {
        match byte {
            b'{' => (self.depth, self.values) = (self.depth + 1, self.values + WEIGHT_OF_OBJECT),
            b'[' => (self.depth, self.values) = (self.depth + 1, self.values + 1),
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            b',' | b':' => self.values += 1,
            _ => return Ok(()),
        }
        if self.depth > MAX_DEPTH {
            return Err(JsonError::TooComplex {
                what: "too many levels",
                limit: MAX_DEPTH,
            });
        }
        if self.values > self.limit {
            return Err(JsonError::TooComplex {
                what: "too many values",
                limit: self.limit,
            });
        }
        Ok(())
    }
}

/// Replacements: offset, length in bytes, and fault.
#[derive(Default)]
struct Edits {
    list: Vec<(usize, usize, RepairKind)>,
}

impl Edits {
    fn applied(&self, text: &str) -> String {
        let mut written = String::with_capacity(text.len() + self.list.len());
        let mut from = 0;
        for (at, length, fault) in &self.list {
            written.push_str(&text[from..*at]);
            written.push_str(if *fault == RepairKind::NotANumber {
                NULL
            } else {
                REPLACEMENT
            });
            from = at + length;
        }
        written.push_str(&text[from..]);
        written
    }

    fn repairs(&self, json: &[u8]) -> Vec<Repair> {
        let of = |fault: RepairKind| {
            let mut found = self.list.iter().filter(|edit| edit.2 == fault);
            let first = found.next()?.0;
            Some(repair(fault, 1 + found.count(), json, first))
        };
        [RepairKind::HalfCharacter, RepairKind::NotANumber]
            .into_iter()
            .filter_map(of)
            .collect()
    }
}

/// Returns the end of the string that starts at `at`, and records unpaired surrogates.
fn string(json: &[u8], mut at: usize, edits: &mut Edits) -> usize {
    while let Some(byte) = json.get(at) {
        at += match (byte, unit(json, at)) {
            (b'"', _) => return at + 1,
            (b'\\', Some(0xd800..=0xdbff))
                if matches!(unit(json, at + ESCAPE), Some(0xdc00..=0xdfff)) =>
            {
                2 * ESCAPE
            }
            (b'\\', Some(0xd800..=0xdfff)) => {
                edits.list.push((at, ESCAPE, RepairKind::HalfCharacter));
                ESCAPE
            }
            (b'\\', _) => 2,
            _ => 1,
        };
    }
    at
}

fn end_of_string(json: &[u8], mut at: usize) -> usize {
    while let Some(byte) = json.get(at) {
        at += match byte {
            b'"' => return at + 1,
            b'\\' => 2,
            _ => 1,
        };
    }
    at
}

/// Decodes the UTF-16 code unit of an escape at `at`.
fn unit(json: &[u8], at: usize) -> Option<u16> {
    let digits = json.get(at..at + ESCAPE)?.strip_prefix(b"\\u")?;
    let digit = |sum: u16, byte: &u8| Some((sum << 4) | char::from(*byte).to_digit(16)? as u16);
    digits.iter().try_fold(0, digit)
}

/// Skips a number or a word such as `NaN`, and records those outside the range of a double.
fn number(json: &[u8], at: usize, edits: &mut Edits) -> usize {
    let rest = &json[at..];
    let of_number = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
    let length = rest
        .iter()
        .position(|byte| !of_number(byte))
        .unwrap_or(rest.len());
    let token = &rest[..length];
    let endless =
        matches!(token, b"NaN" | b"-NaN" | b"Infinity" | b"-Infinity") || is_beyond_double(token);
    if endless {
        edits.list.push((at, length, RepairKind::NotANumber));
    }
    at + length.max(1)
}

fn is_beyond_double(token: &[u8]) -> bool {
    let exponent = token.iter().any(|byte| matches!(byte, b'e' | b'E'));
    if !exponent && token.len() <= MAX_PLAIN_DIGITS {
        return false;
    }
    let begins = token
        .strip_prefix(b"-")
        .unwrap_or(token)
        .first()
        .is_some_and(u8::is_ascii_digit);
    let number = std::str::from_utf8(token)
        .ok()
        .and_then(|token| token.parse::<f64>().ok());
    begins && number.is_some_and(f64::is_infinite)
}
