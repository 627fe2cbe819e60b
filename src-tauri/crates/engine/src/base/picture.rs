//! Decodes pictures, and re-encodes them as plain pixels of a limited size.

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::imageops::FilterType;
use image::metadata::Orientation;
use image::{
    DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, Limits, Rgb, RgbImage,
};

use crate::api::ApiError;
use crate::base::error::{ApiResult, bad_input, internal};

/// Maximum edge of a stored picture, in pixels.
const MAX_EDGE: u32 = 1_536;
/// Maximum number of pixels that the high-quality filter alone scales down.
const MAX_POINTS: u64 = 12 << 20;
/// Maximum edge of an input picture, in pixels. A PNG may claim four billion.
const MAX_INPUT_EDGE: u32 = 16_384;
/// Maximum memory for the pixels of a photograph that the user attaches.
const MAX_ALLOC: u64 = 256 << 20;
/// Maximum memory for the pixels of a card's picture: 25 million pixels. Cards come from untrusted
/// sources.
const MAX_ALLOC_OF_CARD: u64 = 100 << 20;

/// A picture as it is stored.
#[derive(Debug, Clone)]
pub(crate) struct PngPicture {
    pub(crate) png: Vec<u8>,
}

/// A picture for a message.
pub(crate) struct ForMessage {
    pub(crate) bytes: Vec<u8>,
    pub(crate) mime: &'static str,
}

/// JPEG quality of pictures in messages, which are sent again with every turn.
const QUALITY: u8 = 85;

/// Reads a PNG, JPEG or WebP, turns it upright and re-encodes its pixels: as PNG if any of them is
/// transparent, otherwise as JPEG.
///
/// # Errors
/// `BadInput` if it is another format, is damaged, or is too large.
pub(crate) async fn for_message(bytes: Vec<u8>) -> ApiResult<ForMessage> {
    let work = move || encode_for_message(open(&bytes, Upright::Turned, MAX_ALLOC)?);
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|_| internal("a picture could not be read"))?
}

fn encode_for_message(picture: DynamicImage) -> ApiResult<ForMessage> {
    if picture.color().has_alpha()
        && picture
            .to_rgba8()
            .pixels()
            .any(|pixel| pixel.0[3] < u8::MAX)
    {
        return Ok(ForMessage {
            bytes: encode(&picture)?.png,
            mime: "image/png",
        });
    }
    let mut bytes = Vec::new();
    let rgb = DynamicImage::ImageRgb8(picture.to_rgb8());
    rgb.write_with_encoder(JpegEncoder::new_with_quality(&mut bytes, QUALITY))
        .map_err(not_written)?;
    Ok(ForMessage {
        bytes,
        mime: "image/jpeg",
    })
}

/// Relative luminance (WCAG 2), from 0 to 1, of two greys: no channel of any pixel is darker than
/// the first or lighter than the second. Transparent pixels count as both black and white, because
/// the surface behind them may be either.
///
/// # Errors
/// `BadInput` if it is no picture that the app shows.
pub(crate) async fn luminance(bytes: Vec<u8>) -> ApiResult<(f64, f64)> {
    let work = move || Ok(extremes(&open(&bytes, Upright::AsStored, MAX_ALLOC)?));
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|_| internal("a picture could not be read"))?
}

fn extremes(picture: &DynamicImage) -> (f64, f64) {
    let linear: Vec<f64> = (0..=u8::MAX)
        .map(|value| f64::from(value) / 255.0)
        .map(linear)
        .collect();
    let pixels = picture.to_rgba8();
    pixels
        .pixels()
        .fold((1.0_f64, 0.0_f64), |(darkest, lightest), pixel| {
            let [red, green, blue, alpha] = pixel.0;
            let [red, green, blue] = [red, green, blue].map(|value| linear[usize::from(value)]);
            let least = red.min(green).min(blue);
            let most = red.max(green).max(blue);
            if alpha < u8::MAX {
                (0.0, 1.0)
            } else {
                (darkest.min(least), lightest.max(most))
            }
        })
}

/// An sRGB value as linear light.
fn linear(value: f64) -> f64 {
    if value <= 0.04045 {
        value / 12.92
    } else {
        ((value + 0.055) / 1.055).powf(2.4)
    }
}

