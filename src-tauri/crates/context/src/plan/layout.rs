//! The sheet: kept items in prompt order, as messages with their blocks.

use std::collections::HashSet;

use domain::MessageId;
use domain::chat::Role;
use domain::prompt::PromptRole;

use super::draft::{PlanDraft, prompt_role};
use super::head::HeadPosition;
use super::item::Item;
use super::tool_rows::ToolTurn;
use super::{Dropped, PlannedBlock, depths, head};
use crate::frame::{BlockKind, InsertionPoint, Priority, Source, Zone};
use crate::frozen::FrozenBlock;
use crate::reason::BlockReason;
use crate::wording;

/// A message of the prompt while its parts are collected.
pub(super) struct OpenTurn<'a> {
    pub(super) role: PromptRole,
    pub(super) parts: Vec<usize>,
    pub(super) tool: Option<ToolTurn<'a>>,
    /// It consists of texts at a depth, which are no part of the chat.
    pub(super) placed: bool,
}

/// Blocks in prompt order, and the messages that the kept blocks form.
#[derive(Default)]
pub(super) struct PromptLayout<'a> {
    pub(super) blocks: Vec<PlannedBlock>,
    pub(super) turns: Vec<OpenTurn<'a>>,
    /// The text of each part, with the index of its block.
    pub(super) parts: Vec<(usize, String)>,
}

impl<'a> PromptLayout<'a> {
    /// Opens a message, or continues the last one if it has the same role and `own` is false.
    /// Returns true if it continues.
    fn turn(&mut self, role: PromptRole, own: bool) -> bool {
        if !own
            && self
                .turns
                .last()
                .is_some_and(|turn| turn.role == role && turn.tool.is_none())
        {
            return true;
        }
        self.turns.push(OpenTurn {
            role,
            parts: Vec::new(),
            tool: None,
            placed: false,
        });
        false
    }

    /// Opens a message of texts at a depth.
    fn placed_turn(&mut self, role: PromptRole) {
        self.turns.push(OpenTurn {
            role,
            parts: Vec::new(),
            tool: None,
            placed: true,
        });
    }

    /// Opens a message of a tool round.
    pub(super) fn tool_turn(&mut self, role: PromptRole, tool: ToolTurn<'a>) {
        self.turns.push(OpenTurn {
            role,
            parts: Vec::new(),
            tool: Some(tool),
            placed: false,
        });
    }

    /// Adds a text that belongs to `block` but to no message.
    pub(super) fn part(&mut self, block: usize, text: String) -> usize {
        self.parts.push((block, text));
        self.parts.len() - 1
    }

    /// The block of a round whose calls are in `turn`: its text before the calls, or else its first
    /// result.
    pub(super) fn block_of_round(&self, turn: usize) -> usize {
        let own = self.turns[turn].parts.first();
        let result = self.turns.get(turn + 1).and_then(|turn| turn.parts.first());
        own.or(result).map_or(0, |part| self.parts[*part].0)
    }

    pub(super) fn put(&mut self, mut block: PlannedBlock, text: String) {
        let part = self.parts.len();
        block.turn = Some(self.turns.len() - 1);
        if let Some(turn) = self.turns.last_mut() {
            turn.parts.push(part);
        }
        self.parts.push((self.blocks.len(), text));
        self.blocks.push(block);
    }
}

