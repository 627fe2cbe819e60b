//! The terms of a text, for the index and for highlighting: folded words, for scripts without
//! spaces every two adjacent letters, and single symbols.

use std::ops::Range;

use super::fold::{Folded, Kind, folded};

/// A term and its place in the text, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Term {
    pub(crate) text: String,
    pub(crate) range: Range<usize>,
}

/// Maximum letters of a word that one `+` or `#` ends, as in `C#`. After longer words they are
/// punctuation.
const SHORT: usize = 2;

/// The words of a text in order. A run of a script without spaces gives every pair of adjacent
/// letters, or its only letter.
pub(crate) fn words(text: &str) -> impl Iterator<Item = Term> {
    runs(text)
        .into_iter()
        .flat_map(|run| match run.first().map(|first| first.kind) {
            Some(Kind::Unspaced) if run.len() > 1 => run.windows(2).map(term).collect(),
            _ => vec![term(&run)],
        })
}

/// Every letter of scripts without spaces.
pub(crate) fn letters(text: &str) -> impl Iterator<Item = Term> {
    folded(text)
        .filter(|folded| folded.kind == Kind::Unspaced)
        .map(|folded| Term {
            text: folded.letter.to_string(),
            range: folded.range,
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

fn term(run: &[Folded]) -> Term {
    let text = run.iter().map(|folded| folded.letter).collect();
    let start = run.first().map_or(0, |first| first.range.start);
    let end = run.last().map_or(0, |last| last.range.end);
    Term {
        text,
        range: start..end,
    }
}

/// Splits at everything that is not a letter, digit or symbol, and where a script without spaces
/// begins or ends. Each symbol is a run.
fn runs(text: &str) -> Vec<Vec<Folded>> {
    let mut runs: Vec<Vec<Folded>> = Vec::new();
    let mut rest = folded(text).peekable();
    let mut is_open = false;
    while let Some(one) = rest.next() {
        if one.kind == Kind::Other {
            let signs = sign(one.letter).filter(|_| is_open);
            let Some((sign, run)) = signs
                .zip(runs.last_mut())
                .filter(|(_, run)| run[0].kind == Kind::Spaced)
            else {
                is_open = false;
                continue;
            };
            // `C++`, `C#`, `g++`: the signs are part of the word. The index has no ASCII signs, so
            // they are full-width.
            let mut signs = vec![Folded {
                letter: sign,
                kind: Kind::Spaced,
                range: one.range,
            }];
            while let Some(next) = rest
                .next_if(|next| next.kind == Kind::Other && self::sign(next.letter) == Some(sign))
            {
                signs.push(Folded {
                    letter: sign,
                    kind: Kind::Spaced,
                    range: next.range,
                });
            }
            let goes_on = rest.peek().is_some_and(|next| next.kind != Kind::Other);
            if signs.len() == 2 || signs.len() == 1 && run.len() <= SHORT && !goes_on {
                run.extend(signs);
            }
            is_open = false;
            continue;
        }
        match runs.last_mut() {
            Some(run) if is_open && one.kind != Kind::Symbol && run[0].kind == one.kind => {
                run.push(one)
            }
            _ => runs.push(vec![one]),
        }
        is_open = true;
    }
    runs
}

fn sign(letter: char) -> Option<char> {
    match letter {
        '+' => Some('＋'),
        '#' => Some('＃'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected_words: &str, expected_letters: &str) {
        assert_eq!(
            (joined(words(text)).as_str(), joined(letters(text)).as_str()),
            (expected_words, expected_letters)
        );
    }

    #[test]
    fn splits_texts_of_any_script() {
        check("The LAMP, it's Éloïse's!", "the lamp it s eloise s", "");
        check("桜の木", "桜の の木", "桜 の 木");
        check("灯 lamp灯台2", "灯 lamp 灯台 2", "灯 灯 台");
        check(
            "naïve cafe\u{301} ΑΒΓ Ёлка 42",
            "naive cafe αβγ елка 42",
            "",
        );
        check("สวัสดี", "สว วั ัส สด ดี", "ส ว ั ส ด ี");
        check("佐々木", "佐々 々木", "佐 々 木");
        check("ພາສາ", "ພາ າສ ສາ", "ພ າ ສ າ");
        check(" -- \n", "", "");
    }

    #[test]
    fn symbols_are_found_as_they_are_written() {
        check("a 🦊 and 👩\u{200d}🚀!", "a 🦊 and 👩 🚀", "");
        check("I like C++ and C#, g++", "i like c＋＋ and c＃ g＋＋", "");
        check(
            "C++11 a+b 2+2 # Title #tag great+",
            "c＋＋ 11 a b 2 2 title tag great",
            "",
        );
        check("5€ ❤\u{fe0f}", "5 € ❤", "");
    }

    #[test]
    fn terms_know_their_place() {
        let text = "Ach, Éloïse! 桜の木 Straße C++";
        let places: Vec<&str> = words(text).map(|term| &text[term.range]).collect();
        assert_eq!(places, ["Ach", "Éloïse", "桜の", "の木", "Straße", "C++"]);
    }
}
