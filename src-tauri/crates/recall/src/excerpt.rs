//! Selects the part of a recalled message that is relevant to the question. Pure.

use std::ops::Range;

use crate::full_text::{parts, words};
use domain::document::MAX_PASSAGE;
use domain::script::has_unspaced_script;
use unicode_segmentation::UnicodeSegmentation as _;

use crate::late_interaction::Nearest;
use crate::tokens::alike;

/// Maximum bytes of a message that is included whole: a paragraph.
const WHOLE: usize = 400;
/// Approximate bytes of an excerpt of a longer message: two or three sentences. Fifteen of them fit
/// into a thousand tokens.
const LONGEST: usize = 200;
/// The same if no sentence contains a term of the question: one or two sentences. More excerpts fit
/// then, and one of them may be right.
const GUESS: usize = 140;
/// Maximum bytes of a text that is treated as one sentence, whatever its punctuation.
const SHORT: usize = 60;
/// Maximum bytes of punctuation and spaces between two words.
const BETWEEN: usize = 200;
/// Weight of the passage nearest by late interaction: half of a term that only one sentence
/// contains.
const NEAREST: f32 = 0.5;

/// The terms that an excerpt should contain.
#[derive(Debug, Clone, Default)]
pub struct ExcerptTerms(Vec<String>);

impl ExcerptTerms {
    pub fn of(said: &[String]) -> Self {
        let mut parts: Vec<String> = said.iter().flat_map(|word| parts(word)).collect();
        parts.sort_unstable();
        parts.dedup();
        Self(parts)
    }

    /// The terms of both.
    pub fn and(&self, other: Self) -> Self {
        let mut both = [self.0.as_slice(), &other.0].concat();
        both.sort_unstable();
        both.dedup();
        Self(both)
    }

    /// The weight of each sentence: the sum over its terms of 1 / (number of sentences with the
    /// term).
    fn weights(&self, sentences: &[&str]) -> Vec<f32> {
        let having: Vec<Vec<bool>> = sentences
            .iter()
            .map(|sentence| self.in_text(sentence))
            .collect();
        let common = |part: usize| having.iter().filter(|has| has[part]).count().max(1) as f32;
        let common: Vec<f32> = (0..self.0.len()).map(common).collect();
        let weight = |has: &Vec<bool>| -> f32 {
            has.iter()
                .zip(&common)
                .filter(|(has, _)| **has)
                .map(|(_, common)| 1.0 / common)
                .sum()
        };
        having.iter().map(weight).collect()
    }

    fn in_text(&self, text: &str) -> Vec<bool> {
        let mut there = vec![false; self.0.len()];
        let mut met = |part: &str| {
            there
                .iter_mut()
                .zip(&self.0)
                .for_each(|(there, sought)| *there |= alike(sought, part))
        };
        for word in words(text) {
            if has_unspaced_script(&word) {
                parts(&word).iter().for_each(|part| met(part))
            } else {
                met(&word)
            }
        }
        there
    }
}

/// The excerpt of `text`: all of it if it is short. Otherwise it is the sentence with the highest
/// weight and as many neighbours as fit, with marks for omissions. If no sentence contains a term,
/// it is the sentence nearest by late interaction, or without embeddings the first.
pub fn excerpt(text: &str, sought: &ExcerptTerms, nearest: Option<Nearest>) -> String {
    let text = text.trim();
    if text.len() <= WHOLE {
        return text.to_owned();
    }
    let sentences: Vec<(usize, &str)> = sentences(text).collect();
    let texts: Vec<&str> = sentences.iter().map(|(_, sentence)| *sentence).collect();
    let weights = sought.weights(&texts);
    let near = nearest.and_then(|nearest| near(text, nearest.passage));
    let weight = |at: usize| {
        let there = near
            .as_ref()
            .is_some_and(|near| near.contains(&sentences[at].0));
        weights[at] + if there { NEAREST } else { 0.0 }
    };
    // Ties go to the first sentence: a message says at the beginning what it is about.
    let best = (0..sentences.len())
        .rev()
        .filter(|at| weights[*at] > 0.0)
        .max_by(|a, b| weight(*a).total_cmp(&weight(*b)));
    let offset = near
        .as_ref()
        .zip(nearest)
        .map_or(0, |(near, nearest)| nearest.within(near));
    let nearest = || sentences.iter().rposition(|(start, _)| *start <= offset);
    let longest = if best.is_some() { LONGEST } else { GUESS };
    let ranges = sentences
        .iter()
        .map(|(start, sentence)| *start..start + sentence.len());
    let shown = around(
        &ranges.collect::<Vec<_>>(),
        best.or_else(nearest).unwrap_or(0),
        longest,
    );
    marked(text, shown)
}

/// The sentence of `text` that is nearest by late interaction.
pub fn best_sentence_of(text: &str, nearest: Nearest) -> &str {
    let text = text.trim();
    if text.len() <= SHORT {
        return text;
    }
    let met = near(text, nearest.passage).map_or(0, |near| nearest.within(&near));
    let until = sentences(text).take_while(|(start, _)| *start <= met);
    until.last().map_or(text, |(_, sentence)| sentence)
}

