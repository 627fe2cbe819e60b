//! One KV sequence of the context: its tokens, and how it goes back to an earlier position.

use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::token::LlamaToken;

use crate::cache::checkpoints::{CheckpointKind, Checkpoints, Rollback};
use crate::picture_tokens::{boundary_at, positions};

/// The contents of a sequence of the context.
pub(crate) struct Sequence {
    pub(crate) id: i32,
    pub(crate) key: String,
    pub(crate) tokens: Vec<LlamaToken>,
    /// The sequence contains withdrawn text and must not be saved.
    pub(crate) withdrawn: bool,
    pub(crate) checkpoints: Checkpoints,
    rollback: Rollback,
}

impl Sequence {
    pub(crate) fn new(id: i32, rollback: Rollback) -> Self {
        let (key, tokens, checkpoints) = (String::new(), Vec::new(), Checkpoints::default());
        Self {
            id,
            key,
            tokens,
            withdrawn: false,
            checkpoints,
            rollback,
        }
    }

    /// Whether the sequence needs checkpoints to go back.
    pub(crate) fn needs_checkpoints(&self) -> bool {
        self.rollback != Rollback::Anywhere
    }

    /// Number of positions that the tokens take.
    pub(crate) fn positions(&self) -> usize {
        positions(&self.tokens)
    }

    /// Removes everything from the token at `position` on, or more if the model can only go back to
    /// a checkpoint or if the token is within a picture.
    pub(crate) fn truncate(&mut self, context: &mut LlamaContext<'_>, position: usize) {
        if position >= self.tokens.len() {
            return;
        }
        let position = boundary_at(&self.tokens, position);
        let first_removed = positions(&self.tokens[..position]);
        if position > 0 && self.rollback.allows(context, self.id, first_removed) {
            let from = u32::try_from(first_removed).ok();
            if context.kv_cache_seq_rm(self.id, from, None).is_ok() {
                self.tokens.truncate(position);
                self.checkpoints.forget_after(position);
                return;
            }
        }
        match self
            .checkpoints
            .restore(context, self.id, &self.tokens, position)
        {
            Some(position) => self.tokens.truncate(position),
            None => self.clear(context),
        }
    }

    /// Adds a checkpoint at the end, if the model needs one. All of them take at most `budget`
    /// bytes, except the two latest at message boundaries.
    pub(crate) fn checkpoint(
        &mut self,
        context: &LlamaContext<'_>,
        kind: CheckpointKind,
        budget: u64,
    ) {
        if self.needs_checkpoints() && !self.tokens.is_empty() {
            self.checkpoints
                .add(context, self.id, &self.tokens, kind, budget);
        }
    }

    pub(crate) fn clear(&mut self, context: &mut LlamaContext<'_>) {
        // Removing a whole sequence always succeeds.
        let _ = context.kv_cache_seq_rm(self.id, None, None);
        self.tokens.clear();
        self.checkpoints.clear();
    }

    /// Number of tokens that `prompt` and the sequence share at their start.
    pub(crate) fn shared_with(&self, prompt: &[LlamaToken]) -> usize {
        common(&self.tokens, prompt)
    }
}

/// Returns the length of the common prefix.
pub(crate) fn common(one: &[LlamaToken], other: &[LlamaToken]) -> usize {
    one.iter()
        .zip(other)
        .take_while(|(one, other)| one == other)
        .count()
}
