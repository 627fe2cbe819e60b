//! Backups and the trash, for the user interfaces.

use serde::{Deserialize, Serialize};
use specta::Type;
pub use store::BackupKind;

/// A verified copy of the database, with its pictures and files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Backup {
    pub file: String,
    pub taken: String,
    /// Size of the copy of the database.
    #[specta(type = u32)]
    pub bytes: u64,
    /// Number of pictures and files that belong to it; `null` in backups of earlier versions, which
    /// have none.
    pub pictures: Option<u32>,
    pub kind: BackupKind,
    /// It is in the second location, alone or as well.
    pub second: bool,
    /// It is of another data folder that has the same second location.
    pub foreign: bool,
    /// It was verified when it was written, and its size is still the same.
    pub checked: bool,
}

/// All backups and their state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Backups {
    /// Newest first, each listed once; data that was set aside comes last.
    pub backups: Vec<Backup>,
    pub folder: String,
    /// Bytes of all backups in the data folder.
    #[specta(type = u32)]
    pub size: u64,
    /// Maximum bytes of all backups.
    #[specta(type = u32)]
    pub budget: u64,
    pub second_place: Option<String>,
    pub second_place_missing: bool,
    /// Why the last backup failed, or why it is missing in the second location.
    pub failed: Option<String>,
    /// A restore will run at the next start.
    pub restore_pending: bool,
}

/// The changes that a restore would make.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct RestorePreview {
    pub characters: Difference,
    pub chats: Difference,
    /// Numbers only, without names.
    pub messages: Difference,
    /// Messages whose text is different in the backup.
    pub reworded: u32,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    pub gained: u32,
    pub lost: u32,
    /// The names of some of them.
    pub names_gained: Vec<String>,
    pub names_lost: Vec<String>,
}

/// The result of a restore.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Restored {
    pub backup: String,
    /// The place of the replaced data.
    pub aside: Option<String>,
    /// Newer backups that could not be used, each with the reason.
    pub skipped: Vec<String>,
    /// Number of pictures and files that no backup contains.
    pub missing: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum TrashKind {
    Chat,
    Character,
    Lorebook,
}

/// Identifies something in the trash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct TrashRef {
    pub kind: TrashKind,
    pub id: String,
}

/// Something that was deleted and can be restored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct TrashItem {
    pub kind: TrashKind,
    pub id: String,
    pub name: String,
    /// For a chat: the name of its character.
    pub with: Option<String>,
    pub messages: u32,
    pub deleted: String,
    /// When it will be deleted permanently.
    pub purged: String,
    /// Number of backups that contain it.
    pub backups: u32,
}

/// The result of a permanent deletion.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct DeletedForGood {
    pub things: u32,
    pub backups: u32,
    /// The second location is not available, and its backups may still contain the deleted things.
    pub second_place_missing: bool,
}
