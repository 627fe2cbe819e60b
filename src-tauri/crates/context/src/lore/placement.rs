//! Placement of the texts of active entries.

use crate::lore::position::EntryPosition;

use std::collections::BTreeMap;

use domain::lorebook::InsertionRole;

use super::{Activated, LoreOutcome, Profile};

/// The placed entries, each list in prompt order (top first). Entries with empty texts are not
/// placed.
#[derive(Debug, Default, PartialEq)]
pub struct Placements<'o> {
    pub before_char: Vec<&'o Activated>,
    pub after_char: Vec<&'o Activated>,
    pub note_top: Vec<&'o Activated>,
    pub note_bottom: Vec<&'o Activated>,
    pub example_top: Vec<&'o Activated>,
    pub example_bottom: Vec<&'o Activated>,
    pub personality: Vec<&'o Activated>,
    pub scenario: Vec<&'o Activated>,
    /// Sorted by depth, then by role.
    pub at_depth: Vec<AtDepth<'o>>,
    pub from_start: Vec<AtDepth<'o>>,
    pub outlets: BTreeMap<String, Vec<&'o Activated>>,
}

#[derive(Debug, PartialEq)]
pub struct AtDepth<'o> {
    pub depth: i64,
    pub role: InsertionRole,
    pub entries: Vec<&'o Activated>,
}

/// A higher order is lower in the prompt. If orders are equal, the entry accepted first is lowest.
pub fn placements(outcome: &LoreOutcome, profile: Profile) -> Placements<'_> {
    let mut sorted: Vec<&Activated> = outcome
        .activated
        .iter()
        .filter(|entry| !entry.content.is_empty())
        .collect();
    sorted.sort_by(|a, b| b.order.total_cmp(&a.order));
    sorted.reverse();
    let mut placed = Placements::default();
    for entry in sorted {
        placed.put(entry);
    }
    if profile == Profile::Compatible {
        placed.example_top.reverse();
        placed
            .outlets
            .values_mut()
            .for_each(|entries| entries.reverse());
    }
    placed
}

impl<'o> Placements<'o> {
    fn put(&mut self, entry: &'o Activated) {
        match &entry.place {
            EntryPosition::BeforeChar => self.before_char.push(entry),
            EntryPosition::AfterChar => self.after_char.push(entry),
            EntryPosition::NoteTop => self.note_top.push(entry),
            EntryPosition::NoteBottom => self.note_bottom.push(entry),
            EntryPosition::ExampleTop => self.example_top.push(entry),
            EntryPosition::ExampleBottom => self.example_bottom.push(entry),
            EntryPosition::Personality => self.personality.push(entry),
            EntryPosition::Scenario => self.scenario.push(entry),
            EntryPosition::Depth(depth) => at(&mut self.at_depth, *depth, entry),
            EntryPosition::FromStart(depth) => at(&mut self.from_start, *depth, entry),
            EntryPosition::Outlet(name) if !name.is_empty() => {
                self.outlets.entry(name.clone()).or_default().push(entry)
            }
            EntryPosition::Outlet(_) | EntryPosition::Nowhere => {}
        }
    }
}

fn at<'o>(list: &mut Vec<AtDepth<'o>>, depth: i64, entry: &'o Activated) {
    match list.binary_search_by_key(&(depth, entry.role), |group| (group.depth, group.role)) {
        Ok(found) => list[found].entries.push(entry),
        Err(place) => list.insert(
            place,
            AtDepth {
                depth,
                role: entry.role,
                entries: vec![entry],
            },
        ),
    }
}
