//! What to look for: the words of a turn that say something (memory.md, section 3, item 1).

use std::collections::HashSet;
use std::sync::LazyLock;

use context::full_text::Terms;
pub(crate) use context::full_text::words;

/// Words of a question; a pasted page is not a question.
const MAX_TERMS: usize = 24;

/// Letters that two words have in common at the least, if they are forms of one.
const STEM: usize = 4;
/// Letters that an ending has at the most.
const ENDING: usize = 3;

/// English words that are in every second sentence, and those that only make a sentence a question. In other languages the
/// index itself gives common words little weight.
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

/// Of those the ones that tell what somebody does: with them a question finds more, but two texts say the same without them.
const DOING: [&str; 11] = ["come", "get", "give", "go", "going", "got", "like", "look", "make", "take", "want"];

/// The words of `text` that tell what it is about, each once, in their order. The names of those who talk are not: they are
/// everywhere, and drag the search to where somebody is called.
pub(crate) fn terms(text: &str, names: &[&str]) -> Vec<String> {
    telling(text, names, |word| !says_nothing(word))
}

/// The words of a question that are worth looking for: [`terms`], and what somebody does.
pub(crate) fn sought(text: &str, names: &[&str]) -> Vec<String> {
    telling(text, names, |word| !says_nothing(word) || DOING.contains(&word))
}

fn telling(text: &str, names: &[&str], says: impl Fn(&str) -> bool) -> Vec<String> {
    let names: HashSet<String> = names.iter().flat_map(|name| words(name)).collect();
    let mut seen = HashSet::new();
    let says = |word: &String| says(word) && !names.contains(word);
    words(text).filter(says).filter(|word| seen.insert(word.clone())).take(MAX_TERMS).collect()
}

/// Whether a word, in small letters, is in every second sentence.
pub(super) fn says_nothing(word: &str) -> bool {
    static ALL: LazyLock<HashSet<&str>> = LazyLock::new(|| EMPTY.split(' ').collect());
    // A single letter is an ending ("my sister's"), or a list's.
    ALL.contains(word) || word.len() == 1 && word.starts_with(|letter: char| letter.is_ascii_alphabetic())
}

/// Two forms of one word, by a guess: "camp" and "camping", or "cat" and "cats".
pub(super) fn alike(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    // All are compared with all, and most begin otherwise.
    let common = one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    if common + 1 < STEM {
        return false;
    }
    let rest = |word: &str| word.chars().skip(common).count();
    let (longer, both) = (rest(one).max(rest(other)), rest(one) + rest(other));
    common >= STEM && longer <= ENDING || both == 1
}

/// The same word, whatever its English ending.
pub(super) fn same_stem(one: &str, other: &str) -> bool {
    static TERMS: LazyLock<Terms> = LazyLock::new(Terms::default);
    one == other || TERMS.of(one) == TERMS.of(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_reduced_to_what_they_are_about() {
        let shown = |text: &str| terms(text, &["Sam", "Mira Quay"]).join(" ");
        assert_eq!(shown("Mira, do you remember what my sister's dog was called?"), "sister dog called");
        assert_eq!(shown("What did I tell you about Lisbon, Lisbon in May?"), "lisbon");
        assert_eq!(shown("Hello! How are you?"), "");
        assert_eq!(shown("你知道我对花生过敏吗?"), "你知道我对花生过敏吗");
        assert_eq!(terms(&"word0 ".repeat(9), &[]), ["word0"]);
    }

    #[test]
    fn what_somebody_does_is_looked_for_and_is_no_matter() {
        let asked = "Where did Tom and I go, and what did he want to take there?";
        assert_eq!(
            (sought(asked, &["Tom"]), terms(asked, &["Tom"])),
            (vec!["go".into(), "want".into(), "take".into()], vec![])
        );
        assert!(DOING.iter().all(|word| says_nothing(word)));
    }

    #[test]
    fn the_list_is_sorted_so_that_nobody_adds_a_word_twice() {
        assert!(EMPTY.split(' ').is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn forms_of_one_word_are_alike_and_other_words_are_not() {
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
    fn a_word_has_the_stem_of_its_other_forms_only() {
        assert!(same_stem("cats", "cat") && same_stem("travelling", "travelled") && same_stem("妹妹", "妹妹"));
        assert!(!same_stem("car", "card") && !same_stem("car", "carpet") && !same_stem("christina", "christmas"));
    }
}
