//! Fills a budget: by score, share by share, and what one share does not need goes to the others (C12, C28).

use std::collections::HashSet;

use super::Dropped;
use super::item::Item;
use super::price::{BYTES_A_TOKEN, Costs};
use crate::frame::{BlockKind, Source};
use crate::wording;

/// Of what has no room, the best this many of a share are told of one by one.
pub(crate) const LISTED: usize = 50;

/// What one kind of candidates may take of a budget, in tokens.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Portion {
    /// Whatever the others want.
    pub(crate) sure: u32,
    /// With what the others leave.
    pub(crate) most: u32,
}

impl Portion {
    /// With all that the others leave.
    pub(crate) fn of(sure: u32) -> Self {
        Self { sure, most: u32::MAX }
    }
}

/// Keeps of `items`, which are tried in `order`, what fits into `room`, unless one that is kept says it as well, and drops the rest;
/// of a great many, all but the best become one row. `group_of` says which of `shares` a kind draws on; items of other kinds, and what was dropped before, stay as they are. Returns what
/// the kept ones cost.
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
    let mut filling = Filling { items: items.as_mut_slice(), headed: HashSet::new(), taken: Vec::new(), room, costs };
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
    let Some(others) = group.get(LISTED..).filter(|others| others.len() > 1) else { return };
    let row = Item::others(items[others[0]].kind, others.len());
    for index in others {
        items[*index].listed = false;
    }
    items.push(row);
}

/// Indices of what is not dropped yet, the best first; ties stay in order.
pub(crate) fn by_score(items: &[Item<'_>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..items.len()).filter(|index| items[*index].kept()).collect();
    let score = |index: usize| items[index].score.unwrap_or(0.0);
    order.sort_by(|a, b| score(*b).total_cmp(&score(*a)));
    order
}

/// What an item costs in a block, without its heading.
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
    /// Takes from `group` what fits into `share`; the rest stays in it. What is too long is passed over (S2.19). Returns what
    /// was taken.
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
            let Some(rest) = left.checked_sub(item.tokens + heading) else { return true };
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
            self.taken.iter().map(|index| &self.items[*index]).any(|one| *one.source == *source && one.text == text)
        };
        item.said_by.iter().any(says)
    }
}
