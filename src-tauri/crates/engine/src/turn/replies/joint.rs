//! The text between a reply and its continuation.

use domain::script::is_unspaced_letter;
use domain::settings::ContinuePostfix;

/// The text between a reply and its continuation, which is not known yet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Joint {
    #[default]
    Nothing,
    /// A blank before a letter.
    BeforeLetter {
        /// A word in lower case may belong to the last one, as in an address.
        capital: bool,
    },
    /// A blank before anything but closing marks.
    BeforeWord,
    Always(&'static str),
}

/// Marks that end a sentence in scripts that put a blank after it.
const ENDS: &str = ".!?…؟۔।॥։";

/// Marks that can follow the end of a sentence and belong to it.
const CLOSING: &str = "\"'*_)]}”’»›~";

/// Marks after which a word follows without a blank.
const OPENING: &str = "([{“‘„«‹¿¡";

impl Joint {
    /// Behind the text `base`, which the model writes on.
    pub(crate) fn behind(base: &str, postfix: ContinuePostfix) -> Self {
        if base.is_empty() || base.ends_with(char::is_whitespace) {
            return Self::Nothing;
        }
        match fixed(postfix) {
            Some(joint) => joint,
            None if ends_sentence(base) => Self::BeforeLetter {
                capital: may_be_address(base),
            },
            None => Self::Nothing,
        }
    }

    /// Behind the text `base`, if the continuation is a message of its own.
    pub(crate) fn of_message(base: &str, postfix: ContinuePostfix) -> Self {
        let Some(last) = base
            .chars()
            .next_back()
            .filter(|last| !last.is_whitespace())
        else {
            return Self::Nothing;
        };
        match fixed(postfix) {
            Some(joint) => joint,
            None if OPENING.contains(last) || is_unspaced(last) => Self::Nothing,
            None => Self::BeforeWord,
        }
    }

    /// The text before `words`, which are not empty.
    pub(crate) fn before(self, words: &str) -> &'static str {
        let Some(first) = words.chars().next().filter(|first| !first.is_whitespace()) else {
            return "";
        };
        match self {
            Self::Nothing => "",
            Self::Always(text) => text,
            Self::BeforeLetter { capital } => {
                let begins = first.is_alphabetic()
                    && !is_unspaced(first)
                    && !(capital && first.is_lowercase());
                if begins { " " } else { "" }
            }
            Self::BeforeWord if is_unspaced(first) || ".,;:!?…)]”’".contains(first) => "",
            Self::BeforeWord => " ",
        }
    }
}

fn fixed(postfix: ContinuePostfix) -> Option<Joint> {
    match postfix {
        ContinuePostfix::Auto => None,
        ContinuePostfix::Nothing => Some(Joint::Nothing),
        ContinuePostfix::Space => Some(Joint::Always(" ")),
        ContinuePostfix::Line => Some(Joint::Always("\n")),
        ContinuePostfix::Paragraph => Some(Joint::Always("\n\n")),
    }
}

/// Whether `base` ends with a sentence, outside code.
fn ends_sentence(base: &str) -> bool {
    let ended = base
        .trim_end_matches(|letter| CLOSING.contains(letter))
        .ends_with(|letter| ENDS.contains(letter));
    let line = base.rsplit('\n').next().unwrap_or(base);
    let in_code = base.matches("```").count() % 2 == 1 || line.matches('`').count() % 2 == 1;
    ended && !in_code
}

/// Whether the last word has marks inside, as an address or the name of a file.
fn may_be_address(base: &str) -> bool {
    let word = base.rsplit(char::is_whitespace).next().unwrap_or(base);
    let inside = word.trim_end_matches(|letter| CLOSING.contains(letter) || ENDS.contains(letter));
    inside.contains(['.', '/', '@', '\\']) || inside.eq_ignore_ascii_case("www")
}

/// Whether the letter is of a script without blanks between sentences. Korean has blanks.
fn is_unspaced(letter: char) -> bool {
    let hangul = matches!(letter, '\u{ac00}'..='\u{d7a3}');
    let of_south_east =
        matches!(letter, '\u{e80}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}');
    let wide_marks = matches!(letter, '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ffef}');
    of_south_east || wide_marks || (is_unspaced_letter(letter) && !hangul)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extended(base: &str, words: &str) -> String {
        format!(
            "{base}{}{words}",
            Joint::behind(base, ContinuePostfix::Auto).before(words)
        )
    }

    #[test]
    fn a_blank_follows_the_end_of_a_sentence() {
        for (base, words, joined) in [
            (
                "She opens the door.",
                "Then she smiles.",
                "She opens the door. Then she smiles.",
            ),
            ("She waits…", "and waits.", "She waits… and waits."),
            ("\"Come in!\"", "He sits.", "\"Come in!\" He sits."),
            ("*She nods.*", "Then", "*She nods.* Then"),
            ("Она молчит.", "Потом уходит.", "Она молчит. Потом уходит."),
            ("문을 열었다.", "그리고", "문을 열었다. 그리고"),
            ("وصلت؟", "نعم", "وصلت؟ نعم"),
        ] {
            assert_eq!(extended(base, words), joined);
        }
    }

    #[test]
    fn nothing_is_put_into_words_numbers_code_and_unspaced_text() {
        for (base, words) in [
            ("Once up", "on a time."),
            ("It costs 3.", "50 crowns."),
            ("She stops.", "\" He says."),
            ("She stops.", ".."),
            ("She stops. ", "Then"),
            ("She stops.\n", "Then"),
            ("She stops.", "\nThen"),
            ("She stops.", " Then"),
            ("彼女は笑った。", "そして"),
            ("她笑了.", "然后"),
            ("Look at www.", "example.org"),
            ("Look at docs.example.", "org"),
            ("```\nfoo.", "bar()"),
            ("Call `foo.", "bar`"),
            ("", "Then"),
            ("She said", "Then"),
        ] {
            assert_eq!(extended(base, words), format!("{base}{words}"));
        }
    }

    #[test]
    fn a_chosen_postfix_is_always_put() {
        let joined = |postfix, words| Joint::behind("She stops", postfix).before(words);
        assert_eq!(joined(ContinuePostfix::Space, "and"), " ");
        assert_eq!(joined(ContinuePostfix::Line, "and"), "\n");
        assert_eq!(joined(ContinuePostfix::Paragraph, "and"), "\n\n");
        assert_eq!(joined(ContinuePostfix::Paragraph, "\nand"), "");
        assert_eq!(
            Joint::behind("She stops.", ContinuePostfix::Nothing).before("Then"),
            ""
        );
    }

    #[test]
    fn a_message_of_its_own_is_parted_from_words() {
        let joined = |base, words| Joint::of_message(base, ContinuePostfix::Auto).before(words);
        assert_eq!(joined("Once upon", "a time."), " ");
        assert_eq!(joined("Once upon", ", once."), "");
        assert_eq!(joined("She said “", "Come."), "");
        assert_eq!(joined("彼女は", "笑った。"), "");
        assert_eq!(joined("Once ", "more"), "");
    }
}
