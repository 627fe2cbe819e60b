//! The supervisor: one thread that owns the worker and serves requests in order.

mod graphics_failure;
mod jobs;
mod load;
mod loaded;
mod texts;
mod wire;
mod worker;

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use ::worker::protocol::{WorkerReply, WorkerRequest};
use provider::{FinishReason, GenerationEvent, ProviderError, Timings, Usage};
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot, watch};

use self::graphics_failure::GraphicsFailure;
use self::jobs::ActorJob;
pub(crate) use self::jobs::{
    ActorCommand, LoadJob, PictureSizes, TextsJob, TextsReceiver, WorkerReplyJob,
};
pub(crate) use self::loaded::{Loaded, ModelNeed};
use self::wire::{finished, from_done, generate};
use crate::crash_history::CrashHistory;
use crate::failure;
use crate::load::died_by_itself;
use crate::pool::{Confirmation, ModelLimits, Pool, Shared};
use crate::process::Worker;
use crate::saved::SavedCaches;
use crate::settings::WorkerSettings;
use crate::status::{WorkerState, WorkerStatus};

/// The state of the supervisor.
pub(crate) struct Actor {
    settings: Arc<WorkerSettings>,
    shared: Arc<Shared>,
    /// The other supervisors. Weak, because the pool ends its supervisors.
    pool: Weak<Pool>,
    limits: watch::Receiver<ModelLimits>,
    commands: mpsc::UnboundedReceiver<ActorCommand>,
    status: watch::Sender<WorkerStatus>,
    waiting: VecDeque<ActorJob>,
    /// Text jobs that the worker has not answered yet, by id.
    asked: HashMap<u64, TextsReceiver>,
    saved: Option<SavedCaches>,
    /// Cache keys to forget when the worker is idle, because a busy worker might be saving them.
    forgotten: Vec<String>,
    worker: Option<Worker>,
    health: CrashHistory,
    /// The last way to load a model in which a graphics device ended the worker.
    graphics_failure: Option<GraphicsFailure>,
    /// Model and context size that `health` refers to.
    health_of: (PathBuf, u32),
    last_id: u64,
    /// A job is running.
    busy: bool,
    /// Set by a shutdown. No further job starts, and the senders are notified once the worker has
    /// ended.
    closing: Option<Vec<oneshot::Sender<()>>>,
}

impl Actor {
    pub(crate) fn new(
        settings: Arc<WorkerSettings>,
        commands: mpsc::UnboundedReceiver<ActorCommand>,
        status: watch::Sender<WorkerStatus>,
        (shared, pool): (Arc<Shared>, Weak<Pool>),
    ) -> Self {
        Self {
            limits: shared.limits.subscribe(),
            shared,
            pool,
            saved: SavedCaches::of(&settings),
            forgotten: Vec::new(),
            settings,
            commands,
            status,
            waiting: VecDeque::new(),
            asked: HashMap::new(),
            worker: None,
            health: CrashHistory::default(),
            graphics_failure: None,
            health_of: (PathBuf::new(), 0),
            last_id: 0,
            busy: false,
            closing: None,
        }
    }

    /// Runs until the last handle is dropped or a shutdown is requested, then ends the worker.
    pub(crate) async fn run(mut self) {
        while let Some(job) = self.next_job().await {
            self.busy = true;
            match job {
                ActorJob::Reply(job) => self.reply(&job).await,
                ActorJob::Texts(job) => self.texts(job).await,
                ActorJob::KeepOffDisk(cache_keys, done) => {
                    self.exclude_from_saving(cache_keys, done).await
                }
                ActorJob::Load(job) => self.load_in_advance(*job).await,
                ActorJob::Unload(done) => self.unload(done).await,
            }
            self.busy = false;
        }
        let waiting = std::mem::take(&mut self.waiting).into_iter();
        let stale: Vec<_> = waiting.filter_map(ActorJob::keeps_off_disk).collect();
        for (cache_keys, _) in &stale {
            self.send_if_running(&WorkerRequest::KeepOffDisk {
                cache_keys: cache_keys.clone(),
            })
            .await;
        }
        self.shut_down().await;
        // The worker may have saved these caches during its shutdown, before it received the
        // command.
        for (cache_keys, done) in stale {
            self.exclude_from_saving(cache_keys, done).await;
        }
        self.forget().await;
        self.status.send_replace(WorkerStatus::default());
        self.shared.latest.send_replace(WorkerStatus::default());
        for done in self.closing.into_iter().flatten() {
            let _ = done.send(());
        }
    }

    /// Shuts the worker down; the next job starts a new one.
    async fn shut_down(&mut self) {
        if let Some(worker) = self.worker.take() {
            worker
                .shut_down(self.settings.policy.shutdown_timeout)
                .await;
            self.saved.iter().for_each(SavedCaches::enforce_budget);
        }
    }