/// Maximum width and height of a picture in a list: those of a card on a high-density screen.
const SMALL: (u32, u32) = (400, 560);

/// Reads a PNG, JPEG or WebP and makes a small copy, encoded like a picture for a message.
///
/// # Errors
/// `BadInput` if it is another format, is damaged, or is too large.
pub(crate) async fn small(bytes: Vec<u8>) -> ApiResult<ForMessage> {
    let work = move || {
        let picture = open(&bytes, Upright::AsStored, MAX_ALLOC_OF_CARD)?;
        let width = picture.width().min(SMALL.0);
        let height = picture.height().min(SMALL.1);
        encode_for_message(picture.thumbnail(width, height))
    };
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|_| internal("a picture could not be read"))?
}

/// Reads a PNG, JPEG or WebP and re-encodes its pixels.
///
/// # Errors
/// `BadInput` if it is another format, is damaged, or is too large.
pub(crate) async fn read(bytes: Vec<u8>) -> ApiResult<PngPicture> {
    tokio::task::spawn_blocking(move || decode(&bytes))
        .await
        .map_err(|_| internal("a picture could not be read"))?
}

/// Works like [`read`], but blocks.
pub(crate) fn decode(bytes: &[u8]) -> ApiResult<PngPicture> {
    encode(&open(bytes, Upright::AsStored, MAX_ALLOC_OF_CARD)?)
}

/// Whether to rotate a photograph as its camera was held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Upright {
    /// Do not rotate: exports compare a card's picture with one decoded from its file again.
    AsStored,
    Turned,
}

/// Decodes a picture and limits its size.
fn open(bytes: &[u8], upright: Upright, max_alloc: u64) -> ApiResult<DynamicImage> {
    let refuse = |why: String| {
        bad_input(
            format!("The picture cannot be read: {why}."),
            "Use a PNG, JPEG or WebP file.",
        )
    };
    let mut reader = ImageReader::new(Cursor::new(bytes))
        .with_guessed_format()
        .map_err(|error| refuse(error.to_string()))?;
    let mut limits = Limits::default();
    (limits.max_image_width, limits.max_image_height) =
        (Some(MAX_INPUT_EDGE), Some(MAX_INPUT_EDGE));
    limits.max_alloc = Some(max_alloc);
    reader.limits(limits.clone());
    let size = ImageReader::new(Cursor::new(bytes))
        .with_guessed_format()
        .ok()
        .and_then(|it| it.into_dimensions().ok());
    if let Some((width, height)) =
        size.filter(|(width, height)| *width.max(height) > MAX_INPUT_EDGE)
    {
        return Err(refuse(format!(
            "it has {width} × {height} pixels; an edge may have {MAX_INPUT_EDGE}"
        )));
    }
    let read = || {
        let mut decoder = reader.into_decoder()?;
        // `ImageReader::decode` does the same.
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
        ImageError::Limits(_) => {
            refuse(format!("its pixels take more than {} MiB", max_alloc >> 20))
        }
        error => refuse(error.to_string()),
    })?;
    // The high-quality filter takes 16 bytes per pixel, which is too much for the largest pictures.
    if u64::from(picture.width()) * u64::from(picture.height()) > MAX_POINTS {
        picture = picture.thumbnail(2 * MAX_EDGE, 2 * MAX_EDGE);
    }
    if picture.width().max(picture.height()) > MAX_EDGE {
        picture = picture.resize(MAX_EDGE, MAX_EDGE, FilterType::Lanczos3);
    }
    Ok(picture)
}

fn not_written(error: ImageError) -> ApiError {
    internal(&format!("a picture could not be encoded ({error})"))
}

fn encode(picture: &DynamicImage) -> ApiResult<PngPicture> {
    let mut png = Cursor::new(Vec::new());
    picture
        .write_to(&mut png, ImageFormat::Png)
        .map_err(not_written)?;
    Ok(PngPicture {
        png: png.into_inner(),
    })
}

