//! Runs one move: copy, compare, use, delete.

use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::time::Duration;

use domain::ModelId;
use domain::model::LocalModel;
use store::ProjectorChoice;
use tokio_util::sync::CancellationToken;

use super::files::{self, MoveFault};
use super::job::MoveJob;
use super::moves::MoveJobs;
use crate::api::{ApiError, Changed, MoveState};
use crate::base::error::{internal, sentence};
use crate::settings::model_moves::{ModelMoves, WeakModelMoves};

/// Interval between progress events.
const NEWS: Duration = Duration::from_millis(250);
/// Bytes that stay free on the disk, for the database and other programs.
const RESERVE: u64 = 256 << 20;

/// Why the task ended before the move was complete.
enum Fault {
    Stopped,
    /// The user must act. `reason` and `hint` are sentences.
    Failed {
        reason: String,
        hint: String,
    },
}

impl From<ApiError> for Fault {
    fn from(error: ApiError) -> Self {
        let reason = error.to_string();
        Self::Failed {
            reason,
            hint: "Try again.".into(),
        }
    }
}

impl From<MoveFault> for Fault {
    fn from(fault: MoveFault) -> Self {
        let hint = match &fault {
            MoveFault::Stopped => return Self::Stopped,
            MoveFault::Full => "Free some space, or choose another folder, then try again.",
            MoveFault::Unreadable { .. } => "Connect the disk of this model, then try again.",
            MoveFault::Unwritable { .. } => {
                "Make the folder writable, or choose another one, then try again."
            }
            MoveFault::Checksum => {
                "The file has changed since it was added, or a disk is damaged. Run `nook models check`, or download the \
                 model again."
            }
            MoveFault::Left { .. } => "Close the programs that use the file, then try again.",
        };
        let after = if matches!(fault, MoveFault::Left { .. }) {
            ""
        } else {
            " The model stays where it is."
        };
        Self::Failed {
            reason: sentence(&fault.to_string()) + after,
            hint: hint.to_owned(),
        }
    }
}

/// Runs the move until it is complete, stopped or failed.
pub(crate) async fn run(
    room: WeakModelMoves,
    moves: MoveJobs,
    model: ModelId,
    cancel: CancellationToken,
) {
    let _slot = tokio::select! {
        slot = moves.slot.clone().acquire_owned() => slot,
        () = cancel.cancelled() => return,
    };
    let Some(job) = moves.job(model) else { return };
    match attempt(&room, &moves, &job, &cancel).await {
        Ok(()) => moves.end(model, true),
        Err(Fault::Stopped) => {}
        Err(Fault::Failed { reason, hint }) => {
            give_up(&room, &job).await;
            moves.enter(model, MoveState::Failed, reason, hint);
        }
    }
}

async fn attempt(
    room: &WeakModelMoves,
    moves: &MoveJobs,
    job: &MoveJob,
    cancel: &CancellationToken,
) -> Result<(), Fault> {
    if !upgraded(room)?.uses_new_file(job).await? {
        check_room(job)?;
        moves.enter(
            job.model(),
            MoveState::Copying,
            String::new(),
            String::new(),
        );
        blocking(moves, job, cancel, |job, step| files::copy_all(job, step)).await?;
        moves.enter(
            job.model(),
            MoveState::Checking,
            String::new(),
            String::new(),
        );
        blocking(moves, job, cancel, |job, step| files::verify(job, step)).await?;
        upgraded(room)?.use_new_file(job).await?;
    }
    moves.enter(
        job.model(),
        MoveState::Finishing,
        String::new(),
        String::new(),
    );
    release(room, job).await?;
    blocking(moves, job, &CancellationToken::new(), |job, _| {
        files::delete_originals(job)
    })
    .await?;
    Ok(upgraded(room)?.forget_move(job.model()).await?)
}

fn upgraded(room: &WeakModelMoves) -> Result<ModelMoves, Fault> {
    room.upgrade().ok_or(Fault::Stopped)
}

