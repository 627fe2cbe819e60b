//! Texts as JavaScript counts them: in units of UTF-16.

use std::ops::Range;

/// Where U+D800 is mapped to.
const SURROGATES: u32 = 0xF_0000;

/// The character that stands for a unit: itself, or a private one for half of a surrogate pair.
pub(super) fn unit(unit: u16) -> char {
    let code = u32::from(unit);
    let mapped = if (0xD800..0xE000).contains(&code) { SURROGATES + code - 0xD800 } else { code };
    char::from_u32(mapped).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// A text with every unit a character, and the way back.
#[derive(Debug)]
pub(crate) struct Units {
    text: String,
    /// Where a character of two units begins: in the text as it is, and here.
    pairs: Vec<(usize, usize)>,
}

impl Units {
    /// `None` where every character is one unit already.
    pub(crate) fn of(text: &str) -> Option<Self> {
        // Characters beyond the first plane, and they alone, take four bytes. Each becomes two that do.
        let begins = text.bytes().enumerate().filter(|(_, byte)| *byte >= 0xF0).map(|(at, _)| at);
        let pairs: Vec<(usize, usize)> = begins.enumerate().map(|(before, at)| (at, at + 4 * before)).collect();
        (!pairs.is_empty()).then(|| Self { text: text.encode_utf16().map(unit).collect(), pairs })
    }

    /// The text that a pattern searches.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Where a place of the text as it is stands here.
    pub(crate) fn place(&self, original: usize) -> usize {
        original + 4 * self.pairs.partition_point(|(begins, _)| *begins < original)
    }

    /// Where a place of this text stands in the text as it is; between the two halves of a character, behind it.
    pub(crate) fn original(&self, place: usize) -> usize {
        place - 4 * self.pairs.partition_point(|(_, begins)| begins + 4 < place)
    }

    /// The bytes of the text as it is that a part of this one stands for. Half a character cannot be taken: it is taken whole.
    pub(crate) fn range(&self, part: &Range<usize>) -> Range<usize> {
        let end = self.original(part.end);
        let half = !part.is_empty() && self.pairs.binary_search_by(|(_, begins)| (begins + 4).cmp(&part.start)).is_ok();
        self.original(part.start) - if half { 4 } else { 0 }..end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found_in_both_texts() {
        let units = Units::of("😀é😃w").unwrap();
        let places: Vec<usize> = units.text().char_indices().map(|(at, _)| at).collect();
        assert_eq!(places, [0, 4, 8, 10, 14, 18]);
        assert_eq!(places.iter().map(|at| units.original(*at)).collect::<Vec<_>>(), [0, 4, 4, 6, 10, 10]);
        assert_eq!([0, 4, 6, 10, 11].map(|at| units.place(at)), [0, 8, 10, 18, 19]);
    }

    #[test]
    fn half_a_character_is_taken_whole() {
        let units = Units::of("a😀b").unwrap();
        for (part, whole) in [(1..5, 1..5), (5..9, 1..5), (1..9, 1..5), (5..5, 5..5), (0..5, 0..5), (5..10, 1..6)] {
            assert_eq!(units.range(&part), whole, "{part:?}");
        }
    }
}
