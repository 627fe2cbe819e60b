//! Reads the settings of a header: keeps the used ones, checks and skips the rest.

use std::collections::HashMap;
use std::io::{Read, Seek};

use super::error::GgufFault;
use super::reader::GgufReader;

const MAX_KEY: u64 = 65_535;
/// Maximum bytes of a text. Chat templates are the longest texts in use; real ones stay under 100
/// kB.
const MAX_TEXT: u64 = 1 << 20;
/// Maximum elements of a list. The largest vocabularies have 262,144 tokens and twice as many
/// merges.
const MAX_ELEMENTS: u64 = 1 << 24;
/// Maximum numbers to keep of an array. Only arrays with one number per layer are used.
const MAX_KEPT: u64 = 4_096;

/// Maximum bytes of all texts in a list. The largest vocabularies have 4 MB of tokens and 8 MB of
/// merges.
const MAX_LIST: u64 = 64 << 20;

const TOKENS: &str = "tokenizer.ggml.tokens";

enum GgufValue {
    Number(u64),
    Flag(bool),
    Real(f32),
    Text(String),
    Numbers(Vec<u64>),
    /// A list of texts to read later: its position and length.
    Texts {
        at: u64,
        count: u64,
    },
    /// A list of numbers to read later: its position, length and `gguf_type`.
    Array {
        at: u64,
        count: u64,
        kind: u32,
    },
    /// Negative numbers, those of 64 bits with a fraction, long texts and long arrays.
    Unused,
}

/// All settings by key.
pub(super) struct Metadata(HashMap<String, GgufValue>);

impl Metadata {
    pub(super) fn read<R: Read + Seek>(
        reader: &mut GgufReader<R>,
        pairs: u64,
    ) -> Result<Self, GgufFault> {
        reader.begin("settings");
        let mut metadata = HashMap::new();
        for _ in 0..pairs {
            let key = key(reader)?;
            let value = value(reader, &key)?;
            if metadata.contains_key(&key) {
                return Err(GgufFault::Twice(key));
            }
            metadata.insert(key, value);
        }
        Ok(Self(metadata))
    }

