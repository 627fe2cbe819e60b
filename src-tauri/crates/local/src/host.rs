//! Public handles: a host that keeps one model loaded, and the providers that share it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use domain::embedding::Embedding;
use domain::model::LocalModel;
use domain::prompt::Segment;
use futures_util::StreamExt;
use provider::{
    EventStream, FinishReason, GenerationEvent, Provider, ProviderError, Request, Timings, Usage,
};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use crate::actor::{ActorCommand, LoadJob, PictureSizes, TextsJob, TextsReceiver, WorkerReplyJob};
use crate::counting::CountingCache;
use crate::devices::{self, Devices};
use crate::load::LoadOptions;
use crate::pool::{ModelLimits, Pool};
use crate::saved::SavedCaches;
use crate::settings::WorkerSettings;
use crate::status::WorkerStatus;
use crate::{embedding, failure};

/// Maximum bytes of text per request to count. Escaped as JSON, it still fits into a frame.
const COUNT_AT_ONCE: usize = 1024 * 1024;

/// The local models of this process. Clones share the workers, one for each model in use. The
/// workers end with the last clone and the last provider.
#[derive(Debug, Clone)]
pub struct LocalHost {
    pool: Arc<Pool>,
    settings: Arc<WorkerSettings>,
    countings: Arc<CountingCache>,
}

impl LocalHost {
    /// Starts the supervisor. A worker starts on the first request.
    ///
    /// # Errors
    /// The operating system cannot create a thread.
    pub fn new(settings: WorkerSettings) -> std::io::Result<Self> {
        let settings = Arc::new(settings);
        Ok(Self {
            pool: Pool::new(Arc::clone(&settings))?,
            settings,
            countings: Arc::default(),
        })
    }

    /// Returns a provider for `model` with a context of `context` tokens, limited to the model's
    /// training length.
    pub fn provider(&self, model: &LocalModel, context: u32) -> Arc<LocalProvider> {
        self.provider_with(model, context, LoadOptions::default())
    }

    /// Works like [`LocalHost::provider`], with choices of the user. The context is also limited to
    /// what has fitted.
    pub fn provider_with(
        &self,
        model: &LocalModel,
        context: u32,
        options: LoadOptions,
    ) -> Arc<LocalProvider> {
        let (path, options) = (PathBuf::from(&model.path), Arc::new(options));
        let context = self.pool.fitting_context(&path, limited(model, context));
        Arc::new(LocalProvider {
            host: self.clone(),
            path,
            context,
            options,
        })
    }

    /// Loads `model` without a request for a reply.
    ///
    /// # Errors
    /// The model cannot be loaded in any way.
    pub async fn load(
        &self,
        model: &LocalModel,
        context: u32,
        options: LoadOptions,
    ) -> Result<(), ProviderError> {
        let (done, loaded) = oneshot::channel();
        let (path, context) = (PathBuf::from(&model.path), limited(model, context));
        // The first picture loads the projector.
        let options = Arc::new(options.without_projector());
        let job = LoadJob {
            path: path.clone(),
            context,
            options,
            done,
        };
        if !self.pool.send(&path, ActorCommand::Load(Box::new(job))) {
            return Err(failure::shut_down());
        }
        loaded.await.unwrap_or_else(|_| Err(failure::shut_down()))
    }

    /// Unloads `model` once its current reply has ended. Its caches are saved.
    pub async fn unload(&self, model: &LocalModel) {
        let (done, gone) = oneshot::channel();
        if self
            .pool
            .send(Path::new(&model.path), ActorCommand::Unload(done))
        {
            let _ = gone.await;
        }
    }

    /// Changes the limits of the loaded models.
    pub fn set_limits(&self, limits: ModelLimits) {
        self.pool.shared.limits.send_replace(limits);
    }

    /// Lists the devices of this machine anew, in a process of its own. A device that failed before
    /// is used again.
    pub async fn list_devices(&self) -> Devices {
        self.pool
            .shared
            .devices
            .set(devices::list(&self.settings).await)
    }

    /// The devices with their free memory. Asks again only if there is a graphics device.
    pub async fn current_devices(&self) -> Devices {
        self.pool.shared.devices.current(&self.settings).await
    }

    /// The devices as they were last listed.
    pub fn known_devices(&self) -> Devices {
        self.pool.shared.devices.get()
    }

    /// The state of every worker of a model.
    pub fn statuses(&self) -> Vec<WorkerStatus> {
        self.pool.statuses()
    }

    /// Number of compute threads of a model without a choice of its own.
    pub fn default_threads(&self) -> u32 {
        self.settings.threads
    }

    /// Drops the caches of `cache_key`, in memory and on disk, once no reply is running.
    pub fn forget(&self, cache_key: &str) {
        // After a shutdown there is nothing in memory, and nothing new is saved.
        self.pool
            .send_all(|| ActorCommand::Forget(cache_key.to_owned()));
    }