/// The picture of an exported card without one: a plain panel in the app's colour.
pub(crate) fn placeholder() -> ApiResult<Vec<u8>> {
    Ok(encode(&DynamicImage::ImageRgb8(RgbImage::from_pixel(
        300,
        400,
        Rgb([0x28, 0x23, 0x1f]),
    )))?
    .png)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_picture_is_scaled_down() {
        let large = encode(&DynamicImage::ImageRgb8(RgbImage::new(3_000, 1_000))).unwrap();
        let kept = image::load_from_memory(&decode(&large.png).unwrap().png).unwrap();
        assert_eq!((kept.width(), kept.height()), (1_536, 512));
    }

    #[tokio::test]
    async fn small_copy_keeps_the_ratio_and_never_grows() {
        let size = async |width, height| {
            let picture = encode(&DynamicImage::ImageRgb8(RgbImage::new(width, height))).unwrap();
            let copy = image::load_from_memory(&small(picture.png).await.unwrap().bytes).unwrap();
            (copy.width(), copy.height())
        };
        assert_eq!(size(1_200, 1_600).await, (400, 533));
        assert_eq!(size(30, 40).await, (30, 40));
    }

    fn of_pixel(pixel: [u8; 4]) -> ForMessage {
        let picture =
            DynamicImage::ImageRgba8(image::RgbaImage::from_pixel(4, 2, image::Rgba(pixel)));
        encode_for_message(
            open(&encode(&picture).unwrap().png, Upright::Turned, MAX_ALLOC).unwrap(),
        )
        .unwrap()
    }

    #[tokio::test]
    async fn luminance_covers_the_whole_picture() {
        let measured = async |paint: fn(u32, u32) -> [u8; 3]| {
            let pixels = RgbImage::from_fn(16, 16, |x, y| Rgb(paint(x, y)));
            luminance(encode(&DynamicImage::ImageRgb8(pixels)).unwrap().png)
                .await
                .unwrap()
        };
        assert_eq!(measured(|_, _| [0; 3]).await, (0.0, 0.0));
        assert_eq!(measured(|_, _| [255; 3]).await, (1.0, 1.0));
        assert_eq!(
            measured(|x, y| [if (x * 7 + y * 5) % 2 == 0 { 0 } else { 255 }; 3]).await,
            (0.0, 1.0)
        );
        let (darkest, lightest) = measured(|_, _| [119; 3]).await;
        assert!(
            darkest == lightest && (0.18..0.19).contains(&darkest),
            "{darkest}"
        );
    }

    #[test]
    fn transparent_pictures_stay_png_others_are_jpeg() {
        assert_eq!(
            (of_pixel([9, 9, 9, 128]).mime, of_pixel([9, 9, 9, 255]).mime),
            ("image/png", "image/jpeg")
        );
        assert_eq!(
            of_pixel([9, 9, 9, 255]).bytes,
            of_pixel([9, 9, 9, 255]).bytes,
            "the same bytes for every turn"
        );
    }

    /// A camera that is held upright stores the picture rotated, and records this in the Exif
    /// block.
    #[test]
    fn photograph_is_turned_upright_without_metadata() {
        let mut plain = Vec::new();
        let lying = DynamicImage::ImageRgb8(RgbImage::new(40, 20));
        lying
            .write_with_encoder(JpegEncoder::new(&mut plain))
            .unwrap();
        // Little-endian TIFF with one entry: tag 0x0112 (orientation), a short, the value 6.
        let exif = b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0";
        let length = u16::try_from(exif.len() + 2).unwrap().to_be_bytes();
        let photograph = [&plain[..2], &[0xFF, 0xE1], &length, exif, &plain[2..]].concat();
        let kept =
            encode_for_message(open(&photograph, Upright::Turned, MAX_ALLOC).unwrap()).unwrap();
        let turned = image::load_from_memory(&kept.bytes).unwrap();
        assert_eq!((turned.width(), turned.height()), (20, 40));
        assert!(!kept.bytes.windows(4).any(|window| window == b"Exif"));
    }

    #[test]
    fn other_files_are_refused_with_a_reason() {
        let error = decode(b"<svg onload=alert(1)>").unwrap_err();
        assert!(
            error.to_string().starts_with("The picture cannot be read"),
            "{error}"
        );
    }
}