/// The sentences of `text` with their byte offsets, by the Unicode rule (UAX 29).
fn sentences(text: &str) -> impl Iterator<Item = (usize, &str)> {
    pieces(text).flat_map(|(start, piece)| {
        let sentences = if is_one_sentence(piece) {
            vec![(0, piece)]
        } else {
            sentences_by_rule(piece)
        };
        sentences
            .into_iter()
            .map(move |(at, sentence)| (start + at, sentence))
    })
}

/// Splits `text` where a sentence ends in any context: after a line break, and between a sentence
/// mark, a space and a capital letter.
fn pieces(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let bytes = text.as_bytes();
    let begins = |at: &usize| match &bytes[..*at] {
        [.., b'\n'] => true,
        [.., b'.' | b'!' | b'?', b' '] => bytes[*at].is_ascii_uppercase(),
        _ => false,
    };
    let mut end = 0;
    std::iter::from_fn(move || {
        let start = end;
        end = (start + 1..bytes.len()).find(begins).unwrap_or(bytes.len());
        (start < end).then(|| (start, &text[start..end]))
    })
}

/// Most pieces contain no further sentence mark. This test avoids the Unicode rule, which is slow;
/// a turn splits dozens of texts.
fn is_one_sentence(piece: &str) -> bool {
    let ends = ['.', '!', '?'];
    let told = piece.trim_end_matches([' ', '\n']).trim_end_matches(ends);
    piece.is_ascii() && !told.contains(ends) && !piece.contains('\r')
}

/// The Unicode rule looks ahead over all characters between two words, once for each of them. A
/// text with more of them than anybody writes is not split.
fn sentences_by_rule(piece: &str) -> Vec<(usize, &str)> {
    let between = piece
        .split(char::is_alphanumeric)
        .map(str::len)
        .max()
        .unwrap_or(0);
    if between <= BETWEEN {
        piece.split_sentence_bound_indices().collect()
    } else {
        vec![(0, piece)]
    }
}

/// The byte range of a passage, by its number. A text that fits into one passage is one, as for the
/// encoder. Passages are rebuilt from paragraphs, so only their first and last lines are found in
/// the text.
fn near(text: &str, number: usize) -> Option<Range<usize>> {
    if text.len() <= MAX_PASSAGE {
        return Some(0..text.len());
    }
    let mut end = 0;
    for (at, passage) in documents::passages(text).iter().enumerate() {
        let first = passage.text.lines().next()?;
        let last = passage.text.lines().next_back()?;
        let start = end + text[end..].find(first)?;
        // The last line may occur in the passage twice, so the search starts where the passage's
        // length puts it.
        let last_at =
            text.floor_char_boundary(start + passage.text.len().saturating_sub(last.len()));
        end = last_at + text[last_at..].find(last)? + last.len();
        if at == number {
            return Some(start..end);
        }
    }
    None
}

/// The sentence at `best` with as many neighbours as fit, following ones first. No sentence is
/// skipped.
fn around(sentences: &[Range<usize>], best: usize, longest: usize) -> Range<usize> {
    let mut told = sentences[best].clone();
    let mut before = sentences[..best].iter().rev().peekable();
    let mut behind = sentences[best + 1..].iter().peekable();
    loop {
        // A neighbour that does not fit ends that side, because the room only shrinks.
        let room = longest.saturating_sub(told.len());
        let next = behind.next_if(|next| next.len() <= room);
        let room = room - next.map_or(0, ExactSizeIterator::len);
        let last = before.next_if(|last| last.len() <= room);
        if next.is_none() && last.is_none() {
            return told;
        }
        told = last.map_or(told.start, |last| last.start)..next.map_or(told.end, |next| next.end);
    }
}

