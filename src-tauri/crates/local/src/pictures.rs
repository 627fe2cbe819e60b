//! Pictures of prompts as the worker takes them: plain pixels of a limited size.

use std::io::Cursor;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use domain::prompt::PromptPicture;
use image::imageops::FilterType;
use image::{DynamicImage, ImageReader, Limits, Rgb, RgbImage};
use sha2::{Digest, Sha256};
use worker::protocol::{MAX_PICTURE_EDGE, WirePicture};

/// Maximum edge of an input picture, in pixels, and maximum memory for its pixels.
const MAX_INPUT_EDGE: u32 = 16_384;
const MAX_ALLOC: u64 = 256 << 20;
/// Behind transparent pixels.
const BACKGROUND: u8 = 255;

/// The file in a `data:` URI (RFC 2397) with base64; `None` for any other address.
fn file(url: &str) -> Option<Vec<u8>> {
    let (head, data) = url.strip_prefix("data:")?.split_once(',')?;
    head.strip_suffix(";base64")?;
    BASE64_STANDARD.decode(data).ok()
}

/// Width and height of the pixels that a model gets of a picture file; `None` if it is no picture.
/// Reads only its header.
pub fn picture_size(bytes: &[u8]) -> Option<(u32, u32)> {
    let (width, height) = reader(bytes)?.into_dimensions().ok()?;
    let allowed = 1..=MAX_INPUT_EDGE;
    (allowed.contains(&width) && allowed.contains(&height)).then(|| shrunk(width, height))
}

/// Keeps the ratio of the edges. An edge has at least one pixel.
fn shrunk(width: u32, height: u32) -> (u32, u32) {
    let longest = width.max(height);
    if longest <= MAX_PICTURE_EDGE {
        return (width, height);
    }
    let scaled = |edge: u32| {
        let rounded = (u64::from(edge) * u64::from(MAX_PICTURE_EDGE) + u64::from(longest / 2))
            / u64::from(longest);
        u32::try_from(rounded).unwrap_or(MAX_PICTURE_EDGE).max(1)
    };
    (scaled(width), scaled(height))
}

/// Describes a picture for the worker; `None` if it cannot be read or has no place. `projector`
/// identifies what reads it.
pub(crate) fn wire(picture: &PromptPicture, projector: &str) -> Option<WirePicture> {
    let file = file(&picture.url)?;
    let (width, height) = picture_size(&file)?;
    let checksum = hex::encode(Sha256::digest(&file));
    Some(WirePicture {
        before: picture.segment?,
        identity: format!("{checksum} {projector}"),
        width,
        height,
    })
}

/// The pixels of a picture in base64, with the size of [`wire`]; `None` if it cannot be read.
/// Blocks.
pub(crate) fn pixels(picture: &PromptPicture) -> Option<String> {
    let file = file(&picture.url)?;
    let (width, height) = picture_size(&file)?;
    let mut reader = reader(&file)?;
    let mut limits = Limits::default();
    (limits.max_image_width, limits.max_image_height) =
        (Some(MAX_INPUT_EDGE), Some(MAX_INPUT_EDGE));
    limits.max_alloc = Some(MAX_ALLOC);
    reader.limits(limits);
    let mut decoded = reader.decode().ok()?;
    if (decoded.width(), decoded.height()) != (width, height) {
        decoded = decoded.resize_exact(width, height, FilterType::CatmullRom);
    }
    Some(BASE64_STANDARD.encode(on_background(&decoded).into_raw()))
}

fn reader(bytes: &[u8]) -> Option<ImageReader<Cursor<&[u8]>>> {
    ImageReader::new(Cursor::new(bytes))
        .with_guessed_format()
        .ok()
}

