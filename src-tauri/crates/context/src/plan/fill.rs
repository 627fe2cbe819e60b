//! Fills a token budget by score. Each share has guaranteed tokens; tokens that one share does not
//! use go to the others.

use std::collections::HashSet;

use super::Dropped;
use super::item::Item;
use super::price::{BYTES_A_TOKEN, Costs};
use crate::frame::{BlockKind, Source};
use crate::wording;

/// Number of items without room that are reported individually, per share. The rest becomes one
/// row.
pub(crate) const LISTED: usize = 50;

/// The tokens that one share may take of a budget.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Portion {
    /// Guaranteed, whatever the other shares need.
    pub(crate) sure: u32,
    /// Upper limit, including tokens that other shares do not use.
    pub(crate) most: u32,
}

impl Portion {
    /// No upper limit.
    pub(crate) fn of(sure: u32) -> Self {
        Self {
            sure,
            most: u32::MAX,
        }
    }
}

/// Tries `items` in `order` and keeps those that fit into `room`; the others are dropped. Items
/// that repeat a kept item are dropped too. If many items are dropped, only the best have rows of
/// their own; the rest share one row. `group_of` maps a kind to its index in `shares`; items of
/// other kinds and items dropped earlier stay unchanged. Returns the tokens of the kept items.
pub(crate) fn fill(
    items: &mut Vec<Item<'_>>,
    order: &[usize],
    group_of: impl Fn(BlockKind) -> Option<usize>,
    shares: &[Portion],
    room: u32,
    costs: &mut Costs<'_>,
) -> u32 {
    let mut groups: Vec<Vec<usize>> = vec![Vec::new(); shares.len()];
    for index in order.iter().filter(|index| items[**index].kept()) {
        if let Some(group) = group_of(items[*index].kind) {
            groups[group].push(*index);
        }
    }
    let mut filling = Filling {
        items: items.as_mut_slice(),
        headed: HashSet::new(),
        taken: Vec::new(),
        room,
        costs,
    };
    let mut taken = vec![0; shares.len()];
    for ((group, share), taken) in groups.iter_mut().zip(shares).zip(&mut taken) {
        *taken = filling.take(group, share.sure.min(share.most).min(filling.room));
    }
    for ((group, share), taken) in groups.iter_mut().zip(shares).zip(taken) {
        filling.take(group, (share.most - taken).min(filling.room));
    }
    let left = filling.room;
    for group in groups {
        leave_out(items, &group);
    }
    room - left
}

fn leave_out(items: &mut Vec<Item<'_>>, group: &[usize]) {
    for index in group {
        items[*index].dropped = Some(Dropped::NoRoom);
    }
    let Some(others) = group.get(LISTED..).filter(|others| others.len() > 1) else {
        return;
    };
    let row = Item::others(items[others[0]].kind, others.len());
    for index in others {
        items[*index].listed = false;
    }
    items.push(row);
}

/// Indices of the items that are not dropped, best first; ties keep their order.
pub(crate) fn by_score(items: &[Item<'_>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..items.len())
        .filter(|index| items[*index].kept())
        .collect();
    let score = |index: usize| items[index].score.unwrap_or(0.0);
    order.sort_by(|a, b| score(*b).total_cmp(&score(*a)));
    order
}

/// Tokens of an item in a block, without its heading.
pub(crate) fn price(item: &Item<'_>, costs: &mut Costs<'_>) -> u32 {
    match (item.place, item.above()) {
        (Some(_), _) => costs.plain(format!("\n\n{}", item.text)),
        (None, Some(_)) => costs.plain(wording::item(item.title, item.text)),
        (None, None) => costs.plain(format!("\n{}", item.text)),
    }
}

struct Filling<'i, 'a, 'c, 'k> {
    items: &'i mut [Item<'a>],
    headed: HashSet<&'a str>,
    taken: Vec<usize>,
    room: u32,
    costs: &'c mut Costs<'k>,
}

impl Filling<'_, '_, '_, '_> {
    /// Takes the items of `group` that fit into `share` and skips those that are too long; the rest
    /// stays in `group`. Returns the tokens taken.
    fn take(&mut self, group: &mut Vec<usize>, share: u32) -> u32 {
        let mut left = share;
        group.retain(|index| {
            if self.is_said(&self.items[*index]) {
                self.items[*index].dropped = Some(Dropped::SaidByAnother);
                return false;
            }
            let item = &mut self.items[*index];
            if item.tokens == 0 {
                if item.text.len() / BYTES_A_TOKEN > left as usize {
                    return true;
                }
                item.tokens = price(item, self.costs);
            }
            let above = item.above();
            let heading = above.filter(|above| !self.headed.contains(above));
            let heading = heading.map_or(0, |heading| self.costs.plain(format!("\n{heading}")));
            let Some(rest) = left.checked_sub(item.tokens + heading) else {
                return true;
            };
            self.headed.extend(above);
            self.taken.push(*index);
            self.room -= left - rest;
            left = rest;
            false
        });
        share - left
    }

    fn is_said(&self, item: &Item<'_>) -> bool {
        let says = |(source, text): &(Source, String)| {
            self.taken
                .iter()
                .map(|index| &self.items[*index])
                .any(|one| *one.source == *source && one.text == text)
        };
        item.said_by.iter().any(says)
    }
}
