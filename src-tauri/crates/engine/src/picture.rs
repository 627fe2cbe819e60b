//! Pictures: whatever comes in leaves as plain pixels of a bounded size.

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::metadata::Orientation;
use image::{
    DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, Limits, Rgb, RgbImage, imageops::FilterType,
};

use crate::api::ApiError;
use crate::error::{Answer, bad_input, internal};

/// Longest edge that is kept, in pixels.
const MAX_EDGE: u32 = 1_536;
/// Points up to which a picture is made smaller by a good filter alone.
const MAX_POINTS: u64 = 12 << 20;
/// Longest edge that is read, in pixels; a PNG may claim four billion.
const MAX_INPUT_EDGE: u32 = 16_384;
/// Memory that the pixels of a photograph may take, which people attach themselves.
const MAX_ALLOC: u64 = 256 << 20;
/// Memory that those of a card's picture may take: 25 million points. Cards are from strangers (S-4).
const MAX_ALLOC_OF_CARD: u64 = 100 << 20;

/// A picture as it is kept.
#[derive(Debug, Clone)]
pub(crate) struct Picture {
    pub(crate) png: Vec<u8>,
}

/// A picture as it goes with a message.
pub(crate) struct ForMessage {
    pub(crate) bytes: Vec<u8>,
    pub(crate) mime: &'static str,
}

/// Of JPEGs that go with messages, which are sent again with every turn.
const QUALITY: u8 = 85;

/// Reads PNG, JPEG or WebP, turns it the right way up and encodes the pixels anew: as PNG if any of them can be seen through,
/// and else as JPEG.
///
/// # Errors
/// `BadInput` if it is none of these, is damaged, or is too large.
pub(crate) async fn for_message(bytes: Vec<u8>) -> Answer<ForMessage> {
    let work = move || encode_for_message(open(&bytes, Upright::Turned, MAX_ALLOC)?);
    tokio::task::spawn_blocking(work).await.map_err(|_| internal("a picture could not be read"))?
}

fn encode_for_message(picture: DynamicImage) -> Answer<ForMessage> {
    if picture.color().has_alpha() && picture.to_rgba8().pixels().any(|pixel| pixel.0[3] < u8::MAX) {
        return Ok(ForMessage { bytes: encode(&picture)?.png, mime: "image/png" });
    }
    let mut bytes = Vec::new();
    let rgb = DynamicImage::ImageRgb8(picture.to_rgb8());
    rgb.write_with_encoder(JpegEncoder::new_with_quality(&mut bytes, QUALITY)).map_err(not_written)?;
    Ok(ForMessage { bytes, mime: "image/jpeg" })
}

/// Width and height that a picture of a list may have, in pixels: those of a card on a screen of twice the density.
const SMALL: (u32, u32) = (400, 560);

/// Reads PNG, JPEG or WebP and makes a small copy, in the form of a picture for a message.
///
/// # Errors
/// `BadInput` if it is none of these, is damaged, or is too large.
pub(crate) async fn small(bytes: Vec<u8>) -> Answer<ForMessage> {
    let work = move || {
        let picture = open(&bytes, Upright::AsStored, MAX_ALLOC_OF_CARD)?;
        let (width, height) = (picture.width().min(SMALL.0), picture.height().min(SMALL.1));
        encode_for_message(picture.thumbnail(width, height))
    };
    tokio::task::spawn_blocking(work).await.map_err(|_| internal("a picture could not be read"))?
}

/// Reads PNG, JPEG or WebP and encodes the pixels anew.
///
/// # Errors
/// `BadInput` if it is none of these, is damaged, or is too large.
pub(crate) async fn read(bytes: Vec<u8>) -> Answer<Picture> {
    tokio::task::spawn_blocking(move || decode(&bytes)).await.map_err(|_| internal("a picture could not be read"))?
}

/// As [`read`], at once.
pub(crate) fn decode(bytes: &[u8]) -> Answer<Picture> {
    encode(&open(bytes, Upright::AsStored, MAX_ALLOC_OF_CARD)?)
}

/// Whether a photograph is turned as its camera was held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Upright {
    /// The picture of a card is compared with what is made of its file again, so nothing is turned.
    AsStored,
    Turned,
}

