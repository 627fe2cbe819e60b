//! The context block of this turn: the items that are new and fit.

use std::borrow::Cow;
use std::cmp::Ordering;

use domain::MessageId;

use super::depths::{self, OwnMessages};
use super::draft::PlanDraft;
use super::fill::{Portion, by_score, fill, price};
use super::item::Item;
use super::{Dropped, Placement, Retention, head};
use crate::budget::part;
use crate::frame::{BlockKind, Share, Source};
use crate::frozen::FrozenBlock;
use crate::hash::{self, FastSet};
use crate::reason::BlockReason;
use crate::{clock, wording};

/// A note stays fresh until this many messages follow it.
const NOTE_REACH: usize = 10;

/// Content that the window already shows.
#[derive(Default)]
struct Visible<'t> {
    texts: FastSet<(&'t Source, &'t str)>,
    messages: FastSet<MessageId>,
    fresh_note: bool,
}

impl<'a> PlanDraft<'a> {
    /// Collects the candidates of this turn and the required lines. An input that was sent in this
    /// epoch keeps its context block.
    pub(crate) fn gather_context(&mut self) {
        let resends = self.resends();
        self.late.clear();
        if resends {
            self.resend();
        }
        let placement = self.setup.placement;
        let own_messages = OwnMessages::of(self.frame, |_| true);
        let of_constant = OwnMessages::of(self.frame, |placed| placed.constant);
        let placed = self
            .frame
            .placed
            .iter()
            .filter(|placed| !head::belongs(placed, placement, of_constant));
        let placed = placed.map(|placed| Item {
            dropped: head::switched_off(self.frame, placed),
            ..if placement == Placement::Classic || own_messages.take(placed) {
                Item::placed(placed)
            } else {
                Item::of_depth(placed)
            }
        });
        let fresh = self
            .frame
            .context
            .iter()
            .map(Item::from)
            .chain(placed)
            .chain(self.time());
        let answers = self.input().is_some();
        for mut item in fresh.filter(|item| !item.text.is_empty()) {
            item.dropped = match item.place {
                _ if item.dropped.is_some() => item.dropped,
                _ if self.left_out(&item.source) => Some(Dropped::LeftOut),
                None if !answers => Some(Dropped::NoPlace),
                None if resends => Some(Dropped::SentBefore),
                _ => None,
            };
            if item.kept() && !item.retrieved() {
                item.tokens = price(&item, &mut self.costs);
            }
            self.late.push(item);
        }
    }

    fn resend(&mut self) {
        let blocks = self
            .input()
            .and_then(|message| message.context.as_deref())
            .unwrap_or_default();
        for (block, part) in blocks.iter().zip(wording::context_block(blocks)) {
            let tokens = self.costs.plain(part);
            self.late.push(Item {
                tokens,
                ..Item::from(block)
            });
        }
    }

