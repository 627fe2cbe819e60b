//! An excerpt of a found text around its matches, with the matches marked.

use std::ops::Range;

use domain::plain::plain;
use domain::search_query::SearchTerm;

use super::fold::is_unspaced;
use super::terms::{self, Term};

/// Length of an excerpt, in bytes.
const LENGTH: usize = 240;
/// Text before the first match, in bytes.
const BEFORE: usize = 60;

/// An excerpt ends with a whole word if it begins within this many bytes.
const NEAR: usize = 40;

/// A part of a message. `matches` are byte ranges within `text`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Excerpt {
    pub text: String,
    pub matches: Vec<Range<usize>>,
    /// Text was left out before or after it.
    pub cut_before: bool,
    pub cut_after: bool,
}

impl Excerpt {
    /// The plain text around the first match. If a match is only in a mark, such as the address of
    /// a link, the text as it is written.
    pub(crate) fn of(text: &str, wanted: &[SearchTerm]) -> Self {
        let plain = plain(text);
        let found = matches(&plain, wanted);
        if found.is_empty() && !wanted.is_empty() {
            Self::around(text, matches(text, wanted))
        } else {
            Self::around(&plain, found)
        }
    }

    fn around(text: &str, found: Vec<Range<usize>>) -> Self {
        let first = found.first().map_or(0, |range| range.start);
        let start = word_start(text, boundary(text, first.saturating_sub(BEFORE)), first);
        let end = word_end(
            text,
            start,
            boundary(text, (start + LENGTH).min(text.len())),
        );
        let inside = found
            .into_iter()
            .filter(|range| range.start >= start && range.end <= end);
        Self {
            text: text[start..end].to_owned(),
            matches: inside
                .map(|range| range.start - start..range.end - start)
                .collect(),
            cut_before: start > 0,
            cut_after: end < text.len(),
        }
    }
}

/// The first beginning of a word from `at` on, before `limit`. Scripts without spaces have none.
fn word_start(text: &str, at: usize, limit: usize) -> usize {
    if at == 0 {
        return at;
    }
    let space = text[at..limit]
        .char_indices()
        .find(|(_, letter)| letter.is_whitespace());
    space.map_or(at, |(space, letter)| at + space + letter.len_utf8())
}

/// The last end of a word up to `at`, if one is near.
fn word_end(text: &str, start: usize, at: usize) -> usize {
    if at == text.len() {
        return at;
    }
    let from = boundary(text, at.saturating_sub(NEAR)).max(start);
    text[from..at]
        .rfind(char::is_whitespace)
        .map_or(at, |space| from + space)
}

/// The ranges of all terms in order, without overlaps.
fn matches(text: &str, wanted: &[SearchTerm]) -> Vec<Range<usize>> {
    let words: Vec<Term> = terms::words(text).collect();
    let letters: Vec<Term> = terms::letters(text).collect();
    let mut found: Vec<Range<usize>> = Vec::new();
    for term in wanted {
        let (text, is_prefix) = match term {
            SearchTerm::Phrase(text) => (text, false),
            SearchTerm::Word(text) => (text, true),
        };
        let sought: Vec<String> = terms::words(text).map(|term| term.text).collect();
        if sought.is_empty() {
            continue;
        }
        let all = if sought.len() == 1 && is_letter(&sought[0]) {
            &letters
        } else {
            &words
        };
        found.extend(
            all.windows(sought.len())
                .filter(|window| fits(window, &sought, is_prefix))
                .map(covered),
        );
    }
    found.sort_by_key(|range| (range.start, range.end));
    merged(found)
}

fn is_letter(term: &str) -> bool {
    let mut letters = term.chars();
    letters.next().is_some_and(is_unspaced) && letters.next().is_none()
}

fn fits(window: &[Term], sought: &[String], is_prefix: bool) -> bool {
    let last = sought.len() - 1;
    window
        .iter()
        .zip(sought)
        .enumerate()
        .all(|(index, (term, sought))| {
            term.text == *sought
                || index == last && is_prefix && term.text.starts_with(sought.as_str())
        })
}

fn covered(window: &[Term]) -> Range<usize> {
    window[0].range.start..window[window.len() - 1].range.end
}

fn merged(ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.into_iter().fold(Vec::new(), |mut all, range| {
        match all.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => all.push(range),
        }
        all
    })
}

/// The nearest character boundary at or before `at`.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at)
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, wanted: &[SearchTerm], expected: &str) {
        let excerpt = Excerpt::of(text, wanted);
        let mut marked = excerpt.text.clone();
        for range in excerpt.matches.iter().rev() {
            marked.insert(range.end, ']');
            marked.insert(range.start, '[');
        }
        let before = if excerpt.cut_before { "…" } else { "" };
        let after = if excerpt.cut_after { "…" } else { "" };
        assert_eq!(format!("{before}{marked}{after}"), expected);
    }

    #[test]
    fn marks_words_phrases_and_letters() {
        let words = |text: &str| {
            text.split(' ')
                .map(|word| SearchTerm::Word(word.to_owned()))
                .collect::<Vec<_>>()
        };
        check(
            "The Lamps of Éloïse.",
            &words("lamp eloi"),
            "The [Lamps] of [Éloïse].",
        );
        check(
            "lamp oil, oil lamp",
            &[SearchTerm::Phrase("oil lamp".into())],
            "lamp oil, [oil lamp]",
        );
        check("桜の木と梅の木", &words("の木"), "桜[の木]と梅[の木]");
        check("桜の木", &words("木"), "桜の[木]");
    }

    #[test]
    fn marks_are_left_out_and_never_cut() {
        let words = |text: &str| vec![SearchTerm::Word(text.to_owned())];
        check(
            "**she says**. *She points north.*",
            &words("north"),
            "she says. She points [north].",
        );
        check(
            "[the **lamp**](https://example.org)",
            &words("lamp"),
            "the [lamp]",
        );
        check(
            "[here](https://lamp.org)",
            &words("lamp"),
            "[here](https://[lamp].org)",
        );
        check("C# and **C++**", &words("C++"), "C# and [C++]");
        let long = format!(
            "**{}** lamp *{}*",
            "always ".repeat(60).trim(),
            "onward ".repeat(60).trim()
        );
        let excerpt = Excerpt::of(&long, &words("lamp"));
        assert!(!excerpt.text.contains('*'), "{excerpt:?}");
        assert!(
            excerpt
                .text
                .split_whitespace()
                .all(|word| ["always", "lamp", "onward"].contains(&word)),
            "{excerpt:?}"
        );
    }

    #[test]
    fn long_text_is_cut_around_the_first_match() {
        let text = format!("{}lamp{}", "é ".repeat(200), " oil".repeat(100));
        let excerpt = Excerpt::of(&text, &[SearchTerm::Word("lamp".into())]);
        assert!(
            excerpt.cut_before && excerpt.cut_after && excerpt.text.len() <= LENGTH,
            "{excerpt:?}"
        );
        assert_eq!(&excerpt.text[excerpt.matches[0].clone()], "lamp");
    }
}
