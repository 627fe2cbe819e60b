//! Fonts of a page: the text of its strings, and the width of that text.

use std::collections::HashMap;
use std::rc::Rc;

use lopdf::{Dictionary, Document, Encoding, Object, ObjectId};

/// Default width of a letter, in thousandths of the font's size.
const WIDTH: f32 = 500.0;
/// The same for fonts with codes of two bytes.
const WIDE: f32 = 1_000.0;
/// Maximum number of codes in a font, and of widths that ranges define.
const CODES: u32 = 0x1_0000;

/// Fonts of a file that were read before; `None` for a font whose codes cannot be decoded.
pub(super) type FontCache<'f> = HashMap<ObjectId, Option<Rc<Font<'f>>>>;

/// The fonts of a page, by the names that it uses.
pub(super) struct Fonts<'f>(HashMap<Vec<u8>, Rc<Font<'f>>>);

pub(super) struct Font<'f> {
    encoding: Encoding<'f>,
    /// Number of bytes in a code.
    bytes: usize,
    /// Widths by code, in thousandths of the font's size.
    widths: HashMap<u32, f32>,
    otherwise: f32,
}

impl<'f> Fonts<'f> {
    /// The fonts of `resources`. If several have one name, the first is used. A font whose codes
    /// cannot be decoded is left out, and so is the text in it.
    pub(super) fn new(
        file: &'f Document,
        resources: &[&'f Dictionary],
        known: &mut FontCache<'f>,
        limit: usize,
    ) -> Self {
        let mut fonts = HashMap::new();
        for listed in resources
            .iter()
            .filter_map(|one| file.get_dict_in_dict(one, b"Font").ok())
        {
            for (name, font) in listed.iter() {
                let Ok((id, font)) = file.dereference(font) else {
                    continue;
                };
                let read = || Some(Rc::new(Font::new(file, font.as_dict().ok()?, limit)?));
                let font = match id {
                    Some(id) => known.entry(id).or_insert_with(read).clone(),
                    None => read(),
                };
                if let Some(font) = font {
                    fonts.entry(name.clone()).or_insert(font);
                }
            }
        }
        Self(fonts)
    }

    pub(super) fn named(&self, name: &[u8]) -> Option<&Font<'f>> {
        self.0.get(name).map(|font| &**font)
    }
}

impl<'f> Font<'f> {
    fn new(file: &'f Document, font: &'f Dictionary, limit: usize) -> Option<Self> {
        let encoding = font.get_font_encoding_with_limit(file, limit).ok()?;
        if font
            .get(b"Subtype")
            .and_then(Object::as_name)
            .is_ok_and(|name| name == b"Type0")
        {
            let (widths, otherwise) =
                composite_widths(file, font).unwrap_or((HashMap::new(), WIDE));
            return Some(Self {
                encoding,
                bytes: 2,
                widths,
                otherwise,
            });
        }
        Some(Self {
            encoding,
            bytes: 1,
            widths: simple_widths(file, font),
            otherwise: WIDTH,
        })
    }

    /// The text of a string, and its width in multiples of the font's size.
    pub(super) fn read(&self, string: &[u8]) -> (String, f32) {
        let mut text = String::new();
        if self.encoding.write_to_string(string, &mut text).is_err() {
            text.clear();
        }
        let code = |letter: &[u8]| {
            letter
                .iter()
                .fold(0, |code, byte| code << 8 | u32::from(*byte))
        };
        let width = |letter: &[u8]| {
            self.widths
                .get(&code(letter))
                .copied()
                .unwrap_or(self.otherwise)
        };
        (
            text,
            string.chunks(self.bytes).map(width).sum::<f32>() / 1_000.0,
        )
    }
}

fn simple_widths(file: &Document, font: &Dictionary) -> HashMap<u32, f32> {
    let first = font.get(b"FirstChar").and_then(Object::as_i64).unwrap_or(0);
    let Some(widths) = array(file, font, b"Widths") else {
        return HashMap::new();
    };
    let codes =
        (0..256).map(|place: i64| u32::try_from(first.saturating_add(place)).unwrap_or(u32::MAX));
    codes
        .zip(widths)
        .filter_map(|(code, width)| Some((code, number(width)?)))
        .collect()
}

/// Reads the widths `[first [width ...] first last width ...]`, and the default width.
fn composite_widths(file: &Document, font: &Dictionary) -> Option<(HashMap<u32, f32>, f32)> {
    let descendant = array(file, font, b"DescendantFonts")?.first()?;
    let descendant = file.dereference(descendant).ok()?.1.as_dict().ok()?;
    let otherwise = descendant.get(b"DW").ok().and_then(number).unwrap_or(WIDE);
    let mut widths = HashMap::new();
    let mut left = CODES;
    let mut rest = array(file, descendant, b"W")
        .map(Vec::as_slice)
        .unwrap_or_default();
    while let [first, second, others @ ..] = rest {
        let first = first
            .as_i64()
            .ok()
            .and_then(|first| u32::try_from(first).ok())?;
        if let Ok((_, Object::Array(each))) = file.dereference(second) {
            let each = each.iter().filter_map(number);
            widths.extend((first..CODES).zip(each));
            rest = others;
        } else {
            let [width, others @ ..] = others else { break };
            let last = second
                .as_i64()
                .ok()
                .and_then(|last| u32::try_from(last).ok())?
                .min(CODES);
            let width = number(width)?;
            // A range with the default width needs no entries.
            if width != otherwise {
                left = left.checked_sub(last.saturating_sub(first))?;
                widths.extend((first..=last).map(|code| (code, width)));
            }
            rest = others;
        }
    }
    Some((widths, otherwise))
}

fn array<'f>(
    file: &'f Document,
    dictionary: &'f Dictionary,
    key: &[u8],
) -> Option<&'f Vec<Object>> {
    file.dereference(dictionary.get(key).ok()?)
        .ok()?
        .1
        .as_array()
        .ok()
}

fn number(object: &Object) -> Option<f32> {
    object.as_float().ok()
}
