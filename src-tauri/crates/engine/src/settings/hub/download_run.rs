//! Runs one download: loads each file, compares its checksum, and adds the model to the library.
//!
//! A file gets its name only after its checksum was compared, and enters the library only after its
//! header was checked. A failed check deletes it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use domain::ModelId;
use local::library;
use provider::download::{Conditions, DownloadError, discard, download_with};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::api::{ApiError, DownloadState};
use crate::base::error::internal;
use crate::settings::hub::download_faults::{Fault, fault, final_fault, unwritable};
use crate::settings::hub::download_job::{DownloadJob, JobFile, JobStop};
use crate::settings::hub::downloads::{Downloads, NEWS};
use crate::settings::hub::{Hub, WeakHub};

/// Pause before the first retry; it doubles with each further one.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// A hub may ask for a longer pause than this; then the user decides.
const LONGEST_ASKED: Duration = Duration::from_secs(300);
/// Retries without a new byte before the user is asked.
const RETRIES: u32 = 6;
/// Bytes that stay free on the disk, for the database and other programs.
const RESERVE: u64 = 256 << 20;

/// Runs the download until it is complete, stopped or failed.
pub(crate) async fn run(hub: WeakHub, downloads: Downloads, id: Uuid, cancel: CancellationToken) {
    let _slot = tokio::select! {
        slot = downloads.slots.clone().acquire_owned() => slot,
        () = cancel.cancelled() => return,
    };
    let mut tries = Tries {
        failed: 0,
        bytes: received(&downloads, id),
    };
    loop {
        let Some(job) = downloads.job(id) else { return };
        let Err(fault) = attempt(&hub, &downloads, &job, &cancel).await else {
            return;
        };
        let pause = match fault {
            Fault::Stopped => return,
            Fault::Final { reason, hint } => {
                return fail(&hub, &downloads, id, reason, hint).await;
            }
            Fault::Retry {
                reason,
                hint,
                after,
            } => match tries.next(received(&downloads, id), after) {
                None => return fail(&hub, &downloads, id, reason, hint).await,
                Some(pause) => {
                    downloads.enter(id, DownloadState::Waiting, (&reason, &hint), Some(pause));
                    pause
                }
            },
        };
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = cancel.cancelled() => return,
        }
    }
}

/// Counts the tries since the last new byte.
struct Tries {
    failed: u32,
    bytes: u64,
}

impl Tries {
    /// Returns the pause before the next try; `None` to give up.
    fn next(&mut self, bytes: u64, asked: Option<Duration>) -> Option<Duration> {
        self.failed = if bytes > self.bytes {
            1
        } else {
            self.failed + 1
        };
        self.bytes = bytes;
        if self.failed > RETRIES || asked.is_some_and(|pause| pause > LONGEST_ASKED) {
            return None;
        }
        Some(asked.unwrap_or_else(|| {
            FIRST_PAUSE
                .saturating_mul(1 << (self.failed - 1))
                .min(LONGEST_PAUSE)
        }))
    }
}

fn received(downloads: &Downloads, id: Uuid) -> u64 {
    downloads
        .job(id)
        .map_or(0, |job| job.files.iter().map(|file| job.here(file)).sum())
}

async fn fail(hub: &WeakHub, downloads: &Downloads, id: Uuid, reason: String, hint: String) {
    downloads.set_stop(
        id,
        JobStop::Failed {
            reason: reason.clone(),
            hint: hint.clone(),
        },
    );
    if let (Some(hub), Some(job)) = (hub.upgrade(), downloads.job(id))
        && let Err(error) = hub.keep_job(&job).await
    {
        tracing::warn!(%error, "a failed download could not be stored");
    }
    downloads.enter(id, DownloadState::Failed, (&reason, &hint), None);
}

pub(super) async fn attempt(
    hub: &WeakHub,
    downloads: &Downloads,
    job: &DownloadJob,
    cancel: &CancellationToken,
) -> Result<(), Fault> {
    let folder = PathBuf::from(&job.folder);
    tokio::fs::create_dir_all(&folder)
        .await
        .map_err(|source| unwritable(&folder, &source))?;
    check_room(job)?;
    let mut before = 0;
    for file in &job.files {
        fetch(hub, downloads, job, file, before, cancel).await?;
        before += job.here(file);
    }
    add(hub, downloads, job).await
}

