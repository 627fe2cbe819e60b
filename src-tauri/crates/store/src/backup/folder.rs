//! One folder of backups: lists, copies and prunes them.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use domain::Timestamp;

use super::backup_file::{BackupFile, BackupKind, BackupPlace};
use super::content::assets_of;
use super::ladder::{BackupCost, Rung, ladder, within};
use super::manifest::{self, Manifest};
use super::pool;
use crate::asset_folder::AssetFolder;
use crate::encryption::cipher::FileForm;
use crate::{FolderKeys, files};

const PREFIX: &str = "inglenook-";
/// Number of characters of the origin in a file name.
const ORIGIN: usize = 8;
const TIME: &str = "%Y%m%dT%H%M%S%.3fZ";

pub(crate) struct Folder {
    pub(crate) path: PathBuf,
}

impl Folder {
    pub(crate) fn home(dir: &Path) -> Self {
        Self {
            path: dir.join(files::BACKUPS),
        }
    }

    pub(crate) fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// Lists the backups, unsorted. Every backup in the data folder is its own; elsewhere the
    /// origin must match.
    pub(crate) fn list(
        &self,
        place: BackupPlace,
        origin: &str,
        keys: Option<&FolderKeys>,
    ) -> io::Result<Vec<BackupFile>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            let path = entry?.path();
            let Some(taken) = taken(&path) else { continue };
            // A backup may be removed while the list is read.
            let Ok(bytes) = fs::metadata(&path).map(|file| file.len()) else {
                continue;
            };
            let manifest = Manifest::read(&path, keys);
            found.push(BackupFile {
                taken,
                bytes,
                pictures: manifest.as_ref().map(|manifest| manifest.assets.len()),
                kind: manifest
                    .as_ref()
                    .map_or(BackupKind::Automatic, |manifest| manifest.kind),
                place,
                checked: manifest
                    .as_ref()
                    .is_some_and(|manifest| manifest.bytes == bytes),
                own: place == BackupPlace::Place
                    || manifest
                        .as_ref()
                        .is_some_and(|manifest| manifest.origin == origin),
                // Backups of earlier versions have no manifest. They are older than all backups
                // with one.
                sequence: manifest.map_or(0, |manifest| manifest.sequence),
                path,
            });
        }
        Ok(found)
    }

    /// An unused file name for a copy taken `now`. Names can collide when two copies are made in
    /// one millisecond or the clock was set back. The name includes the origin, because several
    /// data folders may share a second place.
    pub(crate) fn free_path(&self, now: Timestamp, origin: &str) -> PathBuf {
        let origin: String = origin.chars().take(ORIGIN).collect();
        let named = |time: i64| {
            self.path
                .join(format!("{PREFIX}{}-{origin}.db", utc(Timestamp(time))))
        };
        (now.0..)
            .map(named)
            .find(|path| !path.exists())
            .unwrap_or_else(|| named(now.0))
    }

    /// Removes backups beyond the retention schedule or the budget, then files that no backup
    /// names. In a shared place, only backups of this origin are removed.
    pub(crate) fn prune(
        &self,
        budget: u64,
        origin: Option<&str>,
        keys: Option<&FolderKeys>,
    ) -> io::Result<()> {
        let place = origin.map_or(BackupPlace::Place, |_| BackupPlace::Second);
        let mut all = self.list(place, origin.unwrap_or_default(), keys)?;
        all.retain(|backup| backup.own);
        let rungs: Vec<_> = all.iter().map(|backup| rung(backup, &all)).collect();
        let on_ladder = ladder(&rungs);
        let costs: Vec<_> = all
            .iter()
            .zip(&rungs)
            .filter(|(_, rung)| on_ladder.contains(&rung.sequence))
            .map(|(backup, rung)| cost(backup, rung, keys))
            .collect();
        let kept = within(budget, &costs);
        for (backup, _) in all
            .iter()
            .zip(&rungs)
            .filter(|(_, rung)| !kept.contains(&rung.sequence))
        {
            self.remove(&backup.path)?;
        }
        self.sweep(place, keys)
    }

    /// Copies a verified backup and the files it names from `home`.
    pub(crate) fn take_over(
        &self,
        backup: &Path,
        manifest: &Manifest,
        home: &Folder,
        budget: u64,
        keys: Option<&FolderKeys>,
    ) -> io::Result<()> {
        if !self.path.is_dir() {
            return Err(io::Error::other(format!(
                "the folder {} is missing",
                self.path.display()
            )));
        }
        let name = backup.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let path = self.path.join(name);
        let mut partial = files::partial(&self.path)?;
        io::copy(&mut fs::File::open(backup)?, &mut partial)?;
        partial.as_file().sync_all()?;
        if manifest::sha256(partial.path())? != manifest.sha256 {
            return Err(io::Error::other("the copy differs from the original"));
        }
        pool::fill(&self.pool(keys), &manifest.assets, &[home.pool(keys)])?;
        manifest.write(&path, keys)?;
        files::keep(partial, &path)?;
        self.prune(budget, Some(&manifest.origin), keys)
    }

    /// The files that the backups name.
    pub(crate) fn pool<'k>(&self, keys: Option<&'k FolderKeys>) -> AssetFolder<'k> {
        AssetFolder::assets(&self.path, keys)
    }

    pub(crate) fn remove(&self, backup: &Path) -> io::Result<()> {
        fs::remove_file(backup)?;
        files::remove(&Manifest::path(backup))
    }

    /// Removes manifests without a backup, and files that no backup names. Removes no files if
    /// those of any backup are unknown. A protected folder may share its second place with others
    /// that have their own keys: their backups name none of the files that our keys open.
    pub(crate) fn sweep(&self, place: BackupPlace, keys: Option<&FolderKeys>) -> io::Result<()> {
        files::sweep(&self.path)?;
        self.remove_lone_manifests()?;
        let keys_of_shared = keys.filter(|_| place == BackupPlace::Second);
        let mut only = None;
        let mut named = HashSet::new();
        for backup in self.list(BackupPlace::Place, "", keys)? {
            match assets_of(&backup.path, keys) {
                Some(assets) => named.extend(assets.into_iter().map(|(hash, _)| hash)),
                None if keys_of_shared.is_some() && is_encrypted(&backup.path) => {
                    only = keys_of_shared;
                }
                None => return Ok(()),
            }
        }
        pool::sweep(&self.pool(keys), &named, only)
    }

    /// Removes manifests without a backup.
    pub(super) fn remove_lone_manifests(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.path)? {
            let path = entry?.path();
            let is_manifest = path.extension().is_some_and(|end| end == "json")
                && taken(&path.with_extension("db")).is_some();
            if is_manifest && !path.with_extension("db").exists() {
                fs::remove_file(path)?;
            }
        }
        Ok(())
    }

    pub(crate) fn size(&self) -> u64 {
        let copies = self.list(BackupPlace::Place, "", None).unwrap_or_default();
        copies.iter().map(|backup| backup.bytes).sum::<u64>() + pool::size(self.pool(None).path())
    }
}

