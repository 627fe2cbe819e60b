//! Character classes of the pre-tokenizers.

use std::sync::LazyLock;

use regex_syntax::hir::{Class, HirKind};

pub(super) const LETTER: u16 = 1;
pub(super) const NUMBER: u16 = 2;
pub(super) const MARK: u16 = 4;
pub(super) const PUNCTUATION: u16 = 8;
pub(super) const SYMBOL: u16 = 16;
pub(super) const SPACE: u16 = 32;
pub(super) const CONTROL: u16 = 64;
/// A letter in upper or title case.
pub(super) const UPPER: u16 = 128;
/// A letter in lower case.
pub(super) const LOWER: u16 = 256;

/// Flags by code point: one memory access per character instead of a search in ranges.
static FLAGS: LazyLock<Box<[u16]>> = LazyLock::new(|| {
    let mut flags = vec![0; char::MAX as usize + 1].into_boxed_slice();
    for (pattern, flag) in [
        (r"\p{L}", LETTER),
        (r"\p{N}", NUMBER),
        (r"\p{M}", MARK),
        (r"\p{P}", PUNCTUATION),
        (r"\p{S}", SYMBOL),
        (r"\s", SPACE),
        (r"[\p{Cc}\p{Cf}\p{Co}]", CONTROL),
        (r"[\p{Lu}\p{Lt}]", UPPER),
        (r"\p{Ll}", LOWER),
    ] {
        let parsed = regex_syntax::parse(pattern);
        if let Ok(HirKind::Class(Class::Unicode(class))) =
            parsed.as_ref().map(regex_syntax::hir::Hir::kind)
        {
            for range in class.ranges() {
                flags[range.start() as usize..=range.end() as usize]
                    .iter_mut()
                    .for_each(|flags| *flags |= flag);
            }
        }
    }
    flags
});

/// Reference to the table; loops fetch it once, which avoids a check per character.
#[derive(Clone, Copy)]
pub(super) struct Classes(&'static [u16]);

impl Classes {
    pub(super) fn get() -> Self {
        Self(&FLAGS)
    }

    pub(super) fn of(self, character: char) -> u16 {
        self.0.get(character as usize).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classifies_characters_of_every_script() {
        let classes = Classes::get();
        for (character, flags) in [
            ('a', LETTER | LOWER),
            ('Я', LETTER | UPPER),
            ('ǅ', LETTER | UPPER),
            ('語', LETTER),
            ('7', NUMBER),
            ('Ⅻ', NUMBER),
            ('\u{301}', MARK),
            ('。', PUNCTUATION),
            ('€', SYMBOL),
            ('😀', SYMBOL),
            ('\u{3000}', SPACE),
            ('\n', SPACE | CONTROL),
            ('\u{200b}', CONTROL),
            ('\u{378}', 0),
        ] {
            assert_eq!(classes.of(character), flags, "{character:?}");
        }
    }
}
