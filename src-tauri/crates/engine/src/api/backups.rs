//! Backups and the trash, as the faces show them.

use serde::{Deserialize, Serialize};
use specta::Type;

/// A verified copy of the database, with its pictures and files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Backup {
    pub file: String,
    pub taken: String,
    /// Of the copy of the database.
    #[specta(type = u32)]
    pub bytes: u64,
    /// How many pictures and files belong to it; `null` in copies of earlier versions, which have none.
    pub pictures: Option<u32>,
    pub kind: BackupKind,
    /// It is in the second place, or there too.
    pub second: bool,
    /// Another data folder's, in the second place that both use.
    pub foreign: bool,
    /// It was checked when it was written, and has the size it had then.
    pub checked: bool,
}

/// Why a backup was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum BackupKind {
    Automatic,
    ByHand,
    Upgrade,
    Imported,
    /// The data that a restore replaced.
    SetAside,
}

/// All backups, and what is known of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Backups {
    /// Newest first, each once; set-aside data comes last.
    pub backups: Vec<Backup>,
    pub folder: String,
    /// Bytes of all backups in the data folder.
    #[specta(type = u32)]
    pub size: u64,
    /// Bytes that they may take.
    #[specta(type = u32)]
    pub budget: u64,
    pub second_place: Option<String>,
    pub second_place_missing: bool,
    /// Why the last backup failed, or did not reach the second place.
    pub failed: Option<String>,
    /// A restore waits for the next start.
    pub restore_pending: bool,
}

/// What a restore would bring back and take away.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct RestorePreview {
    pub characters: Difference,
    pub chats: Difference,
    /// Without names.
    pub messages: Difference,
    /// Messages that have other words in the backup.
    pub reworded: u32,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    pub gained: u32,
    pub lost: u32,
    /// Some of their names.
    pub names_gained: Vec<String>,
    pub names_lost: Vec<String>,
}

/// What a restore did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Restored {
    pub backup: String,
    /// Where the data that it replaced is.
    pub aside: Option<String>,
    /// Newer backups that could not be used, each with the reason.
    pub skipped: Vec<String>,
    /// Pictures and files that were in no backup.
    pub missing: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum TrashKind {
    Chat,
    Character,
    Lorebook,
}

/// Names something in the trash.
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
    /// Of a chat: whom it is with.
    pub with: Option<String>,
    pub messages: u32,
    pub deleted: String,
    /// When it leaves the trash by itself.
    pub purged: String,
    /// How many backups hold it.
    pub backups: u32,
}

/// What a deletion for good did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct DeletedForGood {
    pub things: u32,
    pub backups: u32,
    /// The second place is not there: its backups may still hold them.
    pub second_place_missing: bool,
}
