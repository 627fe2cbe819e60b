//! State of the downloads that are not complete: what they load, how far they are, and the tasks
//! that run them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::api::{self, DownloadState, Event};
use crate::base::error::{ApiResult, not_found};
use crate::base::events::Announcer;
use crate::settings::hub::download_job::{DownloadJob, JobStop};

/// Downloads that run at a time. More of them would only slow each other down.
const AT_A_TIME: usize = 2;
/// Interval between progress events of one download.
pub(crate) const NEWS: Duration = Duration::from_millis(250);
/// Weight of the newest measurement in the shown speed.
const NEWEST: f64 = 0.3;

/// All downloads that are not complete. Clones share one state.
#[derive(Clone)]
pub(crate) struct Downloads {
    entries: Arc<Mutex<HashMap<Uuid, Entry>>>,
    pub(crate) slots: Arc<Semaphore>,
    /// Held by an operation, so that two of them never run one download at the same time.
    pub(crate) turn: Arc<tokio::sync::Mutex<()>>,
    events: Announcer,
}

struct Entry {
    job: DownloadJob,
    shown: api::Download,
    speed: Speed,
    /// The task that runs it, and how to stop it.
    running: Option<(CancellationToken, JoinHandle<()>)>,
}

/// Smoothed speed, measured between two events.
struct Speed {
    since: Instant,
    bytes: u64,
    per_second: Option<f64>,
}

impl Downloads {
    pub(crate) fn new(events: Announcer) -> Self {
        Self {
            entries: Arc::default(),
            slots: Arc::new(Semaphore::new(AT_A_TIME)),
            turn: Arc::default(),
            events,
        }
    }

    /// Stops all tasks. Their files and rows stay, so the next start resumes them.
    pub(crate) fn stop_all(&self) -> Vec<JoinHandle<()>> {
        let tasks = self
            .lock()
            .values_mut()
            .filter_map(|entry| entry.running.take())
            .collect::<Vec<_>>();
        tasks.iter().for_each(|(cancel, _)| cancel.cancel());
        tasks.into_iter().map(|(_, task)| task).collect()
    }

    pub(crate) fn job(&self, id: Uuid) -> Option<DownloadJob> {
        self.lock().get(&id).map(|entry| entry.job.clone())
    }

    /// Notes that `done` bytes of all files are here. [`Self::announce_progress`] shows it.
    pub(crate) fn progress(&self, id: Uuid, done: u64) {
        if let Some(entry) = self.lock().get_mut(&id) {
            entry.shown.done = done;
        }
    }

    /// Shows the progress since the last call, also if there is none, so that a stalled download
    /// shows no speed.
    pub(crate) fn announce_progress(&self, id: Uuid) {
        let mut entries = self.lock();
        let Some(entry) = entries.get_mut(&id) else {
            return;
        };
        entry.speed.measure(entry.shown.done);
        let before = entry.shown.clone();
        entry.shown.state = DownloadState::Running;
        entry.shown.speed = entry
            .speed
            .per_second
            .map(|speed| speed as u64)
            .filter(|speed| *speed > 0);
        entry.shown.seconds_left = entry.seconds_left();
        (entry.shown.reason, entry.shown.hint, entry.shown.retry_in) =
            (String::new(), String::new(), None);
        if entry.shown != before {
            self.announce(&entry.shown);
        }
    }

    /// Shows another state. `why` are a reason and a hint.
    pub(crate) fn enter(
        &self,
        id: Uuid,
        state: DownloadState,
        why: (&str, &str),
        retry_in: Option<Duration>,
    ) {
        let mut entries = self.lock();
        let Some(entry) = entries.get_mut(&id) else {
            return;
        };
        entry.shown.state = state;
        (entry.shown.reason, entry.shown.hint) = (why.0.to_owned(), why.1.to_owned());
        entry.shown.retry_in = retry_in.map(|pause| (pause.as_secs_f64().ceil() as u32).max(1));
        (entry.shown.speed, entry.shown.seconds_left) = (None, None);
        entry.speed = Speed::start(entry.shown.done);
        self.announce(&entry.shown);
    }

    /// Removes a download that is complete or cancelled.
    pub(crate) fn end(&self, id: Uuid, model: Option<String>) {
        let Some(entry) = self.lock().remove(&id) else {
            return;
        };
        let name = entry.job.name();
        let makes_default = entry.job.makes_default;
        self.events.announce(Event::DownloadEnded {
            id: id.to_string(),
            name,
            model,
            makes_default,
        });
    }

    /// Changes how it is stored while it does not run.
    pub(crate) fn set_stop(&self, id: Uuid, stop: JobStop) {
        if let Some(entry) = self.lock().get_mut(&id) {
            entry.job.stop = stop;
        }
    }

