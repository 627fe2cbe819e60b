//! What of a message is told when it is recalled: of a long one the sentences that are about the question. Pure.

use std::ops::Range;

use context::full_text::{parts, words};
use domain::document::{self, MAX_PASSAGE};
use domain::script::is_spaceless;
use unicode_segmentation::UnicodeSegmentation as _;

use super::interaction::Nearest;
use super::terms::alike;

/// Bytes of a message that is told whole: a paragraph.
const WHOLE: usize = 400;
/// Bytes of an excerpt of a longer one, about: two or three sentences. In a thousand tokens fifteen of them have room.
const LONGEST: usize = 200;
/// The same where nothing in it is asked for by its words: one sentence, or two. Many of them have room, and one will be right.
const GUESS: usize = 140;
/// Bytes of a text that is one sentence to the encoder, whatever its signs say.
const SHORT: usize = 60;
/// Bytes of signs and spaces between two words at the most.
const BETWEEN: usize = 200;
/// What the encoder finds nearest counts half as much as a word that nothing else in the message has.
const NEAREST: f32 = 0.5;

/// What an excerpt is to be about.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sought(Vec<String>);

impl Sought {
    pub(crate) fn of(said: &[String]) -> Self {
        let mut parts: Vec<String> = said.iter().flat_map(|word| parts(word)).collect();
        parts.sort_unstable();
        parts.dedup();
        Self(parts)
    }

    /// What both are about.
    pub(super) fn and(&self, other: Self) -> Self {
        let mut both = [self.0.as_slice(), &other.0].concat();
        both.sort_unstable();
        both.dedup();
        Self(both)
    }

    /// Which of it is in each of `sentences`, each counting the more the fewer sentences have it.
    fn weights(&self, sentences: &[&str]) -> Vec<f32> {
        let having: Vec<Vec<bool>> = sentences.iter().map(|sentence| self.in_text(sentence)).collect();
        let common = |part: usize| having.iter().filter(|has| has[part]).count().max(1) as f32;
        let common: Vec<f32> = (0..self.0.len()).map(common).collect();
        let weight = |has: &Vec<bool>| -> f32 {
            has.iter().zip(&common).filter(|(has, _)| **has).map(|(_, common)| 1.0 / common).sum()
        };
        having.iter().map(weight).collect()
    }

    fn in_text(&self, text: &str) -> Vec<bool> {
        let mut there = vec![false; self.0.len()];
        let mut met =
            |part: &str| there.iter_mut().zip(&self.0).for_each(|(there, sought)| *there |= alike(sought, part));
        for word in words(text) {
            match is_spaceless(&word) {
                true => parts(&word).iter().for_each(|part| met(part)),
                false => met(&word),
            }
        }
        there
    }
}

/// What is told of `text`: all of it if it is short; else the sentences that have most of what is sought, and as much around them
/// as has room, marked where something is left out. Where none has any of it, the one where the encoder finds the question met
/// best; without that, the first.
pub(crate) fn excerpt(text: &str, sought: &Sought, nearest: Option<Nearest>) -> String {
    let text = text.trim();
    if text.len() <= WHOLE {
        return text.to_owned();
    }
    let sentences: Vec<(usize, &str)> = sentences(text).collect();
    let range = |(start, sentence): &(usize, &str)| *start..start + sentence.len();
    let weights = sought.weights(&sentences.iter().map(|(_, sentence)| *sentence).collect::<Vec<_>>());
    let near = nearest.and_then(|nearest| near(text, nearest.passage));
    let weight = |at: usize| {
        let there = near.as_ref().is_some_and(|near| near.contains(&sentences[at].0));
        weights[at] + if there { NEAREST } else { 0.0 }
    };
    // Of equals the first: a message says in the beginning what it is about.
    let best =
        (0..sentences.len()).rev().filter(|at| weights[*at] > 0.0).max_by(|a, b| weight(*a).total_cmp(&weight(*b)));
    let met = near.as_ref().zip(nearest).map_or(0, |(near, nearest)| nearest.within(near));
    let met = || sentences.iter().rposition(|(start, _)| *start <= met);
    let longest = if best.is_some() { LONGEST } else { GUESS };
    let told = around(&sentences.iter().map(range).collect::<Vec<_>>(), best.or_else(met).unwrap_or(0), longest);
    marked(text, told)
}

/// The sentence of `text` in which the encoder finds the question met best.
pub(super) fn met_best(text: &str, nearest: Nearest) -> &str {
    let text = text.trim();
    if text.len() <= SHORT {
        return text;
    }
    let met = near(text, nearest.passage).map_or(0, |near| nearest.within(&near));
    let until = sentences(text).take_while(|(start, _)| *start <= met);
    until.last().map_or(text, |(_, sentence)| sentence)
}

/// The sentences of `text` and where they stand, by Unicode's rule.
fn sentences(text: &str) -> impl Iterator<Item = (usize, &str)> {
    pieces(text).flat_map(|(start, piece)| {
        let sentences = if is_one_sentence(piece) { vec![(0, piece)] } else { sentences_by_rule(piece) };
        sentences.into_iter().map(move |(at, sentence)| (start + at, sentence))
    })
}

/// `text` cut where a sentence ends whatever stands around: behind a line, and between a full stop, a space and a capital letter.
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

/// Nearly all pieces are: nothing in them ends a sentence. The rule is slow, and a turn cuts dozens of texts.
fn is_one_sentence(piece: &str) -> bool {
    let ends = ['.', '!', '?'];
    let told = piece.trim_end_matches([' ', '\n']).trim_end_matches(ends);
    piece.is_ascii() && !told.contains(ends) && !piece.contains('\r')
}

