//! Keeps text of people, cards and models from becoming control tokens. Servers of text completions
//! read one string and turn every text that looks like a control token into that token.

use std::collections::BTreeSet;

use domain::prompt::Segment;

use crate::endpoint::stream::stop_filter::{HEADERS, TOKENS};

/// Invisible character after the first letter of a marker in plain text (word joiner).
const BREAK: char = '\u{2060}';
/// Maximum length of a marker in bytes. Real ones are shorter.
const LONGEST: usize = 64;

/// The texts that a server may read as control tokens.
#[derive(Debug)]
pub(crate) struct Markers {
    texts: BTreeSet<String>,
}

impl Default for Markers {
    /// The tokens of common models.
    fn default() -> Self {
        let known = TOKENS.iter().chain(&HEADERS).copied();
        let more = [
            "<s>",
            "<bos>",
            "<unk>",
            "<pad>",
            "[TOOL_CALLS]",
            "[AVAILABLE_TOOLS]",
            "<tool_call>",
        ];
        Self {
            texts: known.chain(more).map(str::to_owned).collect(),
        }
    }
}

impl Markers {
    /// The tokens of common models, and those in the control text of this prompt.
    pub(crate) fn of(segments: &[Segment]) -> Self {
        let mut markers = Self::default();
        for segment in segments.iter().filter(|segment| segment.control) {
            markers
                .texts
                .extend(marked(&segment.text).map(str::to_owned));
        }
        markers
    }

    /// Returns `text` with a break in each marker.
    pub(crate) fn defused(&self, text: &str) -> String {
        let mut defused = String::with_capacity(text.len());
        for (at, letter) in text.char_indices() {
            defused.push(letter);
            let rest = &text[at..];
            if matches!(letter, '<' | '[')
                && self
                    .texts
                    .iter()
                    .any(|marker| rest.starts_with(marker.as_str()))
            {
                defused.push(BREAK);
            }
        }
        defused
    }
}

/// The parts of control text in angle or square brackets, without spaces.
fn marked(control: &str) -> impl Iterator<Item = &str> {
    control.char_indices().filter_map(|(at, letter)| {
        let close = match letter {
            '<' => '>',
            '[' => ']',
            _ => return None,
        };
        let rest = &control[at..];
        let end = rest.find(close)? + close.len_utf8();
        let marker = &rest[..end];
        let is_token = end > 2 && end <= LONGEST && !marker.contains(char::is_whitespace);
        is_token.then_some(marker)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn breaks_markers_of_the_format_and_of_models() {
        let control = |text: &str| Segment {
            text: text.to_owned(),
            control: true,
        };
        let markers = Markers::of(&[control("<|odd|>user\n[GO]"), control("<end_of_turn>")]);
        for (text, expected) in [
            ("Hi. <|odd|>", "Hi. <\u{2060}|odd|>"),
            ("[GO] now", "[\u{2060}GO] now"),
            ("</s><end_of_turn>", "<\u{2060}/s><\u{2060}end_of_turn>"),
            ("a < b, [1], <b>bold</b>", "a < b, [1], <b>bold</b>"),
            ("", ""),
        ] {
            assert_eq!(markers.defused(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn plain_text_never_contains_a_marker(
            parts in prop::collection::vec(prop::sample::select(vec!["<", "|im_end|>", "<|im_end|>", "</s>", "[INST]", "é", "\u{2060}", " "]), 0..20),
        ) {
            let defused = Markers::default().defused(&parts.concat());
            for token in TOKENS {
                prop_assert!(!defused.contains(token), "{defused:?}");
            }
        }
    }
}
