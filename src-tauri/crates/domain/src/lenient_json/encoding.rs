//! Decodes UTF-8 and UTF-16, with or without a byte order mark.

use std::borrow::Cow;

use super::{Repair, RepairKind, repair};

/// Decodes the text and removes the byte order mark. Invalid sequences become U+FFFD.
pub(super) fn decode(bytes: &[u8]) -> (Cow<'_, str>, Option<Repair>) {
    match bytes {
        [0xef, 0xbb, 0xbf, rest @ ..] => utf8(rest),
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
        // JSON starts with two ASCII characters, so the position of the zero bytes shows the byte
        // order.
        [1..=127, 0, 1..=127, 0, ..] => utf16(bytes, u16::from_le_bytes),
        [0, 1..=127, 0, 1..=127, ..] => utf16(bytes, u16::from_be_bytes),
        _ => utf8(bytes),
    }
}

fn utf8(bytes: &[u8]) -> (Cow<'_, str>, Option<Repair>) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (Cow::Borrowed(text), None),
        Err(first) => {
            let count = bytes
                .utf8_chunks()
                .filter(|chunk| !chunk.invalid().is_empty())
                .count();
            let repair = repair(RepairKind::NotText, count, bytes, first.valid_up_to());
            (String::from_utf8_lossy(bytes), Some(repair))
        }
    }
}

/// A trailing odd byte is invalid too.
fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> (Cow<'_, str>, Option<Repair>) {
    let (pairs, odd) = bytes.as_chunks::<2>();
    let mut text = String::with_capacity(bytes.len() / 2);
    let mut count = 0;
    let mut first = 0;
    for found in char::decode_utf16(pairs.iter().copied().map(unit)) {
        if found.is_err() && count == 0 {
            first = text.len();
        }
        count += usize::from(found.is_err());
        text.push(found.unwrap_or(char::REPLACEMENT_CHARACTER));
    }
    let halves =
        (count > 0).then(|| repair(RepairKind::HalfCharacter, count, text.as_bytes(), first));
    let cut =
        (!odd.is_empty()).then(|| repair(RepairKind::NotText, 1, text.as_bytes(), text.len()));
    (Cow::Owned(text), halves.or(cut))
}
