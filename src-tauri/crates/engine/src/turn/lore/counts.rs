//! Token counts of lorebook texts, by the tokenizer of the prompt.

use std::cell::RefCell;

use context::{CountTokens as _, Estimate};
use domain::prompt::Segment;

use crate::base::error::ApiResult;
use crate::settings::counting::token_counter;
use crate::settings::model_handles::handle::ModelHandle;
use crate::turn::lore::LoreActivation;

/// Counts for one activation run. Unknown counts are estimated and recorded.
pub(crate) struct LoreTokenCounter<'a> {
    lore: &'a LoreActivation,
    model_handle: &'a ModelHandle,
    tokenizer: String,
    uncounted: RefCell<Vec<Segment>>,
}

impl<'a> LoreTokenCounter<'a> {
    pub(crate) fn new(lore: &'a LoreActivation, model_handle: &'a ModelHandle) -> Self {
        Self {
            lore,
            model_handle,
            tokenizer: model_handle.counting().tokenizer(),
            uncounted: RefCell::default(),
        }
    }

    pub(crate) fn tokens(&self, text: &str) -> u32 {
        match self
            .lore
            .config()
            .token_counts
            .known_counts()
            .get(&self.tokenizer, token_counter::hash(text, false))
        {
            Some(known) => self.model_handle.counting().corrected(known.count),
            None => self.guess(text),
        }
    }

    fn guess(&self, text: &str) -> u32 {
        let segment = Segment {
            text: text.to_owned(),
            control: false,
        };
        let guess = Estimate.count(&segment).unwrap_or(0);
        self.uncounted.borrow_mut().push(segment);
        guess
    }

    /// Returns the texts whose counts were estimated.
    pub(crate) fn finish(self) -> Vec<Segment> {
        self.uncounted.into_inner()
    }
}

impl LoreActivation {
    /// Counts the texts whose counts a run has estimated.
    pub(crate) async fn count_lore(
        &self,
        model_handle: &ModelHandle,
        texts: Vec<Segment>,
    ) -> ApiResult<()> {
        model_handle
            .counting()
            .learn(&self.config().token_counts, texts)
            .await
    }
}