    /// Deletes the saved caches of `cache_keys`, because text in them was withdrawn. Their caches
    /// in memory stay in use. They are saved again only after a reply whose prompt was requested
    /// after this call. The receiver completes when the files are deleted, after earlier requests;
    /// it fails if a file remains.
    pub fn exclude_from_saving(&self, cache_keys: Vec<String>) -> oneshot::Receiver<()> {
        self.pool.send_confirmed(|confirmation| {
            ActorCommand::KeepOffDisk(cache_keys.clone(), confirmation)
        })
    }

    /// Deletes the saved caches of all other cache keys. Blocks while it lists and deletes files.
    pub fn forget_all_but<'k>(&self, cache_keys: impl IntoIterator<Item = &'k str>) {
        if let Some(saved) = SavedCaches::of(&self.settings) {
            saved.forget_all_but(cache_keys);
        }
    }

    /// Deletes the saved caches that cannot be used because the data folder was protected, or is
    /// protected no longer: plain caches with keys, encrypted ones without. Blocks while it lists
    /// and deletes files. Returns false if one remains. Call it before the first request.
    #[must_use]
    pub fn delete_unusable_caches(&self) -> bool {
        SavedCaches::of(&self.settings).is_none_or(|saved| saved.delete_unusable())
    }

    /// Returns the state of the worker that changed last.
    pub fn status(&self) -> WorkerStatus {
        self.pool.shared.latest.borrow().clone()
    }

    /// Notifies of every change of [`LocalHost::status`].
    pub fn watch(&self) -> watch::Receiver<WorkerStatus> {
        self.pool.shared.latest.subscribe()
    }

    /// Ends the workers, which first save their caches, and waits for their exit, at most
    /// [`Policy::shutdown_timeout`](crate::Policy::shutdown_timeout). Running and later requests
    /// end with an error.
    pub async fn shutdown(&self) {
        self.pool.shutdown().await;
    }

    /// Embeds a text with the encoder at `path`. Truncates it to the encoder's maximum length.
    ///
    /// # Errors
    /// The file is not a model, or the worker fails.
    pub async fn embed(&self, path: &Path, text: &str) -> Result<Embedding, ProviderError> {
        let segment = Segment {
            text: text.to_owned(),
            control: false,
        };
        let mut embedded = self
            .ask(path, &[segment], TextsReceiver::Embeddings)
            .await?;
        embedded
            .pop()
            .ok_or_else(|| embedding::malformed("the answer is empty"))
    }

    /// Counts the tokens of pictures by their [`picture_size`](crate::picture_size), exactly, even
    /// during a reply. Loads the model with the projector of `options`.
    ///
    /// # Errors
    /// The options name no projector that suits the model, the model cannot be loaded, or the
    /// worker died.
    pub async fn count_pictures(
        &self,
        model: &LocalModel,
        context: u32,
        options: LoadOptions,
        sizes: Vec<(u32, u32)>,
    ) -> Result<Vec<u32>, ProviderError> {
        let path = PathBuf::from(&model.path);
        let context = self.pool.fitting_context(&path, limited(model, context));
        let (sender, counted) = oneshot::channel();
        let pictures = Some(PictureSizes {
            context,
            options: Arc::new(options),
            sizes,
        });
        let receiver = TextsReceiver::Counts(sender);
        let job = TextsJob {
            path: path.clone(),
            texts: Vec::new(),
            receiver,
            pictures,
        };
        if !self.pool.send(&path, ActorCommand::Texts(job)) {
            return Err(failure::shut_down());
        }
        counted.await.unwrap_or_else(|_| Err(failure::shut_down()))
    }

    pub(crate) fn countings(&self) -> &CountingCache {
        &self.countings
    }

    pub(crate) fn state_dir(&self) -> Option<&Path> {
        self.settings.state_dir.as_deref()
    }

    pub(crate) async fn adds_bos_by_worker(&self, path: &Path) -> Result<bool, ProviderError> {
        self.ask(path, &[], TextsReceiver::Bos).await
    }

    pub(crate) async fn tokenize_by_worker(
        &self,
        path: &Path,
        texts: &[Segment],
    ) -> Result<Vec<Vec<i32>>, ProviderError> {
        let mut tokens = Vec::with_capacity(texts.len());
        for texts in portions(texts) {
            tokens.extend(self.ask(path, texts, TextsReceiver::Tokens).await?);
        }
        Ok(tokens)
    }

    pub(crate) async fn count_by_worker(
        &self,
        path: &Path,
        texts: &[Segment],
    ) -> Result<Vec<u32>, ProviderError> {
        let mut counts = Vec::with_capacity(texts.len());
        for texts in portions(texts) {
            counts.extend(self.ask(path, texts, TextsReceiver::Counts).await?);
        }
        Ok(counts)
    }

    async fn ask<T>(
        &self,
        path: &Path,
        texts: &[Segment],
        answer: impl FnOnce(oneshot::Sender<Result<T, ProviderError>>) -> TextsReceiver,
    ) -> Result<T, ProviderError> {
        let (sender, receiver) = oneshot::channel();
        let job = TextsJob {
            path: path.to_owned(),
            texts: texts.to_vec(),
            receiver: answer(sender),
            pictures: None,
        };
        if !self.pool.send(path, ActorCommand::Texts(job)) {
            return Err(failure::shut_down());
        }
        receiver.await.unwrap_or_else(|_| Err(failure::shut_down()))
    }
}

