//! The digest: it covers the messages that left the window. It is written when an epoch starts and
//! frozen until the epoch ends.

use std::borrow::Cow;
use std::collections::HashSet;

use domain::MessageId;
use domain::chat::Role;

use super::Dropped;
use super::draft::PlanDraft;
use super::fill::{LISTED, Portion, by_score, fill, price};
use super::item::Item;
use crate::budget::part;
use crate::frame::{BlockKind, HistoryMessage, Source};
use crate::importance::{IMPORTANT, judge};
use crate::reason::BlockReason;
use crate::wording;

/// Score of pinned excerpts. It exceeds the scores of rated messages, which are at most 9.
const PINNED: f32 = 10.0;

impl<'a> PlanDraft<'a> {
    pub(crate) fn fit_digest(&mut self) {
        if self.epoch.is_none() {
            self.digest = self.frozen.digest.iter().map(Item::from).collect();
            let parts = wording::digest(&self.frozen.digest, true);
            for (item, part) in self.digest.iter_mut().zip(parts) {
                item.tokens = self.costs.plain(part);
            }
            self.list_waiting();
        } else {
            self.write_digest();
        }
        self.shares.digest_used = self
            .digest
            .iter()
            .filter(|item| item.kept())
            .map(|item| item.tokens)
            .sum();
    }

    /// Fills the digest with memories within their share, then the newest summaries, then excerpts.
    /// The digest takes at most three fifths of the guaranteed retrieval budget, so that every turn
    /// can still recall something.
    fn write_digest(&mut self) {
        let budget = self.setup.budget;
        let sure = budget.retrieval(self.shares.usable, self.shares.history_budget);
        let taken = self.shares.usable.saturating_sub(self.shares.history_used);
        let room = part(sure, 3, 5).min(taken);
        let mut items: Vec<Item<'a>> = self.frame.digest.iter().map(Item::from).collect();
        items.extend(self.excerpts());
        items.retain(|item| !item.text.is_empty());
        self.drop_redundant(&mut items);
        newest_summaries(&mut items, budget.keyframes);
        let order = by_score(&items);
        let memory = budget.memory(sure).min(room);
        let shares =
            [part(memory, 2, 5), part(memory, 3, 10), part(memory, 3, 10)].map(Portion::of);
        let mut used = fill(
            &mut items,
            &order,
            memory_group,
            &shares,
            memory,
            &mut self.costs,
        );
        used += self.newest_that_fit(&mut items, BlockKind::Keyframe, room - used);
        let excerpts = (room - used).min(self.shares.history_budget / 10);
        // The last items get room first, so rated messages never take the place of pinned ones.
        items.sort_by_key(|item| item.kind == BlockKind::Pinned && item.score >= Some(PINNED));
        self.newest_that_fit(&mut items, BlockKind::Pinned, excerpts);
        items.retain(|item| item.listed);
        items.sort_by_key(|item| wording::rank(item.kind));
        self.digest = items;
    }

    /// Messages before the window.
    pub(crate) fn outside(&self) -> impl Iterator<Item = &'a HistoryMessage> + use<'a> {
        self.frame.history[..self.start].iter()
    }

