//! PNG files as a row of chunks: card texts are found, replaced and put in; everything else stays byte for byte.
//!
//! Pixels are never decoded here, so an edit of the text cannot change the picture (RT-2).

use std::collections::HashSet;

use base64::Engine as _;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig, general_purpose::STANDARD};

use super::{CardError, MAX_FILE, MAX_JSON, MAX_PNG_TEXT};

const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";
/// A 64 MiB picture in the usual 8 KiB pieces has 8,192.
const MAX_CHUNKS: usize = 65_536;
/// Length, kind and checksum around the data of a chunk.
const FRAME: usize = 12;

/// Begins the keyword of an asset's text.
const ASSET: &[u8] = b"chara-ext-asset_";
/// Longest keyword of a text; the format says 79, and some writers do not care.
const MAX_KEYWORD: usize = 1_024;

/// What RisuAI puts in front of a card that it has encrypted (formats 3.8).
const LOCKED: &[u8] = b"rcc||";

/// Exporters disagree about padding and about the unused bits before it.
pub(super) const TOLERANT: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// A card text as it stands in the picture.
pub(super) struct CardText<'a> {
    /// `ccv3` or `chara`, as it is spelled in the file.
    pub(super) keyword: String,
    pub(super) checksum_ok: bool,
    base64: &'a [u8],
}

impl CardText<'_> {
    /// The JSON inside. White space and padding do not matter.
    pub(super) fn decode(&self) -> Result<Vec<u8>, CardError> {
        if self.base64.len() > MAX_PNG_TEXT {
            let bytes = self.base64.len();
            return Err(CardError::TooLarge { what: "the card text in the picture", bytes, limit: MAX_PNG_TEXT });
        }
        if self.base64.starts_with(LOCKED) {
            return Err(CardError::Locked);
        }
        let dense: Vec<u8> = self.base64.iter().copied().filter(|b| !b.is_ascii_whitespace() && *b != 0).collect();
        TOLERANT.decode(dense).map_err(|_| CardError::NotBase64 { keyword: self.keyword.clone() })
    }
}

pub(super) fn is_png(bytes: &[u8]) -> bool {
    bytes.starts_with(SIGNATURE)
}

/// Every card text of a PNG, the most telling first: `ccv3`, then `chara`, each in the order of the file.
pub(super) fn card_texts(png: &[u8]) -> Result<Vec<CardText<'_>>, CardError> {
    let (chunks, _) = chunks(png)?;
    let mut texts: Vec<_> = chunks.iter().filter_map(card_text).collect();
    texts.sort_by_key(|text| !text.keyword.eq_ignore_ascii_case("ccv3"));
    Ok(texts)
}

/// Assets that were put into the picture as texts of their own (CT-05): the path that the card calls each by, and its bytes.
pub(super) fn assets(png: &[u8]) -> Result<Vec<(String, Vec<u8>)>, CardError> {
    let (chunks, _) = chunks(png)?;
    let found = |chunk: &Chunk<'_>| {
        let (path, base64) = asset(chunk)?;
        Some((path.to_owned(), decoded(base64)?))
    };
    Ok(chunks.iter().filter_map(found).collect())
}

/// Where the assets of a picture lie.
pub(super) fn asset_paths(png: &[u8]) -> Result<HashSet<String>, CardError> {
    let (chunks, _) = chunks(png)?;
    Ok(chunks.iter().filter_map(|chunk| Some(asset(chunk)?.0.to_owned())).collect())
}

/// What base64 stands for, white space in it or not.
pub(super) fn decoded(base64: &[u8]) -> Option<Vec<u8>> {
    let dense: Vec<u8> = base64.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    TOLERANT.decode(dense).ok()
}

/// The lorebook that NovelAI put into a picture; `None` for every other file.
pub(crate) fn novelai_lorebook(png: &[u8]) -> Option<Vec<u8>> {
    let (chunks, _) = chunks(png).ok()?;
    let mut texts = chunks.iter().filter(|chunk| chunk.kind == b"tEXt");
    let base64 = texts.find_map(|chunk| chunk.data.strip_prefix(b"naidata\0"))?;
    if base64.len() > MAX_PNG_TEXT {
        return None;
    }
    decoded(base64)
}

/// The block of what a camera or a program says of the picture, if it has one.
pub(super) fn exif(png: &[u8]) -> Result<Option<&[u8]>, CardError> {
    let (chunks, _) = chunks(png)?;
    Ok(chunks.into_iter().find(|chunk| chunk.kind == b"eXIf").map(|chunk| chunk.data))
}

/// The picture alone, without cards and their assets.
pub(super) fn without_texts(png: &[u8]) -> Result<Vec<u8>, CardError> {
    let (chunks, _) = chunks(png)?;
    let pixels = chunks.iter().filter(|chunk| card_text(chunk).is_none() && asset(chunk).is_none());
    Ok(pixels.fold(SIGNATURE.to_vec(), |mut picture, chunk| {
        picture.extend_from_slice(chunk.raw);
        picture
    }))
}