/// Splits `texts` into groups of at most [`COUNT_AT_ONCE`] bytes, with at least one text each.
fn portions(texts: &[Segment]) -> impl Iterator<Item = &[Segment]> {
    let mut rest = texts;
    std::iter::from_fn(move || {
        let mut bytes = 0;
        let fitting = rest.iter().take_while(|text| {
            bytes += text.text.len();
            bytes <= COUNT_AT_ONCE
        });
        let (portion, tail) = rest.split_at(fitting.count().max(1).min(rest.len()));
        rest = tail;
        (!portion.is_empty()).then_some(portion)
    })
}

/// One model of a [`LocalHost`].
#[derive(Debug)]
pub struct LocalProvider {
    host: LocalHost,
    path: PathBuf,
    context: u32,
    options: Arc<LoadOptions>,
}

/// Limits a context size to the training length.
fn limited(model: &LocalModel, context: u32) -> u32 {
    if model.context == 0 {
        context
    } else {
        context.min(model.context)
    }
}

impl LocalProvider {
    /// Context size in tokens.
    pub fn context(&self) -> u32 {
        self.context
    }

    /// Same as [`LocalHost::count`], but always in the worker.
    ///
    /// # Errors
    /// Same as [`LocalHost::count`].
    pub async fn count(&self, texts: &[Segment]) -> Result<Vec<u32>, ProviderError> {
        self.host.count_by_worker(&self.path, texts).await
    }
}

impl Provider for LocalProvider {
    fn stream(&self, request: Request, cancel: CancellationToken) -> EventStream {
        let (events, arriving) = mpsc::unbounded_channel();
        let (path, options) = (self.path.clone(), Arc::clone(&self.options));
        let job = WorkerReplyJob {
            path,
            context: self.context,
            options,
            request,
            cancel: cancel.clone(),
            events,
        };
        // After a shutdown the job, and with it the sender, is dropped, so the stream ends with an
        // error.
        let _ = self
            .host
            .pool
            .send(&self.path, ActorCommand::Reply(Box::new(job)));
        follow(arriving, cancel, self.host.settings.policy.cancel).boxed()
    }
}

type Arriving = mpsc::UnboundedReceiver<Result<GenerationEvent, ProviderError>>;

/// Forwards events up to the last one. A cancel ends the stream within `limit`, even if the worker
/// does not react.
fn follow(
    mut arriving: Arriving,
    cancel: CancellationToken,
    limit: std::time::Duration,
) -> impl futures_util::Stream<Item = Result<GenerationEvent, ProviderError>> {
    async_stream::stream! {
        let overdue = async {
            cancel.cancelled().await;
            tokio::time::sleep(limit).await;
        };
        tokio::pin!(overdue);
        let mut usage = Usage::default();
        loop {
            let event = tokio::select! {
                biased;
                event = arriving.recv() => event.unwrap_or_else(|| Err(failure::shut_down())),
                () = &mut overdue => {
                    Ok(GenerationEvent::Finished { reason: FinishReason::Cancelled, usage, timings: Timings::default() })
                }
            };
            if let Ok(GenerationEvent::Prefill { done, total, reused }) = &event {
                let evaluated = done.saturating_sub(*reused);
                usage = Usage {
                    prompt: Some(*total),
                    reused: Some(*reused),
                    evaluated: Some(evaluated),
                    generated: None,
                };
            }
            let last = matches!(event, Err(_) | Ok(GenerationEvent::Finished { .. }));
            yield event;
            if last {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_texts_into_groups_that_fit_a_frame() {
        let texts: Vec<_> = [600, 500, 400, 2_000, 1]
            .map(|kb| Segment {
                text: "x".repeat(kb * 1_000),
                control: false,
            })
            .into();
        let sizes: Vec<_> = portions(&texts).map(<[Segment]>::len).collect();
        assert_eq!(sizes, [1, 2, 1, 1]);
        assert_eq!(portions(&[]).count(), 0);
    }
}
