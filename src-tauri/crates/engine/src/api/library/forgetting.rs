//! Forgetting everything about a character, a persona or a span of days.

use domain::{CharacterId, PersonaId};
use serde::{Deserialize, Serialize};
use specta::Type;
pub use store::ForgetCounts;

/// A subject that a user wants to forget.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum ForgetSubject {
    Character {
        id: CharacterId,
    },
    Persona {
        id: PersonaId,
    },
    /// The days from `first` to `last` on the user's calendar, such as `2026-01-31`. Both are
    /// included.
    Days {
        first: String,
        last: String,
    },
}

/// The items that would be removed. Nothing has changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ForgetPreview {
    pub removed: ForgetCounts,
    /// Number of backups that contain it or cannot be read.
    pub backups: u32,
    /// The second location is not available, and its backups may contain it too.
    pub second_place_missing: bool,
}

/// The items that were removed, and those that could not be.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ForgetReport {
    pub removed: ForgetCounts,
    /// Number of backups that were removed.
    pub backups: u32,
    pub left: Vec<ForgetRemainder>,
}

/// Something that was not removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ForgetRemainder {
    pub kind: RemainderKind,
    pub count: u32,
    /// The file and the reason, for people; empty if the kind says all.
    pub detail: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum RemainderKind {
    /// Backups that the user wanted to keep.
    BackupsKept,
    /// No new backup could be made, so no old one was removed. The next backup does it.
    BackupFailed,
    /// It could not be noted which backups must go, so none of them is removed.
    BackupsUnnoted,
    /// A backup could not be removed. The next backup tries it again.
    BackupLeft,
    /// Backups of other data folders in the second location.
    ForeignBackups,
    /// The second location is away. Its backups are removed when it is back.
    SecondPlaceAway,
    /// The second location is away, and its backups stay, because the user wanted to keep backups.
    SecondPlaceKept,
    /// The database file could not be rebuilt, so it may contain traces. It is tried again while
    /// the app is idle.
    Traces,
    /// Files of pictures could not be deleted. The next start tries it again.
    Files,
    /// A saved cache of a model could not be deleted. The next start tries it again.
    Caches,
}
