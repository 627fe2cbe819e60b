//! Backup operations: create, list, compare, restore, delete and check backups, and export or
//! import everything as one archive.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use store::{BackupChoices, BackupFile, BackupPlace, Store};

use crate::api::{self, Backup, DataWarningKind, Difference, Health, RestorePreview, Restored};
use crate::base::clock::rfc3339;
use crate::base::error::{ApiResult, bad_input, internal, not_found};
use crate::base::open_store::{OpenError, blocking, explain};
use crate::base::options::Options;
use crate::base::protection::upkeep::adopt_key_file;
use crate::library::backups::Backups;
use crate::settings::health::{check, report};

/// Maximum number of bad files that a report names.
const NAMED: usize = 5;
const MEGABYTE: u64 = 1_000_000;
/// Minimum budget in megabytes. A smaller one cannot hold even a small library.
const LEAST_BUDGET: u32 = 100;

impl Backups {
    /// Makes a backup, opens and checks it, and removes backups beyond the retention schedule and
    /// the budget.
    pub(crate) async fn backup(&self) -> ApiResult<Backup> {
        let taken = self.back_up(store::BackupKind::ByHand).await?;
        self.shown_backup(&taken.path).await
    }

    /// Lists all backups, newest first.
    pub(crate) async fn list_backups(&self) -> ApiResult<Vec<Backup>> {
        Ok(self.backups_here().await?.into_iter().map(shown).collect())
    }

    pub(crate) async fn backups(&self) -> ApiResult<api::Backups> {
        let dir = self.base().store().dir().to_owned();
        let warnings = self.base().data_warnings();
        let failed = warnings
            .get(DataWarningKind::BackupFailed)
            .map(|warning| warning.detail);
        let failed = failed.or_else(|| {
            warnings
                .get(DataWarningKind::SecondCopyFailed)
                .map(|warning| warning.detail)
        });
        let keys = self.base().folder_keys();
        self.off_the_runtime(move || {
            let choices = Store::backup_choices(&dir);
            Ok(api::Backups {
                backups: once(Store::backups(&dir, keys.as_deref())?),
                folder: Store::backup_folder(&dir).display().to_string(),
                size: Store::backup_size(&dir),
                budget: choices.budget,
                second_place_missing: !choices.second_is_there(),
                second_place: choices.second.map(|folder| folder.display().to_string()),
                failed,
                restore_pending: Store::restore_is_pending(&dir),
            })
        })
        .await
    }

    /// # Errors
    /// `NotFound` if the backup does not exist. `Storage` if it cannot be read.
    pub(crate) async fn preview_restore(&self, file: String) -> ApiResult<RestorePreview> {
        let backup = self.known_backup(&file).await?;
        let found = self.base().store().compare_backup(backup.path).await?;
        Ok(RestorePreview {
            characters: difference(found.characters),
            chats: difference(found.chats),
            messages: difference(found.messages),
            reworded: found.reworded as u32,
        })
    }

    /// Checks a backup and schedules its restore for the next start.
    ///
    /// # Errors
    /// `NotFound` if the backup does not exist. `Storage` if it is damaged.
    pub(crate) async fn restore_at_next_start(&self, file: String) -> ApiResult<()> {
        let dir = self.base().store().dir().to_owned();
        let backup = self.known_backup(&file).await?;
        let keys = self.base().folder_keys();
        self.off_the_runtime(move || {
            Store::check_database(&backup.path, keys.as_deref())?;
            Store::restore_at_next_start(&dir, &backup.path)
        })
        .await
    }

    /// Deletes the backups here and in the second folder.
    pub(crate) async fn delete_backups(&self, files: Vec<String>) -> ApiResult<()> {
        let known = self.backups_here().await?;
        let mut chosen = Vec::new();
        for file in files {
            let found = known.iter().find(|backup| backup.path == Path::new(&file));
            let name = name(found.ok_or_else(|| not_found("backup"))?).to_owned();
            chosen.extend(
                known
                    .iter()
                    .filter(|backup| self::name(backup) == name)
                    .cloned(),
            );
        }
        Ok(self.base().store().remove_backups(chosen).await?)
    }

    pub(crate) async fn set_backup_budget(&self, megabytes: u32) -> ApiResult<api::Backups> {
        if megabytes < LEAST_BUDGET {
            return Err(bad_input(
                format!("Backups need at least {LEAST_BUDGET} MB."),
                "Choose a larger budget.",
            ));
        }
        self.choose_backups(move |choices| choices.budget = u64::from(megabytes) * MEGABYTE)
            .await
    }

