//! Differences between two texts.

use std::time::Duration;

use similar::{ChangeTag, TextDiff};

use crate::api::{Change, ChangedText};

/// Maximum time for a comparison by words. After it, the rest of the texts counts as replaced.
const PATIENCE: Duration = Duration::from_millis(500);

/// Compares line by line.
pub(crate) fn by_lines(before: &str, now: &str) -> Vec<ChangedText> {
    let diff = TextDiff::from_lines(before, now);
    merged(
        diff.iter_all_changes()
            .map(|change| (change.tag(), change.value())),
    )
}

/// Compares word by word; in scripts without spaces, character by character.
pub(crate) fn by_words(before: &str, now: &str) -> Vec<ChangedText> {
    let before = words(before);
    let now = words(now);
    let diff = TextDiff::configure()
        .timeout(PATIENCE)
        .diff_slices(&before, &now);
    merged(
        diff.iter_all_changes()
            .map(|change| (change.tag(), change.value())),
    )
}

fn merged<'t>(changes: impl Iterator<Item = (ChangeTag, &'t str)>) -> Vec<ChangedText> {
    let mut parts: Vec<ChangedText> = Vec::new();
    for (tag, text) in changes {
        let change = match tag {
            ChangeTag::Equal => Change::Same,
            ChangeTag::Insert => Change::Added,
            ChangeTag::Delete => Change::Removed,
        };
        match parts.last_mut() {
            Some(last) if last.change == change => last.text.push_str(text),
            _ => parts.push(ChangedText {
                change,
                text: text.to_owned(),
            }),
        }
    }
    parts
}

/// Splits a text into words and the characters between them. Joined, they are the text again.
fn words(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut begun = 0;
    let mut letters = text.char_indices().peekable();
    while let Some((_, letter)) = letters.next() {
        let next = letters.peek().copied();
        let within = next.is_some_and(|(_, next)| is_of_word(letter) && is_of_word(next));
        if !within {
            let end = next.map_or(text.len(), |(at, _)| at);
            parts.push(&text[begun..end]);
            begun = end;
        }
    }
    parts
}

/// A letter of a script that puts spaces between words.
fn is_of_word(letter: char) -> bool {
    let unspaced = matches!(letter, '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{2e80}'..='\u{abff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}');
    letter.is_alphanumeric() && !unspaced
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(parts: &[ChangedText]) -> String {
        let part = |part: &ChangedText| match part.change {
            Change::Same => part.text.clone(),
            Change::Added => format!("+{}+", part.text),
            Change::Removed => format!("-{}-", part.text),
        };
        parts.iter().map(part).collect()
    }

    #[test]
    fn grown_text_has_one_addition_at_its_end() {
        assert_eq!(
            shown(&by_lines("rules\nhello\n", "rules\nhello\nwelcome\n")),
            "rules\nhello\n+welcome\n+"
        );
    }

    #[test]
    fn changed_words_are_marked() {
        assert_eq!(
            shown(&by_words("The red door.", "The old red gate.")),
            "The +old +red -door-+gate+."
        );
        assert_eq!(shown(&by_words("灯塔很高", "灯塔不高")), "灯塔-很-+不+高");
        assert_eq!(shown(&by_words("", "New.")), "+New.+");
        assert_eq!(shown(&by_words("Same.", "Same.")), "Same.");
    }

    proptest! {
        #[test]
        fn parts_are_the_two_texts(before in "[ab 灯.]{0,20}", now in "[ab 灯.]{0,20}") {
            let parts = by_words(&before, &now);
            let text = |without: Change| -> String {
                parts.iter().filter(|part| part.change != without).map(|part| part.text.as_str()).collect()
            };
            prop_assert_eq!(text(Change::Added), before);
            prop_assert_eq!(text(Change::Removed), now);
        }
    }
}
