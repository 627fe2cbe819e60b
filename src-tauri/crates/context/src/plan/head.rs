//! The head: its items, their order, and the decision about the examples.

use std::borrow::Cow;

use domain::prompt::PromptRole;

use super::depths::OwnMessages;
use super::price::{Costs, Overhead};
use super::{Dropped, Placement, PlannedBlock, Setup};
use crate::frame::{
    BlockKind, Frame, HeadPart, InsertionPoint, LoreSection, Placed, Priority, Source, Zone,
};
use crate::reason::Reasons;
use crate::{Budget, wording};

/// An item of the head.
#[derive(Debug, Clone)]
pub(crate) struct HeadItem<'a> {
    pub(crate) kind: BlockKind,
    pub(crate) source: &'a Source,
    pub(crate) reasons: &'a Reasons,
    pub(crate) role: PromptRole,
    pub(crate) text: &'a str,
    /// See [`Candidate::written`](crate::frame::Candidate::written).
    pub(crate) written: Option<&'a str>,
    /// Template text before and after it.
    pub(crate) around: (&'a str, &'a str),
    pub(crate) position: HeadPosition,
    pub(crate) tokens: u32,
    pub(crate) dropped: Option<Dropped>,
}

/// The position data of a head item.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HeadPosition {
    pub(crate) kind: BlockKind,
    /// Index among the parts of the frame's head; `None` for an inserted item.
    pub(crate) part: Option<usize>,
    /// The place of an inserted item.
    pub(crate) place: Option<InsertionPoint>,
}

impl<'a> HeadItem<'a> {
    /// The text and the template text around it, without empty parts.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        [self.around.0, self.text, self.around.1]
            .into_iter()
            .filter(|text| !text.is_empty())
    }

    pub(crate) fn full_text(&self) -> Cow<'a, str> {
        framed(self.around.0, self.text, self.around.1)
    }

    pub(crate) fn kept(&self) -> bool {
        self.dropped.is_none()
    }

    pub(crate) fn must_stay(&self) -> bool {
        self.kind != BlockKind::Examples
    }

    pub(crate) fn report(&self) -> PlannedBlock {
        PlannedBlock {
            zone: Zone::Head,
            kind: self.kind,
            source: self.source.clone(),
            reasons: self.reasons.clone(),
            priority: if self.must_stay() {
                Priority::Must
            } else {
                Priority::Medium
            },
            role: self.role,
            message: None,
            turn: None,
            segment: None,
            score: None,
            signals: Vec::new(),
            tokens: self.tokens,
            dropped: self.dropped,
            text: self.text.to_owned(),
            own: None,
            written: self.written.map(str::to_owned),
        }
    }
}

/// Builds the items of the head with token counts, in prompt order.
pub(crate) fn gather<'a>(
    frame: &'a Frame,
    setup: &Setup<'_>,
    overhead: &Overhead,
    costs: &mut Costs<'_>,
) -> Vec<HeadItem<'a>> {
    let parts = frame.head.iter().enumerate();
    let parts = parts.map(|(index, part)| of_part(index, part));
    let mut items: Vec<HeadItem<'a>> = parts.filter(|item| !item.text.is_empty()).collect();
    let own_messages = OwnMessages::of(frame, |placed| placed.constant);
    let in_head = |placed: &&Placed| belongs(placed, setup.placement, own_messages);
    let mut constant: Vec<&Placed> = frame.placed.iter().filter(in_head).collect();
    constant.sort_by_key(|placed| order(placed.place, placed.order));
    for placed in constant {
        let positions: Vec<HeadPosition> = items.iter().map(|item| item.position).collect();
        let at = insertion_index(placed.place, &frame.lore, &positions);
        items.insert(
            at,
            HeadItem {
                dropped: switched_off(frame, placed),
                ..of_placed(placed)
            },
        );
    }
    for item in &mut items {
        let left_out = setup
            .without
            .contains(&item.source.key())
            .then_some(Dropped::LeftOut);
        item.dropped = item.dropped.or(left_out);
    }
    count_tokens(&mut items, frame, overhead, costs);
    items
}

/// Sets the template text around each item, and the tokens of both.
fn count_tokens<'a>(
    items: &mut [HeadItem<'a>],
    frame: &'a Frame,
    overhead: &Overhead,
    costs: &mut Costs<'_>,
) {
    let places: Vec<Option<InsertionPoint>> = items
        .iter()
        .map(|item| item.position.place.filter(|_| item.kept()))
        .collect();
    let mut before = None;
    for (item, around) in items.iter_mut().zip(around(&frame.lore, &places)) {
        item.around = around;
        let joined = before == Some(item.role);
        let opening = if joined { 0 } else { overhead.of(item.role) };
        item.tokens = costs.plain(wording::paragraph(&item.full_text(), joined)) + opening;
        before = Some(item.role);
    }
}

fn of_part(index: usize, part: &HeadPart) -> HeadItem<'_> {
    HeadItem {
        kind: part.kind,
        source: &part.source,
        reasons: &part.reasons,
        role: part.role,
        text: part.text.trim(),
        written: part.written.as_deref(),
        around: ("", ""),
        position: HeadPosition {
            kind: part.kind,
            part: Some(index),
            place: None,
        },
        tokens: 0,
        dropped: None,
    }
}