    pub(super) fn text(&self, key: &str) -> Option<&str> {
        match self.0.get(key)? {
            GgufValue::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn number(&self, key: &str) -> Option<u64> {
        match self.0.get(key)? {
            GgufValue::Number(number) => Some(*number),
            _ => None,
        }
    }

    pub(super) fn numbers(&self, key: &str) -> Option<&[u64]> {
        match self.0.get(key)? {
            GgufValue::Numbers(numbers) => Some(numbers),
            _ => None,
        }
    }

    pub(super) fn real(&self, key: &str) -> Option<f32> {
        match self.0.get(key)? {
            GgufValue::Real(number) => Some(*number),
            _ => None,
        }
    }

    pub(super) fn flag(&self, key: &str) -> Option<bool> {
        match self.0.get(key)? {
            GgufValue::Flag(flag) => Some(*flag),
            _ => None,
        }
    }

    /// Reads the texts under `key`, at most `limit` of them and [`MAX_LIST`] bytes in total.
    pub(super) fn texts<R: Read + Seek>(
        &self,
        reader: &mut GgufReader<R>,
        key: &str,
        limit: u64,
    ) -> Result<Option<Vec<String>>, GgufFault> {
        let Some(GgufValue::Texts { at, count }) = self.0.get(key) else {
            return Ok(None);
        };
        within(*count, "texts in a vocabulary", limit)?;
        reader.rewind(*at)?;
        let (mut texts, mut bytes) = (Vec::new(), 0);
        for _ in 0..*count {
            let long = GgufFault::TooMany {
                what: "bytes in a token",
                count: MAX_KEY + 1,
                limit: MAX_KEY,
            };
            let text = reader.string(MAX_KEY)?.ok_or(long)?;
            bytes += text.len() as u64;
            within(bytes, "bytes in a vocabulary", MAX_LIST)?;
            texts.push(text);
        }
        Ok(Some(texts))
    }

    /// Reads the numbers under `key`, at most `limit` of them.
    pub(super) fn list<R: Read + Seek>(
        &self,
        reader: &mut GgufReader<R>,
        key: &str,
        limit: u64,
    ) -> Result<Option<Vec<f32>>, GgufFault> {
        let Some(GgufValue::Array { at, count, kind }) = self.0.get(key) else {
            return Ok(None);
        };
        within(*count, "numbers in a vocabulary", limit)?;
        reader.rewind(*at)?;
        let number = |reader: &mut GgufReader<R>| match kind {
            5 => reader.bytes().map(|bytes| i32::from_le_bytes(bytes) as f32),
            6 => reader.bytes().map(f32::from_le_bytes),
            kind => Err(unknown(key, *kind)),
        };
        (0..*count)
            .map(|_| number(reader))
            .collect::<Result<_, _>>()
            .map(Some)
    }

    /// Returns the alignment of tensor data in bytes.
    pub(super) fn alignment(&self) -> Result<u64, GgufFault> {
        match self.number("general.alignment").unwrap_or(32) {
            alignment if alignment.is_power_of_two() && alignment <= 1 << 20 => Ok(alignment),
            alignment => Err(GgufFault::Alignment(alignment)),
        }
    }

    /// Returns the text of the token whose id is the value of `key`.
    pub(super) fn token<R: Read + Seek>(
        &self,
        reader: &mut GgufReader<R>,
        key: &str,
    ) -> Result<Option<String>, GgufFault> {
        let (Some(id), Some(GgufValue::Texts { at, count })) =
            (self.number(key), self.0.get(TOKENS))
        else {
            return Ok(None);
        };
        if id >= *count {
            return Ok(None);
        }
        reader.rewind(*at)?;
        for _ in 0..id {
            let length = reader.u64()?;
            reader.skip(length)?;
        }
        reader.string(MAX_KEY)
    }
}

fn key<R: Read + Seek>(reader: &mut GgufReader<R>) -> Result<String, GgufFault> {
    let limit = GgufFault::TooMany {
        what: "bytes in a name",
        count: MAX_KEY + 1,
        limit: MAX_KEY,
    };
    reader.string(MAX_KEY)?.ok_or(limit)
}

fn value<R: Read + Seek>(reader: &mut GgufReader<R>, key: &str) -> Result<GgufValue, GgufFault> {
    match reader.u32()? {
        8 => Ok(reader
            .string(MAX_TEXT)?
            .map_or(GgufValue::Unused, GgufValue::Text)),
        9 => array(reader, key),
        kind => scalar(reader, kind).and_then(|value| value.ok_or_else(|| unknown(key, kind))),
    }
}

fn array<R: Read + Seek>(reader: &mut GgufReader<R>, key: &str) -> Result<GgufValue, GgufFault> {
    let kind = reader.u32()?;
    let count = reader.count("values in a list", MAX_ELEMENTS)?;
    if kind == 8 {
        let at = reader.at();
        for _ in 0..count {
            let length = reader.u64()?;
            reader.skip(length)?;
        }
        return Ok(GgufValue::Texts { at, count });
    }
    let size = size(kind).ok_or_else(|| unknown(key, kind))?;
    if key.starts_with("tokenizer.") {
        let at = reader.at();
        reader.skip(count * size)?;
        return Ok(GgufValue::Array { at, count, kind });
    }
    if count > MAX_KEPT {
        reader.skip(count * size)?;
        return Ok(GgufValue::Unused);
    }
    let mut numbers = Vec::new();
    for _ in 0..count {
        match scalar(reader, kind)? {
            Some(GgufValue::Number(number)) => numbers.push(number),
            _ => numbers.push(0),
        }
    }
    Ok(GgufValue::Numbers(numbers))
}

/// Reads a single value of a `gguf_type`; `None` for an unknown type.
fn scalar<R: Read + Seek>(
    reader: &mut GgufReader<R>,
    kind: u32,
) -> Result<Option<GgufValue>, GgufFault> {
    let signed = |number: i64| u64::try_from(number).map_or(GgufValue::Unused, GgufValue::Number);
    Ok(Some(match kind {
        0 => GgufValue::Number(u8::from_le_bytes(reader.bytes()?).into()),
        1 => signed(i8::from_le_bytes(reader.bytes()?).into()),
        2 => GgufValue::Number(u16::from_le_bytes(reader.bytes()?).into()),
        3 => signed(i16::from_le_bytes(reader.bytes()?).into()),
        4 => GgufValue::Number(reader.u32()?.into()),
        5 => signed(i32::from_le_bytes(reader.bytes()?).into()),
        7 => GgufValue::Flag(reader.bytes::<1>()? != [0]),
        10 => GgufValue::Number(reader.u64()?),
        11 => signed(i64::from_le_bytes(reader.bytes()?)),
        6 => GgufValue::Real(f32::from_le_bytes(reader.bytes()?)),
        12 => {
            reader.skip(8)?;
            GgufValue::Unused
        }
        _ => return Ok(None),
    }))
}

/// Returns the bytes of one value of a `gguf_type`; `None` for lists, which must not be nested.
fn size(kind: u32) -> Option<u64> {
    match kind {
        0 | 1 | 7 => Some(1),
        2 | 3 => Some(2),
        4..=6 => Some(4),
        10..=12 => Some(8),
        _ => None,
    }
}

fn within(count: u64, what: &'static str, limit: u64) -> Result<(), GgufFault> {
    if count > limit {
        Err(GgufFault::TooMany { what, count, limit })
    } else {
        Ok(())
    }
}

fn unknown(key: &str, kind: u32) -> GgufFault {
    GgufFault::UnknownType {
        key: key.chars().take(80).collect(),
        kind,
    }
}
