//! Counting. The caller brings the counts; nothing here tokenizes.

use domain::prompt::Segment;

/// Knows how many tokens a segment costs.
pub trait CountTokens {
    /// `None` where the count is not known yet: [`crate::assemble`] then names the segment, and is called again.
    fn count(&self, segment: &Segment) -> Option<u32>;
    /// True where the model's own tokenizer counted.
    fn exact(&self) -> bool;
}

/// A guess for remote models whose tokenizer we do not have: four characters of Latin, Cyrillic or Greek a token, every
/// other letter (CJK above all) a token of its own (C1). The budget adds a margin to it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Estimate;

impl CountTokens for Estimate {
    fn count(&self, segment: &Segment) -> Option<u32> {
        if segment.text.is_ascii() {
            return u32::try_from(segment.text.len().div_ceil(4)).ok();
        }
        let (narrow, wide) = segment.text.chars().fold((0_u32, 0_u32), |(narrow, wide), letter| {
            if letter < '\u{0530}' || ('\u{2000}'..'\u{2070}').contains(&letter) {
                (narrow + 1, wide)
            } else {
                (narrow, wide + 1)
            }
        });
        Some(narrow.div_ceil(4) + wide)
    }

    fn exact(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> u32 {
        Estimate.count(&Segment { text: text.to_owned(), control: false }).unwrap()
    }

    #[test]
    fn the_estimate_knows_that_chinese_is_dense() {
        assert_eq!(tokens("sixteen letters."), 4);
        assert_eq!(tokens("你好,世界"), 5);
        assert_eq!(tokens(""), 0);
    }
}
