//! BM25 search over several indexes as if they were one.

use crate::weights::bm25;
use domain::script::has_unspaced_script;

use super::{Terms, TextIndex};

/// Minimum IDF, for terms in more than half of the texts.
const LEAST: f64 = 1e-6;

/// Scores per index and text; 0 if no term matches.
pub type LexicalScores = Vec<Vec<f64>>;

/// The result of a search.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Searched {
    /// Scores of the texts by themselves.
    pub own: LexicalScores,
    /// Scores of the texts together with their neighbours.
    pub around: LexicalScores,
    /// Words without any match. Words of scripts without spaces are not listed, because most
    /// character n-grams are not words.
    pub unknown: Vec<String>,
    /// Coverage from 0 to 1: the best score in `own`, divided by the score of a text of mean length
    /// that contains every term once.
    pub covered: f64,
}

/// Searches for lower-case `words` in the texts of each index before a position.
pub fn search<'w>(
    indexes: &[(&TextIndex, i64)],
    words: impl IntoIterator<Item = &'w str>,
) -> Searched {
    let cut = Terms::default();
    let ends: Vec<usize> = indexes
        .iter()
        .map(|(index, before)| index.end(*before))
        .collect();
    let mut searching = Searching::new(indexes, &ends);
    let mut terms: Vec<(usize, String)> = Vec::new();
    let mut unknown = Vec::new();
    for word in words {
        let mut found = false;
        for term in cut.of(word) {
            if let Some((having, _)) = terms.iter().find(|(_, known)| *known == term) {
                found |= *having > 0;
                continue;
            }
            let having = searching.having(&term).count();
            found |= having > 0;
            terms.push((having, term));
        }
        if !found && !has_unspaced_script(word) {
            unknown.push(word.to_owned());
        }
    }
    terms.sort();
    for (place, (having, term)) in terms.iter().filter(|(having, _)| *having > 0).enumerate() {
        // Terms in more than half of the texts add nothing, unless the query has no rarer term.
        if place == 0 || 2 * having <= searching.texts as usize {
            searching.add(term, *having);
        }
    }
    // Unmatched n-grams of scripts without spaces are not part of the query, because most of them
    // are not words.
    let sought = terms
        .iter()
        .filter(|(having, term)| *having > 0 || !has_unspaced_script(term));
    let sought: f64 = sought.map(|(having, _)| searching.rarity(*having)).sum();
    let best = searching.own.iter().flatten().copied().fold(0.0, f64::max);
    let covered = if sought > 0.0 {
        (best / sought).min(1.0)
    } else {
        0.0
    };
    Searched {
        own: searching.own,
        around: searching.around,
        unknown,
        covered,
    }
}

struct Searching<'i> {
    indexes: &'i [(&'i TextIndex, i64)],
    ends: &'i [usize],
    /// Number of texts.
    texts: f64,
    /// Mean number of terms in a text.
    mean_length: f64,
    /// Mean number of terms in a text with its neighbours.
    mean_window: f64,
    own: LexicalScores,
    around: LexicalScores,
    /// Occurrences of the current term in the neighbourhood of each text.
    times: Vec<Vec<u32>>,
}

impl<'i> Searching<'i> {
    fn new(indexes: &'i [(&'i TextIndex, i64)], ends: &'i [usize]) -> Self {
        let of = || {
            indexes
                .iter()
                .zip(ends)
                .map(|((index, _), end)| (*index, *end))
        };
        let texts = ends.iter().sum::<usize>() as f64;
        let terms: f64 = of()
            .filter(|(_, end)| *end > 0)
            .map(|(index, end)| index.length(0, end - 1))
            .sum();
        let windows: f64 = of()
            .map(|(index, end)| {
                (0..end)
                    .map(|at| window_length(index, at, end))
                    .sum::<f64>()
            })
            .sum();
        Self {
            indexes,
            ends,
            texts,
            mean_length: (terms / texts.max(1.0)).max(1.0),
            mean_window: (windows / texts.max(1.0)).max(1.0),
            own: ends.iter().map(|end| vec![0.0; *end]).collect(),
            around: ends.iter().map(|end| vec![0.0; *end]).collect(),
            times: ends.iter().map(|end| vec![0; *end]).collect(),
        }
    }

    /// The texts with a term: index, text, and number of occurrences.
    fn having<'a>(&self, term: &'a str) -> impl Iterator<Item = (usize, usize, u32)> + use<'i, 'a> {
        let of_index =
            move |(place, ((index, _), end)): (usize, (&'i (&'i TextIndex, i64), &'i usize))| {
                let postings = index
                    .terms
                    .get(term)
                    .map(|number| index.postings[*number].as_slice());
                let texts = postings
                    .unwrap_or_default()
                    .iter()
                    .map(|posting| (posting.text as usize, posting.times));
                texts
                    .filter(|(text, _)| text < end)
                    .map(move |(text, times)| (place, text, times))
            };
        self.indexes
            .iter()
            .zip(self.ends)
            .enumerate()
            .flat_map(of_index)
    }

    /// Adds the scores of a term that occurs in `having` texts.
    fn add(&mut self, term: &str, having: usize) {
        let rare = self.rarity(having);
        let mut windows: Vec<(usize, usize)> = Vec::with_capacity(self.texts as usize);
        for (place, text, times) in self.having(term) {
            let index = self.indexes[place].0;
            let end = self.ends[place];
            self.own[place][text] += rare
                * weight(
                    f64::from(times),
                    index.length(text, text) / self.mean_length,
                );
            let (first, last) = index.windows[text];
            for near in first as usize..=(last as usize).min(end - 1) {
                let known = &mut self.times[place][near];
                if *known == 0 {
                    windows.push((place, near));
                }
                *known += times;
            }
        }
        let rare = self.rarity(windows.len());
        for (place, text) in windows {
            let length =
                window_length(self.indexes[place].0, text, self.ends[place]) / self.mean_window;
            let times = std::mem::take(&mut self.times[place][text]);
            self.around[place][text] += rare * weight(f64::from(times), length);
        }
    }

    fn rarity(&self, having: usize) -> f64 {
        let having = having as f64;
        ((self.texts - having + 0.5) / (having + 0.5))
            .ln()
            .max(LEAST)
    }
}

/// BM25 term weight; `length` is relative to the mean.
fn weight(times: f64, length: f64) -> f64 {
    times * (bm25::SATURATION + 1.0)
        / (times + bm25::SATURATION * (1.0 - bm25::LENGTH + bm25::LENGTH * length))
}

fn window_length(index: &TextIndex, text: usize, end: usize) -> f64 {
    let (first, last) = index.windows[text];
    index.length(first as usize, (last as usize).min(end - 1))
}