    /// Excerpts of pinned or important messages before the window.
    fn excerpts(&mut self) -> Vec<Item<'a>> {
        let speakers: HashSet<&str> = self
            .frame
            .history
            .iter()
            .map(|message| message.speaker.as_str())
            .collect();
        let mut excerpts = Vec::new();
        let mut judged = Vec::new();
        for message in self.outside() {
            if message.pinned {
                excerpts.push(excerpt(message, BlockReason::PinnedByYou, PINNED));
                continue;
            }
            let (value, reason) = match message.importance {
                Some(value) => (value, BlockReason::Important),
                None if matches!(message.role, Role::Tool | Role::Event) => continue,
                None => {
                    let importance = judge(&message.text, speakers.iter().copied());
                    if importance.value >= IMPORTANT {
                        judged.push((message.id, importance.value));
                    }
                    (importance.value, importance.reason())
                }
            };
            if value >= IMPORTANT {
                excerpts.push(excerpt(message, reason, f32::from(value.min(9))));
            }
        }
        self.judged = judged;
        excerpts
    }

    /// Lists the candidates that have to wait: between epochs the digest does not change, but every
    /// candidate is reported.
    fn list_waiting(&mut self) {
        let written: HashSet<(&Source, &str)> = self
            .frozen
            .digest
            .iter()
            .map(|block| (&block.source, block.text.as_str()))
            .collect();
        let candidates = self.frame.digest.iter().map(Item::from);
        let mut waiting: Vec<Item<'a>> = candidates
            .filter(|item| !item.text.is_empty() && !written.contains(&(&*item.source, item.text)))
            .collect();
        let others = waiting.len().saturating_sub(LISTED);
        if others > 1 {
            waiting.truncate(LISTED);
            waiting.push(Item::others(self.frame.digest[LISTED].kind, others));
        }
        for item in &mut waiting {
            item.dropped = Some(if self.left_out(&item.source) {
                Dropped::LeftOut
            } else {
                Dropped::NextEpoch
            });
        }
        self.digest.extend(waiting);
    }

    /// Keeps the newest items of one kind until the next one does not fit: a gap in a story is
    /// worse than a late beginning.
    fn newest_that_fit(&mut self, items: &mut [Item<'_>], kind: BlockKind, room: u32) -> u32 {
        let heading =
            wording::heading(kind).map_or(0, |heading| self.costs.plain(format!("\n{heading}")));
        let mut left = room.saturating_sub(heading);
        for item in items
            .iter_mut()
            .rev()
            .filter(|item| item.kind == kind && item.kept())
        {
            item.tokens = price(item, &mut self.costs);
            match left.checked_sub(item.tokens) {
                Some(rest) => left = rest,
                None => item.dropped = Some(Dropped::NoRoom),
            }
        }
        let used: u32 = items
            .iter()
            .filter(|item| item.kind == kind && item.kept())
            .map(|item| item.tokens)
            .sum();
        if used == 0 { 0 } else { used + heading }
    }

    fn drop_redundant(&self, items: &mut [Item<'_>]) {
        let window: HashSet<MessageId> = self.frame.history[self.start..]
            .iter()
            .map(|message| message.id)
            .collect();
        let head: HashSet<(&Source, &str)> = self
            .head
            .iter()
            .filter(|item| item.kept())
            .map(|item| (item.source, item.text))
            .collect();
        let mut repeated = HashSet::new();
        let mut said: HashSet<(Source, &str)> = HashSet::new();
        for item in items {
            let in_window = |id: &MessageId| window.contains(id);
            let covered = match item.kind {
                BlockKind::Keyframe => item.about.iter().any(in_window),
                _ => !item.about.is_empty() && item.about.iter().all(in_window),
            };
            let twice = match item.repeats() {
                Some(id) => !repeated.insert(id),
                None => !said.insert((item.source.clone().into_owned(), item.text)),
            };
            item.dropped = if self.left_out(&item.source) {
                Some(Dropped::LeftOut)
            } else if covered || item.repeats().is_some_and(|id| window.contains(&id)) {
                Some(Dropped::InWindow)
            } else if twice || head.contains(&(&*item.source, item.text)) {
                Some(Dropped::AlreadyVisible)
            } else if item
                .said_by
                .iter()
                .any(|(source, text)| head.contains(&(source, text.as_str())))
            {
                Some(Dropped::SaidByAnother)
            } else {
                None
            };
        }
    }
}

/// A verbatim excerpt of a message that left the window.
fn excerpt<'a>(message: &'a HistoryMessage, reason: BlockReason, score: f32) -> Item<'a> {
    Item {
        kind: BlockKind::Pinned,
        source: Cow::Owned(Source::Message {
            id: message.id,
            speaker: message.speaker.clone(),
        }),
        reasons: Cow::Owned(reason.into()),
        heading: "",
        title: &message.speaker,
        // The digest is written only when an epoch begins.
        text: message.message_text(true).0.trim(),
        written: message.written.as_deref(),
        score: Some(score),
        signals: &[],
        about: &[],
        said_by: &[],
        place: None,
        at_depth: None,
        tokens: 0,
        dropped: None,
        listed: true,
    }
}

/// Index of the memory share: relationship, facts, last session.
fn memory_group(kind: BlockKind) -> Option<usize> {
    match kind {
        BlockKind::Relationship => Some(0),
        BlockKind::Fact | BlockKind::Memory => Some(1),
        BlockKind::LastSession => Some(2),
        _ => None,
    }
}

fn newest_summaries(items: &mut [Item<'_>], keep: usize) {
    let summaries = items
        .iter_mut()
        .rev()
        .filter(|item| item.kind == BlockKind::Keyframe && item.kept());
    for item in summaries.skip(keep) {
        item.dropped = Some(Dropped::NewerSummaries);
    }
}