    fn time(&self) -> Option<Item<'a>> {
        let now = self.frame.clock.as_ref()?;
        Some(Item {
            kind: BlockKind::Clock,
            source: Cow::Owned(Source::Clock),
            reasons: Cow::Owned(BlockReason::NewDateOrTime.into()),
            heading: "",
            title: "",
            text: now.words.trim(),
            written: None,
            score: None,
            signals: &[],
            about: &[],
            said_by: &[],
            place: None,
            at_depth: None,
            tokens: 0,
            dropped: None,
            listed: true,
        })
    }

    /// Fills the tokens that history and digest leave, in shares.
    pub(crate) fn fit_context(&mut self) {
        let budget = self.setup.budget;
        // A window beyond its share takes no guaranteed tokens of retrieval.
        let history = if self.grown {
            self.shares.history_budget
        } else {
            self.shares.history_used
        };
        let retrieval = budget.retrieval(self.shares.usable, history);
        self.shares.retrieval_budget = retrieval;
        if self.resends() && self.late.iter().all(|item| item.place.is_none()) {
            return;
        }
        let order = by_score(&self.late);
        self.drop_visible(&order);
        let markers = self.costs.plain("[CONTEXT]".to_owned())
            + self.costs.plain("\n[END OF CONTEXT]".to_owned());
        let room = retrieval.saturating_sub(self.shares.digest_used);
        let shares = self.portions(retrieval, room);
        let room = room.saturating_sub(markers);
        let mut late = std::mem::take(&mut self.late);
        if self.resends() {
            // Sent items are final; only texts with a place of their own are candidates.
            let (sent, mut rest): (Vec<_>, Vec<_>) =
                late.into_iter().partition(|item| item.place.is_none());
            let order = by_score(&rest);
            self.shares.retrieval_used =
                fill(&mut rest, &order, group, &shares, room, &mut self.costs);
            late = sent
                .into_iter()
                .chain(rest.into_iter().filter(|item| item.listed))
                .collect();
        } else {
            self.shares.retrieval_used =
                fill(&mut late, &order, group, &shares, room, &mut self.costs);
            late.retain(|item| item.listed);
            sort_late(&mut late);
        }
        self.late = late;
    }

    /// The shares of memories, lore, excerpts of the chat and documents.
    fn portions(&self, retrieval: u32, room: u32) -> [Portion; 4] {
        let memory = self
            .setup
            .budget
            .memory(retrieval)
            .saturating_sub(self.memory_in_digest())
            .min(room);
        let rest = room - memory;
        let chat = Portion {
            sure: part(rest, 7, 20),
            most: self.most_of_chat(retrieval),
        };
        let [memory, lore, documents] =
            [memory, part(rest, 1, 2), part(rest, 3, 20)].map(Portion::of);
        [memory, lore, chat, documents]
    }

    /// Upper limit for excerpts of older messages. In an append-only window they stay until the
    /// epoch ends, so in a small context unlimited excerpts would end epochs too often. A retrieval
    /// cap set by the user overrides the limit.
    fn most_of_chat(&self, retrieval: u32) -> u32 {
        match (self.setup.retention, self.setup.budget.retrieval_cap) {
            (Retention::AppendOnly, None) => part(retrieval, 7, 20),
            _ => u32::MAX,
        }
    }

    fn memory_in_digest(&self) -> u32 {
        let of_memory = |item: &&Item<'_>| item.kept() && item.kind.share() == Some(Share::Memory);
        self.digest
            .iter()
            .filter(of_memory)
            .map(|item| item.tokens)
            .sum()
    }

    fn drop_visible(&mut self, order: &[usize]) {
        let mut late = std::mem::take(&mut self.late);
        let visible = self.visible();
        let window: FastSet<MessageId> = self.frame.history[self.start..]
            .iter()
            .map(|message| message.id)
            .collect();
        let time_is_due = self.time_is_due();
        let mut repeated = FastSet::default();
        let mut said: FastSet<u64> = FastSet::default();
        for index in order {
            let item = &mut late[*index];
            let repeats = item.repeats();
            let shown = || visible.texts.contains(&(&*item.source, item.text));
            let is_visible = match item.kind {
                BlockKind::Clock => !time_is_due,
                BlockKind::Note => visible.fresh_note && shown(),
                BlockKind::Reminder | BlockKind::Event => false,
                _ => match repeats {
                    Some(id) => visible.messages.contains(&id) || !repeated.insert(id),
                    None => shown() || !said.insert(hash::of(&(&*item.source, item.text))),
                },
            };
            // A text with a place of its own is inserted in every turn, whatever the window shows.
            let is_visible = is_visible && item.place.is_none();
            let in_window = repeats.is_some_and(|id| window.contains(&id))
                || !item.about.is_empty() && item.about.iter().all(|id| window.contains(id));
            let by_another = |(source, text): &(Source, String)| {
                visible.texts.contains(&(source, text.as_str()))
            };
            item.dropped = match (in_window, is_visible) {
                (true, _) => Some(Dropped::InWindow),
                (_, true) => Some(Dropped::AlreadyVisible),
                _ => item
                    .said_by
                    .iter()
                    .any(by_another)
                    .then_some(Dropped::SaidByAnother),
            };
        }
        self.late = late;
    }

    fn time_is_due(&self) -> bool {
        let Some(now) = &self.frame.clock else {
            return false;
        };
        let window = self.frame.history[self.start..self.last].iter();
        self.setup.retention == Retention::Ephemeral || clock::due(window, now.at)
    }

    /// Content of the head, the digest and the frozen blocks in the window.
    fn visible(&self) -> Visible<'_> {
        let mut visible = Visible::default();
        for item in self.head.iter().filter(|item| item.kept()) {
            visible.texts.insert((item.source, item.text));
        }
        for item in self.digest.iter().filter(|item| item.kept()) {
            visible.messages.extend(item.repeats());
            visible.texts.insert((&item.source, item.text));
        }
        let fresh_from = self.last.saturating_sub(NOTE_REACH);
        for index in self.start..self.last {
            // A stale block keeps only the time, which `time_is_due` handles.
            if let Cow::Borrowed(blocks) = self.sent_with(index) {
                visible.fresh_note |=
                    index >= fresh_from && blocks.iter().any(|block| block.kind == BlockKind::Note);
                visible.add(blocks);
            }
        }
        visible
    }
}

impl<'t> Visible<'t> {
    fn add(&mut self, blocks: &'t [FrozenBlock]) {
        for block in blocks {
            self.messages.extend(Item::from(block).repeats());
            self.texts.insert((&block.source, &block.text));
        }
    }
}

fn group(kind: BlockKind) -> Option<usize> {
    kind.share().map(|share| match share {
        Share::Memory => 0,
        Share::Lore => 1,
        Share::Chat => 2,
        Share::Documents => 3,
    })
}
/// Sorts by kind, heading and score; texts at a depth come last, by their depth.
fn sort_late(late: &mut [Item<'_>]) {
    late.sort_by(|a, b| {
        let depth = a.at_depth.is_some().cmp(&b.at_depth.is_some());
        depth.then_with(|| match a.at_depth {
            Some(_) => Ordering::Equal,
            None => by_kind(a, b),
        })
    });
    let from = late.partition_point(|item| item.at_depth.is_none());
    depths::sort(&mut late[from..]);
}

fn by_kind(a: &Item<'_>, b: &Item<'_>) -> Ordering {
    let score = |item: &Item<'_>| item.score.unwrap_or(0.0);
    wording::rank(a.kind)
        .cmp(&wording::rank(b.kind))
        .then(a.heading.cmp(b.heading))
        .then(score(b).total_cmp(&score(a)))
}