/// The same PNG with these card texts, in this order, instead of those it had.
pub(super) fn with_card_texts(png: &[u8], texts: &[(&str, &str)]) -> Result<Vec<u8>, CardError> {
    let (chunks, after_end) = chunks(png)?;
    let mut written = SIGNATURE.to_vec();
    for chunk in chunks.iter().filter(|chunk| card_text(chunk).is_none()) {
        if chunk.kind == b"IEND" {
            for (keyword, json) in texts {
                push_text(&mut written, keyword, json)?;
            }
        }
        written.extend_from_slice(chunk.raw);
    }
    written.extend_from_slice(after_end);
    check_size(&written, "the picture with its card")?;
    Ok(written)
}

struct Chunk<'a> {
    kind: &'a [u8],
    data: &'a [u8],
    /// With length, kind and checksum.
    raw: &'a [u8],
}

impl Chunk<'_> {
    fn checksum_ok(&self) -> bool {
        let (body, checksum) = self.raw[4..].split_at(4 + self.data.len());
        checksum == checksum_of(body)
    }
}

fn checksum_of(kind_and_data: &[u8]) -> [u8; 4] {
    crc32fast::hash(kind_and_data).to_be_bytes()
}

/// The chunks up to `IEND`, and the bytes behind it. Only the frames are looked at, so this is quick.
fn chunks(png: &[u8]) -> Result<(Vec<Chunk<'_>>, &[u8]), CardError> {
    check_size(png, "the picture")?;
    let broken = |offset, problem| CardError::BrokenPng { offset, problem };
    let mut rest = png.strip_prefix(SIGNATURE).ok_or_else(|| broken(0, "it does not begin like a PNG"))?;
    let mut chunks = Vec::new();
    loop {
        let offset = png.len() - rest.len();
        if chunks.len() == MAX_CHUNKS {
            return Err(broken(offset, "it has too many parts"));
        }
        let (chunk, behind) = chunk(rest, offset)?;
        rest = behind;
        if chunks.is_empty() && (chunk.kind != b"IHDR" || chunk.data.len() != 13) {
            return Err(broken(offset, "its header is missing"));
        }
        let is_end = chunk.kind == b"IEND";
        chunks.push(chunk);
        if is_end {
            return Ok((chunks, rest));
        }
    }
}

fn chunk(bytes: &[u8], offset: usize) -> Result<(Chunk<'_>, &[u8]), CardError> {
    let truncated = |kind: &[u8]| CardError::Truncated { chunk: String::from_utf8_lossy(kind).into_owned() };
    let Some((length, after_length)) = bytes.split_first_chunk::<4>() else { return Err(truncated(b"last")) };
    let Some((kind, _)) = after_length.split_first_chunk::<4>() else { return Err(truncated(b"last")) };
    if !kind.iter().all(u8::is_ascii_alphabetic) {
        return Err(CardError::BrokenPng { offset, problem: "a part has no proper name" });
    }
    let length = u32::from_be_bytes(*length) as usize;
    if length > i32::MAX as usize {
        return Err(CardError::BrokenPng { offset, problem: "a part has an impossible length" });
    }
    let Some((raw, behind)) = bytes.split_at_checked(FRAME + length) else { return Err(truncated(kind)) };
    Ok((Chunk { kind: &raw[4..8], data: &raw[8..8 + length], raw }, behind))
}

fn card_text<'a>(chunk: &Chunk<'a>) -> Option<CardText<'a>> {
    if chunk.kind != b"tEXt" {
        return None;
    }
    let end = chunk.data.iter().take(80).position(|byte| *byte == 0)?;
    let (keyword, base64) = (std::str::from_utf8(&chunk.data[..end]).ok()?, &chunk.data[end + 1..]);
    let is_card = ["ccv3", "chara"].iter().any(|known| keyword.eq_ignore_ascii_case(known));
    is_card.then(|| CardText { keyword: keyword.to_owned(), checksum_ok: chunk.checksum_ok(), base64 })
}

/// The path and the base64 of an asset's text. Some writers leave the colon out.
fn asset<'a>(chunk: &Chunk<'a>) -> Option<(&'a str, &'a [u8])> {
    let text = chunk.data.strip_prefix(ASSET).filter(|_| chunk.kind == b"tEXt")?;
    let text = text.strip_prefix(b":").unwrap_or(text);
    let end = text.iter().take(MAX_KEYWORD).position(|byte| *byte == 0)?;
    Some((std::str::from_utf8(&text[..end]).ok()?, &text[end + 1..]))
}

fn push_text(png: &mut Vec<u8>, keyword: &str, json: &str) -> Result<(), CardError> {
    if json.len() > MAX_JSON {
        return Err(CardError::TooLarge { what: "the card's JSON", bytes: json.len(), limit: MAX_JSON });
    }
    let data = [keyword, "\0", &STANDARD.encode(json)].concat();
    // Far below the limit of 2^31: the JSON was just measured.
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
        return Err(CardError::TooLarge { what, bytes: bytes.len(), limit: MAX_FILE });
    }
    Ok(())
}