/// All missing files must fit on the disk.
fn check_room(job: &DownloadJob) -> Result<(), Fault> {
    let missing: u64 = job
        .files
        .iter()
        .filter_map(|file| Some(file.bytes?.saturating_sub(job.here(file))))
        .sum();
    let Ok(free) = fs4::available_space(&job.folder) else {
        return Ok(());
    };
    if missing == 0 || free >= missing.saturating_add(RESERVE) {
        return Ok(());
    }
    let reason = format!(
        "The download needs {}, but the disk has {} free.",
        gigabytes(missing),
        gigabytes(free)
    );
    Err(Fault::Final {
        reason,
        hint: "Free some space, or choose another download folder, then try again.".into(),
    })
}

fn gigabytes(bytes: u64) -> String {
    format!("{:.1} GB", bytes as f64 / 1e9)
}

async fn fetch(
    hub: &WeakHub,
    downloads: &Downloads,
    job: &DownloadJob,
    file: &JobFile,
    before: u64,
    cancel: &CancellationToken,
) -> Result<(), Fault> {
    let place = job.place(file);
    let part = job.part(file);
    if file.done && place.exists() {
        return Ok(());
    }
    if place.exists() {
        return keep_existing(downloads, job, file, &place).await;
    }
    if file.bytes.is_none_or(|bytes| length(&part) != bytes) {
        let source = source(hub, job, file).await?;
        let folder = job.folder.clone();
        let has_room = move |rest: u64| {
            fs4::available_space(&folder).is_ok_and(|free| free >= rest.saturating_add(RESERVE))
        };
        let conditions = Conditions {
            bytes: file.bytes,
            verified: file.sha256.is_some(),
            cancel: cancel.clone(),
            has_room: Some(&has_room),
        };
        let progress = |here: u64, _| downloads.progress(job.id, before + here);
        let loaded = telling(
            downloads,
            job.id,
            download_with(&source, &part, &conditions, progress),
        )
        .await;
        if matches!(loaded, Err(DownloadError::Full { .. })) {
            delete_in_background(downloads, job).await;
        }
        loaded.map_err(fault)?;
    }
    if let Some(wanted) = &file.sha256 {
        downloads.enter(job.id, DownloadState::Checking, ("", ""), None);
        if hash_of(&part).await? != *wanted {
            discard(&part).await.map_err(fault)?;
            return Err(Fault::Final {
                reason: "The file has another checksum than the hub states. It was deleted.".into(),
                hint: "Try again. If it happens again, the file on the hub is damaged: choose another one.".into(),
            });
        }
    }
    tokio::fs::rename(&part, &place)
        .await
        .map_err(|source| unwritable(&place, &source))?;
    // A kill after the last byte leaves the tag of the part.
    discard(&part).await.map_err(fault)?;
    if let (Some(hub), Some(job)) = (hub.upgrade(), downloads.mark_done(job.id, &file.path)) {
        hub.keep_job(&job).await.map_err(final_fault)?;
    }
    Ok(())
}

/// Waits for `loading` and meanwhile shows its progress.
async fn telling<T>(downloads: &Downloads, id: Uuid, loading: impl Future<Output = T>) -> T {
    let mut news = tokio::time::interval(NEWS);
    let mut loading = std::pin::pin!(loading);
    loop {
        tokio::select! {
            loaded = &mut loading => return loaded,
            _ = news.tick() => downloads.announce_progress(id),
        }
    }
}

/// A file of this name is already there: from an earlier try, or the user's own.
async fn keep_existing(
    downloads: &Downloads,
    job: &DownloadJob,
    file: &JobFile,
    place: &Path,
) -> Result<(), Fault> {
    downloads.enter(job.id, DownloadState::Checking, ("", ""), None);
    let same = match &file.sha256 {
        Some(wanted) => hash_of(place).await? == *wanted,
        None => file.bytes.is_none_or(|bytes| length(place) == bytes),
    };
    if same {
        return discard(&job.part(file)).await.map_err(fault);
    }
    Err(Fault::Final {
        reason: format!("{} already exists and is another file.", place.display()),
        hint: "Move that file away, then try again.".into(),
    })
}