    async fn next_job(&mut self) -> Option<ActorJob> {
        loop {
            if self.closing.is_some() {
                return None;
            }
            self.forget().await;
            let state = if self.worker.is_some() {
                WorkerState::Idle
            } else {
                self.state()
            };
            self.publish(state);
            if let Some(job) = self.waiting.pop_front() {
                return Some(job);
            }
            let idle = self.idle_limit();
            tokio::select! {
                _ = self.limits.changed() => {}
                command = self.commands.recv() => self.take(command).await,
                frame = idle_frame(&mut self.worker) => match frame {
                    Some(Ok(reply)) => self.answer(reply),
                    Some(Err(error)) => { self.end_worker(Some(error.to_string())).await; }
                    None => { self.end_worker(None).await; }
                },
                () = unused(idle) => {
                    self.shut_down().await;
                    self.publish(WorkerState::Absent);
                }
            }
        }
    }

    /// Accepts a command at any time. `None` means that the last handle was dropped.
    async fn take(&mut self, command: Option<ActorCommand>) {
        match command {
            None => self.closing = Some(self.closing.take().unwrap_or_default()),
            Some(ActorCommand::Shutdown(done)) => self.closing.get_or_insert_default().push(done),
            Some(ActorCommand::Reply(job)) => {
                if self.busy || !self.waiting.is_empty() {
                    job.send_event(GenerationEvent::Queued);
                }
                self.waiting.push_back(ActorJob::Reply(job));
            }
            Some(ActorCommand::Forget(cache_key)) => self.forgotten.push(cache_key),
            Some(ActorCommand::KeepOffDisk(cache_keys, done)) => self
                .waiting
                .push_back(ActorJob::KeepOffDisk(cache_keys, done)),
            Some(ActorCommand::Load(job)) => self.waiting.push_back(ActorJob::Load(job)),
            Some(ActorCommand::Unload(done)) => self.waiting.push_back(ActorJob::Unload(done)),
            // The worker answers these between two tokens of a reply.
            Some(ActorCommand::Texts(job))
                if self.busy && self.is_loaded(&job.path, &job.need()) =>
            {
                self.ask(job).await
            }
            Some(ActorCommand::Texts(job)) => self.waiting.push_back(ActorJob::Texts(job)),
        }
        let state = self.state();
        self.publish(state);
    }

    async fn reply(&mut self, job: &WorkerReplyJob) {
        let last = match self.try_reply(job).await {
            Ok(finished) => Ok(finished),
            Err(error) => {
                tracing::warn!(%error, kind = ?error.kind, "the local reply failed");
                Err(error)
            }
        };
        let _ = job.events.send(last);
    }

    async fn try_reply(&mut self, job: &WorkerReplyJob) -> Result<GenerationEvent, ProviderError> {
        if job.request.prompt.segments.is_empty() {
            return Err(failure::no_segments());
        }
        let _turn = self.turn_of(Some(job)).await?;
        loop {
            if !job.is_cancelled() {
                let need = ModelNeed::Replies {
                    context: job.context,
                    options: job.options_of_prompt(),
                };
                self.load(&job.path, need, Some(job)).await?;
            }
            if job.is_cancelled() {
                return Ok(finished(
                    FinishReason::Cancelled,
                    Usage::default(),
                    Timings::default(),
                ));
            }
            let (on_graphics, mut has_text) = (self.computes_on_graphics(), false);
            let result = self.generate(job, &mut has_text).await;
            let failed = result
                .as_ref()
                .err()
                .filter(|error| on_graphics && died_by_itself(error));
            let Some(error) = failed.filter(|_| self.closing.is_none()) else {
                return result;
            };
            self.blame_graphics(job, error);
            if has_text {
                return result;
            }
        }
    }

    /// Lets the loaded model write the reply. `has_text` becomes true with its first text.
    async fn generate(
        &mut self,
        job: &WorkerReplyJob,
        has_text: &mut bool,
    ) -> Result<GenerationEvent, ProviderError> {
        let id = self.next_id();
        self.publish(WorkerState::Busy);
        let (start, mut first_text) = (Instant::now(), None);
        let projector = job.options.projector_identity();
        self.send(&WorkerRequest::Generate(generate(
            id,
            &job.request,
            &projector,
        )?))
        .await?;
        let limit = self.settings.policy.reply_timeout;
        self.until(Some((job, Some(id))), limit, move |reply| match reply {
            WorkerReply::Prefill {
                done,
                total,
                reused,
                ..
            } => {
                job.send_event(GenerationEvent::Prefill {
                    done,
                    total,
                    reused,
                });
                None
            }
            WorkerReply::Text { text, tokens, .. } => {
                first_text.get_or_insert_with(|| start.elapsed());
                *has_text = true;
                job.send_event(GenerationEvent::Text(text));
                if !tokens.is_empty() {
                    let choices = tokens.into_iter().map(crate::token_rules::choice);
                    job.send_event(GenerationEvent::Choices(choices.collect()));
                }
                None
            }
            WorkerReply::Done(done) => {
                let first_text_ms =
                    first_text.unwrap_or_else(|| start.elapsed()).as_secs_f64() * 1000.0;
                Some(Ok(from_done(&done, first_text_ms)))
            }
            _ => None,
        })
        .await
    }

