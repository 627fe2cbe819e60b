//! Verified copies of the database: made, listed, put back, checked. Pictures and imported files are not in them; they stay
//! in their folder.

use std::path::{Path, PathBuf};

use store::{AssetHash, BackupFile, Store};

use crate::Engine;
use crate::api::{Backup, Health};
use crate::clock::rfc3339;
use crate::engine::Options;
use crate::error::{Answer, internal};
use crate::health::{check, report};
use crate::start::{OpenError, blocking, explain};

/// Missing files that a report names.
const NAMED: usize = 5;

impl Engine {
    /// Makes a backup, opened and checked before it counts, and lets go of the oldest beyond those that are kept.
    pub async fn backup(&self) -> Answer<Backup> {
        let path = self.store().backup(self.now()).await?;
        let made = self.backups_here().await?.into_iter().find(|backup| backup.path == path);
        made.map(shown).ok_or_else(|| internal("a backup is gone as soon as it was made"))
    }

    /// Newest first.
    pub async fn list_backups(&self) -> Answer<Vec<Backup>> {
        Ok(self.backups_here().await?.into_iter().map(shown).collect())
    }

    /// Reads everything that is kept: the database, the files that it names, the backups.
    pub async fn check_data(&self) -> Answer<Health> {
        let database = self.store().check().await.map(|()| "checked, whole".to_owned());
        let mut checks = vec![check("database", database.map_err(|error| error.to_string()))];
        checks.push(check("files", self.files_check().await));
        for backup in self.backups_here().await? {
            let name = format!("backup of {}", rfc3339(backup.taken));
            let found = tokio::task::spawn_blocking(move || Store::check_backup(&backup.path)).await;
            let found = found.map_err(|_| internal("a backup could not be read"))?;
            checks.push(check(&name, found.map(|()| "checked, whole".to_owned()).map_err(|error| error.to_string())));
        }
        Ok(report(checks))
    }

    /// Puts a backup in the place of the database, which is set aside. Returns where that went, if there was one. Without a
    /// file the newest of the folder's own backups is taken. The engine must be closed.
    ///
    /// # Errors
    /// If there is no backup, it is damaged, it is of a newer version, or the folder cannot be written.
    pub async fn restore(options: &Options, file: Option<&Path>) -> Result<Option<PathBuf>, OpenError> {
        let Some(file) = file else { return Self::restore_newest(options).await };
        let (dir, backup, now) = (options.data_dir.clone(), file.to_owned(), options.clock.now());
        blocking(move || Store::restore(&dir, &backup, now)).await.map_err(explain)
    }

    async fn backups_here(&self) -> Answer<Vec<BackupFile>> {
        let dir = self.store().dir().to_owned();
        let listed = tokio::task::spawn_blocking(move || Store::backups(&dir)).await;
        Ok(listed.map_err(|_| internal("the backups could not be listed"))??)
    }

    /// Every file that the database names is there, with the content whose hash is its name.
    async fn files_check(&self) -> Result<String, String> {
        let named = self.store().read(|store| {
            let all = store.assets().all()?;
            Ok(all.iter().map(|asset| (asset.hash, store.assets().path(asset.hash))).collect::<Vec<_>>())
        });
        let named = named.await.map_err(|error| error.to_string())?;
        let count = named.len();
        let changed = |(hash, path): &(AssetHash, PathBuf)| {
            std::fs::read(path).map_or(true, |bytes| AssetHash::of(&bytes) != *hash)
        };
        let bad = tokio::task::spawn_blocking(move || named.into_iter().filter(changed).collect::<Vec<_>>());
        let bad = bad.await.map_err(|error| error.to_string())?;
        if bad.is_empty() {
            return Ok(format!("{count} checked, whole"));
        }
        let names = bad.iter().take(NAMED).map(|(hash, _)| hash.to_string()).collect::<Vec<_>>().join(", ");
        Err(format!("{} of {count} are gone or changed: {names}", bad.len()))
    }
}

fn shown(backup: BackupFile) -> Backup {
    Backup { file: backup.path.display().to_string(), taken: rfc3339(backup.taken), bytes: backup.bytes }
}