/// All files must fit on the disk, unless they are on it already.
fn check_room(job: &MoveJob) -> Result<(), Fault> {
    let parent = job
        .folder
        .ancestors()
        .find(|folder| folder.exists())
        .unwrap_or(&job.folder);
    let there: u64 = job
        .files
        .iter()
        .map(|file| length(&file.partial()).max(length(&file.to)))
        .sum();
    let missing = job.bytes().saturating_sub(there);
    let Ok(free) = fs4::available_space(parent) else {
        return Ok(());
    };
    if is_on_one_disk(job, parent) || missing == 0 || free >= missing.saturating_add(RESERVE) {
        return Ok(());
    }
    let gigabytes = |bytes: u64| format!("{:.1} GB", bytes as f64 / 1e9);
    let reason = format!(
        "The model needs {}, but the disk has {} free.",
        gigabytes(missing),
        gigabytes(free)
    );
    Err(Fault::Failed {
        reason,
        hint: "Free some space, or choose another folder, then try again.".into(),
    })
}

#[cfg(unix)]
fn is_on_one_disk(job: &MoveJob, folder: &std::path::Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let disk = |path: &std::path::Path| std::fs::metadata(path).ok().map(|about| about.dev());
    let here = disk(folder);
    here.is_some() && job.files.iter().all(|file| disk(&file.from) == here)
}

/// Without a way to ask, the disk counts as another one.
#[cfg(not(unix))]
fn is_on_one_disk(_: &MoveJob, _: &std::path::Path) -> bool {
    false
}

fn length(path: &std::path::Path) -> u64 {
    std::fs::metadata(path).map_or(0, |about| about.len())
}

/// Runs `work` on another thread and meanwhile shows its progress.
async fn blocking<W>(
    moves: &MoveJobs,
    job: &MoveJob,
    cancel: &CancellationToken,
    work: W,
) -> Result<(), Fault>
where
    W: FnOnce(&MoveJob, &mut dyn FnMut(u64) -> ControlFlow<()>) -> Result<(), MoveFault>
        + Send
        + 'static,
{
    let counter = moves.counter(job.model());
    let cancel = cancel.clone();
    let of = job.clone();
    let mut task = tokio::task::spawn_blocking(move || {
        let mut step = |done| {
            counter.store(done, Ordering::Relaxed);
            if cancel.is_cancelled() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        work(&of, &mut step)
    });
    let mut news = tokio::time::interval(NEWS);
    loop {
        tokio::select! {
            done = &mut task => {
                return Ok(done.map_err(|_| internal("the files of a model could not be moved"))??);
            }
            _ = news.tick() => moves.announce_progress(job.model()),
        }
    }
}

/// Ends the worker that has the old file open, once its reply has ended. The next reply loads the
/// new one.
async fn release(room: &WeakModelMoves, job: &MoveJob) -> Result<(), Fault> {
    let room = upgraded(room)?;
    let local = room.local().clone();
    let model = room.model_lookup().local_model(job.model()).await?;
    // While it waits, only the host is kept alive, so that the data folder can be closed.
    drop(room);
    if let Some((from, _)) = job.paths() {
        local
            .unload(&LocalModel {
                path: from.display().to_string(),
                ..model
            })
            .await;
    }
    Ok(())
}

/// Deletes the copies of a failed move, and forgets it. A move that only left its old files goes on
/// with the next start.
async fn give_up(room: &WeakModelMoves, job: &MoveJob) {
    let Some(room) = room.upgrade() else {
        return;
    };
    let given_up = async {
        room.tidy_move(job).await?;
        if room.uses_new_file(job).await? {
            Ok(())
        } else {
            room.forget_move(job.model()).await
        }
    };
    if let Err(error) = given_up.await {
        tracing::warn!(%error, "a failed move left files");
    }
}

impl ModelMoves {
    async fn use_new_file(&self, job: &MoveJob) -> Result<(), ApiError> {
        let Some((from, to)) = job.paths() else {
            return Ok(());
        };
        let model = job.model();
        let from = from.display().to_string();
        let to = to.display().to_string();
        // It stays in the old folder, where the model at its new place would not find it.
        let projector = self
            .models()
            .projector_beside(&self.model_lookup().local_model(model).await?)
            .await?;
        let projector = projector.map(|path| ProjectorChoice::File(path.display().to_string()));
        self.base()
            .store()
            .write(move |store| {
                if let Some(choice) = &projector {
                    store.model_projectors_mut().set(model, choice)?;
                }
                store.model_moves_mut().use_file(model, &from, &to)
            })
            .await?;
        self.base()
            .events()
            .changed(Changed::Models, Some(model.to_string()));
        Ok(())
    }
}