/// Removes leftovers of a killed process from the backups of a data folder.
pub(crate) fn clean(dir: &Path) -> io::Result<()> {
    files::sweep(&Folder::home(dir).path)
}

fn is_encrypted(backup: &Path) -> bool {
    matches!(FileForm::of(backup), Ok(FileForm::Encrypted))
}

/// Orders copies without a manifest by time, before all others.
fn rung(backup: &BackupFile, all: &[BackupFile]) -> Rung {
    let older = || {
        all.iter()
            .filter(|other| other.sequence == 0 && other.taken < backup.taken)
            .count() as u64
    };
    let unnumbered = all.iter().filter(|other| other.sequence == 0).count() as u64;
    let sequence = if backup.sequence == 0 {
        older()
    } else {
        unnumbered + backup.sequence
    };
    Rung {
        sequence,
        taken: backup.taken,
        kind: backup.kind,
    }
}

fn cost(backup: &BackupFile, rung: &Rung, keys: Option<&FolderKeys>) -> BackupCost {
    BackupCost {
        sequence: rung.sequence,
        bytes: backup.bytes,
        assets: assets_of(&backup.path, keys).unwrap_or_default(),
    }
}

pub(super) fn utc(time: Timestamp) -> String {
    jiff::Timestamp::from_millisecond(time.0)
        .unwrap_or_default()
        .strftime(TIME)
        .to_string()
}

/// The time in the name of a backup; `None` for any other file.
fn taken(path: &Path) -> Option<Timestamp> {
    let text = path
        .file_name()?
        .to_str()?
        .strip_prefix(PREFIX)?
        .strip_suffix(".db")?;
    // Earlier versions wrote no data folder into the name.
    parse_utc(text.split_once('-').map_or(text, |(time, _)| time))
}

pub(super) fn parse_utc(text: &str) -> Option<Timestamp> {
    let time = jiff::civil::DateTime::strptime("%Y%m%dT%H%M%S%.fZ", text).ok()?;
    let time = time.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp();
    Some(Timestamp(time.as_millisecond()))
}
