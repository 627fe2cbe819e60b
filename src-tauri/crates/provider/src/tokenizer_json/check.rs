//! Checks limits before the crate `tokenizers`, which has none, reads a file.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::Value;

use super::{TokenizerJson, TokenizerJsonError};

/// Maximum nesting. The crate tries its types in order, again at each level.
const DEPTH: usize = 12;
/// Maximum bytes of a string. Real tokens have up to about 150 bytes, regexes up to about a
/// thousand.
const STRING: usize = 8 << 10;
/// Maximum bytes of a charsmap. The longest published one, `nmt_nfkc`, has 316 kB.
const CHARSMAP: usize = 4 << 20;
/// Maximum characters of a word for WordPiece, which tries every substring.
const WORD: u64 = 1_000;
/// Maximum growth of a text by normalisation. The longest rule of `nmt_nfkc` has 33 bytes, and a
/// space becomes three.
const GROWTH: usize = 256;
/// Maximum product of a regex's repetitions, because `fancy-regex` expands `(x{9}){9}`.
const REPEATS: u64 = 1_000;

/// Refuses a file whose parsing or use would take too much memory or time.
pub(super) fn check(json: &[u8]) -> Result<(), TokenizerJsonError> {
    if json.len() > TokenizerJson::MAX_BYTES {
        return Err(TokenizerJsonError::TooLarge {
            mebibytes: json.len() >> 20,
        });
    }
    survey(json)?;
    let file: TokenizerFile =
        serde_json::from_slice(json).map_err(TokenizerJsonError::NotTokenizerJson)?;
    if file.model.dropout.is_some_and(|share| share != 0.0) {
        return Err(TokenizerJsonError::Dropout);
    }
    if file
        .model
        .max_input_chars_per_word
        .is_some_and(|most| most > WORD)
    {
        return Err(excessive("the maximum word length"));
    }
    // The crate removes this many bytes from tokens that need not begin with the prefix.
    if file.model.merges.is_some()
        && file
            .model
            .continuing_subword_prefix
            .is_some_and(|prefix| !prefix.is_empty())
    {
        return Err(TokenizerJsonError::Unusable {
            reason: "merges with a prefix inside words are not supported".into(),
        });
    }
    for stage in [&file.pre_tokenizer, &file.post_processor, &file.decoder] {
        growth(stage)?;
    }
    if growth(&file.normalizer)? > GROWTH {
        return Err(excessive("the growth of a text by its normalizer"));
    }
    Ok(())
}

/// The checked fields of a file.
#[derive(Deserialize)]
struct TokenizerFile {
    model: MergeModel,
    #[serde(default)]
    normalizer: Value,
    #[serde(default)]
    pre_tokenizer: Value,
    #[serde(default)]
    post_processor: Value,
    #[serde(default)]
    decoder: Value,
}

#[derive(Deserialize)]
struct MergeModel {
    dropout: Option<f64>,
    merges: Option<serde::de::IgnoredAny>,
    continuing_subword_prefix: Option<String>,
    max_input_chars_per_word: Option<u64>,
}

/// Checks nesting, string lengths and the number of parts in one pass over the bytes. Accepts
/// invalid JSON.
fn survey(json: &[u8]) -> Result<(), TokenizerJsonError> {
    let mut depth = 0_usize;
    let mut parts = 0_usize;
    let mut at = 0;
    let mut room = room(b"");
    let mut last = &b""[..];
    while let Some(byte) = json.get(at) {
        match byte {
            b'"' => {
                let end = end_of_string(json, at + 1);
                last = &json[at + 1..end];
                if last.len() > room.string {
                    return Err(excessive("the length of a string"));
                }
                at = end;
            }
            b':' if depth == 1 => (room, parts) = (self::room(last), 0),
            b'{' | b'[' => (depth, parts) = (depth + 1, parts + 1),
            b'}' | b']' => depth = depth.saturating_sub(1),
            b',' => parts += 1,
            _ => {}
        }
        if depth > DEPTH || parts > room.parts {
            return Err(excessive("the number of parts"));
        }
        at += 1;
    }
    Ok(())
}

/// Returns the position of the closing quotation mark, or the end of the text.
fn end_of_string(json: &[u8], mut at: usize) -> usize {
    while let Some(byte) = json.get(at) {
        match byte {
            b'"' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    json.len()
}

/// Limits for the value of one key.
struct Sizes {
    /// Members, items, objects and lists.
    parts: usize,
    /// Bytes of each string.
    string: usize,
}

/// A vocabulary and the added tokens have many entries; nothing else does.
fn room(key: &[u8]) -> Sizes {
    match key {
        b"model" => Sizes {
            parts: 8_000_000,
            string: STRING,
        },
        b"added_tokens" => Sizes {
            parts: 1_000_000,
            string: STRING,
        },
        b"normalizer" => Sizes {
            parts: 1_000,
            string: CHARSMAP,
        },
        _ => Sizes {
            parts: 10_000,
            string: STRING,
        },
    }
}

/// Checks every stage below `value` and returns the combined growth factor in bytes.
fn growth(value: &Value) -> Result<usize, TokenizerJsonError> {
    let with = |product: usize, inner: &Value| Ok(product.saturating_mul(growth(inner)?));
    match value {
        Value::Object(stage) => {
            if let Some(Value::String(pattern)) = stage.get("Regex")
                && repeats(pattern) > REPEATS
            {
                return Err(excessive("the repetitions in a pattern"));
            }
            stage.values().try_fold(grown(stage)?, with)
        }
        Value::Array(stages) => stages.iter().try_fold(1, with),
        _ => Ok(1),
    }
}

/// Returns the maximum growth factor of one stage.
fn grown(stage: &serde_json::Map<String, Value>) -> Result<usize, TokenizerJsonError> {
    if let Some(Value::String(charsmap)) = stage.get("precompiled_charsmap") {
        return longest_rule(charsmap).ok_or(TokenizerJsonError::Damaged);
    }
    let length = |key: &str| stage.get(key).and_then(Value::as_str).map(str::len);
    let replaced = stage
        .get("pattern")
        .and_then(|pattern| pattern.get("String"))
        .and_then(Value::as_str);
    let content = length("content").unwrap_or(0) / replaced.map_or(1, str::len).max(1);
    Ok(1 + content.max(length("prepend").unwrap_or(0)))
}

/// Returns the byte length of the longest replacement in a precompiled charsmap. The format is the
/// table's length, the table, then all replacements, each terminated by zero.
fn longest_rule(charsmap: &str) -> Option<usize> {
    let bytes = STANDARD.decode(charsmap).ok()?;
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let rules = rest.get(u32::from_le_bytes(*length) as usize..)?;
    rules
        .split(|byte| *byte == 0)
        .map(|rule| rule.len().max(1))
        .max()
}

/// Returns the product of all counted repetitions, as if they were nested.
fn repeats(pattern: &str) -> u64 {
    let count = |braces: &str| {
        let inner = braces.split_once('}').map_or("", |(inner, _)| inner);
        inner
            .split(',')
            .filter_map(|number| number.trim().parse::<u64>().ok())
            .max()
            .unwrap_or(1)
            .max(1)
    };
    pattern
        .split('{')
        .skip(1)
        .map(count)
        .fold(1, u64::saturating_mul)
}

fn excessive(what: &'static str) -> TokenizerJsonError {
    TokenizerJsonError::Excessive { what }
}
