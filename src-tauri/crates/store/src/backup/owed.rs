//! A removal from backups that is still to be done, because a second place is away or a file could
//! not be removed.

use std::path::PathBuf;

use domain::Timestamp;
use serde::{Deserialize, Serialize};

use super::backup_file::{BackupFile, BackupKind};
use crate::ForgetTarget;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OwedRemoval {
    pub(super) target: ForgetTarget,
    /// The folder of the copies in a second place; `None` for the backups of the data folder.
    pub(super) folder: Option<PathBuf>,
    /// Sequence number of the newest backup that may contain it.
    pub(super) sequence: u64,
    /// When it was forgotten.
    pub(super) forgotten: Timestamp,
}

impl OwedRemoval {
    /// Whether a backup was made before. A later one may contain new messages of the same days.
    pub(super) fn concerns(&self, backup: &BackupFile) -> bool {
        let is_numbered = backup.kind != BackupKind::SetAside;
        (is_numbered && backup.sequence <= self.sequence) || backup.taken < self.forgotten
    }
}
