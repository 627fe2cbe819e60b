//! Character cards: V1, V2 and V3, in PNG, JSON and CHARX; what Backyard writes becomes V3, and what Pygmalion and
//! text-generation-webui write V1.
//!
//! A [`Card`] keeps the whole JSON it was read from; accessors and setters are a view on it. So whatever this program does
//! not know survives import, edit and export. The rule ids in comments (CT, V1, V2, V3, DC, MC, RT) are those of the
//! format checklist that the tests cite.

mod asset_list;
mod assets;
mod charx;
mod error;
mod exif;
mod fields;
mod flat;
pub(crate) mod parse;
mod png;
mod write;

use serde_json::{Map, Value};

pub use asset_list::{Asset, AssetPlace};
pub use assets::picture;
pub(crate) use charx::CARD;
pub use error::{CardError, Warning};
pub use parse::check_json;
pub(crate) use png::novelai_lorebook;

/// Largest file that is read, in bytes.
pub const MAX_FILE: usize = 64 << 20;
/// Largest base64 text of a card inside a PNG, in bytes.
pub const MAX_PNG_TEXT: usize = 32 << 20;
/// Largest JSON of a card, in bytes: what fits into [`MAX_PNG_TEXT`] as base64.
pub const MAX_JSON: usize = MAX_PNG_TEXT / 4 * 3;
/// Longest name of a character, in characters. Names are pasted wherever a macro stands, so they multiply.
pub const MAX_NAME: usize = 300;

/// The generation of the card format a card was read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    V1,
    V2,
    V3,
}

/// A character card that has a usable name.
#[derive(Debug, Clone, PartialEq)]
pub struct Card {
    version: Version,
    /// Name, description and so on, unknown ones included.
    fields: Map<String, Value>,
    /// From V2 on the file's outer object, in which `data` only keeps the place of the fields. Empty for V1.
    around: Map<String, Value>,
}

impl Card {
    /// An empty V3 card.
    ///
    /// # Errors
    /// [`CardError::NoName`] for a blank name, [`CardError::NameTooLong`] above [`MAX_NAME`].
    pub fn new(name: &str) -> Result<Self, CardError> {
        let mut card = Self { version: Version::V1, fields: Map::new(), around: Map::new() };
        card.set_name(name)?;
        Ok(card.complete())
    }

    /// Reads a card from the bytes of a file of any form: PNG, JSON, YAML, CHARX, BYAF; a CHARX may stand behind a JPEG, and
    /// older cards of Backyard's in what a PNG or JPEG says of itself.
    ///
    /// # Errors
    /// [`CardError`] if there is no card, no name, or the file is damaged or above the limits.
    pub fn read(bytes: &[u8]) -> Result<(Self, Vec<Warning>), CardError> {
        if png::is_png(bytes) {
            return Self::from_png(bytes);
        }
        if charx::may_be(bytes) {
            return charx::read(bytes);
        }
        if bytes.starts_with(charx::JPEG)
            && let Some(json) = exif::json(bytes)?
        {
            return Self::from_json(&json);
        }
        let text = parse::without_bom(bytes);
        if matches!(text.trim_ascii_start().first(), Some(b'{' | b'[')) {
            return Self::from_json(bytes);
        }
        match flat::from_yaml(text)? {
            Some(root) => parse::root(root),
            None => Err(CardError::UnknownFormat { looks_like: looks_like(bytes) }),
        }
    }

    /// Reads a JSON card, with or without a byte order mark.
    ///
    /// # Errors
    /// [`CardError`] if it is no JSON object, has no name, or is above the limits.
    pub fn from_json(bytes: &[u8]) -> Result<(Self, Vec<Warning>), CardError> {
        parse::card(bytes)
    }

    /// Reads the card inside a PNG: `ccv3` before `chara` (CT-01 to CT-03), and of several copies the first that is whole;
    /// without one, what the picture's EXIF comment holds.
    ///
    /// # Errors
    /// [`CardError::NoCard`] if there is none; the reason of the best copy if none is whole.
    pub fn from_png(bytes: &[u8]) -> Result<(Self, Vec<Warning>), CardError> {
        let mut warnings = Vec::new();
        let mut first_error = None;
        for text in png::card_texts(bytes)? {
            match text.decode().and_then(|json| parse::card(&json)) {
                Ok((card, found)) => {
                    if !text.checksum_ok {
                        warnings.push(Warning::BadChecksum { keyword: text.keyword });
                    }
                    warnings.extend(found);
                    return Ok((card, warnings));
                }
                Err(error) => {
                    first_error.get_or_insert_with(|| error.clone());
                    warnings.push(Warning::BrokenCopy { keyword: text.keyword, reason: Box::new(error) });
                }
            }
        }
        match (first_error, exif::json(bytes)?) {
            (Some(error), _) => Err(error),
            (None, Some(json)) => Self::from_json(&json),
            (None, None) => Err(CardError::NoCard),
        }
    }

    pub fn version(&self) -> Version {
        self.version
    }

    /// The whole card as it was read and edited, unknown fields included.
    pub fn to_value(&self) -> Value {
        if self.version == Version::V1 {
            return Value::Object(self.fields.clone());
        }
        let mut root = self.around.clone();
        root.insert("data".into(), Value::Object(self.fields.clone()));
        Value::Object(root)
    }

    /// The form to keep: compact JSON in the card's own version, which [`Card::from_json`] reads back unchanged.
    pub fn to_json(&self) -> String {
        self.to_value().to_string()
    }

    /// As V3, with all that it demands.
    pub(crate) fn complete(&self) -> Self {
        Self::from_root(Version::V3, self.upgraded(Version::V3))
    }

    fn from_root(version: Version, mut root: Map<String, Value>) -> Self {
        if version == Version::V1 {
            return Self { version, fields: root, around: Map::new() };
        }
        let fields = match root.get_mut("data").map(Value::take) {
            Some(Value::Object(fields)) => fields,
            _ => Map::new(),
        };
        Self { version, fields, around: root }
    }
}

impl Version {
    /// The value of `spec`; V1 has none.
    fn spec(self) -> &'static str {
        match self {
            Self::V1 => "",
            Self::V2 => "chara_card_v2",
            Self::V3 => "chara_card_v3",
        }
    }

    /// The value of `spec_version`.
    fn number(self) -> &'static str {
        match self {
            Self::V1 => "1.0",
            Self::V2 => "2.0",
            Self::V3 => "3.0",
        }
    }
}

fn looks_like(bytes: &[u8]) -> &'static str {
    match bytes {
        [] => "an empty file",
        [0xff, 0xd8, 0xff, ..] => "a JPEG picture",
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => "a WEBP picture",
        [b'G', b'I', b'F', b'8', ..] => "a GIF picture",
        [b'G', b'G', b'U', b'F', ..] => "a model file",
        [b'r', b'c', b'c', b'|', b'|', ..] => "a card that RisuAI has encrypted",
        // Formats 3.5: magic, version, and a length of less than 16 MiB.
        [111, 0, _, _, _, 0, ..] => "a module of RisuAI's",
        _ => "an unknown kind of file",
    }
}
