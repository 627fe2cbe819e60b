//! Decides how far back the window reaches.

use domain::MessageId;
use domain::chat::Role;

use super::draft::PlanDraft;
use super::epoch::EpochReason;
use super::{AssembleError, Watermark};
use crate::window::{Cost, at_a_turn, leaving, over_full, start_of_suffix};

/// The newest messages with their token counts.
struct WindowFit {
    /// Index of the oldest message.
    first: usize,
    costs: Vec<Cost>,
    tokens: u64,
}

impl PlanDraft<'_> {
    /// Lets a window that has used up its share grow into tokens that retrieval does not need.
    /// Returns true if it grew. The context block of this turn gets as much as with a window within
    /// its share; rendering shows whether both fit. The window thus moves when the context is full,
    /// not when its share is.
    pub(crate) fn grow(&mut self) -> bool {
        let anchor = self.anchor().min(self.last);
        let budget = self.setup.budget;
        let most = self.share_out().min(budget.history_cap);
        let whole = self.weigh(anchor, most);
        let used_up = whole.tokens > u64::from(self.shares.history_budget);
        let fits = !over_full(self.last - anchor, whole.tokens, most, &budget);
        // A new epoch reads the whole prompt again, so it is the best moment to trim.
        self.grown = used_up && fits && self.epoch.is_none();
        if !self.grown {
            return false;
        }
        self.take(anchor, &whole);
        if self.setup.watermark != Watermark::Off {
            self.epoch = Some(EpochReason::Full);
            let (_, start) = self.trimmed(anchor);
            self.epoch = None;
            self.uncovered = self.uncovered_before(start, anchor);
        }
        true
    }

    /// Keeps the window if it fits into its share; otherwise moves its start.
    pub(crate) fn fit_window(&mut self) {
        let anchor = self.anchor().min(self.last);
        let from = if self.epoch.is_some_and(EpochReason::finds_a_new_anchor) {
            0
        } else {
            anchor
        };
        let usable = self.share_out();
        let history = self.shares.history_budget;
        let whole = self.weigh(from, history);
        if !over_full(self.last - from, whole.tokens, history, &self.setup.budget) {
            self.take(from, &whole);
            return;
        }
        let began = self.epoch;
        self.begin(EpochReason::Full);
        let (rest, start) = self.trimmed(from);
        let due = self.uncovered_before(start, anchor);
        if due.is_empty() {
            return self.move_to(start, anchor, &rest);
        }
        self.uncovered = due;
        self.wait(began, from, start, anchor, usable);
    }

    /// Updates the usable tokens and the history's share of them. Returns the usable tokens.
    fn share_out(&mut self) -> u32 {
        let usable = self.usable();
        (self.shares.usable, self.shares.history_budget) =
            (usable, self.setup.budget.history(usable));
        usable
    }

    /// Start of the window after a trim, in the new epoch.
    fn trimmed(&mut self, from: usize) -> (WindowFit, usize) {
        let history = self.shares.history_budget;
        let rest = self.weigh(from, history);
        let start = rest.first + leaving(&rest.costs, history, &self.setup.budget);
        (rest, start)
    }

    /// Keeps messages that no summary covers, as far as the limit allows it.
    fn wait(
        &mut self,
        began: Option<EpochReason>,
        from: usize,
        start: usize,
        anchor: usize,
        usable: u32,
    ) {
        let fresh = std::mem::replace(&mut self.epoch, began);
        let whole = self.weigh(from, usable);
        if whole.first == from && whole.tokens <= u64::from(usable) {
            self.gather_context();
            return self.take(from, &whole);
        }
        self.epoch = fresh;
        let rest = self.weigh(from, usable);
        let least = rest.first + at_a_turn(&rest.costs, start_of_suffix(&rest.costs, usable));
        self.move_to(least.min(start), anchor, &rest);
    }

    /// Messages of the previous window that no summary covers and that would leave it if the new
    /// window started at `start`.
    fn uncovered_before(&self, start: usize, anchor: usize) -> Vec<MessageId> {
        let history = &self.frame.history;
        let covered = match self.setup.watermark {
            Watermark::Off => return Vec::new(),
            Watermark::Nothing => 0,
            Watermark::Upto(id) => history
                .iter()
                .position(|message| message.id == id)
                .map_or(0, |at| at + 1),
        };
        // Messages that were never in a window, such as the past of an imported chat, do not leave
        // it.
        let first = if self.state.epoch == 0 {
            start
        } else {
            anchor.max(covered)
        };
        history
            .get(first..start)
            .unwrap_or_default()
            .iter()
            .map(|message| message.id)
            .collect()
    }

    fn take(&mut self, start: usize, stretch: &WindowFit) {
        self.start = start;
        self.shares.history_used = stretch.tokens.min(u64::from(u32::MAX)) as u32;
    }

    fn move_to(&mut self, start: usize, anchor: usize, stretch: &WindowFit) {
        self.start = start;
        let kept = stretch
            .costs
            .get(start - stretch.first..)
            .unwrap_or_default();
        self.shares.history_used = kept.iter().map(|cost| cost.tokens).sum();
        self.record_left_window(anchor);
    }

    /// Records the messages that left the window, which started at `anchor`.
    pub(crate) fn record_left_window(&mut self, anchor: usize) {
        let from = if self.state.epoch == 0 {
            self.start
        } else {
            anchor
        };
        let left = self.frame.history.get(from..self.start).unwrap_or_default();
        self.left = left.iter().map(|message| message.id).collect();
    }

    /// Counts messages from the newest back to `from`, and stops at the first one that does not fit
    /// into `limit`. The last exchange is always included.
    fn weigh(&mut self, from: usize, limit: u32) -> WindowFit {
        let mut need_user = self.frame.history[from..self.last]
            .iter()
            .any(|message| message.role == Role::User);
        let mut first = self.last;
        let mut costs = Vec::new();
        let mut tokens = 0;
        while first > from && (need_user || tokens <= u64::from(limit)) {
            first -= 1;
            let cost = self.cost_of(first);
            need_user &= cost.role != Role::User;
            tokens += u64::from(cost.tokens);
            costs.push(cost);
        }
        costs.reverse();
        WindowFit {
            first,
            costs,
            tokens,
        }
    }

    /// Drops the oldest turns for `excess` tokens but keeps `keep` messages. Returns the tokens
    /// freed.
    pub(crate) fn drop_oldest(&mut self, excess: u32, keep: usize) -> Result<u32, AssembleError> {
        let floor = self.last.saturating_sub(keep);
        let mut freed = 0;
        let mut at = self.start;
        while freed < excess && at < floor {
            // Cut before a user message, so that no reply loses its question.
            let next =
                (at + 1..self.last).find(|index| self.frame.history[*index].role == Role::User);
            let next = next.unwrap_or(self.last);
            if next > floor {
                break;
            }
            freed += (at..next)
                .map(|index| self.cost_of(index).tokens)
                .sum::<u32>();
            at = next;
        }
        self.costs.settle()?;
        if at > self.start {
            let anchor = self.anchor();
            self.start = at;
            self.shares.history_used = self.shares.history_used.saturating_sub(freed);
            self.record_left_window(anchor);
        }
        Ok(freed)
    }

    /// Number of messages in the last exchange.
    pub(crate) fn last_exchange(&self) -> usize {
        let history = &self.frame.history[self.start.min(self.last)..self.last];
        history
            .iter()
            .rposition(|message| message.role == Role::User)
            .map_or(0, |at| history.len() - at)
    }
}
