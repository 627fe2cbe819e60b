//! The words to search for: the content words of a turn.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::full_text::Terms;
pub use crate::full_text::words;

/// Maximum number of words of a question; a pasted page is no question.
const MAX_TERMS: usize = 24;

/// Minimum common characters of two forms of one word.
const STEM: usize = 4;
/// Maximum characters of an ending.
const ENDING: usize = 3;

/// English stop words, and words that only turn a sentence into a question. In other languages BM25
/// gives common words little weight.
const EMPTY: &str = "\
    a about after again ago all also always am an and another any anyone anything are aren as ask at back be \
    because been before being both but by can come could couldn did didn do does doesn doing don each ever every \
    everything few for from get give go going good got had has have haven having he hello her here hers hey hi \
    him his hm how i if in into is isn it its just kind know let like ll look make many may maybe me mean \
    mentioned might mine more most much must my never no not nothing now of off oh ok okay on one only or other \
    our out over own please re really recall remember remind said same say see shall she should shouldn so some \
    something still such sure take tell than thank thanks that the their them then there these they thing things \
    think this those time to told too up us ve very want was wasn way we well were weren what when where which \
    while who whom whose why will with won would wouldn yeah yes yet you your yours";

/// Verbs among the stop words. A question finds more with them, but two statements are compared
/// without them.
const DOING: [&str; 11] = [
    "come", "get", "give", "go", "going", "got", "like", "look", "make", "take", "want",
];

/// The content words of `text`, each once and in order, without the speakers' `names`. Names occur
/// everywhere and draw the search to messages that address somebody.
pub fn terms(text: &str, names: &[&str]) -> Vec<String> {
    telling(text, names, |word| !says_nothing(word))
}

/// The words of a question that are worth searching for: [`terms`] and verbs.
pub fn sought(text: &str, names: &[&str]) -> Vec<String> {
    telling(text, names, |word| {
        !says_nothing(word) || DOING.contains(&word)
    })
}

fn telling(text: &str, names: &[&str], says: impl Fn(&str) -> bool) -> Vec<String> {
    let names: HashSet<String> = names.iter().flat_map(|name| words(name)).collect();
    let mut seen = HashSet::new();
    let says = |word: &String| says(word) && !names.contains(word);
    words(text)
        .filter(says)
        .filter(|word| seen.insert(word.clone()))
        .take(MAX_TERMS)
        .collect()
}

/// Whether a word in lower case is a stop word.
pub fn says_nothing(word: &str) -> bool {
    static ALL: LazyLock<HashSet<&str>> = LazyLock::new(|| EMPTY.split(' ').collect());
    // A single letter is an ending ("my sister's") or the label of a list item.
    ALL.contains(word)
        || word.len() == 1 && word.starts_with(|letter: char| letter.is_ascii_alphabetic())
}

/// Whether two words are probably forms of one: "camp" and "camping", or "cat" and "cats".
pub fn alike(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    // All pairs of words are compared, and most differ at the beginning.
    let common = one
        .chars()
        .zip(other.chars())
        .take_while(|(a, b)| a == b)
        .count();
    if common + 1 < STEM {
        return false;
    }
    let rest = |word: &str| word.chars().skip(common).count();
    let longer = rest(one).max(rest(other));
    let both = rest(one) + rest(other);
    common >= STEM && longer <= ENDING || both == 1
}

/// Whether two words have the same English stem.
pub fn same_stem(one: &str, other: &str) -> bool {
    static TERMS: LazyLock<Terms> = LazyLock::new(Terms::default);
    one == other || TERMS.of(one) == TERMS.of(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reduces_question_to_content_words() {
        let shown = |text: &str| terms(text, &["Sam", "Mira Quay"]).join(" ");
        assert_eq!(
            shown("Mira, do you remember what my sister's dog was called?"),
            "sister dog called"
        );
        assert_eq!(
            shown("What did I tell you about Lisbon, Lisbon in May?"),
            "lisbon"
        );
        assert_eq!(shown("Hello! How are you?"), "");
        assert_eq!(shown("你知道我对花生过敏吗?"), "你知道我对花生过敏吗");
        assert_eq!(terms(&"word0 ".repeat(9), &[]), ["word0"]);
    }

    #[test]
    fn verbs_are_searched_but_not_compared() {
        let asked = "Where did Tom and I go, and what did he want to take there?";
        assert_eq!(
            (sought(asked, &["Tom"]), terms(asked, &["Tom"])),
            (vec!["go".into(), "want".into(), "take".into()], vec![])
        );
        assert!(DOING.iter().all(|word| says_nothing(word)));
    }

    #[test]
    fn stop_words_are_sorted_and_unique() {
        assert!(EMPTY.split(' ').is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn recognizes_forms_of_one_word() {
        for (one, other, same) in [
            ("camp", "camping", true),
            ("works", "work", true),
            ("cat", "car", false),
            ("cat", "cats", true),
            ("boat", "board", false),
        ] {
            assert_eq!(alike(one, other), same, "{one} {other}");
        }
    }

    #[test]
    fn forms_of_one_word_share_a_stem() {
        assert!(
            same_stem("cats", "cat")
                && same_stem("travelling", "travelled")
                && same_stem("妹妹", "妹妹")
        );
        assert!(
            !same_stem("car", "card")
                && !same_stem("car", "carpet")
                && !same_stem("christina", "christmas")
        );
    }
}
