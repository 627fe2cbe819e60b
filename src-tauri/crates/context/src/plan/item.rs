//! An item: a candidate during planning.

use std::borrow::Cow;

use domain::MessageId;
use domain::prompt::PromptRole;

use super::{Dropped, PlannedBlock};
use crate::frame::{BlockKind, Candidate, InsertionPoint, Placed, Priority, Signal, Source, Zone};
use crate::frozen::FrozenBlock;
use crate::reason::{BlockReason, Reasons};
use crate::wording;

/// A candidate for the digest, for a context block, or for a place of its own.
#[derive(Debug, Clone)]
pub(crate) struct Item<'a> {
    pub(crate) kind: BlockKind,
    pub(crate) source: Cow<'a, Source>,
    pub(crate) reasons: Cow<'a, Reasons>,
    pub(crate) heading: &'a str,
    pub(crate) title: &'a str,
    pub(crate) text: &'a str,
    /// See [`Candidate::written`].
    pub(crate) written: Option<&'a str>,
    pub(crate) score: Option<f32>,
    /// See [`Candidate::signals`].
    pub(crate) signals: &'a [Signal],
    pub(crate) about: &'a [MessageId],
    /// See [`Candidate::said_by`].
    pub(crate) said_by: &'a [(Source, String)],
    /// Position outside the context block: place, role of the message, and order.
    pub(crate) place: Option<(InsertionPoint, PromptRole, i32)>,
    /// Depth, injection order, role and order of a text that is written for a depth, also in the
    /// context block.
    pub(crate) at_depth: Option<(u32, i32, PromptRole, i32)>,
    pub(crate) tokens: u32,
    pub(crate) dropped: Option<Dropped>,
    /// False if another row includes it in its count.
    pub(crate) listed: bool,
}

impl<'a> From<&'a Candidate> for Item<'a> {
    fn from(candidate: &'a Candidate) -> Self {
        Self {
            kind: candidate.kind,
            source: Cow::Borrowed(&candidate.source),
            reasons: Cow::Borrowed(&candidate.reasons),
            heading: candidate.heading.trim(),
            title: candidate.title.trim(),
            text: candidate.text.trim(),
            written: candidate.written.as_deref(),
            score: Some(candidate.score),
            signals: &candidate.signals,
            about: &candidate.about,
            said_by: &candidate.said_by,
            place: None,
            at_depth: None,
            tokens: 0,
            dropped: None,
            listed: true,
        }
    }
}

impl<'a> From<&'a FrozenBlock> for Item<'a> {
    fn from(block: &'a FrozenBlock) -> Self {
        Self {
            kind: block.kind,
            source: Cow::Borrowed(&block.source),
            reasons: Cow::Borrowed(&block.reasons),
            heading: &block.heading,
            title: &block.title,
            text: &block.text,
            written: block.written.as_deref(),
            score: None,
            signals: &[],
            about: &[],
            said_by: &[],
            place: None,
            at_depth: None,
            tokens: 0,
            dropped: None,
            listed: true,
        }
    }
}

impl<'a> Item<'a> {
    pub(crate) fn placed(placed: &'a Placed) -> Self {
        Self {
            place: Some((placed.place, placed.role, placed.order)),
            ..Self::of_depth(placed)
        }
    }

    /// A placed text as a line of the context block.
    pub(crate) fn of_depth(placed: &'a Placed) -> Self {
        let at_depth = match placed.place {
            InsertionPoint::Depth(depth) => {
                Some((depth, placed.injection_order, placed.role, placed.order))
            }
            _ => None,
        };
        Self {
            at_depth,
            ..Self::from(&placed.candidate)
        }
    }

    /// A row for `count` candidates that do not fit.
    pub(crate) fn others(kind: BlockKind, count: usize) -> Self {
        Self {
            kind,
            source: Cow::Owned(Source::Others { count }),
            reasons: Cow::Owned(BlockReason::FoundWithLowerScores.into()),
            heading: "",
            title: "",
            text: "",
            written: None,
            score: None,
            signals: &[],
            about: &[],
            said_by: &[],
            place: None,
            at_depth: None,
            tokens: 0,
            dropped: Some(Dropped::NoRoom),
            listed: true,
        }
    }

    pub(crate) fn kept(&self) -> bool {
        self.dropped.is_none()
    }

    /// Heading of its group; `None` for a single line.
    pub(crate) fn above(&self) -> Option<&'a str> {
        wording::above(self.heading, self.kind)
    }

    /// True if the item is chosen by score. Other items are required lines.
    pub(crate) fn retrieved(&self) -> bool {
        self.kind.share().is_some()
    }

    /// The message that it repeats verbatim.
    pub(crate) fn repeats(&self) -> Option<MessageId> {
        match (self.kind, &*self.source) {
            (BlockKind::Excerpt | BlockKind::Pinned, Source::Message { id, .. }) => Some(*id),
            _ => None,
        }
    }

    pub(crate) fn freeze(&self) -> FrozenBlock {
        FrozenBlock {
            kind: self.kind,
            source: self.source.clone().into_owned(),
            reasons: self.reasons.clone().into_owned(),
            heading: self.heading.to_owned(),
            title: self.title.to_owned(),
            text: self.text.to_owned(),
            written: self.written.map(str::to_owned),
        }
    }

    /// Report row for the manifest. Compiling adds turn, segment and the text as sent to kept
    /// items.
    pub(crate) fn report(
        &self,
        zone: Zone,
        role: PromptRole,
        message: Option<MessageId>,
    ) -> PlannedBlock {
        PlannedBlock {
            zone,
            kind: self.kind,
            source: self.source.clone().into_owned(),
            reasons: self.reasons.clone().into_owned(),
            priority: match zone {
                _ if !self.retrieved() => Priority::Must,
                Zone::Digest => Priority::High,
                _ => Priority::Trimmable,
            },
            role,
            message,
            turn: None,
            segment: None,
            score: self.score,
            signals: self.signals.to_vec(),
            tokens: self.tokens,
            dropped: self.dropped,
            text: self.text.to_owned(),
            own: None,
            written: self.written.map(str::to_owned),
        }
    }
}