    /// Sets the second folder, which receives a copy of every later backup.
    ///
    /// # Errors
    /// `BadInput` if it is not a folder or is inside the data folder. `Storage` if it is not
    /// writable.
    pub(crate) async fn set_second_place(&self, folder: PathBuf) -> ApiResult<api::Backups> {
        let refused = |why: &str| {
            Err(bad_input(
                format!("{} {why}.", folder.display()),
                "Choose another folder.",
            ))
        };
        if !folder.is_absolute() || !folder.is_dir() {
            return refused("is not a folder on this machine");
        }
        if folder.starts_with(self.base().store().dir()) {
            return refused("is inside the data folder, and would be lost with it");
        }
        self.choose_backups(move |choices| choices.second = Some(folder))
            .await
    }

    /// Stops copying backups to the second folder. Existing copies remain.
    pub(crate) async fn forget_second_place(&self) -> ApiResult<api::Backups> {
        self.choose_backups(|choices| choices.second = None).await
    }

    /// The backup folder, for the file manager.
    pub(crate) fn backup_folder(&self) -> PathBuf {
        Store::backup_folder(self.base().store().dir())
    }

    /// Exports all data to one archive.
    pub(crate) async fn export_archive(&self, file: PathBuf) -> ApiResult<()> {
        Ok(self.base().store().export_archive(file).await?)
    }

    /// Imports an archive as a backup, which the user can compare and restore.
    pub(crate) async fn import_archive(&self, file: PathBuf) -> ApiResult<Backup> {
        let path = self
            .base()
            .store()
            .import_archive(file, self.base().now())
            .await?;
        self.shown_backup(&path).await
    }

    /// Checks everything that is stored: the database, the asset files it names, and the backups.
    pub(crate) async fn check_data(&self) -> ApiResult<Health> {
        let database = self
            .base()
            .store()
            .check()
            .await
            .map(|()| "Checked, no problems".to_owned());
        let mut checks = vec![check(
            "database",
            database.map_err(|error| error.to_string()),
        )];
        checks.push(check("files", self.files_check().await));
        let set_aside = |backup: &BackupFile| backup.kind == store::BackupKind::SetAside;
        for backup in self
            .backups_here()
            .await?
            .into_iter()
            .filter(|backup| !set_aside(backup))
        {
            let place = if backup.place == BackupPlace::Second {
                " in the second folder"
            } else {
                ""
            };
            let name = format!("backup of {}{place}", rfc3339(backup.taken));
            let keys = self.base().folder_keys();
            let examine = move || Store::check_backup(&backup.path, keys.as_deref());
            let found = tokio::task::spawn_blocking(examine).await;
            let found = found.map_err(|_| internal("a backup could not be read"))?;
            checks.push(check(
                &name,
                found
                    .map(|()| "Checked, no problems".to_owned())
                    .map_err(|error| error.to_string()),
            ));
        }
        Ok(report(checks))
    }

    /// Replaces the database with a backup and sets the old database aside. Uses the newest intact
    /// backup if there is no `file`. The engine must be closed.
    ///
    /// # Errors
    /// Fails if no intact backup exists, if it is from a newer version, or if the folder is not
    /// writable.
    pub(crate) async fn restore(
        options: &Options,
        file: Option<&Path>,
    ) -> Result<Restored, OpenError> {
        let dir = options.data_dir.clone();
        let file = file.map(Path::to_owned);
        let now = options.clock.now();
        adopt_key_file(options).await?;
        let keys = options.folder_keys();
        let restored = blocking(move || match file {
            Some(file) => Store::restore(&dir, &file, now, keys.as_deref()),
            None => Store::restore_newest(&dir, now, keys.as_deref()),
        });
        restored.await.map(report_restored).map_err(explain)
    }

    pub(crate) async fn second_place_missing(&self) -> bool {
        let dir = self.base().store().dir().to_owned();
        let there =
            tokio::task::spawn_blocking(move || Store::backup_choices(&dir).second_is_there())
                .await;
        !there.unwrap_or(true)
    }

