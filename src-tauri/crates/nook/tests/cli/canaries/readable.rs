//! Texts that tell what was stored, and the search for them in files: in UTF-8, UTF-16 and base64, as
//! they are and in compressed parts.

use std::collections::BTreeSet;
use std::io::Read;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use flate2::read::{DeflateDecoder, ZlibDecoder};

/// Every text begins with it, so one search finds all of them.
pub(super) const PREFIX: &str = "canaryzq";
/// Bytes that a compressed part may have.
const MAX_INFLATED: u64 = 1 << 20;

/// The text of one kind of content. Kinds have only small letters.
pub(super) fn canary(kind: &str) -> String {
    format!("{PREFIX}{kind}")
}

/// The kinds whose text is in a file in UTF-8.
pub(super) fn kinds_in(file: &[u8]) -> BTreeSet<String> {
    let mut kinds = BTreeSet::new();
    for content in contents(file) {
        for place in places(&content, PREFIX.as_bytes()) {
            let kind = content[place + PREFIX.len()..].iter();
            let letters = kind.take_while(|byte| byte.is_ascii_lowercase());
            kinds.insert(letters.map(|byte| char::from(*byte)).collect());
        }
    }
    kinds
}

/// Whether a text of any kind is in a file, in any encoding.
pub(super) fn is_readable(file: &[u8]) -> bool {
    let patterns = patterns();
    let has_text = |content: &Vec<u8>| patterns.iter().any(|one| !places(content, one).is_empty());
    contents(file).iter().any(has_text)
}

/// The prefix in each encoding. In base64, its letters depend on its place in a group of three.
fn patterns() -> Vec<Vec<u8>> {
    let utf16 = PREFIX.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let base64 = (0..3).map(|before| {
        let text = [vec![0; before], PREFIX.as_bytes().to_vec()].concat();
        let encoded = STANDARD_NO_PAD.encode(&text);
        let sure = (before * 8).div_ceil(6)..text.len() * 8 / 6;
        encoded[sure].as_bytes().to_vec()
    });
    [PREFIX.as_bytes().to_vec(), utf16]
        .into_iter()
        .chain(base64)
        .collect()
}

/// The bytes of a file, and those of its compressed parts.
fn contents(file: &[u8]) -> Vec<Vec<u8>> {
    let mut all = vec![file.to_vec()];
    all.extend(zlib_parts(file));
    all.extend(archive_members(file));
    all
}

/// Parts as in PNG files. Other bytes may begin like one.
fn zlib_parts(file: &[u8]) -> Vec<Vec<u8>> {
    let is_header = |at: &usize| matches!(file.get(at + 1), Some(0x01 | 0x5e | 0x9c | 0xda));
    let starts = places(file, &[0x78]).into_iter().filter(is_header);
    starts
        .map(|at| inflated(ZlibDecoder::new(&file[at..])))
        .collect()
}

/// The compressed members of ZIP archives.
fn archive_members(file: &[u8]) -> Vec<Vec<u8>> {
    let member = |at: usize| {
        let length = |field: usize| {
            let bytes = file.get(at + field..at + field + 2)?;
            Some(usize::from(u16::from_le_bytes(bytes.try_into().ok()?)))
        };
        let start = at + 30 + length(26)? + length(28)?;
        Some(inflated(DeflateDecoder::new(file.get(start..)?)))
    };
    let headers = places(file, b"PK\x03\x04").into_iter();
    headers.filter_map(member).collect()
}

/// The content until its end, or until bytes that are not compressed.
fn inflated(part: impl Read) -> Vec<u8> {
    let mut content = Vec::new();
    let _ = part.take(MAX_INFLATED).read_to_end(&mut content);
    content
}

fn places(bytes: &[u8], pattern: &[u8]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(step) = bytes[from..].iter().position(|byte| *byte == pattern[0]) {
        if bytes[from + step..].starts_with(pattern) {
            found.push(from + step);
        }
        from += step + 1;
    }
    found
}
