//! Warnings about the user's data: stores them, and announces each change.

use store::Store;

use crate::api::{Changed, DataWarning, DataWarningKind, DataWarnings};
use crate::base::clock::rfc3339;
use crate::base::error::{ApiResult, internal};
use crate::base::handle::Base;
use crate::base::records::data_warnings::SETTING;
use crate::library::backups::backup::shown;

/// Reasons to restore a backup.
const DAMAGE: [DataWarningKind; 3] = [
    DataWarningKind::LogLost,
    DataWarningKind::TextsChanged,
    DataWarningKind::BackupFailed,
];

/// Warnings about the data that are in force. Clones share one state.
#[derive(Clone)]
pub(crate) struct Warnings {
    base: Base,
}

impl Warnings {
    pub(super) fn new(base: &Base) -> Self {
        Self { base: base.clone() }
    }

    fn base(&self) -> &Base {
        &self.base
    }

    /// The warnings in force, with the newest intact backup if one of them is a reason to restore
    /// it.
    pub(crate) async fn data_warnings(&self) -> ApiResult<DataWarnings> {
        let warnings = self.base().data_warnings().all();
        let newest_backup = if warnings
            .iter()
            .any(|warning| DAMAGE.contains(&warning.kind))
        {
            let dir = self.base().store().dir().to_owned();
            let keys = self.base().folder_keys();
            let find = move || Store::newest_good_backup(&dir, keys.as_deref());
            let found = tokio::task::spawn_blocking(find).await;
            found
                .map_err(|_| internal("the backups could not be checked"))?
                .map(shown)
        } else {
            None
        };
        Ok(DataWarnings {
            warnings,
            newest_backup,
        })
    }

    pub(crate) async fn dismiss_data_warning(
        &self,
        kind: DataWarningKind,
    ) -> ApiResult<DataWarnings> {
        self.warning_over(kind).await;
        self.data_warnings().await
    }

    /// Shows a warning until its cause is over or the user dismisses it.
    pub(crate) async fn warn(&self, kind: DataWarningKind, count: u32, detail: String) {
        let since = rfc3339(self.base().now());
        if self.base().data_warnings().set(DataWarning {
            kind,
            count,
            detail,
            since,
        }) {
            self.warnings_changed().await;
        }
    }

    pub(crate) async fn warning_over(&self, kind: DataWarningKind) {
        if self.base().data_warnings().clear(kind) {
            self.warnings_changed().await;
        }
    }

    /// Stores the warnings. A full or damaged disk is often their reason, so a failure only means
    /// that the next start does not know them.
    pub(crate) async fn warnings_changed(&self) {
        let warnings = self.base().data_warnings().all();
        self.base().events().changed(Changed::DataWarnings, None);
        let Ok(json) = serde_json::to_string(&warnings) else {
            return;
        };
        let stored = self.base().store().write(move |store| {
            if warnings.is_empty() {
                store.settings_mut().remove(SETTING)
            } else {
                store.settings_mut().set(SETTING, &json)
            }
        });
        if let Err(error) = stored.await {
            tracing::warn!(%error, "the warnings about the data are not stored");
        }
    }
}
