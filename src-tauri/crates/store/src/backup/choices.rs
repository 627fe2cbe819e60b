//! Backup settings. They are stored next to the backups, not in the database. They survive the loss
//! of the database, and a restore does not change them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use domain::Timestamp;
use serde::{Deserialize, Serialize};

use super::owed::OwedRemoval;
use crate::{AssetHash, StoreError, files};

const FILE: &str = "choices.json";
/// Our folder inside the folder the user chose. Its presence shows that the right disk is mounted.
const OURS: &str = "Inglenook backups";
const BUDGET: u64 = 4_000_000_000;

/// The size limit of backups, and their second place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BackupChoices {
    /// Maximum bytes in each place. The newest backup is kept even if it is larger.
    pub budget: u64,
    /// A folder that gets a copy of every backup.
    pub second: Option<PathBuf>,
    /// Identifies this data folder in the second place, which others may share. Empty until the
    /// first backup.
    pub(crate) origin: String,
    /// Backups that are to be removed, because they contain something that was forgotten.
    pub(crate) owed: Vec<OwedRemoval>,
}

impl Default for BackupChoices {
    fn default() -> Self {
        Self {
            budget: BUDGET,
            second: None,
            origin: String::new(),
            owed: Vec::new(),
        }
    }
}

impl BackupChoices {
    /// Returns the defaults if the file is missing or unreadable.
    pub(crate) fn read(dir: &Path) -> Self {
        let json = fs::read(file(dir)).ok();
        json.and_then(|json| serde_json::from_slice(&json).ok())
            .unwrap_or_default()
    }

    pub(crate) fn write(&self, dir: &Path) -> io::Result<()> {
        let json = serde_json::to_vec_pretty(self).map_err(io::Error::other)?;
        files::write(&file(dir), &json)
    }

    /// Like [`Self::read`], and assigns the data folder a unique name if it has none.
    pub(crate) fn named(dir: &Path, now: Timestamp) -> io::Result<Self> {
        let mut choices = Self::read(dir);
        if choices.origin.is_empty() {
            let place = format!("{} {}", std::path::absolute(dir)?.display(), now.0);
            choices.origin = AssetHash::of(place.as_bytes()).to_string();
            choices.write(dir)?;
        }
        Ok(choices)
    }

    /// The folder of the copies in the second place.
    pub(crate) fn second_folder(&self) -> Option<PathBuf> {
        self.second.as_ref().map(|chosen| chosen.join(OURS))
    }

    /// Whether the second place is available. True if none is set.
    pub fn second_is_there(&self) -> bool {
        self.second_folder().is_none_or(|folder| folder.is_dir())
    }

    /// Number of forgotten items that backups in a second place may still contain.
    pub fn owed_in_second(&self) -> usize {
        let in_second = |owed: &&OwedRemoval| owed.folder.is_some();
        self.owed.iter().filter(in_second).count()
    }
}

/// Stores the settings, and creates our folder in a new second place.
pub(crate) fn choose(dir: &Path, choices: &BackupChoices) -> Result<(), StoreError> {
    if let Some(folder) = choices.second_folder() {
        files::make_private_folder(&folder)
            .map_err(|error| StoreError::file(error, &folder, &folder))?;
    }
    let BackupChoices { origin, owed, .. } = BackupChoices::read(dir);
    BackupChoices {
        origin,
        owed,
        ..choices.clone()
    }
    .write(dir)
    .map_err(|error| StoreError::file(error, dir, dir))
}

fn file(dir: &Path) -> PathBuf {
    dir.join(files::BACKUPS).join(FILE)
}
