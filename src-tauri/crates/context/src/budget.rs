//! How the model's context is shared out (requirements, sections 2.3 and 2.4).

/// Messages that stay in the window if the budget allows them at all (S1.11).
pub const MIN_TAIL_MESSAGES: usize = 10;

/// Where the limit comes from and what is kept free. All figures are tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Context size in use.
    pub limit: u32,
    /// Kept free for the reply.
    pub reserve: u32,
    /// Kept free because counts are not exact; 0 for local models.
    pub margin: u32,
    /// History never takes more than this.
    pub history_cap: u32,
    /// A move of the anchor frees at least this much, as a divisor of the history budget: 4 local, 8 remote (C3).
    pub trim_divisor: u32,
}

impl Budget {
    /// For a model on this machine: exact counts, and re-reading costs time, so the anchor moves far and seldom.
    pub fn local(limit: u32, max_reply: u32) -> Self {
        Self { limit, reserve: reserve(limit, max_reply), margin: 0, history_cap: limit, trim_divisor: 4 }
    }

    /// For an endpoint whose tokenizer we do not have: a tenth is kept free for wrong guesses (C1).
    pub fn remote(limit: u32, max_reply: u32) -> Self {
        Self {
            limit,
            reserve: reserve(limit, max_reply),
            margin: limit / 10,
            history_cap: 150_000.min(limit),
            trim_divisor: 8,
        }
    }

    /// What `fixed` tokens of head and input leave for history and retrieval; `None` where they do not fit.
    pub fn usable(&self, fixed: u32) -> Option<u32> {
        self.limit.checked_sub(self.reserve)?.checked_sub(self.margin)?.checked_sub(fixed)
    }

    /// The history's share of what is usable: three quarters, at most the cap (C13).
    pub fn history(&self, usable: u32) -> u32 {
        (u64::from(usable) * 3 / 4).min(u64::from(self.history_cap)) as u32
    }

    /// How far a trim goes below the history budget, so that the next one is turns away (S3.16).
    pub fn trim_chunk(&self, history: u32) -> u32 {
        (history / self.trim_divisor.max(1)).max(1_000).min(history / 2)
    }
}

/// The reply's reserve: what it may take, but never more than a quarter of the context.
fn reserve(limit: u32, max_reply: u32) -> u32 {
    max_reply.min(limit / 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The worked example of requirements, section 2.3.
    #[test]
    fn eight_thousand_tokens_are_shared_as_documented() {
        let budget = Budget::local(8_192, 1_024);
        let usable = budget.usable(1_200 + 100).unwrap();
        assert_eq!((usable, budget.history(usable), budget.trim_chunk(budget.history(usable))), (5_868, 4_401, 1_100));
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
    }
}
