//! What is looked at before the crate `tokenizers` reads a file: it sets no limits of its own.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::Value;

use super::{TokenizerJson, TokenizerJsonError};

/// Braces and brackets in one another. The crate tries its types one after the other, again at each level.
const DEPTH: usize = 12;
/// Tokens of 150 bytes are long; a regex of a thousand is.
const STRING: usize = 8 << 10;
/// The rules of `nmt_nfkc`, the longest that are published, have 316 kB.
const CHARSMAP: usize = 4 << 20;
/// Letters that a word may have before WordPiece gives it up; it tries every part of one.
const WORD: u64 = 1_000;
/// How many bytes normalizing may make of one. The longest rule of `nmt_nfkc` has 33, and a space becomes three.
const GROWTH: usize = 256;
/// Copies of its parts that a regex may be made of; `fancy-regex` writes `(x{9}){9}` out.
const REPEATS: u64 = 1_000;

/// Refuses what would take too much memory or time to read or to count with.
pub(super) fn check(json: &[u8]) -> Result<(), TokenizerJsonError> {
    if json.len() > TokenizerJson::MAX_BYTES {
        return Err(TokenizerJsonError::TooLarge { mebibytes: json.len() >> 20 });
    }
    survey(json)?;
    let file: File = serde_json::from_slice(json).map_err(TokenizerJsonError::NotOne)?;
    if file.model.dropout.is_some_and(|share| share != 0.0) {
        return Err(TokenizerJsonError::ByChance);
    }
    if file.model.max_input_chars_per_word.is_some_and(|most| most > WORD) {
        return Err(excessive("the longest word"));
    }
    // The crate cuts this many bytes off tokens that need not begin with it.
    if file.model.merges.is_some() && file.model.continuing_subword_prefix.is_some_and(|prefix| !prefix.is_empty()) {
        return Err(TokenizerJsonError::Unusable { reason: "merges with a prefix inside words are not known".into() });
    }
    for stage in [&file.pre_tokenizer, &file.post_processor, &file.decoder] {
        growth(stage)?;
    }
    if growth(&file.normalizer)? > GROWTH {
        return Err(excessive("what its normalizer makes of a text"));
    }
    Ok(())
}

/// As much of a file as is looked at.
#[derive(Deserialize)]
struct File {
    model: Model,
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
struct Model {
    dropout: Option<f64>,
    merges: Option<serde::de::IgnoredAny>,
    continuing_subword_prefix: Option<String>,
    max_input_chars_per_word: Option<u64>,
}

/// Nested deeper, longer, or of more parts than real files are, by one look at each byte. What is no JSON passes.
fn survey(json: &[u8]) -> Result<(), TokenizerJsonError> {
    let (mut depth, mut parts, mut at) = (0_usize, 0_usize, 0);
    let (mut room, mut last) = (room(b""), &b""[..]);
    while let Some(byte) = json.get(at) {
        match byte {
            b'"' => {
                let end = end_of_string(json, at + 1);
                last = &json[at + 1..end];
                if last.len() > room.string {
                    return Err(excessive("a text in it"));
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
            return Err(excessive("the number of its parts"));
        }
        at += 1;
    }
    Ok(())
}

/// The place of the quotation mark that ends a string; the end of the text where none does.
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

/// What may stand under one key.
struct Room {
    /// Members, items, objects and lists.
    parts: usize,
    /// Bytes of each text.
    string: usize,
}

/// A vocabulary is long, the added tokens are many, and nothing else is either.
fn room(key: &[u8]) -> Room {
    match key {
        b"model" => Room { parts: 8_000_000, string: STRING },
        b"added_tokens" => Room { parts: 1_000_000, string: STRING },
        b"normalizer" => Room { parts: 1_000, string: CHARSMAP },
        _ => Room { parts: 10_000, string: STRING },
    }
}

/// Looks at every stage below `value`, whatever it is called. Returns how many bytes they may make of one together.
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

/// Bytes that one stage may make of one, at the most.
fn grown(stage: &serde_json::Map<String, Value>) -> Result<usize, TokenizerJsonError> {
    if let Some(Value::String(charsmap)) = stage.get("precompiled_charsmap") {
        return longest_rule(charsmap).ok_or(TokenizerJsonError::Damaged);
    }
    let length = |key: &str| stage.get(key).and_then(Value::as_str).map(str::len);
    let replaced = stage.get("pattern").and_then(|pattern| pattern.get("String")).and_then(Value::as_str);
    let content = length("content").unwrap_or(0) / replaced.map_or(1, str::len).max(1);
    Ok(1 + content.max(length("prepend").unwrap_or(0)))
}

/// The longest text that a precompiled normalizer puts in the place of a letter, in bytes: behind a table, whose length
/// comes first, all of them stand one after the other, each with a zero at its end.
fn longest_rule(charsmap: &str) -> Option<usize> {
    let bytes = STANDARD.decode(charsmap).ok()?;
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let rules = rest.get(u32::from_le_bytes(*length) as usize..)?;
    rules.split(|byte| *byte == 0).map(|rule| rule.len().max(1)).max()
}

/// All counted repetitions of a pattern, as if each stood in the one before.
fn repeats(pattern: &str) -> u64 {
    let count = |braces: &str| {
        let inner = braces.split_once('}').map_or("", |(inner, _)| inner);
        inner.split(',').filter_map(|number| number.trim().parse::<u64>().ok()).max().unwrap_or(1).max(1)
    };
    pattern.split('{').skip(1).map(count).fold(1, u64::saturating_mul)
}

fn excessive(what: &'static str) -> TokenizerJsonError {
    TokenizerJsonError::Excessive { what }
}
