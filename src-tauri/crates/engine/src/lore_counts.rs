//! What the texts of lorebooks cost: by the tokenizer that counts the prompt, kept in memory, for they come again on every
//! turn.

use std::cell::RefCell;
use std::collections::HashMap;

use context::{CountTokens as _, Estimate};
use domain::prompt::Segment;
use store::TextHash;

use crate::Engine;
use crate::answer::Answerer;
use crate::error::Answer;

/// Counts that are kept; more than the entries of any book that fits a context.
const MOST: usize = 20_000;

/// The counts of one tokenizer.
#[derive(Default)]
pub(crate) struct LoreCounts {
    tokenizer: String,
    known: HashMap<TextHash, u32>,
}

impl LoreCounts {
    fn get(&self, tokenizer: &str, text: TextHash) -> Option<u32> {
        self.known.get(&text).filter(|_| self.tokenizer == tokenizer).copied()
    }

    fn keep(&mut self, tokenizer: &str, counts: impl Iterator<Item = (TextHash, u32)>) {
        if self.tokenizer != tokenizer || self.known.len() >= MOST {
            *self = Self { tokenizer: tokenizer.to_owned(), known: HashMap::new() };
        }
        self.known.extend(counts);
    }
}

/// Counts for one run over the books. What nobody has counted yet is guessed, and noted.
pub(crate) struct Counting<'a> {
    engine: &'a Engine,
    answerer: &'a Answerer,
    tokenizer: String,
    uncounted: RefCell<Vec<Segment>>,
}

impl<'a> Counting<'a> {
    pub(crate) fn new(engine: &'a Engine, answerer: &'a Answerer) -> Self {
        Self { engine, answerer, tokenizer: answerer.tokenizer(), uncounted: RefCell::default() }
    }

    pub(crate) fn tokens(&self, text: &str) -> u32 {
        let known = self.engine.lore_cache().counts.get(&self.tokenizer, TextHash::of(text));
        known.map_or_else(|| self.guess(text), |count| self.answerer.corrected(count))
    }

    fn guess(&self, text: &str) -> u32 {
        let segment = Segment { text: text.to_owned(), control: false };
        let guess = Estimate.count(&segment).unwrap_or(0);
        self.uncounted.borrow_mut().push(segment);
        guess
    }

    /// What was guessed.
    pub(crate) fn finish(self) -> Vec<Segment> {
        self.uncounted.into_inner()
    }
}

impl Engine {
    /// Counts what a run over the books has guessed.
    pub(crate) async fn count_lore(&self, answerer: &Answerer, texts: Vec<Segment>) -> Answer<()> {
        let counts = answerer.raw_counts(self, texts).await?;
        let counts = counts.into_iter().map(|(segment, count)| (TextHash::of(&segment.text), count));
        self.lore_cache().counts.keep(&answerer.tokenizer(), counts);
        Ok(())
    }
}
