//! In-memory BM25 index of the messages of a chat. A message is scored by itself and together with
//! its neighbours.

mod search;
mod words;

use std::collections::{HashMap, HashSet};

pub use search::{LexicalScores, Searched, search};
pub use words::{Terms, parts, words};

/// Maximum time between neighbouring texts of one conversation, in milliseconds: eight hours.
const TALK: i64 = 8 * 3_600_000;
/// Number of neighbours on each side. Through them a search finds the answer to a question,
/// although only the question contains the words.
const REACH: usize = 2;

/// A text to index.
#[derive(Debug, Clone, Copy)]
pub struct IndexedText<'t> {
    /// Position in the chat; unique.
    pub place: i64,
    /// Identifies the text and its version; never reused.
    pub stamp: i64,
    /// Time of the message in milliseconds.
    pub said: i64,
    pub text: &'t str,
}

#[derive(Debug, Clone, Copy)]
struct Indexed {
    place: i64,
    stamp: i64,
    said: i64,
    /// Number of terms.
    length: u32,
}

/// A text that contains a term, and the number of occurrences.
#[derive(Debug, Clone, Copy)]
struct Posting {
    text: u32,
    times: u32,
}

/// Index of the texts of one chat.
#[derive(Default, Clone)]
pub struct TextIndex {
    /// Sorted by position.
    texts: Vec<Indexed>,
    terms: HashMap<Box<str>, usize>,
    /// Cache from words to their terms, because texts repeat the same words.
    read: HashMap<Box<str>, Box<[usize]>>,
    /// The postings of each term.
    postings: Vec<Vec<Posting>>,
    /// For each text, the first and the last text of its neighbourhood.
    windows: Vec<(u32, u32)>,
    /// For each text, the number of terms in all texts before it.
    before: Vec<u32>,
}

impl TextIndex {
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// The positions of the texts, in order.
    pub fn places(&self) -> impl Iterator<Item = i64> {
        self.texts.iter().map(|text| text.place)
    }

    /// Number of terms of the text at a position; 0 if there is none.
    pub fn length_at(&self, place: i64) -> u32 {
        let text = self.texts.binary_search_by_key(&place, |text| text.place);
        text.map_or(0, |text| self.texts[text].length)
    }

    /// Adds `texts`. If `kept` is given, first removes the texts whose stamps are not in it.
    pub fn renew<'t>(
        &mut self,
        texts: impl IntoIterator<Item = IndexedText<'t>>,
        kept: Option<&HashSet<i64>>,
    ) {
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
                self.postings[*term].push(Posting {
                    text: number,
                    times: *times,
                });
            }
            self.texts.push(Indexed {
                place: text.place,
                stamp: text.stamp,
                said: text.said,
                length,
            });
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

    /// Renumbers the texts; `None` removes a text.
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
            (0..)
                .zip(&order)
                .for_each(|(number, text)| moved[*text] = Some(number));
            self.texts = order.into_iter().map(|text| self.texts[text]).collect();
            self.renumber(&moved);
        }
        self.before = vec![0];
        for text in &self.texts {
            self.before
                .push(self.before.last().copied().unwrap_or_default() + text.length);
        }
        let near = |one: usize, other: usize| {
            (self.texts[one].said - self.texts[other].said).abs() <= TALK
        };
        let window = |at: usize| {
            let first = (at.saturating_sub(REACH)..at)
                .rev()
                .take_while(|other| near(*other, *other + 1))
                .last();
            let end = (at + REACH + 1).min(self.texts.len());
            let last = (at + 1..end)
                .take_while(|other| near(*other, *other - 1))
                .last();
            (first.unwrap_or(at) as u32, last.unwrap_or(at) as u32)
        };
        self.windows = (0..self.texts.len()).map(window).collect();
    }

    /// Number of texts before `place`.
    fn end(&self, place: i64) -> usize {
        self.texts.partition_point(|text| text.place < place)
    }

    fn length(&self, first: usize, last: usize) -> f64 {
        f64::from(self.before[last + 1] - self.before[first])
    }
}

#[cfg(test)]
mod tests;
