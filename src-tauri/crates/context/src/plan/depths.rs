//! Order and roles of texts at a depth in the chat, as SillyTavern has them.

use domain::prompt::PromptRole;

use super::item::Item;
use crate::frame::{BlockKind, Frame, InsertionPoint, Placed};

/// The texts that `cache-first` sends as messages of their own at their depth: those from a depth
/// on.
///
/// The context block is part of the user's message, so a text of the character cannot be there, and
/// one of the user would lose its depth. The texts above it must then come before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OwnMessages {
    from: Option<u32>,
}

impl OwnMessages {
    /// Decides from the texts that `count` selects.
    pub(crate) fn of(frame: &Frame, count: impl Fn(&Placed) -> bool) -> Self {
        let spoken = |placed: &&Placed| {
            placed.role != PromptRole::System && !placed.candidate.text.trim().is_empty()
        };
        let texts = frame
            .placed
            .iter()
            .filter(|placed| count(placed))
            .filter(spoken);
        let depths = texts.filter_map(|placed| match placed.place {
            InsertionPoint::Depth(depth) => Some(depth),
            _ => None,
        });
        Self { from: depths.min() }
    }

    pub(crate) fn take(self, placed: &Placed) -> bool {
        matches!((placed.place, self.from), (InsertionPoint::Depth(depth), Some(from)) if depth >= from)
    }
}

/// Sorts texts that have a depth: the deepest first, then by injection order, then by role: the
/// character's texts come first and system texts last, where they have the most effect. Lore keeps
/// its own order, even if a role contradicts it, and follows other texts of its role.
pub(crate) fn sort(items: &mut [Item<'_>]) {
    items.sort_by_cached_key(|item| {
        let (depth, injection, role, order) =
            item.at_depth
                .unwrap_or((u32::MAX, 0, PromptRole::System, 0));
        let lore = item.kind == BlockKind::Lore;
        (
            u32::MAX - depth,
            injection,
            lore,
            if lore { order } else { 0 },
            rank(role),
        )
    });
    let group = |item: &Item<'_>| {
        item.at_depth
            .map(|(depth, injection, ..)| (depth, injection))
    };
    for group in items.chunk_by_mut(|one, other| group(one) == group(other)) {
        let mut least = 0;
        let ranks: Vec<u8> = group
            .iter()
            .map(|item| {
                let own = item.at_depth.map_or(0, |(_, _, role, _)| rank(role));
                if item.kind != BlockKind::Lore {
                    return own;
                }
                least = own.max(least);
                least
            })
            .collect();
        let mut ranked: Vec<(u8, Item<'_>)> =
            ranks.into_iter().zip(group.iter().cloned()).collect();
        ranked.sort_by_key(|(rank, item)| (*rank, item.kind == BlockKind::Lore));
        for (place, (_, item)) in group.iter_mut().zip(ranked) {
            *place = item;
        }
    }
}

fn rank(role: PromptRole) -> u8 {
    match role {
        PromptRole::Character => 0,
        PromptRole::User => 1,
        PromptRole::System => 2,
    }
}
