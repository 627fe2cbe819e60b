//! Opens the store at startup, and offers ways to recover from a damaged database.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use store::{Notice, Store, StoreError};

use crate::api::{DataWarning, DataWarningKind};
use crate::base::clock::rfc3339;
use crate::base::error::internal;
use crate::base::options::Options;
use crate::base::protection::key_files::KeyFiles;
use crate::base::records::data_warnings::{self, DataWarningList};

/// The reason why the engine did not start. Front ends offer a way to recover from each.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process uses the data folder.
    #[error("{message}")]
    InUse { message: String },
    /// [`Self::restore_newest`] restores the newest verified backup. [`Self::set_aside`] moves the
    /// damaged database away, so that an empty one is created.
    #[error("{message}")]
    Damaged {
        message: String,
        newest_backup: Option<PathBuf>,
    },
    /// The data folder is encrypted, and the options have no keys. [`Engine::unlock`] makes them.
    ///
    /// [`Engine::unlock`]: crate::Engine::unlock
    #[error("{message}")]
    Protected { message: String, hint: String },
    #[error("{message}")]
    Storage { message: String, hint: String },
}

/// Moves a damaged database away, so that the next `open` creates an empty one. Nothing is deleted.
/// Returns the new location.
///
/// # Errors
/// Fails if the folder is not writable.
pub(crate) async fn set_aside(options: &Options) -> Result<Option<PathBuf>, OpenError> {
    let dir = options.data_dir.clone();
    let now = options.clock.now();
    let keys = options.folder_keys();
    blocking(move || Store::set_aside(&dir, now, keys.as_deref()))
        .await
        .map_err(explain)
}

/// Result of opening the store.
pub(crate) struct OpenedStore {
    pub(crate) store: Store,
    /// Rows of the settings table: JSON by key.
    pub(crate) settings: BTreeMap<String, String>,
    pub(crate) notices: Vec<String>,
    /// Warnings of earlier sessions and of this start.
    pub(crate) warnings: DataWarningList,
    /// Some warnings are new.
    pub(crate) has_new_warnings: bool,
}

pub(crate) async fn open_store(options: &Options) -> Result<OpenedStore, OpenError> {
    let dir = options.data_dir.clone();
    let store_options = store::Options {
        now: options.clock.now(),
        keys: options.folder_keys(),
    };
    let newest = dir.clone();
    let opened = blocking(move || Store::open(&dir, store_options))
        .await
        .map_err(|error| match explain(error) {
            OpenError::Damaged { message, .. } => {
                let keys = options.folder_keys();
                let newest_backup =
                    Store::newest_good_backup(&newest, keys.as_deref()).map(|backup| backup.path);
                OpenError::Damaged {
                    message,
                    newest_backup,
                }
            }
            other => other,
        })?;
    let stored = opened
        .store
        .read(|store| store.settings().all())
        .await
        .map_err(explain)?;
    let warnings = DataWarningList::load(stored.get(data_warnings::SETTING));
    let since = rfc3339(options.clock.now());
    let mut has_new_warnings = false;
    if opened
        .notices
        .iter()
        .any(|notice| matches!(notice, Notice::Restored(_)))
    {
        // They were about the data that the backup has replaced.
        for kind in [
            DataWarningKind::LogLost,
            DataWarningKind::TextsChanged,
            DataWarningKind::BackupFailed,
        ] {
            has_new_warnings |= warnings.clear(kind);
        }
    }
    for (kind, count, detail) in opened.notices.iter().filter_map(warning) {
        has_new_warnings |= warnings.set(DataWarning {
            kind,
            count,
            detail,
            since: since.clone(),
        });
    }
    let notices = opened.notices.iter().filter_map(tell).collect();
    Ok(OpenedStore {
        notices,
        warnings,
        has_new_warnings,
        settings: stored,
        store: opened.store,
    })
}

/// The warning about an event at startup: kind, number, detail.
fn warning(notice: &Notice) -> Option<(DataWarningKind, u32, String)> {
    match notice {
        Notice::LogLost { changes } => Some((
            DataWarningKind::LogLost,
            u32::try_from(*changes).unwrap_or(u32::MAX),
            String::new(),
        )),
        Notice::TextsChanged { detail } => Some((DataWarningKind::TextsChanged, 0, detail.clone())),
        Notice::SecondPlaceMissing { folder } => {
            let detail = format!("The folder {} is not available.", folder.display());
            Some((DataWarningKind::SecondCopyFailed, 0, detail))
        }
        _ => None,
    }
}

/// The notice for the user about an event at startup, if it matters to them.
fn tell(notice: &Notice) -> Option<String> {
    match notice {
        // Warnings are shown until they are over.
        Notice::Created
        | Notice::LogLost { .. }
        | Notice::TextsChanged { .. }
        | Notice::SecondPlaceMissing { .. } => None,
        Notice::Checked => Some(
            "Inglenook was not closed properly last time. Your data was checked, with no problems."
                .into(),
        ),
        Notice::RepliesInterrupted { replies: 1 } => {
            Some("An unfinished reply was interrupted. The text so far is saved.".into())
        }
        Notice::RepliesInterrupted { replies } => Some(format!(
            "{replies} unfinished replies were interrupted. The text so far is saved."
        )),
        Notice::Restored(restored) => Some(tell_restored(restored)),
        Notice::NotRestored { detail } => Some(format!(
            "The backup was not restored, and nothing has changed: {detail}."
        )),
        Notice::Upgraded { backup, .. } => Some(format!(
            "Your data was upgraded. A copy of the old data is in {}.",
            backup.display()
        )),
    }
}

fn tell_restored(restored: &store::Restored) -> String {
    let missing = match restored.missing {
        0 => String::new(),
        count => format!(" {count} pictures and files were in no backup."),
    };
    let aside = restored
        .aside
        .as_ref()
        .map(|folder| format!(" The previous data is in {}.", folder.display()));
    format!(
        "The backup was restored.{missing}{}",
        aside.unwrap_or_default()
    )
}

pub(crate) fn explain(error: StoreError) -> OpenError {
    let message = error.to_string();
    tracing::error!(%error, "the store did not open");
    match error {
        StoreError::InUse { .. } => OpenError::InUse { message },
        StoreError::Damaged { .. } => OpenError::Damaged {
            message,
            newest_backup: None,
        },
        StoreError::Protected { dir } => OpenError::Protected {
            message,
            hint: protected_hint(&dir).to_owned(),
        },
        StoreError::NotFound { what: "backup" } => OpenError::Storage {
            message: "There is no backup.".into(),
            hint: "Choose a backup file, or start with empty data. The current data is kept."
                .into(),
        },
        other => match other.into() {
            crate::api::ApiError::Storage { message, hint }
            | crate::api::ApiError::BadInput { message, hint } => {
                OpenError::Storage { message, hint }
            }
            _ => OpenError::Storage {
                message,
                hint: "See the log in the data folder.".into(),
            },
        },
    }
}

/// Without its key file, no passphrase unlocks the folder.
fn protected_hint(dir: &Path) -> &'static str {
    if KeyFiles::of(dir).is_protected() {
        "Unlock it with its passphrase or its recovery code."
    } else {
        "Its key file protection.json is missing. Put it back from a copy, such as the one next to its backups."
    }
}

pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or(Err(StoreError::Closed))
}

/// Converts an error during startup.
pub(crate) fn broken(error: crate::api::ApiError) -> OpenError {
    let _ = internal("the engine did not start");
    OpenError::Storage {
        message: error.to_string(),
        hint: "See the log in the data folder.".into(),
    }
}
