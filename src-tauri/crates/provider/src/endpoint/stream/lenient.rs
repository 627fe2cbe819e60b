//! Lenient JSON parser. Servers send escaped lone surrogates, `NaN` and raw line breaks in strings.
//! Strict parsers reject these, but they must not end a reply.

use serde_json::Value;

/// Start of the private-use range whose characters represent lone surrogates, which a `String`
/// cannot hold.
const KEPT: u32 = 0x10_F800;

/// Parsed JSON. If `halves` is set, its texts may contain placeholders for surrogates;
/// [`SurrogateJoiner`] and [`replace_lone_surrogates`] resolve them.
#[derive(Debug)]
pub(crate) struct ParsedChunk {
    pub(crate) value: Value,
    pub(crate) has_surrogates: bool,
}

/// Parses `data`, and repairs it only if parsing fails.
pub(crate) fn parse(data: &str) -> Result<ParsedChunk, serde_json::Error> {
    let marked = mark_lone_surrogates(data);
    let text = marked.as_deref().unwrap_or(data);
    let halves = marked.is_some();
    let value = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(error) if error.is_eof() => return Err(error),
        Err(error) => repaired(text)
            .and_then(|repaired| serde_json::from_str(&repaired).ok())
            .ok_or(error)?,
    };
    Ok(ParsedChunk {
        value,
        has_surrogates: halves,
    })
}

/// Replaces each escaped lone surrogate with its placeholder. Returns `None` if there is none.
fn mark_lone_surrogates(data: &str) -> Option<String> {
    let bytes = data.as_bytes();
    let half = |at: usize| {
        let digits = data
            .get(at + 2..at + 6)
            .filter(|_| bytes.get(at..at + 2) == Some(b"\\u"))?;
        u32::from_str_radix(digits, 16)
            .ok()
            .filter(|code| (0xD800..0xE000).contains(code))
    };
    let (mut kept, mut copied, mut at): (Option<String>, usize, usize) = (None, 0, 0);
    while let Some(slash) = bytes
        .get(at..)
        .and_then(|rest| rest.iter().position(|byte| *byte == b'\\'))
    {
        let slash = at + slash;
        at = slash + 2;
        let Some(code) = half(slash) else { continue };
        if code < 0xDC00 && half(slash + 6).is_some_and(|low| low >= 0xDC00) {
            at = slash + 12;
            continue;
        }
        at = slash + 6;
        let kept = kept.get_or_insert_default();
        kept.push_str(&data[copied..slash]);
        kept.extend(char::from_u32(KEPT + code - 0xD800));
        copied = at;
    }
    kept.map(|mut kept| {
        kept.push_str(&data[copied..]);
        kept
    })
}

