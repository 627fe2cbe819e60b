//! What the texts of lorebooks cost, by the tokenizer that counts the prompt.

use std::cell::RefCell;

use context::{CountTokens as _, Estimate};
use domain::prompt::Segment;

use crate::Engine;
use crate::answer::Answerer;
use crate::counting;
use crate::error::Answer;

/// Counts for one run over the books. What nobody has counted yet is guessed, and noted.
pub(crate) struct Counting<'a> {
    engine: &'a Engine,
    answerer: &'a Answerer,
    tokenizer: String,
    uncounted: RefCell<Vec<Segment>>,
}

impl<'a> Counting<'a> {
    pub(crate) fn new(engine: &'a Engine, answerer: &'a Answerer) -> Self {
        Self { engine, answerer, tokenizer: answerer.counting().tokenizer(), uncounted: RefCell::default() }
    }

    pub(crate) fn tokens(&self, text: &str) -> u32 {
        match self.engine.known_counts().get(&self.tokenizer, counting::hash(text, false)) {
            Some(known) => self.answerer.counting().corrected(known.count),
            None => self.guess(text),
        }
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
        answerer.counting().learn(self, texts).await
    }
}
