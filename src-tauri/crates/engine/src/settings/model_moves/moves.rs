//! State of the moves that have not ended, and the tasks that run them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::ModelId;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::job::MoveJob;
use crate::api::{self, Event, MoveState};
use crate::base::error::{ApiResult, not_found};
use crate::base::events::Announcer;

/// All moves that have not ended. Clones share one state.
#[derive(Clone)]
pub(crate) struct MoveJobs {
    entries: Arc<Mutex<BTreeMap<ModelId, Entry>>>,
    /// One move runs at a time, because a disk is not faster for two.
    pub(crate) slot: Arc<Semaphore>,
    /// Held by an operation, so that two of them never change one move at the same time.
    pub(crate) turn: Arc<tokio::sync::Mutex<()>>,
    events: Announcer,
}

struct Entry {
    job: MoveJob,
    shown: api::ModelMove,
    /// Bytes of the present step.
    done: Arc<AtomicU64>,
    running: Option<(CancellationToken, JoinHandle<()>)>,
}

impl MoveJobs {
    pub(crate) fn new(events: Announcer) -> Self {
        Self {
            entries: Arc::default(),
            slot: Arc::new(Semaphore::new(1)),
            turn: Arc::default(),
            events,
        }
    }

    /// Adds a move, which does not run yet, or replaces that of the same model.
    pub(crate) fn put(&self, job: MoveJob, state: MoveState, why: (&str, &str)) -> api::ModelMove {
        let reason = why.0.to_owned();
        let hint = why.1.to_owned();
        let shown = api::ModelMove {
            reason,
            hint,
            ..job.shown(state)
        };
        let entry = Entry {
            shown: shown.clone(),
            done: Arc::default(),
            running: None,
            job,
        };
        self.lock().insert(entry.job.model(), entry);
        self.events.announce(Event::ModelMoving {
            moving: shown.clone(),
        });
        shown
    }

    pub(crate) fn job(&self, model: ModelId) -> Option<MoveJob> {
        self.lock().get(&model).map(|entry| entry.job.clone())
    }

    pub(crate) fn list(&self) -> Vec<api::ModelMove> {
        self.lock()
            .values()
            .map(|entry| entry.shown.clone())
            .collect()
    }

    pub(crate) fn shown(&self, model: ModelId) -> ApiResult<api::ModelMove> {
        self.lock()
            .get(&model)
            .map(|entry| entry.shown.clone())
            .ok_or_else(|| not_found("move"))
    }

    pub(crate) fn is_running(&self, model: ModelId) -> bool {
        let entries = self.lock();
        entries
            .get(&model)
            .and_then(|entry| entry.running.as_ref())
            .is_some_and(|(_, task)| !task.is_finished())
    }

    /// The moves that ran when the app ended.
    pub(crate) fn interrupted(&self) -> Vec<ModelId> {
        let entries = self.lock();
        let waits =
            |entry: &&Entry| entry.running.is_none() && entry.shown.state == MoveState::Queued;
        entries
            .values()
            .filter(waits)
            .map(|entry| entry.job.model())
            .collect()
    }

    /// Counter of the bytes of the present step, which [`Self::announce_progress`] shows.
    pub(crate) fn counter(&self, model: ModelId) -> Arc<AtomicU64> {
        self.lock()
            .get(&model)
            .map(|entry| Arc::clone(&entry.done))
            .unwrap_or_default()
    }

    /// Shows another state.
    pub(crate) fn enter(&self, model: ModelId, state: MoveState, reason: String, hint: String) {
        let mut entries = self.lock();
        let Some(entry) = entries.get_mut(&model) else {
            return;
        };
        entry.done.store(0, Ordering::Relaxed);
        entry.shown = api::ModelMove {
            reason,
            hint,
            ..entry.job.shown(state)
        };
        self.events.announce(Event::ModelMoving {
            moving: entry.shown.clone(),
        });
    }

    pub(crate) fn announce_progress(&self, model: ModelId) {
        let mut entries = self.lock();
        let Some(entry) = entries.get_mut(&model) else {
            return;
        };
        let done = entry.done.load(Ordering::Relaxed);
        if done != entry.shown.done {
            entry.shown.done = done;
            self.events.announce(Event::ModelMoving {
                moving: entry.shown.clone(),
            });
        }
    }

    /// Removes a move that is complete or was given up.
    pub(crate) fn end(&self, model: ModelId, moved: bool) {
        let Some(entry) = self.lock().remove(&model) else {
            return;
        };
        let api::ModelMove { name, folder, .. } = entry.shown;
        self.events.announce(Event::ModelMoveEnded {
            model,
            name,
            folder,
            moved,
        });
    }

    /// Starts the task of a move, unless it runs.
    pub(crate) fn run(
        &self,
        model: ModelId,
        start: impl FnOnce(CancellationToken) -> JoinHandle<()>,
    ) {
        let mut entries = self.lock();
        let Some(entry) = entries.get_mut(&model) else {
            return;
        };
        if entry
            .running
            .as_ref()
            .is_none_or(|(_, task)| task.is_finished())
        {
            let cancel = CancellationToken::new();
            entry.running = Some((cancel.clone(), start(cancel)));
        }
    }

    /// Stops the task of one move and returns it.
    pub(crate) fn stop(&self, model: ModelId) -> Option<JoinHandle<()>> {
        let (cancel, task) = self.lock().get_mut(&model)?.running.take()?;
        cancel.cancel();
        Some(task)
    }

    /// Stops all tasks. Their files and rows stay, so the next start goes on.
    pub(crate) fn stop_all(&self) -> Vec<JoinHandle<()>> {
        let tasks = self
            .lock()
            .values_mut()
            .filter_map(|entry| entry.running.take())
            .collect::<Vec<_>>();
        tasks.iter().for_each(|(cancel, _)| cancel.cancel());
        tasks.into_iter().map(|(_, task)| task).collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<ModelId, Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
