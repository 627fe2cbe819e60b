//! Token budget: divides the context of a model between reply, head, history and retrieval.

use serde::{Deserialize, Serialize};

/// Messages that stay in the window when the token budget allows it.
pub const MIN_TAIL_MESSAGES: usize = 10;

/// Default upper limit for retrieval, in tokens.
const MAX_RETRIEVAL: u32 = 50_000;

/// How many tokens below the history budget a trim goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Chunk {
    /// `1 / divisor` of the history budget, but at least 1,000 tokens. Local models use a half,
    /// because re-reading costs time; endpoints use an eighth, because it costs money. On a local
    /// model with a context of 8k, a quarter lets 83 % of the prompt tokens be reused and a half
    /// lets 92 %.
    Auto {
        divisor: u32,
    },
    Tokens(u32),
}

/// The context limit and the shares within it. Figures are tokens unless stated otherwise.
///
/// Three rules explain the defaults. The reserve is the longest reply that the sampler allows (512
/// unless set), because a reply cannot be longer. A local history has no cap below three quarters
/// of the usable tokens, because a fixed cap would leave most of a large context empty. A local
/// trim removes half of the history (see [`Chunk::Auto`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Budget {
    /// Context size in use.
    pub limit: u32,
    /// Reserved for the reply.
    pub reserve: u32,
    /// Safety margin for inexact counts; 0 for local models.
    pub margin: u32,
    /// Upper limit for history.
    pub history_cap: u32,
    /// Upper limit for the digest and the context block of this turn together. `None` means a
    /// quarter of the usable tokens, at most 50,000. In a small context a larger share would end
    /// epochs too early.
    pub retrieval_cap: Option<u32>,
    pub chunk: Chunk,
    /// Messages that stay in the window when the tokens allow it.
    pub min_tail_messages: usize,
    /// Maximum number of messages in the window; `None` means no limit besides tokens.
    pub message_trim: Option<usize>,
    /// Tokens that memories may take of a small retrieval budget.
    pub memory_floor: u32,
    /// Number of summaries in the digest.
    pub keyframes: usize,
}

impl Budget {
    /// Budget for a model on this machine. Counts are exact, and re-reading costs time, so trims
    /// are large and rare.
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

    /// Budget for an endpoint whose tokenizer is not available. The margin of a tenth covers wrong
    /// estimates.
    pub fn remote(limit: u32, max_reply: u32) -> Self {
        Self {
            margin: limit / 10,
            history_cap: 150_000.min(limit),
            chunk: Chunk::Auto { divisor: 8 },
            ..Self::local(limit, max_reply)
        }
    }

    /// Tokens available for a prompt.
    pub fn room(&self) -> u32 {
        self.limit
            .saturating_sub(self.reserve)
            .saturating_sub(self.margin)
    }

    /// Tokens that remain for history and retrieval after `fixed` tokens of head and input. `None`
    /// if those do not fit.
    pub fn usable(&self, fixed: u32) -> Option<u32> {
        self.room().checked_sub(fixed)
    }

    /// Share of history: three quarters of the usable tokens, at most the cap.
    pub fn history(&self, usable: u32) -> u32 {
        part(usable, 3, 4).min(self.history_cap)
    }

    /// Share of retrieval next to `history_used` tokens of history.
    pub fn retrieval(&self, usable: u32, history_used: u32) -> u32 {
        let cap = self
            .retrieval_cap
            .unwrap_or_else(|| MAX_RETRIEVAL.min(usable / 4));
        cap.min(usable.saturating_sub(history_used))
    }

    /// Share of memories in `retrieval`: a fifth or the floor, whichever is more, but never more
    /// than half.
    pub fn memory(&self, retrieval: u32) -> u32 {
        self.memory_floor.max(retrieval / 5).min(retrieval / 2)
    }

    /// How many tokens below the history budget a trim goes, so that the next trim is several turns
    /// away.
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

/// Reserve for the reply: `max_reply`, but never more than a quarter of the context.
fn reserve(limit: u32, max_reply: u32) -> u32 {
    max_reply.min(limit / 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A worked example with a trim of a quarter.
    #[test]
    fn divides_8192_tokens_as_in_worked_example() {
        let budget = Budget {
            chunk: Chunk::Auto { divisor: 4 },
            ..Budget::local(8_192, 1_024)
        };
        let usable = budget.usable(1_200 + 100).unwrap();
        let history = budget.history(usable);
        assert_eq!(
            (usable, history, budget.trim_chunk(history)),
            (5_868, 4_401, 1_100)
        );
        let retrieval = budget.retrieval(usable, history);
        assert_eq!((retrieval, budget.memory(retrieval)), (1_467, 500));
    }

    #[test]
    fn retrieval_gets_rest_of_history_up_to_cap() {
        let budget = Budget {
            retrieval_cap: Some(50_000),
            ..Budget::local(200_000, 0)
        };
        let left = |history| budget.retrieval(200_000, history);
        assert_eq!(
            [150_000, 30_000, 180_000, 200_000, 250_000].map(left),
            [50_000, 50_000, 20_000, 0, 0]
        );
    }

    #[test]
    fn retrieval_defaults_to_quarter_of_usable_tokens() {
        assert_eq!(Budget::local(4_096, 512).retrieval(3_200, 0), 800);
        assert_eq!(Budget::local(1_000_000, 512).retrieval(900_000, 0), 50_000);
    }

    #[test]
    fn remote_history_stays_below_cap() {
        let budget = Budget::remote(1_000_000, 4_096);
        assert_eq!(budget.history(budget.usable(2_000).unwrap()), 150_000);
    }

    #[test]
    fn head_larger_than_context_leaves_no_tokens() {
        assert_eq!(Budget::local(2_048, 512).usable(1_600), None);
    }

    #[test]
    fn trim_takes_at_most_half_of_history() {
        assert_eq!(Budget::local(2_048, 512).trim_chunk(900), 450);
        let fixed = Budget {
            chunk: Chunk::Tokens(1_000),
            ..Budget::local(16_384, 512)
        };
        assert_eq!(fixed.trim_chunk(8_000), 1_000);
    }

    #[test]
    fn memories_get_floor_but_at_most_half() {
        let budget = Budget::local(8_192, 512);
        assert_eq!(
            [800, 1_467, 10_000].map(|retrieval| budget.memory(retrieval)),
            [400, 500, 2_000]
        );
    }
}
