//! Cards in the EXIF user comment of a picture. Early Backyard versions wrote them, and some
//! programs still do in WebP.

use base64::Engine as _;

use super::{CardError, png};

/// Maximum size of a comment, in bytes.
const MAX_COMMENT: usize = 10 << 20;
const EXIF: &[u8] = b"Exif\0\0";
/// EXIF tags: the offset of the sub-directory, and the user comment.
const EXIF_DIRECTORY: u16 = 0x8769;
const COMMENT: u16 = 0x9286;
/// Size of a directory entry, and of the character code in front of a comment, in bytes.
const ENTRY: usize = 12;
const CHARACTER_CODE: usize = 8;

/// Returns the card JSON in the EXIF user comment of a PNG, JPEG or WebP, if there is one.
///
/// # Errors
/// [`CardError`] if the comment is too large.
pub(super) fn json(picture: &[u8]) -> Result<Option<Vec<u8>>, CardError> {
    let block = match picture {
        _ if png::is_png(picture) => png::exif(picture),
        _ if is_webp(picture) => webp_exif(picture),
        _ => jpeg_exif(picture),
    };
    block.map_or(Ok(None), in_block)
}

/// Returns the card JSON in the user comment of an EXIF block.
pub(super) fn in_block(block: &[u8]) -> Result<Option<Vec<u8>>, CardError> {
    let Some(comment) = comment(block) else {
        return Ok(None);
    };
    if comment.len() > MAX_COMMENT {
        let bytes = comment.len();
        return Err(CardError::TooLarge {
            what: "the comment in the picture",
            bytes,
            limit: MAX_COMMENT,
        });
    }
    let text = comment.trim_ascii();
    if text.starts_with(b"{") {
        return Ok(Some(text.to_vec()));
    }
    let decoded = png::TOLERANT.decode(text).ok();
    Ok(decoded.filter(|json| json.trim_ascii_start().starts_with(b"{")))
}

/// Returns the user comment without its character code and trailing zero bytes.
fn comment(block: &[u8]) -> Option<&[u8]> {
    let block = ExifBlock::open(block)?;
    let first = block.number(4, 4)?;
    let second = block
        .entry(first, EXIF_DIRECTORY)
        .and_then(|entry| block.number(entry + 8, 4));
    let entry = second
        .and_then(|part| block.entry(part, COMMENT))
        .or_else(|| block.entry(first, COMMENT))?;
    let length = block.number(entry + 4, 4)?;
    let at = block.number(entry + 8, 4)?;
    let comment = block
        .bytes
        .get(at..at.checked_add(length)?)?
        .get(CHARACTER_CODE..)?;
    let end = comment.iter().rposition(|byte| *byte != 0)?;
    Some(&comment[..=end])
}

/// A TIFF block: integers in either byte order, and directories of entries.
struct ExifBlock<'a> {
    bytes: &'a [u8],
    little: bool,
}

impl<'a> ExifBlock<'a> {
    fn open(bytes: &'a [u8]) -> Option<Self> {
        let little = match bytes.get(..4)? {
            b"II*\0" => true,
            b"MM\0*" => false,
            _ => return None,
        };
        Some(Self { bytes, little })
    }

    /// Reads an integer of `length` bytes at `at`.
    fn number(&self, at: usize, length: usize) -> Option<usize> {
        let digits = self.bytes.get(at..at.checked_add(length)?)?;
        let join = |sum: usize, digit: &u8| (sum << 8) | usize::from(*digit);
        Some(if self.little {
            digits.iter().rev().fold(0, join)
        } else {
            digits.iter().fold(0, join)
        })
    }

    /// Returns the offset of the entry with this tag in the directory at `part`.
    fn entry(&self, part: usize, tag: u16) -> Option<usize> {
        let count = self.number(part, 2)?;
        let entries = (0..count).map(|index| part + 2 + index * ENTRY);
        let mut entries = entries.take_while(|entry| entry + ENTRY <= self.bytes.len());
        entries.find(|entry| self.number(*entry, 2) == Some(usize::from(tag)))
    }
}

pub(super) fn is_webp(bytes: &[u8]) -> bool {
    matches!(
        bytes,
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'E',
            b'B',
            b'P',
            ..
        ]
    )
}

/// Returns the EXIF block of a WebP. Some writers keep the `Exif` marker that JPEGs need.
fn webp_exif(webp: &[u8]) -> Option<&[u8]> {
    let mut rest = webp.get(12..)?;
    while let Some((kind, after)) = rest.split_first_chunk::<4>() {
        let (length, after) = after.split_first_chunk::<4>()?;
        let length = u32::from_le_bytes(*length) as usize;
        let data = after.get(..length)?;
        if kind == b"EXIF" {
            return Some(data.strip_prefix(EXIF).unwrap_or(data));
        }
        // RIFF chunks start at even offsets.
        rest = after.get(length + length % 2..)?;
    }
    None
}

/// Returns the EXIF block of the first APP1 segment that has one.
fn jpeg_exif(jpeg: &[u8]) -> Option<&[u8]> {
    let mut rest = jpeg.strip_prefix(b"\xff\xd8")?;
    while let [0xff, kind, high, low, ..] = rest {
        let length = usize::from(u16::from_be_bytes([*high, *low]));
        let segment = rest.get(4..2 + length)?;
        if *kind == 0xe1
            && let Some(block) = segment.strip_prefix(EXIF)
        {
            return Some(block);
        }
        // Start of scan: pixel data follows.
        if *kind == 0xda {
            return None;
        }
        rest = &rest[2 + length..];
    }
    None
}
