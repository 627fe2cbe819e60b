//! Checkpoints: states of a KV sequence at earlier positions.
//!
//! A model with full attention can drop the end of a sequence. Recurrent and hybrid models cannot,
//! because one state holds the whole text, and a model with a sliding window no longer has the
//! tokens before its window. They go back to the latest checkpoint instead, and read again from
//! there. A checkpoint holds only the part of the state that cannot be cut: the recurrent states,
//! or the cells of the sliding window.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::context::session::{LlamaStateSeqFlags, SeqState};
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::token::LlamaToken;

use crate::picture_tokens::positions;

/// Distance in tokens between two checkpoints of a long text.
pub(crate) const INTERVAL: usize = 512;
/// Distance in tokens between two checkpoints of a reply.
pub(crate) const REPLY_INTERVAL: usize = 64;
/// Number of checkpoints at message boundaries that stay whatever their size. They serve the next
/// turn and a swipe.
const ALWAYS: usize = 2;
/// A sliding window of more than this part of the context does not save enough memory to be worth
/// its checkpoints.
const LARGEST_WINDOW: u32 = 4;

/// How a model's sequence can go back to an earlier position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rollback {
    /// To any position.
    Anywhere,
    /// To any position whose window of so many tokens is still there.
    Window(u32),
    /// Only to a checkpoint.
    Checkpoint,
}

impl Rollback {
    /// `context` is the context size in tokens.
    pub(crate) fn of(model: &LlamaModel, context: u32) -> Self {
        if model.is_recurrent() || model.is_hybrid() {
            return Self::Checkpoint;
        }
        match sliding_window(model) {
            Some(window) if window <= context / LARGEST_WINDOW => Self::Window(window),
            // The cache then keeps every token, as for full attention.
            _ => Self::Anywhere,
        }
    }

    /// Whether llama.cpp must keep all tokens of the layers with a sliding window.
    pub(crate) fn keeps_whole_window(self) -> bool {
        self == Self::Anywhere
    }

    /// Whether sequence `id` can drop everything from `position` on.
    pub(crate) fn allows(self, context: &LlamaContext<'_>, id: i32, position: usize) -> bool {
        match self {
            Self::Anywhere => true,
            Self::Checkpoint => false,
            Self::Window(window) => {
                let first = usize::try_from(context.kv_cache_seq_pos_min(id)).unwrap_or(0);
                first <= position.saturating_sub(window as usize)
            }
        }
    }
}

/// Returns the sliding window that the model file declares, in tokens. A file may omit it and rely
/// on llama.cpp's default, which is then unknown here.
fn sliding_window(model: &LlamaModel) -> Option<u32> {
    let architecture = model.meta_val_str("general.architecture").ok()?;
    let window = model
        .meta_val_str(&format!("{architecture}.attention.sliding_window"))
        .ok()?;
    window.parse().ok().filter(|window| *window > 0)
}

/// The place of a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CheckpointKind {
    /// At the boundary of a message.
    Message,
    /// After a number of tokens.
    Passing,
}

#[derive(Clone)]
struct Checkpoint {
    /// Number of tokens that the state contains.
    position: usize,
    kind: CheckpointKind,
    /// Hash of these tokens.
    hash: u64,
    state: Rc<SeqState>,
}

impl Checkpoint {
    fn bytes(&self) -> u64 {
        self.state.byte_len() as u64
    }
}

/// Checkpoints of one sequence, by increasing position.
#[derive(Clone, Default)]
pub(crate) struct Checkpoints(Vec<Checkpoint>);

impl Checkpoints {
    /// Adds a checkpoint at the end of sequence `id`, which contains `tokens`, and then keeps at
    /// most `budget` bytes.
    pub(crate) fn add(
        &mut self,
        context: &LlamaContext<'_>,
        id: i32,
        tokens: &[LlamaToken],
        kind: CheckpointKind,
        budget: u64,
    ) {
        let position = tokens.len();
        if let Some(known) = self
            .0
            .iter_mut()
            .find(|checkpoint| checkpoint.position == position)
        {
            if kind == CheckpointKind::Message {
                known.kind = kind;
            }
            return;
        }
        let flags = LlamaStateSeqFlags::PARTIAL_ONLY;
        let size = context.state_seq_get_size_ext(id, flags) as u64;
        if kind == CheckpointKind::Passing
            && size > budget.saturating_sub(self.bytes_of(CheckpointKind::Message))
        {
            return;
        }
        let Ok(state) = context.state_seq_get(id, flags) else {
            return;
        };
        let checkpoint = Checkpoint {
            position,
            kind,
            hash: hash(tokens),
            state: Rc::new(state),
        };
        let place = self.0.partition_point(|known| known.position < position);
        self.0.insert(place, checkpoint);
        while self.bytes() > budget && self.drop_one() {}
    }

    /// Goes back to the latest checkpoint at or before `position`. Returns its position; the
    /// sequence then contains the tokens before it. `None` if there is no checkpoint; the contents
    /// of the sequence are then undefined.
    pub(crate) fn restore(
        &mut self,
        context: &mut LlamaContext<'_>,
        id: i32,
        tokens: &[LlamaToken],
        position: usize,
    ) -> Option<usize> {
        self.forget_after(position);
        let latest = self.0.last().filter(|checkpoint| {
            tokens.get(..checkpoint.position).map(hash) == Some(checkpoint.hash)
        })?;
        let position = latest.position;
        context.state_seq_set(&latest.state, id).ok()?;
        let end = positions(&tokens[..position]);
        context
            .kv_cache_seq_rm(id, u32::try_from(end).ok(), None)
            .ok()?;
        let last = usize::try_from(context.kv_cache_seq_pos_max(id)).ok()?;
        (last + 1 == end).then_some(position)
    }

    /// Drops the checkpoints after `position`.
    pub(crate) fn forget_after(&mut self, position: usize) {
        self.0.retain(|checkpoint| checkpoint.position <= position);
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.0.iter().map(Checkpoint::bytes).sum()
    }

    fn bytes_of(&self, kind: CheckpointKind) -> u64 {
        self.0
            .iter()
            .filter(|checkpoint| checkpoint.kind == kind)
            .map(Checkpoint::bytes)
            .sum()
    }

    /// Position of the latest checkpoint at a message boundary before `end`.
    pub(crate) fn latest_message_before(&self, end: usize) -> Option<usize> {
        let before = self
            .0
            .iter()
            .rev()
            .filter(|checkpoint| checkpoint.position < end);
        before
            .filter(|checkpoint| checkpoint.kind == CheckpointKind::Message)
            .map(|found| found.position)
            .next()
    }

    /// Drops the least useful checkpoint: one between others, so that the rest stay spread, else
    /// the oldest at a message boundary. Returns false if all of them are to stay.
    fn drop_one(&mut self) -> bool {
        let gap = |place: usize| {
            let before = place
                .checked_sub(1)
                .map_or(0, |before| self.0[before].position);
            self.0
                .get(place + 1)
                .map_or(usize::MAX, |after| after.position - before)
        };
        let passing =
            (0..self.0.len()).filter(|place| self.0[*place].kind == CheckpointKind::Passing);
        let place = passing
            .min_by_key(|place| gap(*place))
            .or((self.0.len() > ALWAYS).then_some(0));
        place.is_some_and(|place| {
            self.0.remove(place);
            true
        })
    }
}

fn hash(tokens: &[LlamaToken]) -> u64 {
    let mut hasher = DefaultHasher::new();
    tokens.len().hash(&mut hasher);
    tokens.iter().for_each(|token| token.0.hash(&mut hasher));
    hasher.finish()
}
