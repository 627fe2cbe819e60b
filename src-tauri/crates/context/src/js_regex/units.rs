//! Texts as JavaScript sees them: sequences of UTF-16 units.

use std::ops::Range;

/// The code point to which U+D800 is mapped.
const SURROGATES: u32 = 0xF_0000;

/// The character for a unit: itself, or a private-use character for a surrogate.
pub(super) fn unit(unit: u16) -> char {
    let code = u32::from(unit);
    let mapped = if (0xD800..0xE000).contains(&code) {
        SURROGATES + code - 0xD800
    } else {
        code
    };
    char::from_u32(mapped).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// A text with one character per UTF-16 unit, and the mapping of offsets.
#[derive(Debug)]
pub(crate) struct Units {
    text: String,
    /// Start offsets of characters with two units: in the original text and in this one.
    pairs: Vec<(usize, usize)>,
}

impl Units {
    /// Returns `None` if every character is a single unit.
    pub(crate) fn of(text: &str) -> Option<Self> {
        // Only characters outside the BMP take four bytes. Each becomes two characters of four
        // bytes.
        let begins = text
            .bytes()
            .enumerate()
            .filter(|(_, byte)| *byte >= 0xF0)
            .map(|(at, _)| at);
        let pairs: Vec<(usize, usize)> = begins
            .enumerate()
            .map(|(before, at)| (at, at + 4 * before))
            .collect();
        (!pairs.is_empty()).then(|| Self {
            text: text.encode_utf16().map(unit).collect(),
            pairs,
        })
    }

    /// The text that a pattern searches.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Maps an offset of the original text to this text.
    pub(crate) fn place(&self, original: usize) -> usize {
        original + 4 * self.pairs.partition_point(|(begins, _)| *begins < original)
    }

    /// Maps an offset of this text to the original text. An offset between two halves of a
    /// character maps to its end.
    pub(crate) fn original(&self, place: usize) -> usize {
        place - 4 * self.pairs.partition_point(|(_, begins)| begins + 4 < place)
    }

    /// Maps a range of this text to the original text. Half of a character is extended to the whole
    /// one.
    pub(crate) fn range(&self, part: &Range<usize>) -> Range<usize> {
        let end = self.original(part.end);
        let half = !part.is_empty()
            && self
                .pairs
                .binary_search_by(|(_, begins)| (begins + 4).cmp(&part.start))
                .is_ok();
        self.original(part.start) - if half { 4 } else { 0 }..end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_offsets_in_both_directions() {
        let units = Units::of("😀é😃w").unwrap();
        let places: Vec<usize> = units.text().char_indices().map(|(at, _)| at).collect();
        assert_eq!(places, [0, 4, 8, 10, 14, 18]);
        assert_eq!(
            places
                .iter()
                .map(|at| units.original(*at))
                .collect::<Vec<_>>(),
            [0, 4, 4, 6, 10, 10]
        );
        assert_eq!(
            [0, 4, 6, 10, 11].map(|at| units.place(at)),
            [0, 8, 10, 18, 19]
        );
    }

    #[test]
    fn range_extends_to_whole_character() {
        let units = Units::of("a😀b").unwrap();
        for (part, whole) in [
            (1..5, 1..5),
            (5..9, 1..5),
            (1..9, 1..5),
            (5..5, 5..5),
            (0..5, 0..5),
            (5..10, 1..6),
        ] {
            assert_eq!(units.range(&part), whole, "{part:?}");
        }
    }
}
