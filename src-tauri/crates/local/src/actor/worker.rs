//! The life of the worker process: start, frames and death.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use ::worker::FrameError;
use ::worker::protocol::{Pixels, WorkerReply, WorkerRequest};
use provider::{GenerationEvent, ProviderError, ProviderErrorKind};

use super::loaded::Loaded;
use super::{Actor, ActorCommand, WorkerReplyJob};
use crate::crash_history::CrashHistory;
use crate::devices::Devices;
use crate::process::Worker;
use crate::saved::SavedCaches;
use crate::status::{LoadedModel, UsedDevice, WorkerState};
use crate::{failure, pictures};

/// Outcome of waiting for the worker.
enum WorkerEvent {
    Frame(WorkerReply),
    /// The data is not a valid frame.
    InvalidFrame(FrameError),
    /// The pipe was closed.
    Closed,
    Command(Option<ActorCommand>),
    GivenUp,
    Quiet,
}

impl Actor {
    /// Resets the death count for another model or context size, because the error recommends
    /// exactly that change.
    pub(super) fn forget_deaths_of_others(&mut self, path: &Path, context: Option<u32>) {
        let (known, size) = (&self.health_of.0, self.health_of.1);
        if known != path || context.is_some_and(|context| context != size) {
            self.health_of = (path.to_owned(), context.unwrap_or(0));
            self.health = CrashHistory::default();
        }
    }

    /// Starts a worker, unless a suitable one runs. It may use graphics devices only if the
    /// throw-away process has found some, so that a faulty driver ends no worker.
    pub(super) async fn start(&mut self) -> Result<(), ProviderError> {
        let graphics = !self.shared.devices.get().graphics().is_empty();
        if self
            .worker
            .as_ref()
            .is_some_and(|worker| worker.graphics != graphics)
        {
            self.shut_down().await;
        }
        if self.worker.is_some() {
            return Ok(());
        }
        let pause = self.health.pause(Instant::now(), &self.settings.policy)?;
        self.publish(WorkerState::Starting);
        tokio::time::sleep(pause).await;
        let started = Worker::start(&self.settings, graphics).await;
        if let Err(error) = &started {
            self.record_death(&error.message);
        }
        self.worker = Some(started?);
        self.publish(WorkerState::Starting);
        Ok(())
    }

    /// Sends a frame. A failure means that the worker died.
    pub(super) async fn send(&mut self, frame: &WorkerRequest) -> Result<(), ProviderError> {
        let Some(worker) = &mut self.worker else {
            return Err(failure::shut_down());
        };
        match worker.send(frame, self.settings.policy.reply_timeout).await {
            Ok(()) => Ok(()),
            Err(error @ FrameError::TooLarge { .. }) => {
                let hint = "shorten the text; it is too large for any local model";
                Err(ProviderError::new(
                    ProviderErrorKind::BadRequest,
                    error.to_string(),
                    hint,
                ))
            }
            Err(FrameError::Pipe(error)) if error.kind() == std::io::ErrorKind::TimedOut => {
                Err(self.end_worker(Some("it stopped reading".to_owned())).await)
            }
            Err(_) => Err(self.end_worker(None).await),
        }
    }

    /// Handles frames until `step` returns a result. Meanwhile it accepts commands and cancels
    /// `job`, by its id, when the caller gives it up. It reports a worker that is silent, and ends
    /// it after `limit`.
    pub(super) async fn until<T>(
        &mut self,
        job: Option<(&WorkerReplyJob, Option<u64>)>,
        limit: Duration,
        mut step: impl FnMut(WorkerReply) -> Option<Result<T, ProviderError>>,
    ) -> Result<T, ProviderError> {
        let policy = self.settings.policy;
        let (mut last_frame, mut stalls, mut cancelled) = (tokio::time::Instant::now(), 0, false);
        loop {
            let watched = job
                .filter(|(_, id)| id.is_some() && !cancelled)
                .map(|(job, _)| job);
            let quiet_until = last_frame + (policy.stall_notice * (stalls + 1)).min(limit);
            match self.turn(watched, quiet_until).await {
                WorkerEvent::Frame(WorkerReply::PixelsWanted { id, picture }) => {
                    (last_frame, stalls) = (tokio::time::Instant::now(), 0);
                    self.send_pixels(job.map(|(job, _)| job), id, picture)
                        .await?;
                }
                WorkerEvent::Frame(reply) => {
                    (last_frame, stalls) = (tokio::time::Instant::now(), 0);
                    if let Some(outcome) = self.handle(reply, job.and_then(|(_, id)| id), &mut step)
                    {
                        return outcome;
                    }
                }
                WorkerEvent::Command(command) => self.take(command).await,
                WorkerEvent::GivenUp => {
                    cancelled = true;
                    if let Some((_, Some(id))) = job {
                        self.send(&WorkerRequest::Cancel { id }).await?;
                    }
                }
                WorkerEvent::Quiet if last_frame.elapsed() >= limit => {
                    return Err(self
                        .end_worker(Some(format!(
                            "it sent nothing for {} seconds",
                            limit.as_secs()
                        )))
                        .await);
                }
                WorkerEvent::Quiet => {
                    stalls += 1;
                    let seconds = u32::try_from(last_frame.elapsed().as_secs()).unwrap_or(u32::MAX);
                    job.inspect(|(job, _)| job.send_event(GenerationEvent::Stalled { seconds }));
                }
                WorkerEvent::InvalidFrame(error) => {
                    return Err(self.end_worker(Some(error.to_string())).await);
                }
                WorkerEvent::Closed => return Err(self.end_worker(None).await),
            }
            if self.closing.is_some() {
                return Err(failure::shut_down());
            }
        }
    }

