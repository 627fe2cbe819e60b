//! BM25 of a question in several indexes at once, as if they were one.

use domain::script::is_spaceless;

use super::{Terms, TextIndex};

/// How soon more of the same word stops counting, and how much the length of a text does; BM25's own.
const SATURATION: f64 = 1.2;
const LENGTH: f64 = 0.75;
/// What a word counts that more than half of the texts have.
const LEAST: f64 = 1e-6;

/// How well texts fit, those of each index in their order; 0 where no word stands.
pub type Fits = Vec<Vec<f64>>;

/// What a search says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Searched {
    /// By a text's own words.
    pub own: Fits,
    /// By its words and its neighbours', as if they were one text.
    pub around: Fits,
    /// The words that no text has; none of scripts without spaces, for most runs of letters are no words.
    pub unknown: Vec<String>,
    /// How well the text fits that fits best by its own words, beside one of mean length that has all that is looked for once, from
    /// 0 to 1: a word counts the more the fewer texts have it, and the most if none has.
    pub covered: f64,
}

/// Looks for `words`, in small letters, in the texts of each index that stand before a place.
pub fn search<'w>(indexes: &[(&TextIndex, i64)], words: impl IntoIterator<Item = &'w str>) -> Searched {
    let cut = Terms::default();
    let ends: Vec<usize> = indexes.iter().map(|(index, before)| index.end(*before)).collect();
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
        if !found && !is_spaceless(word) {
            unknown.push(word.to_owned());
        }
    }
    terms.sort();
    for (place, (having, term)) in terms.iter().filter(|(having, _)| *having > 0).enumerate() {
        // What most texts have tells nothing, unless nothing rarer was asked for.
        if place == 0 || 2 * having <= searching.texts as usize {
            searching.add(term, *having);
        }
    }
    // Most runs of letters are no words, so of a script without spaces what nobody said was not looked for.
    let sought = terms.iter().filter(|(having, term)| *having > 0 || !is_spaceless(term));
    let sought: f64 = sought.map(|(having, _)| searching.rarity(*having)).sum();
    let best = searching.own.iter().flatten().copied().fold(0.0, f64::max);
    let covered = if sought > 0.0 { (best / sought).min(1.0) } else { 0.0 };
    Searched { own: searching.own, around: searching.around, unknown, covered }
}

struct Searching<'i> {
    indexes: &'i [(&'i TextIndex, i64)],
    ends: &'i [usize],
    /// Texts, and terms of one and of one with its neighbours on the average.
    texts: f64,
    mean_length: f64,
    mean_window: f64,
    own: Fits,
    around: Fits,
    /// How often the term stands in the window of each text.
    times: Vec<Vec<u32>>,
}

impl<'i> Searching<'i> {
    fn new(indexes: &'i [(&'i TextIndex, i64)], ends: &'i [usize]) -> Self {
        let of = || indexes.iter().zip(ends).map(|((index, _), end)| (*index, *end));
        let texts = ends.iter().sum::<usize>() as f64;
        let terms: f64 = of().filter(|(_, end)| *end > 0).map(|(index, end)| index.length(0, end - 1)).sum();
        let windows: f64 = of().map(|(index, end)| (0..end).map(|at| window_length(index, at, end)).sum::<f64>()).sum();
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

    /// In which texts a term stands: of which index, the how manieth, and how often.
    fn having<'a>(&self, term: &'a str) -> impl Iterator<Item = (usize, usize, u32)> + use<'i, 'a> {
        let of_index = move |(place, ((index, _), end)): (usize, (&'i (&'i TextIndex, i64), &'i usize))| {
            let postings = index.terms.get(term).map(|number| index.postings[*number].as_slice());
            let texts = postings.unwrap_or_default().iter().map(|posting| (posting.text as usize, posting.times));
            texts.filter(|(text, _)| text < end).map(move |(text, times)| (place, text, times))
        };
        self.indexes.iter().zip(self.ends).enumerate().flat_map(of_index)
    }

    /// Adds what a term says that so many texts have.
    fn add(&mut self, term: &str, having: usize) {
        let rare = self.rarity(having);
        let mut windows: Vec<(usize, usize)> = Vec::with_capacity(self.texts as usize);
        for (place, text, times) in self.having(term) {
            let (index, end) = (self.indexes[place].0, self.ends[place]);
            self.own[place][text] += rare * weight(f64::from(times), index.length(text, text) / self.mean_length);
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
            let length = window_length(self.indexes[place].0, text, self.ends[place]) / self.mean_window;
            let times = std::mem::take(&mut self.times[place][text]);
            self.around[place][text] += rare * weight(f64::from(times), length);
        }
    }

    fn rarity(&self, having: usize) -> f64 {
        let having = having as f64;
        ((self.texts - having + 0.5) / (having + 0.5)).ln().max(LEAST)
    }
}

/// `length` is that of the text, where the mean is 1.
fn weight(times: f64, length: f64) -> f64 {
    times * (SATURATION + 1.0) / (times + SATURATION * (1.0 - LENGTH + LENGTH * length))
}

fn window_length(index: &TextIndex, text: usize, end: usize) -> f64 {
    let (first, last) = index.windows[text];
    index.length(first as usize, (last as usize).min(end - 1))
}
