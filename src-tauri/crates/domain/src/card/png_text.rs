//! Texts inside of a PNG: `tEXt` as it stands, `zTXt` deflated, `iTXt` either way.

use std::borrow::Cow;
use std::io::Read as _;

use flate2::read::ZlibDecoder;

use super::MAX_PNG_TEXT;

/// Longest keyword of a text; the format says 79, and some writers do not care.
const MAX_KEYWORD: usize = 1_024;
/// Times that a text may be larger than it is packed. Base64 of real cards becomes two to ten times as small.
const MAX_RATIO: usize = 200;
/// Up to so many bytes a text may be packed as tightly as it will.
const RATIO_COUNTS_FROM: usize = 1 << 20;

/// A text as it stands in the picture.
#[derive(Clone, Copy)]
pub(super) struct Text<'a> {
    pub(super) keyword: &'a str,
    data: &'a [u8],
    packed: bool,
}

/// A text as it reads.
pub(super) struct Unpacked<'a> {
    pub(super) bytes: Cow<'a, [u8]>,
    /// Whether it ended as its packing says. What there is of it may be all the same.
    pub(super) whole: bool,
}

/// A packed text is larger than any card.
pub(super) struct TooLarge;

impl<'a> Text<'a> {
    /// The text in a chunk of this kind; `None` for chunks of other kinds.
    pub(super) fn of(kind: &[u8], chunk: &'a [u8]) -> Option<Self> {
        if !matches!(kind, b"tEXt" | b"zTXt" | b"iTXt") {
            return None;
        }
        let (keyword, rest) = at_zero(chunk)?;
        let keyword = std::str::from_utf8(keyword).ok()?;
        let (packed, data) = match kind {
            b"tEXt" => (false, rest),
            // The only method there is.
            b"zTXt" => (true, rest.strip_prefix(b"\0")?),
            _ => international(rest),
        };
        Some(Self { keyword, data, packed })
    }

    /// Bytes that it may become when it is unpacked; 0 if it is not packed.
    pub(super) fn unpacked_limit(&self) -> usize {
        match self.packed {
            true => RATIO_COUNTS_FROM.max(self.data.len().saturating_mul(MAX_RATIO)).min(MAX_PNG_TEXT),
            false => 0,
        }
    }

    pub(super) fn unpacked(&self) -> Result<Unpacked<'a>, TooLarge> {
        if !self.packed {
            return Ok(Unpacked { bytes: Cow::Borrowed(self.data), whole: true });
        }
        let limit = self.unpacked_limit();
        let mut bytes = Vec::new();
        let whole = ZlibDecoder::new(self.data).take(limit as u64 + 1).read_to_end(&mut bytes).is_ok();
        match bytes.len() > limit {
            true => Err(TooLarge),
            false => Ok(Unpacked { bytes: Cow::Owned(bytes), whole }),
        }
    }
}

/// The part behind the keyword of `iTXt`: a flag, a method, the language, the keyword in that language, the text.
fn international(rest: &[u8]) -> (bool, &[u8]) {
    let text = |rest| at_zero(at_zero(rest)?.1).map(|(_, text)| text);
    match rest {
        [flag @ 0..=1, 0, rest @ ..] if text(rest).is_some() => (*flag == 1, text(rest).unwrap_or_default()),
        // Some writers only change the name of the chunk.
        _ => (false, rest),
    }
}

fn at_zero(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().take(MAX_KEYWORD).position(|byte| *byte == 0)?;
    Some((&bytes[..end], &bytes[end + 1..]))
}
