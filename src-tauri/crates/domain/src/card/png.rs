//! PNG files as a list of chunks. Finds, replaces and inserts card texts, and preserves all other
//! chunks byte for byte.
//!
//! Pixels are never decoded, so an edit cannot change the picture. Reading recovers as much as
//! possible from a damaged file. Writing requires an intact one.

use std::collections::HashSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::png_text::{InflatedText, PngText};
use super::{CardError, exif};
use crate::card::data::{MAX_FILE, MAX_JSON, MAX_PNG_TEXT};

const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";
/// A 64 MiB picture with the usual 8 KiB chunks has 8,192 chunks.
const MAX_CHUNKS: usize = 65_536;
/// Size of length, type and checksum around a chunk's data, in bytes.
const FRAME: usize = 12;

/// Keyword prefix of an asset's text chunk.
const ASSET: &[u8] = b"chara-ext-asset_";
/// Maximum length of an asset path, in bytes.
const MAX_ASSET_NAME: usize = 1_024;
/// Maximum number of card texts to try. A picture usually has two, and each may need unpacking.
const MAX_COPIES: usize = 16;

/// Prefix of a card that RisuAI has encrypted.
const ENCRYPTED: &[u8] = b"rcc||";

/// Exporters differ in padding and in the unused bits before it.
pub(super) const TOLERANT: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// A card text as stored in the picture.
pub(super) struct PngCardText<'a> {
    /// `ccv3` or `chara`, in the spelling of the file.
    pub(super) keyword: String,
    checksum_ok: bool,
    text: PngText<'a>,
}

pub(super) struct Decoded {
    pub(super) json: Vec<u8>,
    /// Whether the chunk's CRC and the end of the compressed data are correct.
    pub(super) sound: bool,
}

impl PngCardText<'_> {
    /// Maximum size after decompression, in bytes; 0 if the text is not compressed.
    pub(super) fn unpacked_limit(&self) -> usize {
        self.text.unpacked_limit()
    }

    /// Decodes the JSON. Ignores white space and padding, and accepts JSON without base64, as some
    /// writers produce it.
    pub(super) fn decode(&self) -> Result<Decoded, CardError> {
        let too_large = |bytes| CardError::TooLarge {
            what: "the card text in the picture",
            bytes,
            limit: MAX_PNG_TEXT,
        };
        let InflatedText { bytes, whole } = self
            .text
            .unpacked()
            .map_err(|_| too_large(MAX_PNG_TEXT + 1))?;
        if bytes.len() > MAX_PNG_TEXT {
            return Err(too_large(bytes.len()));
        }
        if bytes.starts_with(ENCRYPTED) {
            return Err(CardError::Locked);
        }
        let sound = self.checksum_ok && whole;
        if bytes.trim_ascii_start().starts_with(b"{") {
            return Ok(Decoded {
                json: bytes.into_owned(),
                sound,
            });
        }
        let not_base64 = || {
            if whole {
                CardError::NotBase64 {
                    keyword: self.keyword.clone(),
                }
            } else {
                CardError::NotUnpacked {
                    keyword: self.keyword.clone(),
                }
            }
        };
        match decoded(&bytes) {
            Some(json) if whole || !json.is_empty() => Ok(Decoded { json, sound }),
            _ => Err(not_base64()),
        }
    }
}

/// Card texts of a picture, and any damage to the picture around them.
pub(super) struct PngCardTexts<'a> {
    /// In order of precedence: `ccv3` before `chara`, each in file order.
    pub(super) texts: Vec<PngCardText<'a>>,
    pub(super) damage: Option<CardError>,
}

pub(super) fn is_png(bytes: &[u8]) -> bool {
    bytes.starts_with(SIGNATURE)
}

/// Finds all card texts of a PNG. If the picture is damaged or has no card text before `IEND`, the
/// remaining bytes are searched too.
///
/// # Errors
/// [`CardError::TooLarge`] if the file exceeds the size limit.
pub(super) fn card_texts(png: &[u8]) -> Result<PngCardTexts<'_>, CardError> {
    check_size(png, "the picture")?;
    let ChunkRow {
        chunks,
        behind,
        damage,
    } = row(png);
    let mut texts: Vec<_> = chunks.iter().filter_map(card_text).collect();
    if damage.is_some() || texts.is_empty() {
        texts.extend(scattered(behind));
    }
    texts.sort_by_key(|text| !text.keyword.eq_ignore_ascii_case("ccv3"));
    texts.truncate(MAX_COPIES);
    Ok(PngCardTexts { texts, damage })
}

/// Whether the chunk structure is intact, so that a card can be written into the picture.
pub(super) fn is_whole(png: &[u8]) -> bool {
    chunks(png).is_ok()
}

