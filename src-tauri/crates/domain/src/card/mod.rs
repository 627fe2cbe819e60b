//! Character cards: V1, V2 and V3, in PNG, JSON and CHARX. Backyard files become V3 cards, and
//! those of Pygmalion and text-generation-webui become V1.
//!
//! A [`Card`] keeps the whole JSON it was read from; getters and setters are a view on it. Unknown
//! fields therefore survive import, edit and export.

mod asset_list;
mod assets;
mod charx;
mod data;
mod error;
mod exif;
mod fields;
mod flat;
mod foreign;
pub(crate) mod parse;
mod png;
mod png_text;
mod write;

pub use asset_list::{AssetPlace, CardAsset};
pub use assets::picture;
pub(crate) use charx::CARD;
pub use error::{CardError, Warning};
pub use parse::check_json;
pub(crate) use png::novelai_lorebook;
use serde_json::{Map, Value};

pub use self::data::{Card, CardVersion, MAX_FILE, MAX_JSON, MAX_NAME, MAX_PNG_TEXT};
use crate::lenient_json;

const _: () = assert!(
    MAX_JSON == MAX_PNG_TEXT / 4 * 3,
    "a card of the maximum JSON size must fit into a picture"
);
/// Maximum total decompressed size of card texts that turn out to be unreadable. Further texts that
/// would exceed it are skipped.
const MAX_UNREADABLE: usize = 2 * MAX_PNG_TEXT;

impl Card {
    /// Creates an empty V3 card.
    ///
    /// # Errors
    /// [`CardError::NoName`] for a blank name, [`CardError::NameTooLong`] above [`MAX_NAME`].
    pub fn new(name: &str) -> Result<Self, CardError> {
        let mut card = Self {
            version: CardVersion::V1,
            fields: Map::new(),
            outer: Map::new(),
        };
        card.set_name(name)?;
        Ok(card.complete())
    }

    /// Reads a card from a file in any supported format: PNG, JSON, YAML, CHARX or BYAF. A CHARX
    /// archive may follow a JPEG or a program. A PNG, JPEG or WebP may hold the card in its EXIF
    /// comment.
    ///
    /// # Errors
    /// [`CardError`] if there is no card, no name, or the file is damaged or above the limits.
    pub fn read(bytes: &[u8]) -> Result<(Self, Vec<Warning>), CardError> {
        Self::read_as(bytes, None)
    }

    /// Reads a card like [`Card::read`], but names a nameless card after its file, without the
    /// extension.
    ///
    /// # Errors
    /// The errors of [`Card::read`].
    pub fn read_named(bytes: &[u8], file: &str) -> Result<(Self, Vec<Warning>), CardError> {
        match Self::read(bytes) {
            Err(CardError::NoName { .. }) => Self::read_as(bytes, Some(file)),
            read => read,
        }
    }

    fn read_as(bytes: &[u8], file: Option<&str>) -> Result<(Self, Vec<Warning>), CardError> {
        if png::is_png(bytes) {
            return Self::from_png_as(bytes, file);
        }
        if charx::may_be(bytes) {
            return charx::read(bytes, file);
        }
        if (bytes.starts_with(charx::JPEG) || exif::is_webp(bytes))
            && let Some(json) = exif::json(bytes)?
        {
            return parse::card(&json, file);
        }
        if lenient_json::begins_as_json(bytes) {
            return parse::card(bytes, file);
        }
        let (text, repair) = lenient_json::text(bytes);
        match flat::from_yaml(&text)? {
            Some(root) => {
                let (card, warnings) = parse::root(root, file)?;
                Ok((
                    card,
                    repair
                        .into_iter()
                        .map(Warning::Repaired)
                        .chain(warnings)
                        .collect(),
                ))
            }
            None => Err(looks_like(bytes)),
        }
    }

    /// Reads a JSON card in any encoding that [`lenient_json`] supports.
    ///
    /// # Errors
    /// [`CardError`] if the text is not a JSON object, has no name, or exceeds the limits.
    pub fn from_json(bytes: &[u8]) -> Result<(Self, Vec<Warning>), CardError> {
        parse::card(bytes, None)
    }

    /// Reads the card from a PNG. `ccv3` has precedence over `chara`, and the first intact copy
    /// over later ones. Falls back to the EXIF comment. Damage to the picture itself is a warning.
    ///
    /// # Errors
    /// [`CardError::NoCard`] if there is no card; the error of the best copy if no copy is intact.
    pub fn from_png(bytes: &[u8]) -> Result<(Self, Vec<Warning>), CardError> {
        Self::from_png_as(bytes, None)
    }

