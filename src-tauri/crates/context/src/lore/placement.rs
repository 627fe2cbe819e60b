//! Placement of the texts of active entries.

use std::collections::BTreeMap;

use domain::lorebook::{InsertionRole, Position};
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use super::{Activated, LoreOutcome, Profile};

/// The place of an entry. The first eight are SillyTavern's, the next three V3's (`@@position`,
/// `@@reverse_depth`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryPosition {
    BeforeChar,
    AfterChar,
    NoteTop,
    NoteBottom,
    /// Before the n-th message from the end; 0 is after the newest message.
    Depth(i64),
    ExampleTop,
    ExampleBottom,
    /// Not placed if the name is empty.
    Outlet(String),
    /// With the personality.
    Personality,
    /// With the scenario.
    Scenario,
    /// Before the n-th message from the start.
    FromStart(i64),
    /// The entry has no position.
    Nowhere,
}

impl EntryPosition {
    fn word(&self) -> Option<&'static str> {
        Some(match self {
            Self::BeforeChar => "before_char",
            Self::AfterChar => "after_char",
            Self::NoteTop => "note_top",
            Self::NoteBottom => "note_bottom",
            Self::Depth(_) => "at_depth",
            Self::ExampleTop => "example_top",
            Self::ExampleBottom => "example_bottom",
            Self::Outlet(_) => "outlet",
            Self::Personality => "personality",
            Self::Scenario => "scenario",
            Self::FromStart(_) => "from_start",
            Self::Nowhere => return None,
        })
    }

    pub(super) fn of(position: Option<Position>, depth: Option<i64>, outlet: &str) -> Self {
        match position {
            None => Self::Nowhere,
            Some(Position::BeforeChar) => Self::BeforeChar,
            Some(Position::AfterChar) => Self::AfterChar,
            Some(Position::NoteTop) => Self::NoteTop,
            Some(Position::NoteBottom) => Self::NoteBottom,
            Some(Position::AtDepth) => Self::Depth(depth.unwrap_or(4)),
            Some(Position::ExampleTop) => Self::ExampleTop,
            Some(Position::ExampleBottom) => Self::ExampleBottom,
            Some(Position::Outlet) => Self::Outlet(outlet.to_owned()),
        }
    }
}

/// Serialized as `position`, `depth` and `outlet`.
impl Serialize for EntryPosition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let depth = match self {
            Self::Depth(depth) | Self::FromStart(depth) => Some(*depth),
            _ => None,
        };
        let outlet = match self {
            Self::Outlet(name) => Some(name),
            _ => None,
        };
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("position", &self.word())?;
        map.serialize_entry("depth", &depth)?;
        map.serialize_entry("outlet", &outlet)?;
        map.end()
    }
}

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