    /// Sends the pixels of a picture of `job`; none if it cannot be read, which ends the reply with
    /// an error.
    async fn send_pixels(
        &mut self,
        job: Option<&WorkerReplyJob>,
        id: u64,
        picture: usize,
    ) -> Result<(), ProviderError> {
        let wanted = job
            .and_then(|job| job.request.prompt.pictures.get(picture))
            .cloned();
        let decoded = tokio::task::spawn_blocking(move || pictures::pixels(&wanted?)).await;
        let rgb = decoded.ok().flatten().unwrap_or_default();
        self.send(&WorkerRequest::Pixels(Pixels { id, picture, rgb }))
            .await
    }

    async fn turn(
        &mut self,
        job: Option<&WorkerReplyJob>,
        quiet_until: tokio::time::Instant,
    ) -> WorkerEvent {
        let Some(worker) = &mut self.worker else {
            return WorkerEvent::Closed;
        };
        let given_up = async {
            match job {
                Some(job) => job.given_up().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = given_up => WorkerEvent::GivenUp,
            frame = worker.frames.recv() => match frame {
                Some(Ok(reply)) => WorkerEvent::Frame(reply),
                Some(Err(error)) => WorkerEvent::InvalidFrame(error),
                None => WorkerEvent::Closed,
            },
            command = self.commands.recv() => WorkerEvent::Command(command),
            () = tokio::time::sleep_until(quiet_until) => WorkerEvent::Quiet,
        }
    }

    /// Handles errors and results of text jobs, and passes all other frames to `step`.
    fn handle<T>(
        &mut self,
        reply: WorkerReply,
        id: Option<u64>,
        step: &mut impl FnMut(WorkerReply) -> Option<Result<T, ProviderError>>,
    ) -> Option<Result<T, ProviderError>> {
        match reply {
            WorkerReply::Error {
                id: of,
                code,
                message,
            } if of == id || of.is_none() => Some(Err(failure::from_worker(code, message))),
            WorkerReply::Error { .. }
            | WorkerReply::Counts { .. }
            | WorkerReply::Tokens { .. }
            | WorkerReply::Embeddings { .. } => {
                self.answer(reply.clone());
                step(reply)
            }
            reply => step(reply),
        }
    }

    /// Ends the worker and fails every job that waits for it. `killed_because` is the reason if we
    /// end it.
    pub(super) async fn end_worker(&mut self, killed_because: Option<String>) -> ProviderError {
        let Some(mut worker) = self.worker.take() else {
            return failure::shut_down();
        };
        let death = worker.end(killed_because).await;
        self.saved.iter().for_each(SavedCaches::delete_unfinished);
        self.record_death(&death.describe());
        for (_, answer) in self.asked.drain() {
            answer.fail(death.error());
        }
        death.error()
    }

    fn record_death(&mut self, how: &str) {
        tracing::warn!(how, "worker died");
        self.health.record_death(Instant::now(), how);
        self.shared.deaths.fetch_add(1, Ordering::Relaxed);
        self.status
            .send_modify(|status| status.last_death = Some(how.to_owned()));
        self.publish(WorkerState::Dead);
    }

    /// Returns the published state. The guard must not outlive this call, because publishing waits
    /// for it.
    pub(super) fn state(&self) -> WorkerState {
        self.status.borrow().state
    }

    /// Publishes the state.
    pub(super) fn publish(&self, state: WorkerState) {
        let loaded = self
            .worker
            .as_ref()
            .and_then(|worker| worker.loaded.as_ref());
        self.status.send_modify(|status| {
            status.state = state;
            status.pid = self.worker.as_ref().and_then(Worker::pid);
            status.model = loaded.map(|loaded| loaded.load.path.clone());
            status.context = loaded.map_or(0, |loaded| loaded.info.context);
            status.waiting = self.waiting.len();
            status.deaths = self.shared.deaths.load(Ordering::Relaxed);
            status.loaded = loaded.map(|loaded| shown(loaded, &self.shared.devices.get()));
        });
        let latest = self.status.borrow().clone();
        self.shared.latest.send_if_modified(|known| {
            let changed = *known != latest;
            *known = latest;
            changed
        });
    }
}

fn shown(loaded: &Loaded, devices: &Devices) -> LoadedModel {
    let placement = &loaded.info.placement;
    let used = placement.memory.iter().map(|memory| {
        let device = devices.named(&memory.device);
        UsedDevice {
            name: memory.device.clone(),
            description: device
                .map(|device| device.description.clone())
                .unwrap_or_default(),
            weights: memory.weights,
            cache: memory.cache,
            compute: memory.compute,
            used: memory.total(),
            total: device.map_or(0, |device| device.total),
        }
    });
    LoadedModel {
        path: loaded.load.path.clone(),
        context: loaded.info.context,
        layers: placement.layers,
        gpu_layers: placement.gpu_layers,
        processor_experts: loaded.load.tuning.processor_experts,
        devices: used.collect(),
        notes: loaded.notes.clone(),
    }
}