    /// Adds a job, which does not run yet.
    pub(crate) fn put(&self, job: DownloadJob) -> api::Download {
        let shown = shown(&job);
        let entry = Entry {
            speed: Speed::start(shown.done),
            shown: shown.clone(),
            job,
            running: None,
        };
        self.lock().insert(entry.job.id, entry);
        shown
    }

    /// Replaces a job that does not run, for example because the hub has newer files.
    pub(crate) fn replace(&self, job: DownloadJob) {
        if let Some(entry) = self.lock().get_mut(&job.id) {
            entry.shown = shown(&job);
            entry.job = job;
        }
    }

    /// The job that loads the same file.
    pub(crate) fn same(&self, job: &DownloadJob) -> Option<DownloadJob> {
        self.lock()
            .values()
            .find(|entry| entry.job.is_same(job))
            .map(|entry| entry.job.clone())
    }

    /// Notes that a file is complete and verified.
    pub(crate) fn mark_done(&self, id: Uuid, path: &str) -> Option<DownloadJob> {
        let mut entries = self.lock();
        let entry = entries.get_mut(&id)?;
        entry
            .job
            .files
            .iter_mut()
            .filter(|file| file.path == path)
            .for_each(|file| file.done = true);
        Some(entry.job.clone())
    }

    /// The oldest first.
    pub(crate) fn list(&self) -> Vec<api::Download> {
        let entries = self.lock();
        let mut all: Vec<&Entry> = entries.values().collect();
        all.sort_by_key(|entry| (entry.job.created, entry.job.id));
        all.into_iter().map(|entry| entry.shown.clone()).collect()
    }

    pub(crate) fn shown(&self, id: Uuid) -> ApiResult<api::Download> {
        self.lock()
            .get(&id)
            .map(|entry| entry.shown.clone())
            .ok_or_else(|| not_found("download"))
    }

    /// The downloads that ran when the app ended.
    pub(crate) fn interrupted(&self) -> Vec<Uuid> {
        let waits = |entry: &&Entry| entry.running.is_none() && entry.job.stop == JobStop::None;
        self.lock()
            .values()
            .filter(waits)
            .map(|entry| entry.job.id)
            .collect()
    }

    pub(crate) fn is_running(&self, id: Uuid) -> bool {
        let entries = self.lock();
        entries
            .get(&id)
            .and_then(|entry| entry.running.as_ref())
            .is_some_and(|(_, task)| !task.is_finished())
    }

    /// Starts the task of a download, unless it runs.
    pub(crate) fn run(&self, id: Uuid, start: impl FnOnce(CancellationToken) -> JoinHandle<()>) {
        let mut entries = self.lock();
        let Some(entry) = entries.get_mut(&id) else {
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

    pub(crate) fn announce(&self, download: &api::Download) {
        self.events.announce(Event::Downloading {
            download: download.clone(),
        });
    }

    /// Stops the task of one download and returns it.
    pub(crate) fn stop(&self, id: Uuid) -> Option<JoinHandle<()>> {
        let (cancel, task) = self.lock().get_mut(&id)?.running.take()?;
        cancel.cancel();
        Some(task)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Uuid, Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entry {
    fn seconds_left(&self) -> Option<u32> {
        let left = self.shown.total?.saturating_sub(self.shown.done) as f64;
        let speed = self.speed.per_second.filter(|speed| *speed >= 1.0)?;
        Some((left / speed).ceil().min(f64::from(u32::MAX)) as u32)
    }
}

impl Speed {
    fn start(bytes: u64) -> Self {
        Self {
            since: Instant::now(),
            bytes,
            per_second: None,
        }
    }

    fn measure(&mut self, bytes: u64) {
        let seconds = self.since.elapsed().as_secs_f64();
        // The first look comes at once, and would measure nothing.
        if seconds < NEWS.as_secs_f64() / 2.0 {
            return;
        }
        let now = bytes.saturating_sub(self.bytes) as f64 / seconds;
        let per_second = self
            .per_second
            .map_or(now, |before| before + NEWEST * (now - before));
        *self = Self {
            since: Instant::now(),
            bytes,
            per_second: Some(per_second),
        };
    }
}

fn shown(job: &DownloadJob) -> api::Download {
    let (state, reason, hint) = match &job.stop {
        JobStop::None => (DownloadState::Queued, String::new(), String::new()),
        JobStop::Paused => (DownloadState::Paused, String::new(), String::new()),
        JobStop::Failed { reason, hint } => (DownloadState::Failed, reason.clone(), hint.clone()),
    };
    api::Download {
        id: job.id.to_string(),
        repo: job.repo.clone(),
        file: job.name(),
        licence: job.licence.clone(),
        state,
        done: job.files.iter().map(|file| job.here(file)).sum(),
        total: job.total(),
        speed: None,
        seconds_left: None,
        reason,
        hint,
        retry_in: None,
        makes_default: job.makes_default,
    }
}