/// The pixels, of a bounded size.
fn open(bytes: &[u8], upright: Upright, max_alloc: u64) -> Answer<DynamicImage> {
    let refuse =
        |why: String| bad_input(format!("The picture cannot be read: {why}."), "Use a PNG, JPEG or WebP file.");
    let mut reader =
        ImageReader::new(Cursor::new(bytes)).with_guessed_format().map_err(|error| refuse(error.to_string()))?;
    let mut limits = Limits::default();
    (limits.max_image_width, limits.max_image_height) = (Some(MAX_INPUT_EDGE), Some(MAX_INPUT_EDGE));
    limits.max_alloc = Some(max_alloc);
    reader.limits(limits.clone());
    let size = ImageReader::new(Cursor::new(bytes)).with_guessed_format().ok().and_then(|it| it.into_dimensions().ok());
    if let Some((width, height)) = size.filter(|(width, height)| *width.max(height) > MAX_INPUT_EDGE) {
        return Err(refuse(format!("it says it has {width} × {height} points; an edge may have {MAX_INPUT_EDGE}")));
    }
    let read = || {
        let mut decoder = reader.into_decoder()?;
        // As `ImageReader::decode` does.
        limits.reserve(decoder.total_bytes())?;
        decoder.set_limits(limits)?;
        let orientation = match upright {
            Upright::AsStored => Orientation::NoTransforms,
            Upright::Turned => decoder.orientation().unwrap_or(Orientation::NoTransforms),
        };
        let mut picture = DynamicImage::from_decoder(decoder)?;
        picture.apply_orientation(orientation);
        Ok(picture)
    };
    let mut picture = read().map_err(|error: ImageError| match error {
        ImageError::Limits(_) => refuse(format!("its pixels take more than {} MiB", max_alloc >> 20)),
        error => refuse(error.to_string()),
    })?;
    // A good filter takes 16 bytes a point, which the largest pictures have too many of.
    if u64::from(picture.width()) * u64::from(picture.height()) > MAX_POINTS {
        picture = picture.thumbnail(2 * MAX_EDGE, 2 * MAX_EDGE);
    }
    if picture.width().max(picture.height()) > MAX_EDGE {
        picture = picture.resize(MAX_EDGE, MAX_EDGE, FilterType::Lanczos3);
    }
    Ok(picture)
}

fn not_written(error: ImageError) -> ApiError {
    internal(&format!("a picture was not written ({error})"))
}

fn encode(picture: &DynamicImage) -> Answer<Picture> {
    let mut png = Cursor::new(Vec::new());
    picture.write_to(&mut png, ImageFormat::Png).map_err(not_written)?;
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

    #[tokio::test]
    async fn a_small_copy_keeps_the_shape_and_never_grows() {
        let size = async |width, height| {
            let picture = encode(&DynamicImage::ImageRgb8(RgbImage::new(width, height))).unwrap();
            let copy = image::load_from_memory(&small(picture.png).await.unwrap().bytes).unwrap();
            (copy.width(), copy.height())
        };
        assert_eq!(size(1_200, 1_600).await, (400, 533));
        assert_eq!(size(30, 40).await, (30, 40));
    }

    fn of_pixel(pixel: [u8; 4]) -> ForMessage {
        let picture = DynamicImage::ImageRgba8(image::RgbaImage::from_pixel(4, 2, image::Rgba(pixel)));
        encode_for_message(open(&encode(&picture).unwrap().png, Upright::Turned, MAX_ALLOC).unwrap()).unwrap()
    }

    #[test]
    fn what_is_seen_through_stays_so_and_the_rest_is_sent_small() {
        assert_eq!((of_pixel([9, 9, 9, 128]).mime, of_pixel([9, 9, 9, 255]).mime), ("image/png", "image/jpeg"));
        assert_eq!(of_pixel([9, 9, 9, 255]).bytes, of_pixel([9, 9, 9, 255]).bytes, "the same bytes for every turn");
    }

    /// A camera held upright stores the picture lying, and says so in its Exif block.
    #[test]
    fn a_photograph_stands_the_right_way_up_and_loses_what_else_it_tells() {
        let mut plain = Vec::new();
        let lying = DynamicImage::ImageRgb8(RgbImage::new(40, 20));
        lying.write_with_encoder(JpegEncoder::new(&mut plain)).unwrap();
        // Little-endian TIFF with one entry: tag 0x0112 (orientation), a short, the value 6.
        let exif = b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0";
        let length = u16::try_from(exif.len() + 2).unwrap().to_be_bytes();
        let photograph = [&plain[..2], &[0xFF, 0xE1], &length, exif, &plain[2..]].concat();
        let kept = encode_for_message(open(&photograph, Upright::Turned, MAX_ALLOC).unwrap()).unwrap();
        let turned = image::load_from_memory(&kept.bytes).unwrap();
        assert_eq!((turned.width(), turned.height()), (20, 40));
        assert!(!kept.bytes.windows(4).any(|window| window == b"Exif"));
    }

    #[test]
    fn what_is_no_picture_is_refused_with_a_reason() {
        let error = decode(b"<svg onload=alert(1)>").unwrap_err();
        assert!(error.to_string().starts_with("The picture cannot be read"), "{error}");
    }
}