    /// Waits until no other model generates a reply. `None` means that the caller has given up.
    async fn turn_of(
        &mut self,
        job: Option<&WorkerReplyJob>,
    ) -> Result<Option<OwnedSemaphorePermit>, ProviderError> {
        let turn = Arc::clone(&self.shared.turn);
        if let Ok(permit) = Arc::clone(&turn).try_acquire_owned() {
            return Ok(Some(permit));
        }
        job.inspect(|job| job.send_event(GenerationEvent::Queued));
        let acquired = turn.acquire_owned();
        tokio::pin!(acquired);
        while self.closing.is_none() {
            tokio::select! {
                permit = &mut acquired => return Ok(permit.ok()),
                () = given_up(job) => return Ok(None),
                command = self.commands.recv() => {
                    self.take(command).await;
                    self.unload_if_asked().await;
                }
                frame = idle_frame(&mut self.worker) => match frame {
                    Some(Ok(reply)) => self.answer(reply),
                    Some(Err(error)) => { self.end_worker(Some(error.to_string())).await; }
                    None => { self.end_worker(None).await; }
                },
            }
        }
        Err(failure::shut_down())
    }

    /// Makes room for the model that has the turn. The waiting job loads its own model again.
    async fn unload_if_asked(&mut self) {
        let asked = self
            .waiting
            .iter()
            .position(|job| matches!(job, ActorJob::Unload(_)));
        if let Some(ActorJob::Unload(done)) = asked.and_then(|at| self.waiting.remove(at)) {
            self.unload(done).await;
        }
    }

    async fn unload(&mut self, done: oneshot::Sender<()>) {
        self.shut_down().await;
        self.publish(WorkerState::Absent);
        // The caller may have stopped waiting.
        let _ = done.send(());
    }

    async fn load_in_advance(&mut self, job: LoadJob) {
        let LoadJob {
            path,
            context,
            options,
            done,
        } = job;
        let loaded = match self.turn_of(None).await {
            Ok(_turn) => {
                self.load(&path, ModelNeed::Replies { context, options }, None)
                    .await
            }
            Err(error) => Err(error),
        };
        self.publish(if self.worker.is_some() {
            WorkerState::Idle
        } else {
            self.state()
        });
        // The caller may have stopped waiting.
        let _ = done.send(loaded);
    }

    /// Idle time after which a running worker ends. One that only counts is not worth its memory.
    fn idle_limit(&self) -> Option<Duration> {
        const COUNTING: Duration = Duration::from_secs(60);
        let worker = self.worker.as_ref()?;
        let counts = worker
            .loaded
            .as_ref()
            .is_none_or(|loaded| loaded.need == ModelNeed::Vocabulary);
        let limit = self.limits.borrow().idle;
        if counts {
            Some(limit.map_or(COUNTING, |limit| limit.min(COUNTING)))
        } else {
            limit
        }
    }

    /// Drops the forgotten caches from memory and disk.
    async fn forget(&mut self) {
        for cache_key in std::mem::take(&mut self.forgotten) {
            self.drop_saved(std::slice::from_ref(&cache_key));
            self.send_if_running(&WorkerRequest::Forget { cache_key })
                .await;
        }
    }

    async fn exclude_from_saving(&mut self, cache_keys: Vec<String>, done: Arc<Confirmation>) {
        let deleted = self.drop_saved(&cache_keys);
        self.send_if_running(&WorkerRequest::KeepOffDisk { cache_keys })
            .await;
        if deleted {
            done.confirm();
        }
    }

    /// Returns false if a file could not be deleted.
    fn drop_saved(&self, cache_keys: &[String]) -> bool {
        self.saved
            .as_ref()
            .is_none_or(|saved| saved.forget(cache_keys.iter().map(String::as_str)))
    }

    /// Sends a frame to a running worker. A failed send means that the worker, and its memory, is
    /// gone.
    async fn send_if_running(&mut self, frame: &WorkerRequest) {
        if self.worker.is_some() {
            let _ = self.send(frame).await;
        }
    }

    fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }
}

/// Completes when the caller of `job` has given up.
async fn given_up(job: Option<&WorkerReplyJob>) {
    match job {
        Some(job) => job.given_up().await,
        None => std::future::pending().await,
    }
}

async fn idle_frame(
    worker: &mut Option<Worker>,
) -> Option<Result<WorkerReply, ::worker::FrameError>> {
    match worker {
        Some(worker) => worker.frames.recv().await,
        None => std::future::pending().await,
    }
}

/// Completes when a running worker was idle for `idle`.
async fn unused(idle: Option<Duration>) {
    match idle {
        Some(idle) => tokio::time::sleep(idle).await,
        None => std::future::pending().await,
    }
}