/// Returns the assets stored as text chunks: the path that the card uses for each, and its bytes.
pub(super) fn assets(png: &[u8]) -> Result<Vec<(String, Vec<u8>)>, CardError> {
    let (chunks, _) = chunks(png)?;
    let found = |chunk: &PngChunk<'_>| {
        let (path, base64) = asset(chunk)?;
        Some((path.to_owned(), decoded(base64)?))
    };
    Ok(chunks.iter().filter_map(found).collect())
}

pub(super) fn asset_paths(png: &[u8]) -> Result<HashSet<String>, CardError> {
    let (chunks, _) = chunks(png)?;
    Ok(chunks
        .iter()
        .filter_map(|chunk| Some(asset(chunk)?.0.to_owned()))
        .collect())
}

/// Decodes base64 and ignores white space in it.
pub(super) fn decoded(base64: &[u8]) -> Option<Vec<u8>> {
    let dense: Vec<u8> = base64
        .iter()
        .copied()
        .filter(|byte| !byte.is_ascii_whitespace() && *byte != 0)
        .collect();
    TOLERANT.decode(dense).ok()
}

/// Returns the lorebook that NovelAI stored in the picture. Returns `None` for any other file.
pub(crate) fn novelai_lorebook(png: &[u8]) -> Option<Vec<u8>> {
    let (chunks, _) = chunks(png).ok()?;
    let text = chunks
        .iter()
        .filter_map(PngChunk::text)
        .find(|text| text.keyword == "naidata")?;
    let base64 = text
        .unpacked()
        .ok()
        .filter(|text| text.bytes.len() <= MAX_PNG_TEXT)?
        .bytes;
    decoded(&base64)
}

/// Returns the EXIF block.
pub(super) fn exif(png: &[u8]) -> Option<&[u8]> {
    row(png)
        .chunks
        .into_iter()
        .find(|chunk| chunk.kind == b"eXIf")
        .map(|chunk| chunk.data)
}

/// Returns the picture without card texts and assets.
pub(super) fn without_texts(png: &[u8]) -> Result<Vec<u8>, CardError> {
    let (chunks, _) = chunks(png)?;
    let pixels = chunks
        .iter()
        .filter(|chunk| !holds_card(chunk) && asset(chunk).is_none());
    Ok(pixels.fold(SIGNATURE.to_vec(), |mut picture, chunk| {
        picture.extend_from_slice(chunk.raw);
        picture
    }))
}

/// Returns the PNG with these card texts, in this order. They replace the existing card texts in
/// all chunk types.
pub(super) fn with_card_texts(png: &[u8], texts: &[(&str, &str)]) -> Result<Vec<u8>, CardError> {
    let (chunks, after_end) = chunks(png)?;
    let mut written = SIGNATURE.to_vec();
    for chunk in chunks.iter().filter(|chunk| !holds_card(chunk)) {
        if chunk.kind == b"IEND" {
            for (keyword, json) in texts {
                push_text(&mut written, keyword, json)?;
            }
        }
        written.extend_from_slice(chunk.raw);
    }
    if scattered(after_end).is_empty() {
        written.extend_from_slice(after_end);
    }
    check_size(&written, "the picture with its card")?;
    Ok(written)
}

struct PngChunk<'a> {
    kind: &'a [u8],
    data: &'a [u8],
    /// The whole chunk, including length, type and checksum.
    raw: &'a [u8],
}

impl<'a> PngChunk<'a> {
    fn text(&self) -> Option<PngText<'a>> {
        PngText::of(self.kind, self.data)
    }

    fn checksum_ok(&self) -> bool {
        let (body, checksum) = self.raw[4..].split_at(4 + self.data.len());
        checksum == checksum_of(body)
    }
}

fn checksum_of(kind_and_data: &[u8]) -> [u8; 4] {
    crc32fast::hash(kind_and_data).to_be_bytes()
}

/// The readable chunks of a picture.
struct ChunkRow<'a> {
    chunks: Vec<PngChunk<'a>>,
    /// Bytes after `IEND`, or after the first damage.
    behind: &'a [u8],
    damage: Option<CardError>,
}

/// Returns the chunks up to `IEND`, and the bytes after it. Reads only the frames, so this is fast.
fn chunks(png: &[u8]) -> Result<(Vec<PngChunk<'_>>, &[u8]), CardError> {
    check_size(png, "the picture")?;
    let ChunkRow {
        chunks,
        behind,
        damage,
    } = row(png);
    damage.map_or(Ok((chunks, behind)), Err)
}

fn row(png: &[u8]) -> ChunkRow<'_> {
    let broken = |offset, problem| CardError::BrokenPng { offset, problem };
    let mut row = ChunkRow {
        chunks: Vec::new(),
        behind: png,
        damage: None,
    };
    let Some(mut rest) = png.strip_prefix(SIGNATURE) else {
        row.damage = Some(broken(0, "it does not begin like a PNG"));
        return row;
    };
    loop {
        row.behind = rest;
        let offset = png.len() - rest.len();
        let (found, after) = match chunk(rest, offset) {
            _ if row.chunks.len() == MAX_CHUNKS => {
                row.damage = Some(broken(offset, "it has too many parts"));
                return row;
            }
            Ok(found) => found,
            Err(error) => {
                row.damage = Some(error);
                return row;
            }
        };
        if row.chunks.is_empty() && (found.kind != b"IHDR" || found.data.len() != 13) {
            row.damage = Some(broken(offset, "its header is missing"));
            return row;
        }
        rest = after;
        let is_end = found.kind == b"IEND";
        row.chunks.push(found);
        if is_end {
            row.behind = rest;
            return row;
        }
    }
}

