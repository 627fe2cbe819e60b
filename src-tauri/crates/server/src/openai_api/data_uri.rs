//! Reads the pictures of a message: `data:` URIs in the forms that programs write, and plain
//! base64.

use std::borrow::Cow;

use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::prelude::BASE64_STANDARD;
use base64::{Engine as _, alphabet};

/// Why a text is no picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NotAPicture {
    /// An address, which is not fetched.
    Address,
    /// Data of another kind.
    OtherKind,
    NotBase64,
}

/// Padding may be missing, and the last bits may be anything.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// The picture as `data:image/...;base64,...` in exactly this form.
pub(super) fn picture(text: &str) -> Result<String, NotAPicture> {
    let text = text.trim();
    let Some(rest) = without_scheme(text) else {
        // Plain base64 has no colon; an address does.
        if text.contains(':') || text.starts_with("www.") {
            return Err(NotAPicture::Address);
        }
        let bytes = decoded(text)?;
        return written(kind_of(&bytes).ok_or(NotAPicture::OtherKind)?, &bytes);
    };
    let (head, data) = rest.split_once(',').ok_or(NotAPicture::NotBase64)?;
    let mut parts = head.split(';').map(|part| part.trim().to_ascii_lowercase());
    let declared = declared(&parts.next().unwrap_or_default())?;
    let bytes = if parts.any(|part| part == "base64") {
        decoded(data)?
    } else {
        unescaped(data).into_owned()
    };
    // Programs often declare JPEG for everything, so the content decides if it says anything.
    written(
        kind_of(&bytes).or(declared).ok_or(NotAPicture::OtherKind)?,
        &bytes,
    )
}

fn without_scheme(text: &str) -> Option<&str> {
    let (scheme, rest) = text.split_once(':')?;
    scheme.trim().eq_ignore_ascii_case("data").then_some(rest)
}

/// The media type; `None` if it says nothing.
fn declared(kind: &str) -> Result<Option<&'static str>, NotAPicture> {
    match kind {
        ""
        | "text/plain"
        | "application/octet-stream"
        | "binary/octet-stream"
        | "image/*"
        | "image" => Ok(None),
        "image/png" | "image/x-png" | "image/apng" => Ok(Some("image/png")),
        "image/jpeg" | "image/jpg" | "image/pjpeg" | "image/jfif" => Ok(Some("image/jpeg")),
        "image/webp" => Ok(Some("image/webp")),
        "image/gif" => Ok(Some("image/gif")),
        _ => Err(NotAPicture::OtherKind),
    }
}

fn kind_of(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xFF, 0xD8, 0xFF, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
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
            ..,
        ] => Some("image/webp"),
        _ => None,
    }
}

/// Base64 with line breaks, in either alphabet, with percent escapes.
fn decoded(data: &str) -> Result<Vec<u8>, NotAPicture> {
    let plain = |byte: &u8| match byte {
        b'-' => b'+',
        b'_' => b'/',
        byte => *byte,
    };
    let letters: Vec<u8> = unescaped(data)
        .iter()
        .filter(|byte| !byte.is_ascii_whitespace())
        .map(plain)
        .collect();
    let bytes = LENIENT
        .decode(letters)
        .map_err(|_| NotAPicture::NotBase64)?;
    if bytes.is_empty() {
        Err(NotAPicture::NotBase64)
    } else {
        Ok(bytes)
    }
}

/// The bytes behind percent escapes. A percent sign without two digits stays.
fn unescaped(text: &str) -> Cow<'_, [u8]> {
    if !text.contains('%') {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let code = behind
            .get(..2)
            .filter(|_| *first == b'%')
            .and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = code.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &behind[2..] } else { behind };
    }
    Cow::Owned(bytes)
}

fn written(kind: &str, bytes: &[u8]) -> Result<String, NotAPicture> {
    Ok(format!(
        "data:{kind};base64,{}",
        BASE64_STANDARD.encode(bytes)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PNG: &str = "iVBORw0KGgo=";

    #[test]
    fn usual_forms_are_read() {
        let whole = Ok(format!("data:image/png;base64,{PNG}"));
        for text in [
            "data:image/png;base64,iVBORw0KGgo=",
            "DATA:IMAGE/PNG;BASE64,iVBORw0KGgo=",
            "data:image/png;charset=utf-8;base64,iVBORw0KGgo=",
            "data:image/png; base64,iVBORw0KGgo=",
            "data:image/png;name=a.png;base64,iVBORw0KGgo=",
            "data:;base64,iVBORw0KGgo=",
            "data:application/octet-stream;base64,iVBORw0KGgo=",
            "data:image/jpg;base64,iVBORw0KGgo",
            "data:image/png;base64,iVBO\r\nRw0K Ggo=",
            "data:image/png;base64,iVBORw0KGgo%3D",
            " data:image/png;base64,iVBORw0KGgo=\n",
            "data:image/png,%89PNG%0D%0A%1A%0A",
            "iVBORw0KGgo=",
            "iVBORw0KGgo",
        ] {
            assert_eq!(picture(text), whole, "{text}");
        }
        assert_eq!(
            picture("data:image/jpg;base64,/9j/4A").as_deref(),
            Ok("data:image/jpeg;base64,/9j/4A==")
        );
        assert_eq!(
            picture("data:image/jpeg;base64,_9j_4A==").as_deref(),
            Ok("data:image/jpeg;base64,/9j/4A==")
        );
        assert_eq!(
            picture("data:image/gif;base64,AAAA").as_deref(),
            Ok("data:image/gif;base64,AAAA")
        );
    }

    #[test]
    fn everything_else_is_named() {
        for (text, why) in [
            ("https://example.org/a.png", NotAPicture::Address),
            ("file:///etc/passwd", NotAPicture::Address),
            ("www.example.org/a.png", NotAPicture::Address),
            ("data:text/html;base64,AAAA", NotAPicture::OtherKind),
            ("data:image/svg+xml;base64,AAAA", NotAPicture::OtherKind),
            ("AAAA", NotAPicture::OtherKind),
            ("data:image/png;base64,****", NotAPicture::NotBase64),
            ("data:image/png;base64,", NotAPicture::NotBase64),
            ("data:image/png;base64", NotAPicture::NotBase64),
            ("", NotAPicture::NotBase64),
        ] {
            assert_eq!(picture(text), Err(why), "{text}");
        }
    }
}
