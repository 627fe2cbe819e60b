//! Words that tie a background to the scenes in which it is shown.

use crate::lore::keys::fold::{folded, is_boundary};

/// Maximum number of words of a background.
pub const MAX_WORDS: usize = 50;
/// Maximum number of characters of a word.
pub const MAX_WORD: usize = 60;

const SEPARATORS: [char; 8] = [',', ';', '\n', '，', '、', '；', '،', '؛'];

/// Reads words or phrases that are separated by commas, semicolons or line breaks. Repetitions are
/// left out.
pub fn parse(list: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in list.split(SEPARATORS) {
        let word = word.split_whitespace().collect::<Vec<_>>().join(" ");
        if !word.is_empty()
            && !words
                .iter()
                .any(|known| comparable(known) == comparable(&word))
        {
            words.push(word);
        }
    }
    words
}

/// The item with the longest word that occurs in `text`, and that word. The first of several that
/// are equally long.
///
/// Matching ignores case and needs whole words, except in scripts without spaces between words.
pub fn longest_match<'a, T>(
    text: &str,
    items: impl IntoIterator<Item = (T, &'a str)>,
) -> Option<(T, String)> {
    let text = comparable(text);
    let mut best: Option<(usize, T, String)> = None;
    for (item, list) in items {
        let found = parse(list)
            .into_iter()
            .filter(|word| occurs(&text, &comparable(word)));
        let Some(word) = found.max_by_key(|word| length(word)) else {
            continue;
        };
        if best
            .as_ref()
            .is_none_or(|(longest, ..)| length(&word) > *longest)
        {
            best = Some((length(&word), item, word));
        }
    }
    best.map(|(_, item, word)| (item, word))
}

fn length(word: &str) -> usize {
    word.chars().count()
}

/// Case-folded, with single spaces, so that a phrase may continue on the next line.
fn comparable(text: &str) -> String {
    folded(
        &text.split_whitespace().collect::<Vec<_>>().join(" "),
        false,
    )
    .into_owned()
}

fn occurs(text: &str, word: &str) -> bool {
    let (Some(first), Some(last)) = (word.chars().next(), word.chars().next_back()) else {
        return false;
    };
    let mut from = 0;
    while let Some(at) = text[from..].find(word) {
        let start = from + at;
        let end = from + at + word.len();
        let before = text[..start]
            .chars()
            .next_back()
            .is_none_or(|c| is_boundary(c, first));
        if before
            && text[end..]
                .chars()
                .next()
                .is_none_or(|c| is_boundary(last, c))
        {
            return true;
        }
        from = start + first.len_utf8();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, list: &str) -> bool {
        longest_match(text, [((), list)]).is_some()
    }

    #[test]
    fn list_is_read_without_repetitions() {
        assert_eq!(
            parse(" Tavern,inn;\n old   mill,, TAVERN , "),
            ["Tavern", "inn", "old mill"]
        );
        assert_eq!(
            parse("酒館、市場，Straße, STRASSE"),
            ["酒館", "市場", "Straße"]
        );
        assert!(parse(" ,;\n").is_empty());
    }

    #[test]
    fn whole_words_match_in_any_script() {
        let cases = [
            ("We meet in the Inn.", "inn", true),
            ("They begin the inning.", "inn", false),
            ("The old\nmill turns.", "OLD MILL", true),
            ("The old millstone.", "old mill", false),
            ("In der STRASSE", "straße", true),
            ("Мы в Таверне", "таверне", true),
            ("Мы в Таверне", "таверн", false),
            ("夜の酒場で会う", "酒場", true),
            ("Στην ΤΑΒΕΡΝΑ", "ταβερνα", true),
            ("an a a", "a a", true),
            ("", "inn", false),
            ("inn", "", false),
        ];
        for (text, word, expected) in cases {
            assert_eq!(found(text, word), expected, "{word} in {text}");
        }
    }

    #[test]
    fn longest_word_wins_and_then_the_first() {
        let items = [
            ("street", "night, street"),
            ("harbour", "harbour"),
            ("quay", "harbour at night"),
            ("sea", "harbour"),
        ];
        let best = |text| longest_match(text, items);
        assert_eq!(
            best("The harbour at night, in a street"),
            Some(("quay", "harbour at night".to_owned()))
        );
        assert_eq!(
            best("A street by the harbour"),
            Some(("harbour", "harbour".to_owned()))
        );
        assert_eq!(best("At home"), None);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_searched_without_panic(text in ".{0,60}", list in ".{0,40}") {
            if let Some((_, word)) = longest_match(&text, [((), list.as_str())]) {
                proptest::prop_assert!(parse(&list).contains(&word));
            }
        }
    }
}