fn of_placed(placed: &Placed) -> HeadItem<'_> {
    HeadItem {
        kind: placed.candidate.kind,
        source: &placed.candidate.source,
        reasons: &placed.candidate.reasons,
        role: PromptRole::System,
        text: placed.candidate.text.trim(),
        written: placed.candidate.written.as_deref(),
        around: ("", ""),
        position: HeadPosition {
            kind: placed.candidate.kind,
            part: None,
            place: Some(placed.place),
        },
        tokens: 0,
        dropped: None,
    }
}

/// True for entries in the head regardless of the turn: constant entries, unless classic placement
/// sorts all entries of a place together. A note at a depth stays near the messages, where it has
/// more effect. So do texts that need messages of their own. `own_messages` are those of the
/// constant texts, so that the head stays the same from turn to turn.
pub(crate) fn belongs(placed: &Placed, placement: Placement, own_messages: OwnMessages) -> bool {
    let at_depth = matches!(placed.place, InsertionPoint::Depth(_));
    let in_head =
        !at_depth || (placed.candidate.kind == BlockKind::Lore && !own_messages.take(placed));
    placement == Placement::CacheFirst
        && placed.constant
        && in_head
        && !placed.candidate.text.trim().is_empty()
}

/// [`Dropped::SwitchedOff`] if the template has switched off the place of the entry.
pub(crate) fn switched_off(frame: &Frame, placed: &Placed) -> Option<Dropped> {
    let lore = placed.candidate.kind == BlockKind::Lore;
    (lore && frame.without_lore.contains(&placed.place)).then_some(Dropped::SwitchedOff)
}

/// Sort key for insertion: by place first, so that entries of one place are adjacent.
pub(crate) fn order(place: InsertionPoint, order: i32) -> (u8, u32, i32) {
    let (rank, depth) = match place {
        InsertionPoint::BeforeCharacter => (0, 0),
        InsertionPoint::AfterCharacter => (1, 0),
        // The deepest comes first.
        InsertionPoint::Depth(depth) => (1, u32::MAX - depth),
        InsertionPoint::AfterExamples => (2, 0),
        InsertionPoint::BeforeExamples => (3, 0),
    };
    (rank, depth, order)
}

/// The index in `positions` at which to insert an entry: at the section of the template, else next
/// to the character or the examples. An entry goes after earlier entries of the same place.
pub(crate) fn insertion_index(
    place: InsertionPoint,
    lore: &[LoreSection],
    positions: &[HeadPosition],
) -> usize {
    let end = positions.len();
    if let Some(section) = lore.iter().find(|section| section.place == place) {
        let behind = |position: &HeadPosition| position.part.is_some_and(|part| part >= section.at);
        return positions.iter().position(behind).unwrap_or(end);
    }
    let at = match place {
        InsertionPoint::BeforeCharacter => {
            return first_of(positions, BlockKind::is_character).unwrap_or(end);
        }
        InsertionPoint::BeforeExamples => {
            return first_of(positions, is_examples).unwrap_or(end);
        }
        InsertionPoint::AfterExamples => after_last_of(positions, is_examples),
        InsertionPoint::AfterCharacter | InsertionPoint::Depth(_) => {
            after_last_of(positions, BlockKind::is_character)
        }
    };
    end_of_lore(positions, at.unwrap_or(end))
}

fn is_examples(kind: BlockKind) -> bool {
    kind == BlockKind::Examples
}

fn first_of(positions: &[HeadPosition], wanted: fn(BlockKind) -> bool) -> Option<usize> {
    positions.iter().position(|position| wanted(position.kind))
}

fn after_last_of(positions: &[HeadPosition], wanted: fn(BlockKind) -> bool) -> Option<usize> {
    let last = positions.iter().rposition(|position| wanted(position.kind));
    last.map(|last| last + 1)
}

/// The index after the lore that begins at `from`.
fn end_of_lore(positions: &[HeadPosition], from: usize) -> usize {
    let lore = positions[from..]
        .iter()
        .take_while(|position| position.kind == BlockKind::Lore);
    from + lore.count()
}

/// The template text around each item. `places` has `None` for all items except kept inserted ones.
/// Section text goes before the first and after the last item of its place.
pub(crate) fn around<'l>(
    lore: &'l [LoreSection],
    places: &[Option<InsertionPoint>],
) -> Vec<(&'l str, &'l str)> {
    let mut around = vec![("", ""); places.len()];
    for section in lore {
        let of_section = |place: &Option<InsertionPoint>| *place == Some(section.place);
        if let Some(first) = places.iter().position(of_section) {
            around[first].0 = &section.before;
        }
        if let Some(last) = places.iter().rposition(of_section) {
            around[last].1 = &section.after;
        }
    }
    around
}

pub(crate) fn framed<'t>(before: &'t str, text: &'t str, after: &'t str) -> Cow<'t, str> {
    match (before, after) {
        ("", "") => Cow::Borrowed(text),
        _ => Cow::Owned(format!("{before}{text}{after}")),
    }
}

/// Gives examples the tokens that the history cannot use. That room depends on the head alone: the
/// head comes first, so examples must not change with the length of the user's message.
pub(crate) fn fit_examples(head: &mut [HeadItem<'_>], budget: &Budget) {
    let must: u32 = head
        .iter()
        .filter(|item| item.kept() && item.must_stay())
        .map(|item| item.tokens)
        .sum();
    let usable = budget.usable(must).unwrap_or(0);
    let mut room = usable - budget.history(usable);
    for item in head
        .iter_mut()
        .filter(|item| item.kept() && !item.must_stay())
    {
        match room.checked_sub(item.tokens) {
            Some(left) => room = left,
            None => item.dropped = Some(Dropped::NoRoomForExamples),
        }
    }
}
