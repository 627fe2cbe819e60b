//! Updates of the app. Nothing is contacted before the user asks for it, or switches on the weekly
//! check.

mod check;
mod download;
mod failures;
mod install;
mod status;
mod stored;
mod weekly;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use updates::{InstallKind, UpdateSource, VersionFolders};

use crate::api::{ApiError, UpdatePhase, UpdateStatus};
use crate::base::error::{ApiResult, bad_input};
use crate::base::handle::Base;
use crate::library::backups::Backups;
use crate::settings::handle::Configuration;

/// Updates of the app. Clones share one state.
#[derive(Clone)]
pub(crate) struct Updates(Arc<UpdatesState>);

/// The rooms that this one uses, and the work in progress.
struct UpdatesState {
    config: Configuration,
    backups: Backups,
    kind: InstallKind,
    work: Arc<Mutex<UpdateWork>>,
    /// The task of the last download.
    task: Mutex<Option<JoinHandle<()>>>,
    /// Ends checks and downloads with the engine.
    closing: CancellationToken,
}

/// The work in progress.
#[derive(Clone, Default)]
struct UpdateWork {
    /// `Idle` without work.
    phase: UpdatePhase,
    /// Why the last work failed.
    failure: Option<ApiError>,
    /// Stops the download in progress.
    cancel: Option<CancellationToken>,
}

/// The right to work on updates, for one at a time.
struct UpdateTurn(Arc<Mutex<UpdateWork>>);

impl Drop for UpdateTurn {
    fn drop(&mut self) {
        let mut work = locked(&self.0);
        work.phase = UpdatePhase::Idle;
        work.cancel = None;
    }
}

impl Drop for UpdatesState {
    fn drop(&mut self) {
        self.closing.cancel();
    }
}

/// A handle for background tasks, which does not keep the engine open.
#[derive(Clone)]
struct WeakUpdates(Weak<UpdatesState>);

impl WeakUpdates {
    /// `None` once the engine is gone.
    fn upgrade(&self) -> Option<Updates> {
        self.0.upgrade().map(Updates)
    }
}

impl Updates {
    pub(super) fn new(config: &Configuration, backups: &Backups) -> Self {
        let program = config.base().updates().program.as_deref();
        Self(Arc::new(UpdatesState {
            config: config.clone(),
            backups: backups.clone(),
            kind: program.map_or(InstallKind::Source, InstallKind::of),
            work: Arc::default(),
            task: Mutex::default(),
            closing: CancellationToken::new(),
        }))
    }

    fn downgrade(&self) -> WeakUpdates {
        WeakUpdates(Arc::downgrade(&self.0))
    }

    fn base(&self) -> &Base {
        self.0.config.base()
    }

    fn config(&self) -> &Configuration {
        &self.0.config
    }

    fn backups(&self) -> &Backups {
        &self.0.backups
    }

    fn source(&self) -> &UpdateSource {
        self.base().updates()
    }

    fn kind(&self) -> &InstallKind {
        &self.0.kind
    }

    fn work(&self) -> MutexGuard<'_, UpdateWork> {
        locked(&self.0.work)
    }

    /// Ends checks and downloads for good. Returns the task of the last download.
    pub(crate) fn stop(&self) -> Option<JoinHandle<()>> {
        self.0.closing.cancel();
        self.task().take()
    }

    fn task(&self) -> MutexGuard<'_, Option<JoinHandle<()>>> {
        self.0.task.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The folders of versions.
    ///
    /// # Errors
    /// `BadInput` if this installation does not update itself.
    fn folders(&self) -> ApiResult<&VersionFolders> {
        match self.kind() {
            InstallKind::Versions(folders) => Ok(folders),
            InstallKind::Package(_) => Err(bad_input(
                "This installation is updated by a package manager.",
                "Type the command that the update page shows.",
            )),
            InstallKind::Source => Err(bad_input(
                "This is a build from source, which does not update itself.",
                "Get the new source and build it again.",
            )),
        }
    }

    /// Begins a work, unless another one is in progress.
    ///
    /// # Errors
    /// `Busy`.
    fn take_turn(&self, phase: UpdatePhase) -> ApiResult<UpdateTurn> {
        let mut work = self.work();
        if work.phase != UpdatePhase::Idle {
            return Err(ApiError::Busy {
                message: "A check, a download or an installation is in progress.".into(),
                hint: "Wait for its end, then try again.".into(),
            });
        }
        work.phase = phase;
        work.failure = None;
        Ok(UpdateTurn(Arc::clone(&self.0.work)))
    }

    /// Ends a work. A failure is shown until the next one begins.
    async fn end(&self, turn: UpdateTurn, outcome: ApiResult<()>) -> ApiResult<UpdateStatus> {
        self.work().failure = outcome.as_ref().err().cloned();
        drop(turn);
        let status = self.announce().await?;
        outcome.map(|()| status)
    }
}

fn locked(work: &Mutex<UpdateWork>) -> MutexGuard<'_, UpdateWork> {
    work.lock().unwrap_or_else(PoisonError::into_inner)
}
