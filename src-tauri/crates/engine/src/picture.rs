//! Pictures: whatever comes in leaves as plain PNG pixels of a bounded size.

use std::io::Cursor;

use image::{DynamicImage, ImageFormat, ImageReader, Limits, Rgb, RgbImage, imageops::FilterType};

use crate::error::{Answer, bad_input, internal};

/// Longest edge that is kept, in pixels.
const MAX_EDGE: u32 = 1_536;
/// Longest edge that is read, in pixels; a PNG may claim four billion.
const MAX_INPUT_EDGE: u32 = 16_384;
/// Memory a picture may take while it is read.
const MAX_ALLOC: u64 = 256 << 20;

/// A picture as it is kept.
#[derive(Debug, Clone)]
pub(crate) struct Picture {
    pub(crate) png: Vec<u8>,
}

/// Reads PNG, JPEG or WebP and encodes the pixels anew.
///
/// # Errors
/// `BadInput` if it is none of these, is damaged, or is too large.
pub(crate) async fn read(bytes: Vec<u8>) -> Answer<Picture> {
    tokio::task::spawn_blocking(move || decode(&bytes)).await.map_err(|_| internal("a picture could not be read"))?
}

fn decode(bytes: &[u8]) -> Answer<Picture> {
    let refuse =
        |why: String| bad_input(format!("The picture cannot be read: {why}."), "Use a PNG, JPEG or WebP file.");
    let mut reader =
        ImageReader::new(Cursor::new(bytes)).with_guessed_format().map_err(|error| refuse(error.to_string()))?;
    let mut limits = Limits::default();
    (limits.max_image_width, limits.max_image_height) = (Some(MAX_INPUT_EDGE), Some(MAX_INPUT_EDGE));
    limits.max_alloc = Some(MAX_ALLOC);
    reader.limits(limits);
    let mut picture = reader.decode().map_err(|error| refuse(error.to_string()))?;
    if picture.width().max(picture.height()) > MAX_EDGE {
        picture = picture.resize(MAX_EDGE, MAX_EDGE, FilterType::Lanczos3);
    }
    encode(&picture)
}

fn encode(picture: &DynamicImage) -> Answer<Picture> {
    let mut png = Cursor::new(Vec::new());
    picture
        .write_to(&mut png, ImageFormat::Png)
        .map_err(|error| internal(&format!("a picture was not written ({error})")))?;
    Ok(Picture { png: png.into_inner() })
}

/// What a card without a picture is exported in: a plain panel in the app's own tone.
pub(crate) fn placeholder() -> Answer<Vec<u8>> {
    Ok(encode(&DynamicImage::ImageRgb8(RgbImage::from_pixel(300, 400, Rgb([0x28, 0x23, 0x1f]))))?.png)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_picture_is_kept_smaller() {
        let large = encode(&DynamicImage::ImageRgb8(RgbImage::new(3_000, 1_000))).unwrap();
        let kept = image::load_from_memory(&decode(&large.png).unwrap().png).unwrap();
        assert_eq!((kept.width(), kept.height()), (1_536, 512));
    }

    #[test]
    fn what_is_no_picture_is_refused_with_a_reason() {
        let error = decode(b"<svg onload=alert(1)>").unwrap_err();
        assert!(error.to_string().starts_with("The picture cannot be read"), "{error}");
    }
}