fn marked(text: &str, told: Range<usize>) -> String {
    let start = text.floor_char_boundary(told.start);
    let end = text.floor_char_boundary(told.end.min(start + MAX_PASSAGE));
    let before = if text[..start].trim().is_empty() {
        ""
    } else {
        "… "
    };
    let behind = if text[end..].trim().is_empty() {
        ""
    } else {
        " …"
    };
    format!("{before}{}{behind}", text[start..end].trim())
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    fn told(text: &str, said: &[&str], nearest: Option<Nearest>) -> String {
        let said: Vec<String> = said.iter().map(|word| (*word).to_owned()).collect();
        excerpt(text, &ExcerptTerms::of(&said), nearest)
    }

    #[test]
    fn cuts_long_message_to_matching_sentences() {
        let fog = "The fog came in over the quay. ".repeat(30);
        let text = format!("{fog}Nobody camps at the reef. {fog}");
        let found = told(&text, &["camping", "fog"], None);
        assert!(
            found.contains("Nobody camps at the reef.") && found.len() <= LONGEST + 10,
            "{found}"
        );
        assert!(
            found.starts_with("… The fog") && found.ends_with("quay. …"),
            "{found}"
        );
        let end = told(&format!("{fog}Nobody camps at the reef."), &["reef"], None);
        assert!(end.starts_with('…') && end.ends_with("the reef."), "{end}");
        assert_eq!(told("At the reef.", &["moon"], None), "At the reef.");
    }

    #[test]
    fn adds_fitting_neighbours_without_gaps() {
        let told = |lengths: &[usize], best: usize, longest: usize| {
            let mut end = 0;
            let ranges: Vec<Range<usize>> = lengths
                .iter()
                .map(|length| {
                    end += length;
                    end - length..end
                })
                .collect();
            around(&ranges, best, longest)
        };
        assert_eq!(told(&[20, 20, 500, 20], 1, 140), 0..40);
        assert_eq!(told(&[20, 90, 60, 60], 2, 200), 110..230);
        assert_eq!(told(&[20, 60, 60, 60], 2, 200), 0..200);
        assert_eq!(told(&[500], 0, 100), 0..500);
    }

    #[test]
    fn long_whitespace_takes_no_quadratic_time() {
        let spaces = format!("Hm?. {}My reef.\nThe end.", " ".repeat(1_000_000));
        assert!(told(&spaces, &["end"], None).ends_with("The end."));
    }

    #[test]
    fn matches_character_runs_without_spaces() {
        let fog = "今天的雾很大，码头上什么都看不见。".repeat(12);
        let found = told(
            &format!("{fog}我妹妹养的那只鹦鹉叫泽布伦。{fog}"),
            &["我妹妹养的那只鹦鹉叫什么名字"],
            None,
        );
        assert!(found.contains("鹦鹉叫泽布伦"), "{found}");
    }

    #[test]
    fn falls_back_to_nearest_sentence_or_beginning() {
        let (fog, reef) = (
            "The fog came in over the quay. ".repeat(24),
            "Nobody dives at the reef. ".repeat(24),
        );
        let text = format!("{fog}\n\n{reef}She waved.\n\n{fog}");
        let beginning = told(&text, &["moon"], None);
        assert!(
            beginning.starts_with("The fog") && beginning.len() <= LONGEST + 4,
            "{beginning}"
        );
        let near = |passage, at| told(&text, &["moon"], Some(Nearest { passage, at }));
        assert!(
            near(1, 0.5).starts_with("… Nobody") && near(1, 0.5).ends_with("reef. …"),
            "{}",
            near(1, 0.5)
        );
        assert!(near(1, 1.0).contains("She waved."), "{}", near(1, 1.0));
        let paragraphs = format!(
            "{}\n\n{}",
            text.replace(". ", ".\n\n"),
            "The fog came in. ".repeat(9)
        );
        let of_paragraphs = |at| told(&paragraphs, &["moon"], Some(Nearest { passage: 1, at }));
        assert!(
            of_paragraphs(0.5).contains("dives") && !of_paragraphs(0.5).contains("fog"),
            "{}",
            of_paragraphs(0.5)
        );
        let twice = format!(
            "{}\n\n{}",
            "*waves*\n\nThe fog came in over the quay.\n\n".repeat(12),
            "*waves*\n\nShe dives.\n\n".repeat(40)
        );
        assert!(
            told(
                &twice,
                &["moon"],
                Some(Nearest {
                    passage: 1,
                    at: 0.9
                })
            )
            .contains("dives")
        );
        let one_passage = format!("{}She waved.", "Nobody dives at the reef. ".repeat(20));
        assert!(
            told(
                &one_passage,
                &["moon"],
                Some(Nearest {
                    passage: 0,
                    at: 0.99
                })
            )
            .ends_with("She waved.")
        );
        let endless = told(
            &"x".repeat(2_000),
            &["moon"],
            Some(Nearest {
                passage: 9,
                at: 0.5,
            }),
        );
        assert!(endless.len() <= MAX_PASSAGE + 4);
    }

    const PARTS: [&str; 28] = [
        "She waved",
        "\"No!\" he said",
        "Mr",
        "Quay",
        "of the U.S. navy",
        "at 3",
        "p.m",
        "I",
        "Äh",
        "今天",
        "*sits*",
        " ",
        "\n",
        "\r",
        "\r\n",
        "...",
        ". ",
        ".",
        "! ",
        "?",
        ".\" ",
        ".  ",
        "。",
        ", ",
        "\u{85}",
        "A",
        "b",
        "7",
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(5_000))]
        #[test]
        fn splits_sentences_like_the_unicode_rule(parts in vec(select(&PARTS[..]), 0..16)) {
            let text = parts.concat();
            let ours: Vec<(usize, &str)> = sentences(&text).collect();
            // The library computes a wrong number for an empty text, which collecting them would ask for.
            let equal = ours.iter().copied().eq(text.split_sentence_bound_indices());
            prop_assert!(equal, "{ours:?}");
        }
    }
}
