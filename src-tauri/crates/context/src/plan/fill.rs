//! Fills a budget: by score, share by share, and what one share does not need goes to the others (C12, C28).

use std::collections::HashSet;

use super::Dropped;
use super::item::Item;
use super::price::Costs;
use crate::frame::BlockKind;
use crate::wording;

/// More bytes than this make more than one token, but for rarities: enough to tell a text that cannot fit uncounted.
const MOST_BYTES_A_TOKEN: usize = 16;

/// Keeps of `items` what fits into `room`, and drops the rest. `group_of` says which of `shares` a kind draws on; items of
/// other kinds, and what was dropped before, stay as they are. Returns what the kept ones cost.
pub(crate) fn fill(
    items: &mut [Item<'_>],
    group_of: impl Fn(BlockKind) -> Option<usize>,
    shares: &[u32],
    room: u32,
    costs: &mut Costs<'_>,
) -> u32 {
    let mut groups: Vec<Vec<usize>> = vec![Vec::new(); shares.len()];
    for index in by_score(items) {
        if let Some(group) = group_of(items[index].kind) {
            groups[group].push(index);
        }
    }
    let mut filling = Filling { items, headed: HashSet::new(), room, costs };
    for (group, share) in groups.iter_mut().zip(shares) {
        filling.take(group, (*share).min(filling.room));
    }
    for group in &mut groups {
        filling.take(group, filling.room);
    }
    let left = filling.room;
    for index in groups.into_iter().flatten() {
        items[index].dropped = Some(Dropped::NoRoom);
    }
    room - left
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
    match (item.place, wording::heading(item.kind)) {
        (Some(_), _) => costs.plain(format!("\n\n{}", item.text)),
        (None, Some(_)) => costs.plain(wording::item(item.title, item.text)),
        (None, None) => costs.plain(format!("\n{}", item.text)),
    }
}

struct Filling<'i, 'a, 'c, 'k> {
    items: &'i mut [Item<'a>],
    headed: HashSet<BlockKind>,
    room: u32,
    costs: &'c mut Costs<'k>,
}

impl Filling<'_, '_, '_, '_> {
    /// Takes from `group` what fits into `share`; the rest stays in it. What is too long is passed over (S2.19).
    fn take(&mut self, group: &mut Vec<usize>, share: u32) {
        let mut left = share;
        group.retain(|index| {
            let item = &mut self.items[*index];
            if item.tokens == 0 {
                if item.text.len() / MOST_BYTES_A_TOKEN > left as usize || left == 0 {
                    return true;
                }
                item.tokens = price(item, self.costs);
            }
            let heading = wording::heading(item.kind).filter(|_| !self.headed.contains(&item.kind));
            let above = heading.map_or(0, |heading| self.costs.plain(format!("\n{heading}")));
            let Some(rest) = left.checked_sub(item.tokens + above) else { return true };
            self.headed.insert(item.kind);
            self.room -= left - rest;
            left = rest;
            false
        });
    }
}
