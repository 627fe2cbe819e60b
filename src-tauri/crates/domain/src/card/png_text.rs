//! PNG text chunks: `tEXt` is plain, `zTXt` is compressed with deflate, and `iTXt` may be either.

use std::borrow::Cow;
use std::io::Read as _;

use flate2::read::ZlibDecoder;

use crate::card::data::MAX_PNG_TEXT;

/// Maximum length of a keyword. The PNG specification allows 79 bytes, but some writers exceed
/// that.
const MAX_KEYWORD: usize = 1_024;
/// Maximum compression ratio. Base64 of real cards compresses two to ten times.
const MAX_RATIO: usize = 200;
/// The ratio limit applies only above this size, in bytes.
const RATIO_APPLIES_FROM: usize = 1 << 20;

/// A text chunk as stored in the picture.
#[derive(Clone, Copy)]
pub(super) struct PngText<'a> {
    pub(super) keyword: &'a str,
    data: &'a [u8],
    packed: bool,
}

/// A decompressed text.
pub(super) struct InflatedText<'a> {
    pub(super) bytes: Cow<'a, [u8]>,
    /// Whether decompression reached the end marker. An incomplete text may still contain the whole
    /// card.
    pub(super) whole: bool,
}

/// The decompressed text exceeds the size limit of a card.
pub(super) struct TooLarge;

impl<'a> PngText<'a> {
    /// Reads a text chunk; `None` for other chunk types.
    pub(super) fn of(kind: &[u8], chunk: &'a [u8]) -> Option<Self> {
        if !matches!(kind, b"tEXt" | b"zTXt" | b"iTXt") {
            return None;
        }
        let (keyword, rest) = at_zero(chunk)?;
        let keyword = std::str::from_utf8(keyword).ok()?;
        let (packed, data) = match kind {
            b"tEXt" => (false, rest),
            // Deflate is the only defined compression method.
            b"zTXt" => (true, rest.strip_prefix(b"\0")?),
            _ => international(rest),
        };
        Some(Self {
            keyword,
            data,
            packed,
        })
    }

    /// Maximum size after decompression, in bytes; 0 if the text is not compressed.
    pub(super) fn unpacked_limit(&self) -> usize {
        if self.packed {
            RATIO_APPLIES_FROM
                .max(self.data.len().saturating_mul(MAX_RATIO))
                .min(MAX_PNG_TEXT)
        } else {
            0
        }
    }

    pub(super) fn unpacked(&self) -> Result<InflatedText<'a>, TooLarge> {
        if !self.packed {
            return Ok(InflatedText {
                bytes: Cow::Borrowed(self.data),
                whole: true,
            });
        }
        let limit = self.unpacked_limit();
        let mut bytes = Vec::new();
        let whole = ZlibDecoder::new(self.data)
            .take(limit as u64 + 1)
            .read_to_end(&mut bytes)
            .is_ok();
        if bytes.len() > limit {
            Err(TooLarge)
        } else {
            Ok(InflatedText {
                bytes: Cow::Owned(bytes),
                whole,
            })
        }
    }
}

/// Parses the fields after the `iTXt` keyword: compression flag, method, language, translated
/// keyword, text.
fn international(rest: &[u8]) -> (bool, &[u8]) {
    let text = |rest| at_zero(at_zero(rest)?.1).map(|(_, text)| text);
    match rest {
        [flag @ 0..=1, 0, rest @ ..] if text(rest).is_some() => {
            (*flag == 1, text(rest).unwrap_or_default())
        }
        // Some writers only rename a `tEXt` chunk.
        _ => (false, rest),
    }
}

fn at_zero(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().take(MAX_KEYWORD).position(|byte| *byte == 0)?;
    Some((&bytes[..end], &bytes[end + 1..]))
}