/// The rule looks ahead through whatever stands between two words, for each letter of it: a text that has more of that than anybody
/// writes is cut no further.
fn sentences_by_rule(piece: &str) -> Vec<(usize, &str)> {
    let between = piece.split(char::is_alphanumeric).map(str::len).max().unwrap_or(0);
    if between <= BETWEEN { piece.split_sentence_bound_indices().collect() } else { vec![(0, piece)] }
}

/// Where the passage with that number stands; a text that has room in one is one, as to the encoder. Passages are put together
/// anew of their paragraphs, so only their lines are found in the text.
fn near(text: &str, number: usize) -> Option<Range<usize>> {
    if text.len() <= MAX_PASSAGE {
        return Some(0..text.len());
    }
    let mut end = 0;
    for (at, passage) in document::passages(text).iter().enumerate() {
        let (first, last) = (passage.text.lines().next()?, passage.text.lines().next_back()?);
        let start = end + text[end..].find(first)?;
        // Not sooner than what was put together is long: a line may stand in it twice.
        let last_at = text.floor_char_boundary(start + passage.text.len().saturating_sub(last.len()));
        end = last_at + text[last_at..].find(last)? + last.len();
        if at == number {
            return Some(start..end);
        }
    }
    None
}

/// The sentence at `best`, and its neighbours while there is room, those behind it first.
fn around(sentences: &[Range<usize>], best: usize, longest: usize) -> Range<usize> {
    let mut told = sentences[best].clone();
    let (mut before, mut behind) = (sentences[..best].iter().rev().peekable(), sentences[best + 1..].iter().peekable());
    loop {
        // Where the next one has no room, none beyond it has: room only shrinks.
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
    let before = if text[..start].trim().is_empty() { "" } else { "… " };
    let behind = if text[end..].trim().is_empty() { "" } else { " …" };
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
        excerpt(text, &Sought::of(&said), nearest)
    }

    #[test]
    fn of_a_long_message_the_sentences_that_were_asked_for_come_back() {
        let fog = "The fog came in over the quay. ".repeat(30);
        let text = format!("{fog}Nobody camps at the reef. {fog}");
        let found = told(&text, &["camping", "fog"], None);
        assert!(found.contains("Nobody camps at the reef.") && found.len() <= LONGEST + 10, "{found}");
        assert!(found.starts_with("… The fog") && found.ends_with("quay. …"), "{found}");
        let end = told(&format!("{fog}Nobody camps at the reef."), &["reef"], None);
        assert!(end.starts_with('…') && end.ends_with("the reef."), "{end}");
        assert_eq!(told("At the reef.", &["moon"], None), "At the reef.");
    }

    #[test]
    fn sentences_around_it_have_their_room_and_none_is_jumped_over() {
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
    fn what_nobody_writes_is_not_looked_through_for_ever() {
        let spaces = format!("Hm?. {}My reef.\nThe end.", " ".repeat(1_000_000));
        assert!(told(&spaces, &["end"], None).ends_with("The end."));
    }

    #[test]
    fn in_scripts_without_spaces_runs_of_letters_are_looked_for() {
        let fog = "今天的雾很大，码头上什么都看不见。".repeat(12);
        let found = told(&format!("{fog}我妹妹养的那只鹦鹉叫泽布伦。{fog}"), &["我妹妹养的那只鹦鹉叫什么名字"], None);
        assert!(found.contains("鹦鹉叫泽布伦"), "{found}");
    }

    #[test]
    fn what_has_no_word_of_the_question_is_told_where_the_encoder_finds_it_or_from_its_beginning() {
        let (fog, reef) = ("The fog came in over the quay. ".repeat(24), "Nobody dives at the reef. ".repeat(24));
        let text = format!("{fog}\n\n{reef}She waved.\n\n{fog}");
        let beginning = told(&text, &["moon"], None);
        assert!(beginning.starts_with("The fog") && beginning.len() <= LONGEST + 4, "{beginning}");
        let near = |passage, at| told(&text, &["moon"], Some(Nearest { passage, at }));
        assert!(near(1, 0.5).starts_with("… Nobody") && near(1, 0.5).ends_with("reef. …"), "{}", near(1, 0.5));
        assert!(near(1, 1.0).contains("She waved."), "{}", near(1, 1.0));
        let paragraphs = format!("{}\n\n{}", text.replace(". ", ".\n\n"), "The fog came in. ".repeat(9));
        let of_paragraphs = |at| told(&paragraphs, &["moon"], Some(Nearest { passage: 1, at }));
        assert!(of_paragraphs(0.5).contains("dives") && !of_paragraphs(0.5).contains("fog"), "{}", of_paragraphs(0.5));
        let twice = format!(
            "{}\n\n{}",
            "*waves*\n\nThe fog came in over the quay.\n\n".repeat(12),
            "*waves*\n\nShe dives.\n\n".repeat(40)
        );
        assert!(told(&twice, &["moon"], Some(Nearest { passage: 1, at: 0.9 })).contains("dives"));
        let one_passage = format!("{}She waved.", "Nobody dives at the reef. ".repeat(20));
        assert!(told(&one_passage, &["moon"], Some(Nearest { passage: 0, at: 0.99 })).ends_with("She waved."));
        let endless = told(&"x".repeat(2_000), &["moon"], Some(Nearest { passage: 9, at: 0.5 }));
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
        fn sentences_are_those_of_the_rule(parts in vec(select(&PARTS[..]), 0..16)) {
            let text = parts.concat();
            let by_rule: Vec<(usize, &str)> = text.split_sentence_bound_indices().collect();
            prop_assert_eq!(sentences(&text).collect::<Vec<_>>(), by_rule);
        }
    }
}
