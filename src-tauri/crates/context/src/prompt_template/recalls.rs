//! Decides which memories, documents and lore a template includes; they are sent as blocks.

use super::resolved::ResolvedSection;
use super::schema::{SectionKind, SectionPlacement};
use crate::frame::BlockKind;
use crate::wording;

/// Variables that change with the retrieved content and the message of a turn.
pub(super) const VARIABLES: [&str; 7] = [
    "memory.relationship",
    "memory.facts",
    "memory.lastSession",
    "memory.count",
    "memory.context",
    "user.question",
    "user.citations",
];

/// Variables for lorebook entries, each of which is a block.
pub(super) const LORE: [&str; 2] = ["lore.before", "lore.after"];

/// The kinds of memories that a template includes. The engine sends each memory as a block.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Recalls {
    pub relationship: bool,
    pub facts: bool,
    pub last_session: bool,
}

impl Recalls {
    const ALL: Self = Self {
        relationship: true,
        facts: true,
        last_session: true,
    };

    /// The kinds that a present section names. A memory section that names none includes all.
    pub(super) fn of(kind: SectionKind, variables: &[String]) -> Self {
        let named = variables
            .iter()
            .map(|name| Self::named(name))
            .fold(Self::default(), Self::and);
        if kind == SectionKind::Memory && named == Self::default() {
            Self::ALL
        } else {
            named
        }
    }

    /// True if the template includes blocks of this kind. Content of this chat and its attachments
    /// is no memory and is always included.
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
            "memory.relationship" => Self {
                relationship: true,
                ..Self::default()
            },
            "memory.facts" => Self {
                facts: true,
                ..Self::default()
            },
            "memory.lastSession" => Self {
                last_session: true,
                ..Self::default()
            },
            _ => Self::default(),
        }
    }
}

/// The heading that a section writes above memories or documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// `{{macros}}` are not resolved yet.
    pub text: String,
    kind: SectionKind,
    named: Recalls,
}

impl Heading {
    pub(super) fn new(text: String, kind: SectionKind, named: Recalls) -> Self {
        Self { text, kind, named }
    }

    /// The heading of a group, where `text` is this heading with macros resolved; `None` if the
    /// section does not cover the group. A heading for all memories is a shared first line above
    /// the default heading of each group.
    pub fn of(&self, kind: BlockKind, text: &str) -> Option<String> {
        let covers = match kind {
            BlockKind::Document => self.kind == SectionKind::Citations,
            BlockKind::Relationship
            | BlockKind::Fact
            | BlockKind::Memory
            | BlockKind::LastSession => {
                self.kind == SectionKind::Memory && self.named.have_place(kind)
            }
            _ => false,
        };
        let own = wording::heading(kind)
            .filter(|_| self.kind == SectionKind::Memory && self.named == Recalls::ALL);
        covers.then(|| own.map_or_else(|| text.to_owned(), |own| format!("{text}\n{own}")))
    }
}

/// True if [`VARIABLES`] have a value in the section, which excludes sections in the head.
pub(super) fn may_be_told(section: &ResolvedSection) -> bool {
    matches!(section.kind, SectionKind::Memory | SectionKind::Citations)
        || !stands_in_head(section.placement)
}

/// True if `lore.*` variables have a value in sections of that kind.
pub(super) fn may_hold_lore(kind: SectionKind) -> bool {
    matches!(kind, SectionKind::LoreBefore | SectionKind::LoreAfter)
}

/// Whether the section is in the head by default. A section after the history is in the head too,
/// unless the placement setting is `classic`.
pub(super) fn stands_in_head(placement: SectionPlacement) -> bool {
    matches!(
        placement,
        SectionPlacement::Head | SectionPlacement::AfterHistory
    )
}