fn on_background(picture: &DynamicImage) -> RgbImage {
    if !picture.color().has_alpha() {
        return picture.to_rgb8();
    }
    let pixels = picture.to_rgba8();
    RgbImage::from_fn(pixels.width(), pixels.height(), |x, y| {
        let [red, green, blue, alpha] = pixels.get_pixel(x, y).0;
        let mixed = |value: u8| {
            let (value, alpha) = (u32::from(value), u32::from(alpha));
            ((value * alpha + u32::from(BACKGROUND) * (255 - alpha) + 127) / 255) as u8
        };
        Rgb([red, green, blue].map(mixed))
    })
}

#[cfg(test)]
mod tests {
    use image::{ImageFormat, RgbaImage};

    use super::*;

    fn png(width: u32, height: u32, pixel: [u8; 4]) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        let picture =
            DynamicImage::ImageRgba8(RgbaImage::from_pixel(width, height, image::Rgba(pixel)));
        picture.write_to(&mut bytes, ImageFormat::Png).unwrap();
        bytes.into_inner()
    }

    fn picture(bytes: &[u8]) -> PromptPicture {
        let url = format!("data:image/png;base64,{}", BASE64_STANDARD.encode(bytes));
        PromptPicture {
            message: 0,
            segment: Some(1),
            url,
        }
    }

    #[test]
    fn pixels_have_the_announced_size() {
        for (width, height) in [
            (1, 1),
            (3, 896),
            (896, 896),
            (1_536, 1_000),
            (2, 1_536),
            (1_537, 3),
        ] {
            let picture = picture(&png(width, height, [9, 9, 9, 255]));
            let wire = wire(&picture, "projector").unwrap();
            assert!(
                wire.width.max(wire.height) <= MAX_PICTURE_EDGE && wire.width.min(wire.height) > 0
            );
            let rgb = BASE64_STANDARD.decode(pixels(&picture).unwrap()).unwrap();
            assert_eq!(
                rgb.len(),
                wire.width as usize * wire.height as usize * 3,
                "{width} × {height}"
            );
        }
    }

    #[test]
    fn largest_picture_fits_into_a_frame() {
        let rgb = MAX_PICTURE_EDGE as usize * MAX_PICTURE_EDGE as usize * 3;
        assert!(rgb.div_ceil(3) * 4 + 1_024 < worker::frame::LIMIT);
    }

    #[test]
    fn transparent_pixels_are_white() {
        let rgb = pixels(&picture(&png(1, 1, [0, 100, 200, 0]))).unwrap();
        assert_eq!(BASE64_STANDARD.decode(rgb).unwrap(), [255, 255, 255]);
        let rgb = pixels(&picture(&png(1, 1, [0, 100, 200, 128]))).unwrap();
        assert_eq!(BASE64_STANDARD.decode(rgb).unwrap(), [127, 177, 227]);
    }

    #[test]
    fn identity_follows_content_and_projector() {
        let (one, other) = (
            picture(&png(2, 2, [1, 1, 1, 255])),
            picture(&png(2, 2, [1, 1, 2, 255])),
        );
        assert_ne!(wire(&one, "a"), wire(&other, "a"));
        assert_ne!(wire(&one, "a"), wire(&one, "b"));
        assert_eq!(wire(&one, "a"), wire(&one, "a"));
    }

    #[test]
    fn other_files_are_no_pictures() {
        let cut = &png(50, 50, [1, 2, 3, 255])[..60];
        for bytes in [&b""[..], b"<svg/>", b"GIF89a", b"\x89PNG\r\n\x1a\n"] {
            assert_eq!(picture_size(bytes), None);
            assert_eq!(wire(&picture(bytes), "a"), None);
        }
        assert_eq!(pixels(&picture(cut)), None);
        for url in [
            "https://example.com/a.png",
            "data:image/png,hi",
            "data:",
            "",
        ] {
            let picture = PromptPicture {
                message: 0,
                segment: Some(0),
                url: url.to_owned(),
            };
            assert!(
                wire(&picture, "a").is_none() && pixels(&picture).is_none(),
                "{url}"
            );
        }
    }
}