    async fn choose_backups(
        &self,
        change: impl FnOnce(&mut BackupChoices) + Send + 'static,
    ) -> ApiResult<api::Backups> {
        let dir = self.base().store().dir().to_owned();
        self.off_the_runtime(move || {
            let mut choices = Store::backup_choices(&dir);
            change(&mut choices);
            Store::choose_backups(&dir, &choices)
        })
        .await?;
        if !self.second_place_missing().await {
            self.warnings()
                .warning_over(DataWarningKind::SecondCopyFailed)
                .await;
        }
        self.backups().await
    }

    async fn known_backup(&self, file: &str) -> ApiResult<BackupFile> {
        let known = self
            .backups_here()
            .await?
            .into_iter()
            .find(|backup| backup.path == Path::new(file));
        known.ok_or_else(|| not_found("backup"))
    }

    async fn shown_backup(&self, path: &Path) -> ApiResult<Backup> {
        let made = self
            .backups_here()
            .await?
            .into_iter()
            .find(|backup| backup.path == path);
        made.map(shown)
            .ok_or_else(|| internal("a new backup is missing from the list"))
    }

    async fn off_the_runtime<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, store::StoreError> + Send + 'static,
    ) -> ApiResult<T> {
        Ok(blocking(work).await?)
    }

    async fn backups_here(&self) -> ApiResult<Vec<BackupFile>> {
        let dir = self.base().store().dir().to_owned();
        let keys = self.base().folder_keys();
        let list = move || Store::backups(&dir, keys.as_deref());
        let listed = tokio::task::spawn_blocking(list).await;
        Ok(listed.map_err(|_| internal("the backups could not be listed"))??)
    }

    /// Checks that every asset file exists and that its content matches the hash in its name.
    async fn files_check(&self) -> Result<String, String> {
        let store = self.base().store().clone();
        let named = store.read(|store| store.assets().all());
        let named = named.await.map_err(|error| error.to_string())?;
        let count = named.len();
        let bad = tokio::task::spawn_blocking(move || {
            let hashes = named.into_iter().map(|asset| asset.hash);
            let bad = hashes.filter(|hash| store.read_asset_file(*hash).is_none());
            bad.collect::<Vec<_>>()
        });
        let bad = bad.await.map_err(|error| error.to_string())?;
        if bad.is_empty() {
            return Ok(format!("{count} checked, no problems"));
        }
        let names = bad
            .iter()
            .take(NAMED)
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(", ");
        Err(format!(
            "{} of {count} are missing or changed: {names}",
            bad.len()
        ))
    }
}

/// Identifies a backup and its copy in the second folder by file name. Set-aside data has no copy.
pub(crate) fn name(backup: &BackupFile) -> &std::ffi::OsStr {
    match backup.kind {
        store::BackupKind::SetAside => backup.path.as_os_str(),
        _ => backup.path.file_name().unwrap_or(backup.path.as_os_str()),
    }
}

/// Merges a backup and its copy in the second folder into one entry.
fn once(all: Vec<BackupFile>) -> Vec<Backup> {
    let is_second = |backup: &BackupFile| backup.place == BackupPlace::Second;
    let names = |second: bool| -> HashSet<_> {
        all.iter()
            .filter(|backup| is_second(backup) == second)
            .map(|backup| name(backup).to_owned())
            .collect()
    };
    let here = names(false);
    let there = names(true);
    let all = all
        .into_iter()
        .filter(|backup| !is_second(backup) || !here.contains(name(backup)));
    all.map(|backup| {
        let second = there.contains(name(&backup));
        Backup {
            second,
            ..shown(backup)
        }
    })
    .collect()
}

pub(crate) fn shown(backup: BackupFile) -> Backup {
    Backup {
        file: backup.path.display().to_string(),
        taken: rfc3339(backup.taken),
        bytes: backup.bytes,
        pictures: backup.pictures.map(|count| count as u32),
        kind: backup.kind,
        second: backup.place == BackupPlace::Second,
        foreign: !backup.own,
        checked: backup.checked,
    }
}

fn difference(found: store::Difference) -> Difference {
    Difference {
        gained: found.gained as u32,
        lost: found.lost as u32,
        names_gained: found.names_gained,
        names_lost: found.names_lost,
    }
}

pub(crate) fn report_restored(restored: store::Restored) -> Restored {
    let skipped = restored.skipped.into_iter().map(|(_, why)| why).collect();
    Restored {
        backup: restored.backup.display().to_string(),
        aside: restored.aside.map(|folder| folder.display().to_string()),
        skipped,
        missing: restored.missing as u32,
    }
}
