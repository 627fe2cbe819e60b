//! What is given up when a prompt is over the limit after all, and in which order (requirements, section 2.2).

use super::compile::Compiled;
use super::draft::Draft;
use super::epoch::EpochReason;
use super::fill::by_score;
use super::head::HeadItem;
use super::{AssembleError, Dropped, Overflow};
use crate::frame::BlockKind;

impl Draft<'_> {
    /// Compiles until the prompt fits. Shares make that nearly always the first time.
    ///
    /// # Errors
    /// [`AssembleError::Overflow`] if there is nothing left to give up.
    pub(crate) fn settle(&mut self) -> Result<Compiled, AssembleError> {
        loop {
            let compiled = self.compile()?;
            let Some(excess) = compiled.total.checked_sub(self.setup.budget.room()).filter(|excess| *excess > 0) else {
                return Ok(compiled);
            };
            if self.grown {
                self.shrink()?;
            } else if self.give_up(excess)? == 0 {
                return Err(self.overflow(&compiled).into());
            }
        }
    }

    /// Gives up the least dear things for `excess` tokens. Returns what it freed, as far as it is known beforehand.
    fn give_up(&mut self, excess: u32) -> Result<u32, AssembleError> {
        let freed = self.give_up_retrieved(excess);
        if freed > 0 {
            return Ok(freed);
        }
        let freed = self.give_up_examples();
        if freed > 0 {
            return Ok(freed);
        }
        let keep = self.setup.budget.min_tail_messages.max(self.last_exchange());
        let freed = self.drop_oldest(excess, keep)?;
        if freed > 0 {
            self.begin_without_recall();
            return Ok(freed);
        }
        let freed = self.give_up_digest(excess, true);
        if freed > 0 {
            return Ok(freed);
        }
        let freed = self.give_up_digest(excess, false);
        if freed > 0 {
            return Ok(freed);
        }
        let freed = self.drop_oldest(excess, self.last_exchange())?;
        if freed > 0 {
            self.begin_without_recall();
        }
        Ok(freed)
    }

    /// What was sent with the answered words thaws with the epoch, and there is no room to recall anything in its place.
    fn begin_without_recall(&mut self) {
        let resent = self.resends();
        self.begin(EpochReason::OverLimit);
        if resent {
            for item in self.late.iter_mut().filter(|item| item.kept() && item.retrieved()) {
                item.dropped = Some(Dropped::OverLimit);
            }
        }
    }

    /// The lowest score first.
    fn give_up_retrieved(&mut self, excess: u32) -> u32 {
        let sent_before = |item: &super::item::Item<'_>| item.kept() && item.retrieved() && item.place.is_none();
        if self.resends() && self.late.iter().any(sent_before) {
            self.begin_without_recall();
            return excess;
        }
        let mut freed = 0;
        for index in by_score(&self.late).into_iter().rev() {
            let item = &mut self.late[index];
            if freed < excess && item.retrieved() {
                item.dropped = Some(Dropped::OverLimit);
                freed += item.tokens.max(1);
            }
        }
        freed
    }

    fn give_up_examples(&mut self) -> u32 {
        let mut freed = 0;
        for item in self.head.iter_mut().filter(|item| item.kept() && !item.must_stay()) {
            item.dropped = Some(Dropped::OverLimit);
            freed += item.tokens.max(1);
        }
        if freed > 0 {
            self.begin_without_recall();
            let head = self.head.iter().filter(|item| item.kept()).flat_map(HeadItem::texts);
            self.fingerprint = super::epoch::fingerprint(self.setup.model, &self.setup.budget, head);
        }
        freed
    }

    /// The oldest excerpts, or else the least of the rest.
    fn give_up_digest(&mut self, excess: u32, excerpts: bool) -> u32 {
        let mut freed = 0;
        let wanted = |kind| (kind == BlockKind::Pinned) == excerpts;
        let items: Vec<&mut super::item::Item<'_>> =
            self.digest.iter_mut().filter(|item| item.kept() && wanted(item.kind)).collect();
        let in_turn: Box<dyn Iterator<Item = _>> =
            if excerpts { Box::new(items.into_iter()) } else { Box::new(items.into_iter().rev()) };
        for item in in_turn {
            if freed < excess {
                item.dropped = Some(Dropped::OverLimit);
                freed += item.tokens.max(1);
            }
        }
        if freed > 0 {
            self.begin_without_recall();
        }
        freed
    }

    fn overflow(&self, compiled: &Compiled) -> Overflow {
        let budget = &self.setup.budget;
        let kept = compiled.blocks.iter().filter(|block| block.dropped.is_none());
        let largest = kept.max_by_key(|block| (block.tokens, block.priority));
        Overflow {
            block: largest
                .map(|block| format!("{} ({})", block.kind.as_str(), block.source.words()))
                .unwrap_or_default(),
            block_tokens: largest.map_or(0, |block| block.tokens),
            needed: compiled.total + budget.reserve + budget.margin,
            available: budget.limit,
        }
    }
}
