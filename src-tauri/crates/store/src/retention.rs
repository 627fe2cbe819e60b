//! The arguments of a purge: the times before which deleted items are removed, and how quoted text
//! is removed from manifests.

use domain::Timestamp;

/// A purge removes items that were deleted at or before these times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Before {
    /// Chats, characters and lorebooks, and the texts that edits replaced.
    pub trash: Timestamp,
    /// Messages, memories, documents.
    pub rest: Timestamp,
    /// Assets without references since this time. Assets of purged items are removed in any case.
    pub assets: Timestamp,
}

impl Before {
    /// The deletion time of items that must be purged now
    /// ([`TrashMut::mark_for_purge`](crate::TrashMut::mark_for_purge)).
    pub(crate) const CONDEMNED: Timestamp = Timestamp(i64::MIN);
    /// Purges only condemned items.
    pub const ONLY_CONDEMNED: Self = Self::all(Self::CONDEMNED);

    /// Purges everything that was deleted until now. Unreferenced assets stay, because they may be
    /// about to be used.
    pub const fn everything_deleted(now: Timestamp) -> Self {
        Self {
            trash: now,
            rest: now,
            assets: Self::CONDEMNED,
        }
    }

    pub const fn all(time: Timestamp) -> Self {
        Self {
            trash: time,
            rest: time,
            assets: time,
        }
    }
}

/// Removes all quoted text from a manifest's JSON; `None` if there is none.
pub type RedactManifest = fn(&str) -> Option<String>;