pub(super) async fn source(
    hub: &WeakHub,
    job: &DownloadJob,
    file: &JobFile,
) -> Result<provider::download::DownloadSource, Fault> {
    let hub = hub.upgrade().ok_or(Fault::Stopped)?;
    let hub = hub.hub().await.map_err(final_fault)?;
    let repo = job
        .repo_id()
        .ok_or_else(|| final_fault(internal("a download has no model")))?;
    if hub.address() != job.hub {
        return Err(Fault::Final {
            reason: format!("This download belongs to the hub {}.", job.hub),
            hint: "Cancel it, or set that address again.".into(),
        });
    }
    Ok(hub.source(&repo, &job.revision, &file.path))
}

/// Adds the complete model to the library. A file that is not a chat model is deleted.
async fn add(hub: &WeakHub, downloads: &Downloads, job: &DownloadJob) -> Result<(), Fault> {
    downloads.enter(job.id, DownloadState::Checking, ("", ""), None);
    let hub = hub.upgrade().ok_or(Fault::Stopped)?;
    let Some(first) = job.files.first() else {
        return Err(final_fault(internal("a download has no file")));
    };
    let whole = (job.model_files == 1)
        .then(|| Some((first.bytes?, first.sha256.clone()?)))
        .flatten();
    let added = match hub
        .models()
        .add_verified_model(job.place(first), whole)
        .await
    {
        Ok(model) => model,
        Err(error) => {
            if matches!(error, ApiError::BadInput { .. }) {
                delete_in_background(downloads, job).await;
            }
            return Err(final_fault(error));
        }
    };
    finish(&hub, job, added.id).await.map_err(final_fault)?;
    downloads.end(job.id, Some(added.id.to_string()));
    Ok(())
}

async fn finish(hub: &Hub, job: &DownloadJob, model: ModelId) -> Result<(), ApiError> {
    if job.makes_default {
        hub.models().make_default(model).await?;
    }
    let id = job.id;
    Ok(hub
        .base()
        .store()
        .write(move |store| store.downloads_mut().delete(id))
        .await?)
}

async fn delete_in_background(downloads: &Downloads, job: &DownloadJob) {
    // The files that are complete were noted after `job` was read.
    let job = downloads.job(job.id).unwrap_or_else(|| job.clone());
    if tokio::task::spawn_blocking(move || delete_files(&job))
        .await
        .is_err()
    {
        tracing::warn!("the files of a download could not be deleted");
    }
}

/// Deletes the files that this download has made, and its folders if nothing else is in them.
pub(crate) fn delete_files(job: &DownloadJob) {
    for file in &job.files {
        let part = job.part(file);
        // A file that was there before is not ours.
        let place = Some(job.place(file)).filter(|_| file.done);
        for path in [part.with_extension("tag"), part].into_iter().chain(place) {
            if let Err(error) = fs::remove_file(&path)
                && error.kind() != std::io::ErrorKind::NotFound
            {
                tracing::warn!(%error, path = %path.display(), "a file of a download could not be deleted");
            }
        }
    }
    // Both fail, as they should, if the folder has other content.
    let folder = Path::new(&job.folder);
    if fs::remove_dir(folder).is_ok()
        && let Some(owner) = folder.parent()
    {
        let _ = fs::remove_dir(owner);
    }
}

async fn hash_of(path: &Path) -> Result<String, Fault> {
    let file = path.to_owned();
    let read = tokio::task::spawn_blocking(move || library::hash_file(&file)).await;
    let read = read.map_err(|_| final_fault(internal("a model file could not be read")))?;
    read.map_err(|source| Fault::Final {
        reason: format!("{} cannot be read: {source}.", path.display()),
        hint: "Check the disk, then try again.".into(),
    })
}

fn length(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |about| about.len())
}
