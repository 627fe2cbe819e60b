//! How the model's context is shared out (requirements, sections 2.3 and 2.4).

use serde::{Deserialize, Serialize};

/// Messages that stay in the window if the budget allows them at all (S1.11).
pub const MIN_TAIL_MESSAGES: usize = 10;

/// Tokens of retrieval at the most where nobody chose (S2).
const MAX_RETRIEVAL: u32 = 50_000;

/// How far a move of the anchor goes below the history budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Chunk {
    /// This part of the history budget, but a thousand tokens at least: half where re-reading costs time, an eighth where
    /// it costs money (C3). A quarter would do by the requirements, but leaves a local model of 8k with 83 % of its prompts
    /// reused, and half of it with 92 %.
    Auto {
        divisor: u32,
    },
    Tokens(u32),
}

/// Where the limit comes from and what is kept free. Figures are tokens, unless they say otherwise.
///
/// The numbers sheet (requirements, section 2.4) is followed but for three figures. The reply's reserve is the longest reply
/// that the sampler allows (512 unless set) and not 1,024 or 4,096: more could never be written. A local history has no cap of
/// its own below its three quarters, for 8,000 tokens would leave most of a larger context empty. And a local trim takes half
/// (see [`Chunk::Auto`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Budget {
    /// Context size in use.
    pub limit: u32,
    /// Kept free for the reply.
    pub reserve: u32,
    /// Kept free because counts are not exact; 0 for local models.
    pub margin: u32,
    /// History never takes more than this.
    pub history_cap: u32,
    /// Digest and this turn's context together never take more than this; `None` for a quarter of what is usable, 50,000
    /// at the most. In a small context a larger share would end epochs sooner than what is recalled is worth.
    pub retrieval_cap: Option<u32>,
    pub chunk: Chunk,
    /// Messages that stay in the window if the tokens allow it.
    pub min_tail_messages: usize,
    /// Messages in the window at most; `None` for as many as fit (S4.30).
    pub message_trim: Option<usize>,
    /// What memories may take of a small retrieval budget (C12).
    pub memory_floor: u32,
    /// Summaries in the digest (S4.32).
    pub keyframes: usize,
}

impl Budget {
    /// For a model on this machine: exact counts, and re-reading costs time, so the anchor moves far and seldom.
    pub fn local(limit: u32, max_reply: u32) -> Self {
        Self {
            limit,
            reserve: reserve(limit, max_reply),
            margin: 0,
            history_cap: limit,
            retrieval_cap: None,
            chunk: Chunk::Auto { divisor: 2 },
            min_tail_messages: MIN_TAIL_MESSAGES,
            message_trim: None,
            memory_floor: 500,
            keyframes: 2,
        }
    }

    /// For an endpoint whose tokenizer we do not have: a tenth is kept free for wrong guesses (C1).
    pub fn remote(limit: u32, max_reply: u32) -> Self {
        Self {
            margin: limit / 10,
            history_cap: 150_000.min(limit),
            chunk: Chunk::Auto { divisor: 8 },
            ..Self::local(limit, max_reply)
        }
    }

    /// What a prompt may take.
    pub fn room(&self) -> u32 {
        self.limit.saturating_sub(self.reserve).saturating_sub(self.margin)
    }

    /// What `fixed` tokens of head and input leave for history and retrieval; `None` where they do not fit.
    pub fn usable(&self, fixed: u32) -> Option<u32> {
        self.room().checked_sub(fixed)
    }

    /// The history's share of what is usable: three quarters, at most the cap (C13).
    pub fn history(&self, usable: u32) -> u32 {
        part(usable, 3, 4).min(self.history_cap)
    }

    /// What retrieval may take beside `history_used` tokens of history (S2.13).
    pub fn retrieval(&self, usable: u32, history_used: u32) -> u32 {
        let cap = self.retrieval_cap.unwrap_or_else(|| MAX_RETRIEVAL.min(usable / 4));
        cap.min(usable.saturating_sub(history_used))
    }

    /// The memories' share of `retrieval`: a fifth, or the floor, but never more than half (C12).
    pub fn memory(&self, retrieval: u32) -> u32 {
        self.memory_floor.max(retrieval / 5).min(retrieval / 2)
    }

    /// How far a trim goes below the history budget, so that the next one is turns away (S3.16).
    pub fn trim_chunk(&self, history: u32) -> u32 {
        let chunk = match self.chunk {
            Chunk::Auto { divisor } => (history / divisor.max(1)).max(1_000),
            Chunk::Tokens(tokens) => tokens,
        };
        chunk.min(history / 2)
    }
}

/// `of` times `numerator / denominator`.
pub(crate) fn part(of: u32, numerator: u32, denominator: u32) -> u32 {
    (u64::from(of) * u64::from(numerator) / u64::from(denominator)) as u32
}

/// The reply's reserve: what it may take, but never more than a quarter of the context.
fn reserve(limit: u32, max_reply: u32) -> u32 {
    max_reply.min(limit / 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The worked example of requirements, section 2.3, with the quarter that it trims.
    #[test]
    fn eight_thousand_tokens_are_shared_as_documented() {
        let budget = Budget { chunk: Chunk::Auto { divisor: 4 }, ..Budget::local(8_192, 1_024) };
        let usable = budget.usable(1_200 + 100).unwrap();
        let history = budget.history(usable);
        assert_eq!((usable, history, budget.trim_chunk(history)), (5_868, 4_401, 1_100));
        let retrieval = budget.retrieval(usable, history);
        assert_eq!((retrieval, budget.memory(retrieval)), (1_467, 500));
    }

    /// The table of S2.13.
    #[test]
    fn retrieval_gets_what_history_leaves_up_to_its_cap() {
        let budget = Budget { retrieval_cap: Some(50_000), ..Budget::local(200_000, 0) };
        let left = |history| budget.retrieval(200_000, history);
        assert_eq!([150_000, 30_000, 180_000, 200_000, 250_000].map(left), [50_000, 50_000, 20_000, 0, 0]);
    }

    #[test]
    fn retrieval_takes_a_quarter_of_what_is_usable_where_nobody_chose() {
        assert_eq!(Budget::local(4_096, 512).retrieval(3_200, 0), 800);
        assert_eq!(Budget::local(1_000_000, 512).retrieval(900_000, 0), 50_000);
    }

    #[test]
    fn a_remote_history_stays_below_its_cap() {
        let budget = Budget::remote(1_000_000, 4_096);
        assert_eq!(budget.history(budget.usable(2_000).unwrap()), 150_000);
    }

    #[test]
    fn a_head_larger_than_the_context_leaves_nothing() {
        assert_eq!(Budget::local(2_048, 512).usable(1_600), None);
    }

    #[test]
    fn a_trim_takes_at_most_half_of_a_small_history() {
        assert_eq!(Budget::local(2_048, 512).trim_chunk(900), 450);
        let fixed = Budget { chunk: Chunk::Tokens(1_000), ..Budget::local(16_384, 512) };
        assert_eq!(fixed.trim_chunk(8_000), 1_000);
    }

    #[test]
    fn memories_get_their_floor_but_never_more_than_half() {
        let budget = Budget::local(8_192, 512);
        assert_eq!([800, 1_467, 10_000].map(|retrieval| budget.memory(retrieval)), [400, 500, 2_000]);
    }
}
