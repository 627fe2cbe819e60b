//! Which texts of a chat have the words that are looked for, by themselves and with what was said around them: BM25, in memory
//! (memory.md, section 3, item 1). Pure.

mod search;
mod words;

use std::collections::{HashMap, HashSet};

pub use search::{Fits, Searched, search};
pub use words::{Terms, parts, words};

/// Milliseconds between two texts of one talk at the most: eight hours.
const TALK: i64 = 8 * 3_600_000;
/// Texts on each side that a text is understood by: the answer to a question is found, though only the question has the words.
const REACH: usize = 2;

/// A text to be found.
#[derive(Debug, Clone, Copy)]
pub struct Text<'t> {
    /// Where it stands. There is one at each place.
    pub place: i64,
    /// Which text it is: no other one ever has the same.
    pub stamp: i64,
    /// When it was said, milliseconds.
    pub said: i64,
    pub text: &'t str,
}

#[derive(Debug, Clone, Copy)]
struct Indexed {
    place: i64,
    stamp: i64,
    said: i64,
    /// Terms it is of.
    length: u32,
}

/// In which text a term stands, and how often.
#[derive(Debug, Clone, Copy)]
struct Posting {
    text: u32,
    times: u32,
}

/// The texts of one chat, by their words.
#[derive(Default, Clone)]
pub struct TextIndex {
    /// In the order of their places.
    texts: Vec<Indexed>,
    terms: HashMap<Box<str>, usize>,
    /// What the words that were read are looked for by: texts have the same ones again and again.
    read: HashMap<Box<str>, Box<[usize]>>,
    /// Of each term.
    postings: Vec<Vec<Posting>>,
    /// Of each text the first and the last that it is understood by, and all terms before it.
    windows: Vec<(u32, u32)>,
    before: Vec<u32>,
}

impl TextIndex {
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Where the texts stand, in their order.
    pub fn places(&self) -> impl Iterator<Item = i64> {
        self.texts.iter().map(|text| text.place)
    }

    /// How many terms the text at a place is of; 0 if none stands there.
    pub fn length_at(&self, place: i64) -> u32 {
        let text = self.texts.binary_search_by_key(&place, |text| text.place);
        text.map_or(0, |text| self.texts[text].length)
    }

    /// Takes `texts` in, and drops those whose stamps are not among `kept`, if it is told which are.
    pub fn renew<'t>(&mut self, texts: impl IntoIterator<Item = Text<'t>>, kept: Option<&HashSet<i64>>) {
        if let Some(kept) = kept {
            let mut next = 0;
            let mut stays = |text: &Indexed| {
                let number = kept.contains(&text.stamp).then_some(next)?;
                next += 1;
                Some(number)
            };
            let moved: Vec<Option<u32>> = self.texts.iter().map(&mut stays).collect();
            self.texts.retain(|text| kept.contains(&text.stamp));
            self.renumber(&moved);
        }
        let cut = Terms::default();
        let mut counts: HashMap<usize, u32> = HashMap::new();
        for text in texts {
            counts.clear();
            let mut length = 0;
            for word in words(text.text) {
                for term in self.terms_of(&word, &cut) {
                    *counts.entry(*term).or_default() += 1;
                    length += 1;
                }
            }
            let number = self.texts.len() as u32;
            for (term, times) in &counts {
                self.postings[*term].push(Posting { text: number, times: *times });
            }
            self.texts.push(Indexed { place: text.place, stamp: text.stamp, said: text.said, length });
        }
        self.arrange();
    }

    fn terms_of(&mut self, word: &str, cut: &Terms) -> &[usize] {
        if !self.read.contains_key(word) {
            let terms = cut.of(word).into_iter().map(|term| {
                let next = self.terms.len();
                let number = *self.terms.entry(term.into_boxed_str()).or_insert(next);
                if number == self.postings.len() {
                    self.postings.push(Vec::new());
                }
                number
            });
            let terms = terms.collect();
            self.read.insert(word.into(), terms);
        }
        &self.read[word]
    }

    /// Each text has another number from now on, or is gone.
    fn renumber(&mut self, moved: &[Option<u32>]) {
        for postings in &mut self.postings {
            postings.retain_mut(|posting| match moved[posting.text as usize] {
                Some(number) => {
                    posting.text = number;
                    true
                }
                None => false,
            });
        }
    }

    fn arrange(&mut self) {
        if !self.texts.is_sorted_by_key(|text| text.place) {
            let mut order: Vec<usize> = (0..self.texts.len()).collect();
            order.sort_by_key(|text| self.texts[*text].place);
            let mut moved = vec![None; order.len()];
            (0..).zip(&order).for_each(|(number, text)| moved[*text] = Some(number));
            self.texts = order.into_iter().map(|text| self.texts[text]).collect();
            self.renumber(&moved);
        }
        self.before = vec![0];
        for text in &self.texts {
            self.before.push(self.before.last().copied().unwrap_or_default() + text.length);
        }
        let near = |one: usize, other: usize| (self.texts[one].said - self.texts[other].said).abs() <= TALK;
        let window = |at: usize| {
            let first = (at.saturating_sub(REACH)..at).rev().take_while(|other| near(*other, *other + 1)).last();
            let end = (at + REACH + 1).min(self.texts.len());
            let last = (at + 1..end).take_while(|other| near(*other, *other - 1)).last();
            (first.unwrap_or(at) as u32, last.unwrap_or(at) as u32)
        };
        self.windows = (0..self.texts.len()).map(window).collect();
    }

    /// How many texts stand before `place`.
    fn end(&self, place: i64) -> usize {
        self.texts.partition_point(|text| text.place < place)
    }

    fn length(&self, first: usize, last: usize) -> f64 {
        f64::from(self.before[last + 1] - self.before[first])
    }
}

#[cfg(test)]
mod tests;
