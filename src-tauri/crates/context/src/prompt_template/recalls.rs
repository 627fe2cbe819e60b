//! Where a template tells of memories and lore, which are sent as blocks, and of which.

use super::resolve::ResolvedSection;
use super::schema::{Placement, SectionKind};
use crate::frame::BlockKind;
use crate::wording;

/// The variables that change with what a turn recalls, and with what it answers.
pub(super) const VARIABLES: [&str; 7] = [
    "memory.relationship",
    "memory.facts",
    "memory.lastSession",
    "memory.count",
    "memory.context",
    "user.question",
    "user.citations",
];

/// The variables that stand for entries of lorebooks, each of which is a block.
pub(super) const LORE: [&str; 2] = ["lore.before", "lore.after"];

/// The memories that a template has a place for. The engine sends each as a block of its own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Recalls {
    pub relationship: bool,
    pub facts: bool,
    pub last_session: bool,
}

impl Recalls {
    const ALL: Self = Self { relationship: true, facts: true, last_session: true };

    /// What a section that is there names. One for memories that names none is for all.
    pub(super) fn of(kind: SectionKind, variables: &[String]) -> Self {
        let named = variables.iter().map(|name| Self::named(name)).fold(Self::default(), Self::and);
        if kind == SectionKind::Memory && named == Self::default() { Self::ALL } else { named }
    }

    /// Whether there is a place for a block. What was said in this chat, or is attached to it, is no
    /// memory, and has one always.
    pub fn have_place(self, kind: BlockKind) -> bool {
        match kind {
            BlockKind::Relationship => self.relationship,
            BlockKind::Fact | BlockKind::Memory => self.facts,
            BlockKind::LastSession => self.last_session,
            _ => true,
        }
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self {
            relationship: self.relationship || other.relationship,
            facts: self.facts || other.facts,
            last_session: self.last_session || other.last_session,
        }
    }

    fn named(variable: &str) -> Self {
        match variable {
            "memory.context" => Self::ALL,
            "memory.relationship" => Self { relationship: true, ..Self::default() },
            "memory.facts" => Self { facts: true, ..Self::default() },
            "memory.lastSession" => Self { last_session: true, ..Self::default() },
            _ => Self::default(),
        }
    }
}

/// What a section for memories or documents writes above them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// `{{macros}}` are still there.
    pub text: String,
    kind: SectionKind,
    named: Recalls,
}

impl Heading {
    pub(super) fn new(text: String, kind: SectionKind, named: Recalls) -> Self {
        Self { text, kind, named }
    }

    /// The heading of a group, `text` being this one's in words; `None` if the group is not of this section. Above all the
    /// memories it heads them together, and each group keeps its own (S4.57).
    pub fn of(&self, kind: BlockKind, text: &str) -> Option<String> {
        let covers = match kind {
            BlockKind::Document => self.kind == SectionKind::Citations,
            BlockKind::Relationship | BlockKind::Fact | BlockKind::Memory | BlockKind::LastSession => {
                self.kind == SectionKind::Memory && self.named.have_place(kind)
            }
            _ => false,
        };
        let own = wording::heading(kind).filter(|_| self.kind == SectionKind::Memory && self.named == Recalls::ALL);
        covers.then(|| own.map_or_else(|| text.to_owned(), |own| format!("{text}\n{own}")))
    }
}

/// Whether [`VARIABLES`] have a value in a section: not where they would stand in the head.
pub(super) fn may_be_told(section: &ResolvedSection) -> bool {
    matches!(section.kind, SectionKind::Memory | SectionKind::Citations) || !stands_in_head(section.placement)
}

/// Whether `lore.*` has a value in a section of that kind.
pub(super) fn may_hold_lore(kind: SectionKind) -> bool {
    matches!(kind, SectionKind::LoreBefore | SectionKind::LoreAfter)
}

/// The end of the prompt is part of the head, too, unless placement is classic.
pub(super) fn stands_in_head(placement: Placement) -> bool {
    matches!(placement, Placement::Head | Placement::AfterHistory)
}
