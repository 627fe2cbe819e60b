//! Token counts. The caller supplies them; this crate does not tokenize.

use domain::prompt::Segment;

/// Counts the tokens of a segment.
pub trait CountTokens {
    /// `None` if the count is not known yet. [`crate::assemble`] then reports the segment, and the
    /// caller counts it and calls again.
    fn count(&self, segment: &Segment) -> Option<u32>;
    /// True if the model's own tokenizer counts.
    fn exact(&self) -> bool;
}

/// Estimate for remote models whose tokenizer is not available: four narrow characters per token
/// (Latin, Greek, Cyrillic), and one token for each other character, such as CJK. The budget adds a
/// margin.
#[derive(Debug, Clone, Copy, Default)]
pub struct Estimate;

impl CountTokens for Estimate {
    fn count(&self, segment: &Segment) -> Option<u32> {
        if segment.text.is_ascii() {
            return u32::try_from(segment.text.len().div_ceil(4)).ok();
        }
        let (narrow, wide) = segment
            .text
            .chars()
            .fold((0_u32, 0_u32), |(narrow, wide), letter| {
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
        Estimate
            .count(&Segment {
                text: text.to_owned(),
                control: false,
            })
            .unwrap()
    }

    #[test]
    fn estimate_counts_one_token_per_cjk_character() {
        assert_eq!(tokens("sixteen letters."), 4);
        assert_eq!(tokens("你好,世界"), 5);
        assert_eq!(tokens(""), 0);
    }
}
