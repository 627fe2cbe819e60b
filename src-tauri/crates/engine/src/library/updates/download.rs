//! Downloads the newer version in the background.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio_util::sync::CancellationToken;
use updates::{ArchiveRequest, FetchError, UpdateArchive, Version, fetch_archive};

use crate::api::{Event, UpdatePhase, UpdateStatus};
use crate::base::error::ApiResult;
use crate::library::updates::check::nothing_new;
use crate::library::updates::{UpdateTurn, Updates, WeakUpdates, failures};
use crate::settings::hub::downloads::NEWS;

/// A download in progress.
struct UpdateDownload {
    version: Version,
    archive: UpdateArchive,
    cancel: CancellationToken,
    /// The status at the beginning.
    begun: UpdateStatus,
}

impl Updates {
    /// Starts the download of the newer version. A part of an earlier try is resumed.
    ///
    /// # Errors
    /// `BadInput` if this installation does not update itself or no newer version is known; `Busy`.
    pub(crate) async fn download_update(&self) -> ApiResult<UpdateStatus> {
        self.folders()?;
        let turn = self.take_turn(UpdatePhase::Downloading)?;
        let newer = self.newer(&self.stored().await?)?;
        let newer = newer.ok_or_else(nothing_new)?;
        let archive = newer.archive.ok_or_else(nothing_new)?;
        let cancel = self.0.closing.child_token();
        self.work().cancel = Some(cancel.clone());
        let begun = self.announce().await?;
        let download = UpdateDownload {
            version: newer.manifest.version,
            archive,
            cancel,
            begun: begun.clone(),
        };
        let task = tokio::spawn(run(self.downgrade(), turn, download));
        *self.task() = Some(task);
        Ok(begun)
    }

    /// Stops the download. What it has received stays for the next try.
    pub(crate) async fn stop_update_download(&self) -> ApiResult<UpdateStatus> {
        if let Some(cancel) = &self.work().cancel {
            cancel.cancel();
        }
        self.updates_status().await
    }
}

async fn run(updates: WeakUpdates, turn: UpdateTurn, download: UpdateDownload) {
    let outcome = fetch(&updates, &download).await;
    let Some(updates) = updates.upgrade() else {
        return;
    };
    let stopped = download.cancel.is_cancelled();
    let outcome = match outcome {
        Err(_) if stopped => Ok(()),
        other => other.map_err(failures::of_fetch),
    };
    if let Err(error) = updates.end(turn, outcome).await {
        tracing::warn!(%error, "the download of an update failed");
    }
}

/// Does not keep the engine open while it waits for the server.
async fn fetch(updates: &WeakUpdates, download: &UpdateDownload) -> Result<(), FetchError> {
    let Some(strong) = updates.upgrade() else {
        return Ok(());
    };
    let Ok(folders) = strong.folders().cloned() else {
        return Ok(());
    };
    let request = ArchiveRequest {
        archive: &download.archive,
        version: &download.version,
        cancel: download.cancel.clone(),
        free_space: strong.source().free_space,
    };
    let events = strong.base().events().clone();
    drop(strong);
    let received = AtomicU64::new(0);
    let mut fetching = std::pin::pin!(fetch_archive(&folders, &request, |here| {
        received.store(here, Ordering::Relaxed);
    }));
    let mut news = tokio::time::interval(NEWS);
    loop {
        tokio::select! {
            fetched = &mut fetching => return fetched,
            _ = news.tick() => events.announce(Event::UpdateChanged {
                status: Box::new(UpdateStatus {
                    downloaded: received.load(Ordering::Relaxed).max(download.begun.downloaded),
                    ..download.begun.clone()
                }),
            }),
        }
    }
}