/// Searches unstructured bytes for card texts. Requires a correct CRC, because pixel data can look
/// like a chunk.
fn scattered(bytes: &[u8]) -> Vec<PngCardText<'_>> {
    let mut found = Vec::new();
    let mut from = 4;
    while let Some(ahead) = bytes.get(from..).and_then(|rest| {
        rest.windows(3)
            .position(|three| three == b"EXt" || three == b"TXt")
    }) {
        let at = from + ahead;
        from = at + 3;
        let whole = at
            .checked_sub(5)
            .and_then(|start| chunk(&bytes[start..], start).ok());
        let text = whole.and_then(|(chunk, _)| card_text(&chunk));
        found.extend(text.filter(|text| text.checksum_ok));
        if found.len() == MAX_COPIES {
            break;
        }
    }
    found
}

fn chunk(bytes: &[u8], offset: usize) -> Result<(PngChunk<'_>, &[u8]), CardError> {
    let truncated = |kind: &[u8]| CardError::Truncated {
        chunk: String::from_utf8_lossy(kind).into_owned(),
    };
    let Some((length, after_length)) = bytes.split_first_chunk::<4>() else {
        return Err(truncated(b"last"));
    };
    let Some((kind, _)) = after_length.split_first_chunk::<4>() else {
        return Err(truncated(b"last"));
    };
    if !kind.iter().all(u8::is_ascii_alphabetic) {
        return Err(CardError::BrokenPng {
            offset,
            problem: "a chunk has an invalid name",
        });
    }
    let length = u32::from_be_bytes(*length) as usize;
    if length > i32::MAX as usize {
        return Err(CardError::BrokenPng {
            offset,
            problem: "a chunk has an impossible length",
        });
    }
    let Some((raw, behind)) = bytes.split_at_checked(FRAME + length) else {
        return Err(truncated(kind));
    };
    Ok((
        PngChunk {
            kind: &raw[4..8],
            data: &raw[8..8 + length],
            raw,
        },
        behind,
    ))
}

fn card_text<'a>(chunk: &PngChunk<'a>) -> Option<PngCardText<'a>> {
    let text = chunk.text()?;
    let is_card = ["ccv3", "chara"]
        .iter()
        .any(|known| text.keyword.trim().eq_ignore_ascii_case(known));
    is_card.then(|| PngCardText {
        keyword: text.keyword.trim().to_owned(),
        checksum_ok: chunk.checksum_ok(),
        text,
    })
}

/// Whether the chunk holds a card, as a text chunk or in an EXIF comment.
fn holds_card(chunk: &PngChunk<'_>) -> bool {
    card_text(chunk).is_some()
        || (chunk.kind == b"eXIf" && exif::in_block(chunk.data).is_ok_and(|json| json.is_some()))
}

/// Returns path and base64 of an asset's text chunk. Some writers omit the colon.
fn asset<'a>(chunk: &PngChunk<'a>) -> Option<(&'a str, &'a [u8])> {
    let text = chunk
        .data
        .strip_prefix(ASSET)
        .filter(|_| chunk.kind == b"tEXt")?;
    let text = text.strip_prefix(b":").unwrap_or(text);
    let end = text
        .iter()
        .take(MAX_ASSET_NAME)
        .position(|byte| *byte == 0)?;
    Some((std::str::from_utf8(&text[..end]).ok()?, &text[end + 1..]))
}

fn push_text(png: &mut Vec<u8>, keyword: &str, json: &str) -> Result<(), CardError> {
    if json.len() > MAX_JSON {
        return Err(CardError::TooLarge {
            what: "the card's JSON",
            bytes: json.len(),
            limit: MAX_JSON,
        });
    }
    let data = [keyword, "\0", &STANDARD.encode(json)].concat();
    // The cast is safe: the JSON size was checked above, and it is far below 2^31.
    png.extend_from_slice(&(data.len() as u32).to_be_bytes());
    let start = png.len();
    png.extend_from_slice(b"tEXt");
    png.extend_from_slice(data.as_bytes());
    let checksum = checksum_of(&png[start..]);
    png.extend_from_slice(&checksum);
    Ok(())
}

fn check_size(bytes: &[u8], what: &'static str) -> Result<(), CardError> {
    if bytes.len() > MAX_FILE {
        return Err(CardError::TooLarge {
            what,
            bytes: bytes.len(),
            limit: MAX_FILE,
        });
    }
    Ok(())
}
