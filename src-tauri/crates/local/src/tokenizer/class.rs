//! Character classes of the pre-tokenizers.

use std::sync::LazyLock;

use regex_syntax::hir::{Class, HirKind};

pub(super) const LETTER: u8 = 1;
pub(super) const NUMBER: u8 = 2;
pub(super) const MARK: u8 = 4;
pub(super) const PUNCTUATION: u8 = 8;
pub(super) const SYMBOL: u8 = 16;
pub(super) const SPACE: u8 = 32;
pub(super) const CONTROL: u8 = 64;

/// Flags by code point: one memory access per character instead of a search in ranges.
static FLAGS: LazyLock<Box<[u8]>> = LazyLock::new(|| {
    let mut flags = vec![0; char::MAX as usize + 1].into_boxed_slice();
    for (pattern, flag) in [
        (r"\p{L}", LETTER),
        (r"\p{N}", NUMBER),
        (r"\p{M}", MARK),
        (r"\p{P}", PUNCTUATION),
        (r"\p{S}", SYMBOL),
        (r"\s", SPACE),
        (r"[\p{Cc}\p{Cf}\p{Co}]", CONTROL),
    ] {
        let parsed = regex_syntax::parse(pattern);
        if let Ok(HirKind::Class(Class::Unicode(class))) = parsed.as_ref().map(regex_syntax::hir::Hir::kind) {
            for range in class.ranges() {
                flags[range.start() as usize..=range.end() as usize].iter_mut().for_each(|flags| *flags |= flag);
            }
        }
    }
    flags
});

/// Reference to the table; loops fetch it once, which avoids a check per character.
#[derive(Clone, Copy)]
pub(super) struct Classes(&'static [u8]);

impl Classes {
    pub(super) fn get() -> Self {
        Self(&FLAGS)
    }

    pub(super) fn of(self, character: char) -> u8 {
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
            ('a', LETTER),
            ('я', LETTER),
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