    fn from_png_as(bytes: &[u8], file: Option<&str>) -> Result<(Self, Vec<Warning>), CardError> {
        let png::PngCardTexts { texts, damage } = png::card_texts(bytes)?;
        let damaged = |reason: &CardError| Warning::DamagedPicture {
            reason: Box::new(reason.clone()),
        };
        let mut warnings: Vec<Warning> = damage.iter().map(damaged).collect();
        let mut first_error = None;
        let mut unreadable = 0;
        for text in texts {
            let limit = text.unpacked_limit();
            if unreadable + limit > MAX_UNREADABLE {
                continue;
            }
            let read = text
                .decode()
                .and_then(|decoded| Ok((parse::card(&decoded.json, file)?, decoded.sound)));
            match read {
                Ok(((card, found), sound)) => {
                    if !sound {
                        warnings.push(Warning::BadChecksum {
                            keyword: text.keyword,
                        });
                    }
                    warnings.extend(found);
                    return Ok((card, warnings));
                }
                Err(error) => {
                    unreadable += if matches!(error, CardError::TooLarge { .. }) {
                        limit
                    } else {
                        0
                    };
                    first_error.get_or_insert_with(|| error.clone());
                    warnings.push(Warning::BrokenCopy {
                        keyword: text.keyword,
                        reason: Box::new(error),
                    });
                }
            }
        }
        match (first_error.or(damage), exif::json(bytes)?) {
            (None, None) => Err(CardError::NoCard),
            (Some(error), None) => Err(error),
            (_, Some(json)) => {
                let (card, found) = parse::card(&json, file)?;
                Ok((card, warnings.into_iter().chain(found).collect()))
            }
        }
    }

    pub fn version(&self) -> CardVersion {
        self.version
    }

    /// The whole card in its own version, with all edits and unknown fields.
    pub fn to_value(&self) -> Value {
        if self.version == CardVersion::V1 {
            return Value::Object(self.fields.clone());
        }
        let mut root = self.outer.clone();
        root.insert("data".into(), Value::Object(self.fields.clone()));
        Value::Object(root)
    }

    /// Storage form: compact JSON in the card's own version. [`Card::from_json`] reads it back
    /// unchanged.
    pub fn to_json(&self) -> String {
        self.to_value().to_string()
    }

    /// Upgrades the card to V3, with all required fields.
    pub(crate) fn complete(&self) -> Self {
        Self::from_root(CardVersion::V3, self.upgraded_root(CardVersion::V3))
    }

    fn from_root(version: CardVersion, mut root: Map<String, Value>) -> Self {
        if version == CardVersion::V1 {
            return Self {
                version,
                fields: root,
                outer: Map::new(),
            };
        }
        let fields = match root.get_mut("data").map(Value::take) {
            Some(Value::Object(fields)) => fields,
            _ => Map::new(),
        };
        Self {
            version,
            fields,
            outer: root,
        }
    }
}

/// Whether the file is an archive, or has one appended.
pub(crate) fn may_be_archive(bytes: &[u8]) -> bool {
    charx::may_be(bytes)
}

/// Whether the picture is an intact PNG, into which a card can be written without conversion.
pub fn is_whole_png(bytes: &[u8]) -> bool {
    png::is_png(bytes) && png::is_whole(bytes)
}

/// An archive of a kind that no card has.
fn other_archive(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [b'R', b'a', b'r', b'!', 0x1a, 0x07, ..] => Some("a RAR archive"),
        [b'7', b'z', 0xbc, 0xaf, 0x27, 0x1c, ..] => Some("a 7-Zip archive"),
        [0x1f, 0x8b, ..] => Some("a GZIP archive"),
        [b'B', b'Z', b'h', b'1'..=b'9', ..] => Some("a BZIP2 archive"),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some("an XZ archive"),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Some("a Zstandard archive"),
        _ if bytes.get(257..262) == Some(b"ustar") => Some("a TAR archive"),
        _ => None,
    }
}

/// Identifies the format of a file that is not a card by its first bytes.
fn looks_like(bytes: &[u8]) -> CardError {
    if let Some(packed) = other_archive(bytes) {
        return CardError::PackedOtherwise { packed };
    }
    let looks_like = match bytes {
        [] => "an empty file",
        [0xff, 0xd8, 0xff, ..] => "a JPEG picture",
        _ if exif::is_webp(bytes) => "a WEBP picture",
        [b'G', b'I', b'F', b'8', ..] => "a GIF picture",
        [
            _,
            _,
            _,
            _,
            b'f',
            b't',
            b'y',
            b'p',
            b'a',
            b'v',
            b'i',
            b'f' | b's',
            ..,
        ] => "an AVIF picture",
        [b'G', b'G', b'U', b'F', ..] => "a model file",
        [b'S', b'Q', b'L', b'i', b't', b'e', b' ', ..] => "a database",
        [b'%', b'P', b'D', b'F', ..] => "a PDF document",
        [b'M', b'Z', ..] => "a program for Windows",
        [b'r', b'c', b'c', b'|', b'|', ..] => "a card that RisuAI has encrypted",
        // Magic byte, version, and a length below 16 MiB.
        [111, 0, _, _, _, 0, ..] => "a RisuAI module",
        _ => flat::other_yaml(bytes).unwrap_or("an unknown kind of file"),
    };
    CardError::UnknownFormat { looks_like }
}
