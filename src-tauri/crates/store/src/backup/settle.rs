//! Removes backups that contain forgotten items. What cannot be done now stays in the choices of the
//! backups, and every later backup tries it again.

use std::collections::HashSet;
use std::ffi::OsString;
use std::iter;
use std::path::{Path, PathBuf};

use domain::Timestamp;

use super::aside::set_aside_copies;
use super::backup_file::{BackupFile, BackupKind, BackupPlace, Settled};
use super::choices::BackupChoices;
use super::folder::Folder;
use super::holders::holds;
use super::list::{next_sequence, remove};
use super::owed::OwedRemoval;
use crate::{FolderKeys, ForgetTarget, StoreError};

/// Notes that the backups made so far must not contain `target` any more, here and in the second
/// place.
pub(crate) fn owe(
    dir: &Path,
    target: ForgetTarget,
    now: Timestamp,
    keys: Option<&FolderKeys>,
) -> Result<(), StoreError> {
    let mut choices = BackupChoices::read(dir);
    let sequence = next_sequence(dir, keys)?.saturating_sub(1);
    let second = choices.second_folder();
    let folders = iter::once(None).chain(second.map(Some));
    choices.owed.extend(folders.map(|folder| OwedRemoval {
        target,
        folder,
        sequence,
        forgotten: now,
    }));
    choices
        .write(dir)
        .map_err(|error| StoreError::file(error, dir, dir))
}

/// Whether a second place is there from which backups are to be removed.
pub(crate) fn can_settle(dir: &Path) -> bool {
    let owed = BackupChoices::read(dir).owed;
    owed.into_iter()
        .filter_map(|owed| owed.folder)
        .any(|folder| folder.is_dir())
}

/// Removes the backups that are to be removed, after a new one was made. `without_copy` is a second
/// place that has no copy of the new one, so that its backups stay.
pub(super) fn settle(
    dir: &Path,
    without_copy: Option<&Path>,
    keys: Option<&FolderKeys>,
) -> Settled {
    let mut settled = Settled::default();
    let mut choices = BackupChoices::read(dir);
    let folder = OwingFolder { dir, keys };
    if choices.owed.is_empty() {
        return settled;
    }
    let mut removed = HashSet::new();
    let owed = std::mem::take(&mut choices.owed);
    for one in owed {
        let is_away = one
            .folder
            .as_deref()
            .is_some_and(|folder| Some(folder) == without_copy || !folder.is_dir());
        let failures = settled.failed.len();
        if !is_away {
            let backups = folder.backups(&choices.origin, one.folder.as_deref());
            folder.remove_owed(backups, &one, &mut removed, &mut settled.failed);
        }
        if is_away || settled.failed.len() > failures {
            choices.owed.push(one);
        }
    }
    settled.removed = removed.len();
    if let Err(error) = choices.write(dir) {
        tracing::warn!(%error, "removed backups stay noted for removal");
    }
    settled
}

/// A data folder, and the keys of its backups.
#[derive(Clone, Copy)]
struct OwingFolder<'f> {
    dir: &'f Path,
    keys: Option<&'f FolderKeys>,
}

impl OwingFolder<'_> {
    /// The backups of one place. Databases that restores have set aside are in the data folder.
    fn backups(
        self,
        origin: &str,
        folder: Option<&Path>,
    ) -> Result<Vec<BackupFile>, (PathBuf, std::io::Error)> {
        let list = |folder: Folder, place| {
            let listed = folder.list(place, origin, self.keys);
            listed.map_err(|error| (folder.path, error))
        };
        let Some(folder) = folder else {
            let mut backups = list(Folder::home(self.dir), BackupPlace::Place)?;
            backups.extend(set_aside_copies(self.dir));
            return Ok(backups);
        };
        list(Folder::at(folder.to_owned()), BackupPlace::Second)
    }

    fn remove_owed(
        self,
        backups: Result<Vec<BackupFile>, (PathBuf, std::io::Error)>,
        owed: &OwedRemoval,
        removed: &mut HashSet<OsString>,
        failed: &mut Vec<(PathBuf, String)>,
    ) {
        let backups = match backups {
            Ok(backups) => backups,
            Err((folder, error)) => return failed.push((folder, error.to_string())),
        };
        let made_before = backups
            .into_iter()
            .filter(|backup| backup.own && owed.concerns(backup));
        for backup in made_before {
            if !holds(&backup.path, owed.target, self.keys) {
                continue;
            }
            match remove(self.dir, &backup, self.keys) {
                Ok(()) => {
                    removed.insert(name(&backup));
                }
                Err(error) => failed.push((backup.path, error.to_string())),
            }
        }
    }
}

/// A backup and its copy have the same file name. Databases that were set aside have no copy.
fn name(backup: &BackupFile) -> OsString {
    match backup.kind {
        BackupKind::SetAside => backup.path.clone().into_os_string(),
        _ => backup.path.file_name().unwrap_or_default().to_owned(),
    }
}