/// Replaces `NaN` and infinities with `null`, and escapes raw control characters in strings.
fn repaired(data: &str) -> Option<String> {
    const NO_NUMBERS: [&str; 3] = ["-Infinity", "Infinity", "NaN"];
    let mut repaired = String::with_capacity(data.len() + 16);
    let mut rest = data;
    let mut inside = false;
    let mut changed = false;
    while let Some(letter) = rest.chars().next() {
        let mut length = letter.len_utf8();
        match letter {
            '"' => inside = !inside,
            '\\' if inside => length += rest[1..].chars().next().map_or(0, char::len_utf8),
            _ if inside && u32::from(letter) < 0x20 => {
                repaired.push_str(&format!("\\u{:04x}", u32::from(letter)));
                (rest, changed) = (&rest[length..], true);
                continue;
            }
            _ if !inside => {
                if let Some(word) = NO_NUMBERS.iter().find(|word| rest.starts_with(**word)) {
                    repaired.push_str("null");
                    (rest, changed) = (&rest[word.len()..], true);
                    continue;
                }
            }
            _ => {}
        }
        repaired.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    changed.then_some(repaired)
}

fn kept_half(letter: char) -> Option<u16> {
    u32::from(letter)
        .checked_sub(KEPT)
        .and_then(|half| u16::try_from(half + 0xD800).ok())
}

/// Joins surrogate pairs that are split across texts. An unpaired surrogate becomes U+FFFD.
#[derive(Debug, Default)]
pub(crate) struct SurrogateJoiner {
    /// High surrogate whose low surrogate may come with the next text.
    first: Option<u16>,
}

impl SurrogateJoiner {
    /// Joins the surrogates in `text`. `marked` says that it may contain placeholders.
    pub(crate) fn join(&mut self, text: String, marked: bool) -> String {
        if text.is_empty() || (!marked && self.first.is_none()) {
            return text;
        }
        let mut joined = String::with_capacity(text.len());
        for letter in text.chars() {
            let half = kept_half(letter).filter(|_| marked);
            match (self.first.take(), half) {
                (Some(first), Some(second)) if second >= 0xDC00 => {
                    joined.extend(
                        char::decode_utf16([first, second]).map(|pair| pair.unwrap_or('\u{FFFD}')),
                    );
                }
                (before, half) => {
                    joined.extend(before.map(|_| '\u{FFFD}'));
                    match half {
                        Some(first) if first < 0xDC00 => self.first = Some(first),
                        Some(_) => joined.push('\u{FFFD}'),
                        None => joined.push(letter),
                    }
                }
            }
        }
        joined
    }

    /// Returns U+FFFD if a surrogate stayed unpaired.
    pub(crate) fn rest(&mut self) -> String {
        self.first.take().map(|_| '\u{FFFD}').into_iter().collect()
    }
}

/// Joins or replaces every placeholder in `value`.
pub(crate) fn replace_lone_surrogates(value: &mut Value) {
    match value {
        Value::String(text) => {
            let mut halves = SurrogateJoiner::default();
            let joined = halves.join(std::mem::take(text), true);
            *text = joined + &halves.rest();
        }
        Value::Array(items) => items.iter_mut().for_each(replace_lone_surrogates),
        Value::Object(fields) => fields.values_mut().for_each(replace_lone_surrogates),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(pieces: &[&str]) -> String {
        let mut halves = SurrogateJoiner::default();
        let mut text = String::new();
        for piece in pieces {
            let parsed = parse(&format!("{{\"t\":\"{piece}\"}}")).unwrap();
            text += &halves.join(
                parsed.value["t"].as_str().unwrap().to_owned(),
                parsed.has_surrogates,
            );
        }
        text + &halves.rest()
    }

    #[test]
    fn joins_surrogate_pairs_across_texts() {
        for (pieces, expected) in [
            (&["Hi \\ud83d", "\\ude00 there."][..], "Hi 😀 there."),
            (&["\\uD83D", "", "\\uDE00"], "😀"),
            (&["\\ud83d\\ude00"], "😀"),
            (&["a\\ud83d", " b"], "a\u{FFFD} b"),
            (&["\\ude00a", "\\ud83d"], "\u{FFFD}a\u{FFFD}"),
            (&["\\ud83d\\ud83d\\ude00"], "\u{FFFD}😀"),
            (&["\\ud83d", "\\ud83d", "\\ude00"], "\u{FFFD}😀"),
            (&["a \\\\ud83d b"], "a \\ud83d b"),
            (&["\\\\\\ud83d"], "\\\u{FFFD}"),
            (&["\u{10F83D}"], "\u{10F83D}"),
        ] {
            assert_eq!(joined(pieces), expected, "{pieces:?}");
        }
    }

    #[test]
    fn repairs_invalid_json() {
        for (data, expected) in [
            (
                "{\"a\":NaN,\"b\":[-Infinity,Infinity],\"c\":\"NaN\"}",
                "{\"a\":null,\"b\":[null,null],\"c\":\"NaN\"}",
            ),
            ("{\"a\":\"one\ntwo\t\"}", "{\"a\":\"one\\ntwo\\t\"}"),
        ] {
            assert_eq!(parse(data).unwrap().value.to_string(), expected);
        }
        for data in ["{oops}", "{\"a\":", "\"\\", "", "{\"a\":\\u12"] {
            assert!(parse(data).is_err(), "{data}");
        }
    }

    #[test]
    fn settle_reaches_nested_texts() {
        let mut parsed = parse(r#"{"a":[{"b":"x\ud83d"}]}"#).unwrap();
        replace_lone_surrogates(&mut parsed.value);
        assert_eq!(parsed.value["a"][0]["b"], "x\u{FFFD}");
    }
}