impl<'a> PlanDraft<'a> {
    pub(super) fn lay_out(&self) -> PromptLayout<'a> {
        let mut layout = PromptLayout::default();
        self.lay_out_definitions(&mut layout);
        self.lay_out_head(&mut layout);
        self.lay_out_digest(&mut layout);
        self.add_older_row(&mut layout);
        let count = self.frame.history.len();
        let end = if self.continues() { self.last } else { count };
        let places = self.places_at_depths(end);
        for index in self.start..count {
            let at = |depth: u32| match depth {
                0 => end,
                depth => places
                    .get(depth as usize - 1)
                    .copied()
                    .unwrap_or(self.start),
            };
            self.insert(&mut layout, |depth| at(depth) == index && index < end);
            self.lay_out_message(&mut layout, index);
            if index + 1 == end {
                self.insert(&mut layout, |depth| depth == 0);
            }
        }
        if self.start >= count {
            self.insert(&mut layout, |_| true);
        }
        self.lay_out_rounds(&mut layout, &self.frame.tools.rounds, None);
        self.lay_out_reply_start(&mut layout);
        if self.input().is_none() {
            let idle = self.late.iter().filter(|item| item.place.is_none());
            layout
                .blocks
                .extend(idle.map(|item| item.report(Zone::Input, PromptRole::User, None)));
        }
        // These rows come last, because rows that change between turns would separate the manifest
        // from the previous one. Sources that this turn's context or an older block contains are
        // already listed.
        let listed: HashSet<&Source> = layout.blocks.iter().map(|block| &block.source).collect();
        let waiting = self
            .digest
            .iter()
            .filter(|item| item.dropped == Some(Dropped::NextEpoch));
        let waiting = waiting.filter(|item| !listed.contains(&*item.source));
        let rows: Vec<PlannedBlock> = waiting
            .map(|item| item.report(Zone::Digest, PromptRole::System, None))
            .collect();
        layout.blocks.extend(rows);
        layout
    }

    /// Indexes of the messages before which texts at depth 1, 2 and so on go. Events have no place
    /// of their own.
    fn places_at_depths(&self, end: usize) -> Vec<usize> {
        let told = |index: &usize| self.frame.history[*index].role != Role::Event;
        (self.start..end).rev().filter(told).collect()
    }

    /// Lays out the head, with the items that classic placement inserts in this turn.
    fn lay_out_head(&self, layout: &mut PromptLayout<'a>) {
        enum Text<'s, 'a> {
            Head(&'s head::HeadItem<'a>),
            Placed(&'s Item<'a>),
        }
        let mut texts: Vec<Text<'_, 'a>> = self.head.iter().map(Text::Head).collect();
        let mut placed: Vec<(&Item<'a>, InsertionPoint, i32)> = self
            .late
            .iter()
            .filter_map(|item| item.place.map(|(place, _, order)| (item, place, order)))
            .filter(|(_, place, _)| !matches!(place, InsertionPoint::Depth(_)))
            .collect();
        placed.sort_by_key(|(_, place, order)| head::order(*place, *order));
        let mut positions: Vec<HeadPosition> = self.head.iter().map(|item| item.position).collect();
        for (item, place, _) in placed {
            let at = head::insertion_index(place, &self.frame.lore, &positions);
            positions.insert(
                at,
                HeadPosition {
                    kind: item.kind,
                    part: None,
                    place: Some(place),
                },
            );
            texts.insert(at, Text::Placed(item));
        }
        let places = texts
            .iter()
            .zip(&positions)
            .map(|(text, position)| match text {
                Text::Placed(item) if item.kept() => position.place,
                _ => None,
            });
        let around = head::around(&self.frame.lore, &places.collect::<Vec<_>>());
        for (text, around) in texts.into_iter().zip(around) {
            let (block, words) = match text {
                Text::Head(item) => (item.report(), item.full_text()),
                Text::Placed(item) => (
                    item.report(Zone::Head, PromptRole::System, None),
                    head::framed(around.0, item.text, around.1),
                ),
            };
            if block.dropped.is_some() {
                layout.blocks.push(block);
                continue;
            }
            let joined = layout.turn(block.role, false);
            layout.put(block, wording::paragraph(&words, joined));
        }
    }

    fn lay_out_digest(&self, layout: &mut PromptLayout<'a>) {
        let kept: Vec<&Item<'_>> = self.digest.iter().filter(|item| item.kept()).collect();
        if !kept.is_empty() {
            let joined = layout.turn(PromptRole::System, false);
            let blocks: Vec<FrozenBlock> = kept.iter().map(|item| item.freeze()).collect();
            for (item, part) in kept.into_iter().zip(wording::digest(&blocks, joined)) {
                layout.put(item.report(Zone::Digest, PromptRole::System, None), part);
            }
        }
        let dropped = self
            .digest
            .iter()
            .filter(|item| !item.kept() && item.dropped != Some(Dropped::NextEpoch));
        layout
            .blocks
            .extend(dropped.map(|item| item.report(Zone::Digest, PromptRole::System, None)));
    }

    /// Adds one row for all messages before the window.
    fn add_older_row(&self, layout: &mut PromptLayout<'a>) {
        let mut outside = self.outside();
        let Some(first) = outside.next().map(|message| message.id) else {
            return;
        };
        let last = outside.last().map_or(first, |message| message.id);
        layout.blocks.push(PlannedBlock {
            zone: Zone::Window,
            kind: BlockKind::Message,
            source: Source::Older {
                first,
                last,
                count: self.start,
            },
            reasons: BlockReason::EarlierInChat.into(),
            priority: Priority::Trimmable,
            role: PromptRole::User,
            message: None,
            turn: None,
            segment: None,
            score: None,
            signals: Vec::new(),
            tokens: 0,
            dropped: Some(Dropped::OlderThanWindow),
            text: String::new(),
            own: None,
            written: None,
        });
    }

    fn lay_out_message(&self, layout: &mut PromptLayout<'a>, index: usize) {
        let message = &self.frame.history[index];
        self.lay_out_rounds(layout, &message.rounds, Some(message));
        let is_input = index == self.last && !self.continues();
        let (zone, reason) = match (is_input, index == self.last) {
            (true, _) if message.task.is_some() => (Zone::Input, BlockReason::Task),
            (true, _) => (Zone::Input, BlockReason::YourMessage),
            (_, true) => (Zone::Window, BlockReason::ReplyToContinue),
            _ => (Zone::Window, BlockReason::RecentMessage),
        };
        let role = prompt_role(message.role);
        layout.turn(role, true);
        let (text, scripts) = self.message_text(index);
        let before = if is_input {
            self.lay_out_context(layout, message.id)
        } else {
            self.lay_out_frozen(layout, index)
        };
        let block = PlannedBlock {
            zone,
            kind: if message.task.is_some() {
                BlockKind::Section
            } else {
                BlockKind::Message
            },
            source: message.task.clone().unwrap_or_else(|| Source::Message {
                id: message.id,
                speaker: message.speaker.clone(),
            }),
            reasons: message.reasons(reason, scripts),
            priority: if index == self.last {
                Priority::Must
            } else {
                Priority::Trimmable
            },
            role,
            message: message.task.is_none().then_some(message.id),
            turn: None,
            segment: None,
            score: None,
            signals: Vec::new(),
            tokens: 0,
            dropped: None,
            text: String::new(),
            own: None,
            written: message.written.clone(),
        };
        layout.put(block, wording::paragraph(text, before));
    }

    /// Lays out the context block of this turn. Returns true if there is one.
    fn lay_out_context(&self, layout: &mut PromptLayout<'a>, message: MessageId) -> bool {
        let blocks = self.late_blocks();
        let mut parts = wording::context_block(&blocks).into_iter();
        for item in self.late.iter().filter(|item| item.place.is_none()) {
            let row = item.report(Zone::Input, PromptRole::User, Some(message));
            let part = if item.kept() { parts.next() } else { None };
            match part {
                Some(part) => layout.put(row, part),
                None => layout.blocks.push(row),
            }
        }
        !blocks.is_empty()
    }

    fn lay_out_frozen(&self, layout: &mut PromptLayout<'a>, index: usize) -> bool {
        let message = &self.frame.history[index];
        let blocks = self.sent_with(index);
        for (block, part) in blocks.iter().zip(wording::context_block(&blocks)) {
            let mut row =
                Item::from(block).report(Zone::Window, prompt_role(message.role), Some(message.id));
            row.priority = Priority::Trimmable;
            layout.put(row, part);
        }
        !blocks.is_empty()
    }

    /// Inserts texts at a depth as separate messages. Adjacent texts of one depth and one role
    /// become lines of one message.
    fn insert(&self, layout: &mut PromptLayout<'a>, here: impl Fn(u32) -> bool) {
        let at = |item: &&Item<'a>| matches!(item.place, Some((InsertionPoint::Depth(depth), ..)) if here(depth));
        let mut texts: Vec<Item<'a>> = self.late.iter().filter(at).cloned().collect();
        depths::sort(&mut texts);
        let mut open = None;
        for item in texts {
            let Some((InsertionPoint::Depth(depth), role, _)) = item.place else {
                continue;
            };
            let row = item.report(Zone::Window, role, None);
            if !item.kept() {
                layout.blocks.push(row);
                continue;
            }
            let joined = open == Some((depth, role));
            if !joined {
                layout.placed_turn(role);
                open = Some((depth, role));
            }
            layout.put(
                row,
                if joined {
                    format!("\n{}", item.text)
                } else {
                    item.text.to_owned()
                },
            );
        }
    }

    /// Opens the reply with the text that it begins with.
    fn lay_out_reply_start(&self, layout: &mut PromptLayout<'a>) {
        if !self.opens_reply() {
            return;
        }
        let source = Source::Setting {
            key: "reply_start".to_owned(),
        };
        let text = crate::unix_lines(self.frame.reply_start.trim_end());
        let block = PlannedBlock {
            zone: Zone::Input,
            priority: Priority::Must,
            role: PromptRole::Character,
            dropped: None,
            ..PlannedBlock::left_out(BlockKind::Section, source, BlockReason::Always, "")
        };
        layout.turn(PromptRole::Character, true);
        layout.put(block, text.into_owned());
    }
}
