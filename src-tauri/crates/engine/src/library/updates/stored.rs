//! The stored facts about updates: the last manifest, as the server signed it, and the backup from
//! before the last update.
//!
//! The signature is verified again whenever the manifest is read, because a restored backup may
//! bring any row.

use domain::Timestamp;
use serde::{Deserialize, Serialize};
use updates::{SignedManifest, UpdateManifest};

use crate::base::error::{ApiResult, internal};
use crate::library::updates::Updates;

/// Row of the settings table.
const UPDATES: &str = "updates";

/// Unreadable values are as good as none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct StoredUpdates {
    pub(super) last_check: Option<Timestamp>,
    pub(super) manifest: Option<SignedManifest>,
    /// Path of the backup from before the last update.
    pub(super) backup: Option<String>,
}

impl Updates {
    pub(super) async fn stored(&self) -> ApiResult<StoredUpdates> {
        let rows = self
            .base()
            .store()
            .read(|store| store.settings().all())
            .await?;
        let row = rows.get(UPDATES);
        Ok(row
            .and_then(|json| serde_json::from_str(json).ok())
            .unwrap_or_default())
    }

    /// Applies `change` and stores the result.
    pub(super) async fn change_stored(
        &self,
        change: impl FnOnce(&mut StoredUpdates),
    ) -> ApiResult<()> {
        let mut stored = self.stored().await?;
        change(&mut stored);
        let json = serde_json::to_string(&stored)
            .map_err(|_| internal("the state of updates could not be stored"))?;
        let written = self
            .base()
            .store()
            .write(move |store| store.settings_mut().set(UPDATES, &json));
        Ok(written.await?)
    }

    /// The last manifest, if its signature is valid.
    pub(super) fn verified(&self, stored: &StoredUpdates) -> Option<UpdateManifest> {
        let manifest = stored.manifest.as_ref()?.verify(self.source());
        manifest
            .inspect_err(|error| tracing::warn!(%error, "the stored manifest is not used"))
            .ok()
    }
}
