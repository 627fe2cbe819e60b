//! The terms of a text, for the index and for highlighting: words without case and accents, and for scripts without
//! spaces every two adjacent letters.

use std::ops::Range;

use domain::script::is_unspaced_letter;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// A term and its place in the text, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Term {
    pub(crate) text: String,
    pub(crate) range: Range<usize>,
}

/// Letters of one script kind that belong together.
struct Run<'t> {
    text: &'t str,
    start: usize,
    unspaced: bool,
}

/// The words of a text in order. A run of a script without spaces gives every pair of adjacent letters, or its only
/// letter.
pub(crate) fn words(text: &str) -> impl Iterator<Item = Term> {
    runs(text).flat_map(|run| if run.unspaced { pairs(&run) } else { vec![word(&run)] })
}

/// Every letter of scripts without spaces.
pub(crate) fn letters(text: &str) -> impl Iterator<Item = Term> {
    text.char_indices().filter(|(_, letter)| is_unspaced_letter(*letter)).map(|(start, letter)| Term {
        text: fold(letter.encode_utf8(&mut [0; 4])),
        range: start..start + letter.len_utf8(),
    })
}

/// The terms as the index stores them: separated by spaces.
pub(crate) fn joined(terms: impl Iterator<Item = Term>) -> String {
    terms.fold(String::new(), |mut all, term| {
        if !all.is_empty() {
            all.push(' ');
        }
        all.push_str(&term.text);
        all
    })
}

fn word(run: &Run<'_>) -> Term {
    Term { text: fold(run.text), range: run.start..run.start + run.text.len() }
}

fn pairs(run: &Run<'_>) -> Vec<Term> {
    let letters: Vec<(usize, char)> = run.text.char_indices().collect();
    if letters.len() == 1 {
        return vec![word(run)];
    }
    let pair = |pair: &[(usize, char)]| {
        let (start, end) = (pair[0].0, pair[1].0 + pair[1].1.len_utf8());
        Term { text: fold(&run.text[start..end]), range: run.start + start..run.start + end }
    };
    letters.windows(2).map(pair).collect()
}

/// Splits at everything that is not a letter, digit or mark, and where a script without spaces begins or ends.
fn runs(text: &str) -> impl Iterator<Item = Run<'_>> {
    let mut letters = text.char_indices().peekable();
    std::iter::from_fn(move || {
        let (start, first) = letters.find(|(_, letter)| is_part(*letter))?;
        let unspaced = is_unspaced_letter(first);
        let mut end = start + first.len_utf8();
        let belongs = |letter: char| is_part(letter) && is_unspaced_letter(letter) == unspaced;
        while let Some((at, letter)) = letters.next_if(|(_, letter)| belongs(*letter)) {
            end = at + letter.len_utf8();
        }
        Some(Run { text: &text[start..end], start, unspaced })
    })
}

fn is_part(letter: char) -> bool {
    letter.is_alphanumeric() || is_combining_mark(letter) || is_unspaced_letter(letter)
}

/// Lower case, without accents. Marks of scripts without spaces stay, because they are part of the letters.
pub(crate) fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter.is_ascii() {
            folded.push(letter.to_ascii_lowercase());
        } else if is_unspaced_letter(letter) {
            folded.push(letter);
        } else {
            folded.extend(letter.nfkd().filter(|part| !is_combining_mark(*part)).flat_map(char::to_lowercase));
        }
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected_words: &str, expected_letters: &str) {
        assert_eq!((joined(words(text)).as_str(), joined(letters(text)).as_str()), (expected_words, expected_letters));
    }

    #[test]
    fn splits_texts_of_any_script() {
        check("The LAMP, it's Éloïse's!", "the lamp it s eloise s", "");
        check("桜の木", "桜の の木", "桜 の 木");
        check("灯 lamp灯台2", "灯 lamp 灯台 2", "灯 灯 台");
        check("naïve cafe\u{301} ΑΒΓ Ёлка 42", "naive cafe αβγ елка 42", "");
        check("สวัสดี", "สว วั ัส สด ดี", "ส ว ั ส ด ี");
        check(" -- \n🦊", "", "");
    }

    #[test]
    fn terms_know_their_place() {
        let text = "Ach, Éloïse! 桜の木";
        let places: Vec<&str> = words(text).map(|term| &text[term.range]).collect();
        assert_eq!(places, ["Ach", "Éloïse", "桜の", "の木"]);
    }
}
