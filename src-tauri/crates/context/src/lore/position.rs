//! The place of an entry in the prompt.

use domain::lorebook::Position;
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

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
    pub(super) fn word(&self) -> Option<&'static str> {
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
