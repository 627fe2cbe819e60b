//! Drops blocks in order of priority when a prompt exceeds the limit in spite of its shares.

use super::compile::CompiledPrompt;
use super::draft::PlanDraft;
use super::epoch::EpochReason;
use super::fill::by_score;
use super::{AssembleError, Dropped, Largest, Overflow};
use crate::frame::BlockKind;

impl PlanDraft<'_> {
    /// Compiles until the prompt fits. Because of the shares, the first attempt nearly always fits.
    ///
    /// Errors
    /// [`AssembleError::Overflow`] if nothing is left to drop.
    pub(crate) fn settle(&mut self) -> Result<CompiledPrompt, AssembleError> {
        loop {
            let compiled = self.compile()?;
            let Some(excess) = compiled
                .total
                .checked_sub(self.setup.budget.room())
                .filter(|excess| *excess > 0)
            else {
                return Ok(compiled);
            };
            if self.grown {
                self.shrink()?;
            } else if self.drop_to_fit(excess)? == 0 {
                return Err(self.overflow(&compiled).into());
            }
        }
    }

    /// Drops the lowest-priority items for `excess` tokens. Returns the tokens freed, as far as
    /// known before rendering.
    fn drop_to_fit(&mut self, excess: u32) -> Result<u32, AssembleError> {
        let freed = self.drop_retrieved(excess);
        if freed > 0 {
            return Ok(freed);
        }
        let freed = self.drop_examples();
        if freed > 0 {
            return Ok(freed);
        }
        let keep = self
            .setup
            .budget
            .min_tail_messages
            .max(self.last_exchange());
        let freed = self.drop_oldest(excess, keep)?;
        if freed > 0 {
            self.begin_without_retrieval();
            return Ok(freed);
        }
        let freed = self.drop_digest(excess, true);
        if freed > 0 {
            return Ok(freed);
        }
        let freed = self.drop_digest(excess, false);
        if freed > 0 {
            return Ok(freed);
        }
        let freed = self.drop_oldest(excess, self.last_exchange())?;
        if freed > 0 {
            self.begin_without_retrieval();
        }
        Ok(freed)
    }

    /// Begins an epoch, which makes the re-sent items of the input candidates again, and drops
    /// those: there is no room for them.
    fn begin_without_retrieval(&mut self) {
        let resent = self.resends();
        self.begin(EpochReason::OverLimit);
        if resent {
            for item in self
                .late
                .iter_mut()
                .filter(|item| item.kept() && item.retrieved())
            {
                item.dropped = Some(Dropped::OverLimit);
            }
        }
    }

    /// Drops retrieved items, lowest score first.
    fn drop_retrieved(&mut self, excess: u32) -> u32 {
        let sent_before =
            |item: &super::item::Item<'_>| item.kept() && item.retrieved() && item.place.is_none();
        if self.resends() && self.late.iter().any(sent_before) {
            self.begin_without_retrieval();
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

    fn drop_examples(&mut self) -> u32 {
        let mut freed = 0;
        for item in self
            .head
            .iter_mut()
            .filter(|item| item.kept() && !item.must_stay())
        {
            item.dropped = Some(Dropped::OverLimit);
            freed += item.tokens.max(1);
        }
        if freed > 0 {
            self.begin_without_retrieval();
            self.take_fingerprint();
        }
        freed
    }

    /// Drops the oldest excerpts, or the last items of the rest of the digest.
    fn drop_digest(&mut self, excess: u32, excerpts: bool) -> u32 {
        let mut freed = 0;
        let wanted = |kind| (kind == BlockKind::Pinned) == excerpts;
        let items: Vec<&mut super::item::Item<'_>> = self
            .digest
            .iter_mut()
            .filter(|item| item.kept() && wanted(item.kind))
            .collect();
        let in_turn: Box<dyn Iterator<Item = _>> = if excerpts {
            Box::new(items.into_iter())
        } else {
            Box::new(items.into_iter().rev())
        };
        for item in in_turn {
            if freed < excess {
                item.dropped = Some(Dropped::OverLimit);
                freed += item.tokens.max(1);
            }
        }
        if freed > 0 {
            self.begin_without_retrieval();
        }
        freed
    }

    fn overflow(&self, compiled: &CompiledPrompt) -> Overflow {
        let budget = &self.setup.budget;
        let kept = compiled
            .blocks
            .iter()
            .filter(|block| block.dropped.is_none());
        let largest = kept.max_by_key(|block| (block.tokens, block.priority));
        Overflow {
            largest: largest.map(|block| Largest {
                kind: block.kind,
                source: block.source.clone(),
                tokens: block.tokens,
            }),
            needed: compiled.total + budget.reserve + budget.margin,
            available: budget.limit,
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::chat::{Role, WindowState};
    use domain::prompt::{PromptRole, Segment};
    use domain::{MessageId, Timestamp};

    use super::*;
    use crate::frame::{Candidate, Frame, HeadPart, HistoryMessage, Source};
    use crate::frozen::EpochState;
    use crate::plan::Setup;
    use crate::{Budget, ChatTemplate, CountTokens};

    struct Words;

    impl CountTokens for Words {
        fn count(&self, segment: &Segment) -> Option<u32> {
            Some(if segment.control {
                1
            } else {
                segment.text.split_whitespace().count() as u32
            })
        }

        fn exact(&self) -> bool {
            true
        }
    }

    fn said(number: u128, pinned: bool) -> HistoryMessage {
        let role = if number % 2 == 1 {
            Role::User
        } else {
            Role::Character
        };
        let id: MessageId =
            serde_json::from_value(serde_json::json!(format!("{number:032x}"))).unwrap();
        let text = format!("m{number} {}", "word ".repeat(if pinned { 2 } else { 19 }));
        HistoryMessage {
            pinned,
            ..HistoryMessage::new(id, role, "Sam", text, Timestamp(0))
        }
    }

    fn candidate(kind: BlockKind, name: &str, score: f32) -> Candidate {
        Candidate::new(
            kind,
            Source::Memory { id: name.into() },
            crate::Reasons::default(),
            format!("{name} is here"),
        )
        .with_score(score)
    }

    /// A frame with every kind of item that can be dropped, and some that cannot.
    fn frame() -> Frame {
        let part = |kind, text: &str| HeadPart {
            kind,
            source: Source::BuiltIn,
            reasons: crate::Reasons::default(),
            role: PromptRole::System,
            text: text.into(),
            written: None,
        };
        Frame {
            head: vec![
                part(BlockKind::Rules, "the rules"),
                part(BlockKind::Examples, "the examples"),
            ],
            digest: vec![
                candidate(BlockKind::Fact, "fact-a", 2.0),
                candidate(BlockKind::Keyframe, "summary", 1.0),
            ],
            history: (1..30)
                .map(|number| said(number, number == 2 || number == 5))
                .collect(),
            context: vec![
                candidate(BlockKind::Lore, "lore-b", 2.0),
                candidate(BlockKind::Lore, "lore-c", 1.0),
                candidate(BlockKind::Lore, "lore-a", 3.0),
                candidate(BlockKind::Reminder, "reminder", 0.0),
            ],
            ..Frame::default()
        }
    }

    /// Names of all kept items.
    fn kept(draft: &PlanDraft<'_>) -> Vec<String> {
        let first = |text: &str| {
            text.split_whitespace()
                .next()
                .unwrap_or_default()
                .to_owned()
        };
        let late = draft
            .late
            .iter()
            .filter(|item| item.kept())
            .map(|item| first(item.text));
        let head = draft
            .head
            .iter()
            .filter(|item| item.kept())
            .map(|item| item.text.to_owned());
        let digest = draft
            .digest
            .iter()
            .filter(|item| item.kept())
            .map(|item| format!("digest {}", first(item.text)));
        let window = draft.frame.history[draft.start..]
            .iter()
            .map(|message| first(&message.text));
        late.chain(head).chain(digest).chain(window).collect()
    }

    /// Drops items for one excess token at a time until nothing is left to drop. Returns the
    /// dropped and the remaining items.
    fn given_up(state: &WindowState, frame: &Frame) -> (Vec<String>, Vec<String>) {
        let layout = ChatTemplate::chatml();
        let budget = Budget {
            min_tail_messages: 6,
            history_cap: 350,
            ..Budget::local(2_000, 100)
        };
        let setup = Setup::new(Some(&layout), "model", budget);
        let frozen = EpochState::read(&state.frozen);
        let mut draft = PlanDraft::new(frame, &setup, state, &frozen, &layout, &Words).unwrap();
        draft.plan().unwrap();
        let mut gone = Vec::new();
        loop {
            let before = kept(&draft);
            if draft.drop_to_fit(1).unwrap() == 0 {
                return (gone, before);
            }
            let after = kept(&draft);
            gone.push(
                before
                    .into_iter()
                    .filter(|name| !after.contains(name))
                    .collect::<Vec<_>>()
                    .join(" "),
            );
            assert!(
                !gone[gone.len() - 1].is_empty(),
                "nothing was given up after {gone:?}"
            );
        }
    }

    /// The order: retrieved items, lowest score first; examples; the oldest turns down to the
    /// floor; excerpts, oldest first; the rest of the digest; turns below the floor. The rest is
    /// required.
    #[test]
    fn drops_items_in_order_of_priority() {
        let (gone, left) = given_up(&WindowState::default(), &frame());
        insta::assert_snapshot!(gone.join("\n"), @r"
        lore-c
        lore-b
        lore-a
        the examples
        m21 m22
        digest m2
        digest m5
        digest summary
        digest fact-a
        m23 m24
        m25 m26
        ");
        assert_eq!(left, ["reminder", "the rules", "m27", "m28", "m29"]);
    }
}
