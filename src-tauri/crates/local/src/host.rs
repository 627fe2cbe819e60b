//! The way in: a host that keeps one model loaded, and the providers that share it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use domain::model::LocalModel;
use domain::prompt::Segment;
use futures_util::StreamExt;
use provider::{EventStream, FinishReason, GenerationEvent, Provider, ProviderError, Request, Timings, Usage};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use crate::actor::{Actor, Answer, Command, ReplyJob, TextsJob};
use crate::counting::Countings;
use crate::embedding::{self, Embedding};
use crate::failure;
use crate::saved::SavedCaches;
use crate::settings::Settings;
use crate::status::Status;

/// Bytes of text in one request to count: escaped as JSON it still fits into a frame.
const COUNT_AT_ONCE: usize = 1024 * 1024;

/// The local models of this process. Clones share one worker, which holds one model at a time; the worker dies with the
/// last clone and the last provider.
#[derive(Debug, Clone)]
pub struct LocalHost {
    commands: mpsc::UnboundedSender<Command>,
    status: watch::Receiver<Status>,
    settings: Arc<Settings>,
    countings: Arc<Countings>,
}

impl LocalHost {
    /// Starts the supervisor; a worker is started when it is first needed.
    ///
    /// # Errors
    /// The operating system gives no thread.
    pub fn new(settings: Settings) -> std::io::Result<Self> {
        let settings = Arc::new(settings);
        let (commands, orders) = mpsc::unbounded_channel();
        let (seen, status) = watch::channel(Status::default());
        let actor = Actor::new(Arc::clone(&settings), orders, seen);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        // A thread of its own: on Linux a worker dies with the thread that started it, and runtimes come and go.
        std::thread::Builder::new().name("local-models".to_owned()).spawn(move || runtime.block_on(actor.run()))?;
        Ok(Self { commands, status, settings, countings: Arc::default() })
    }

    /// Answers prompts with `model` at a context size of `context` tokens (at most what the model was trained for).
    pub fn provider(&self, model: &LocalModel, context: u32) -> Arc<LocalProvider> {
        let context = if model.context == 0 { context } else { context.min(model.context) };
        Arc::new(LocalProvider { host: self.clone(), path: PathBuf::from(&model.path), context })
    }

    /// Drops what is kept of `cache_key`, in memory and on disk, as soon as no reply is being made.
    pub fn forget(&self, cache_key: &str) {
        // A host that is shut down keeps nothing in memory, and nothing new on disk.
        let _ = self.commands.send(Command::Forget(cache_key.to_owned()));
    }

    /// Drops what is on disk of `cache_keys`, for words in it were withdrawn. What is in memory of them serves on, but is saved only
    /// once a reply has begun with a prompt that was asked for after this. Answers once the files are gone, behind the replies that
    /// were asked for before; an error if one of them is not.
    pub fn keep_off_disk(&self, cache_keys: Vec<String>) -> oneshot::Receiver<()> {
        let (done, gone) = oneshot::channel();
        // A host that is shut down drops the sender, which is the error.
        let _ = self.commands.send(Command::KeepOffDisk(cache_keys, done));
        gone
    }

    /// Drops what is on disk of all other cache keys. Blocks for the time of listing and deleting files.
    pub fn forget_all_but<'k>(&self, cache_keys: impl IntoIterator<Item = &'k str>) {
        if let Some(saved) = SavedCaches::of(&self.settings) {
            saved.forget_all_but(cache_keys);
        }
    }

    /// What the worker is doing now.
    pub fn status(&self) -> Status {
        self.status.borrow().clone()
    }

    /// Tells of every change of [`LocalHost::status`].
    pub fn watch(&self) -> watch::Receiver<Status> {
        self.status.clone()
    }

    /// Ends the worker, which saves its caches first, and waits until it is gone: for
    /// [`Policy::farewell`](crate::Policy::farewell) at the most. Running and later requests end with an error.
    pub async fn shutdown(&self) {
        let (done, gone) = oneshot::channel();
        if self.commands.send(Command::Shutdown(done)).is_ok() {
            let _ = gone.await;
        }
    }

    /// Reads a text with the encoder at `path`. If it has more tokens than that takes, it is cut.
    ///
    /// # Errors
    /// The file is no model, or the worker fails.
    pub async fn embed(&self, path: &Path, text: &str) -> Result<Embedding, ProviderError> {
        let segment = Segment { text: text.to_owned(), control: false };
        let mut embedded = self.ask(path, &[segment], Answer::Embeddings).await?;
        embedded.pop().ok_or_else(|| embedding::malformed("there are none"))
    }

    pub(crate) fn countings(&self) -> &Countings {
        &self.countings
    }

    pub(crate) fn state_dir(&self) -> Option<&Path> {
        self.settings.state_dir.as_deref()
    }

    pub(crate) async fn adds_bos_by_worker(&self, path: &Path) -> Result<bool, ProviderError> {
        self.ask(path, &[], Answer::Bos).await
    }

    pub(crate) async fn tokenize_by_worker(
        &self,
        path: &Path,
        texts: &[Segment],
    ) -> Result<Vec<Vec<i32>>, ProviderError> {
        let mut tokens = Vec::with_capacity(texts.len());
        for texts in portions(texts) {
            tokens.extend(self.ask(path, texts, Answer::Tokens).await?);
        }
        Ok(tokens)
    }

    pub(crate) async fn count_by_worker(&self, path: &Path, texts: &[Segment]) -> Result<Vec<u32>, ProviderError> {
        let mut counts = Vec::with_capacity(texts.len());
        for texts in portions(texts) {
            counts.extend(self.ask(path, texts, Answer::Counts).await?);
        }
        Ok(counts)
    }

    async fn ask<T>(
        &self,
        path: &Path,
        texts: &[Segment],
        answer: impl FnOnce(oneshot::Sender<Result<T, ProviderError>>) -> Answer,
    ) -> Result<T, ProviderError> {
        let (sender, receiver) = oneshot::channel();
        let job = TextsJob { path: path.to_owned(), texts: texts.to_vec(), answer: answer(sender) };
        self.commands.send(Command::Texts(job)).map_err(|_| failure::shut_down())?;
        receiver.await.unwrap_or_else(|_| Err(failure::shut_down()))
    }
}

/// Cuts `texts` into runs of at most [`COUNT_AT_ONCE`] bytes, each of one text at least.
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
}

impl LocalProvider {
    /// Context size in tokens.
    pub fn context(&self) -> u32 {
        self.context
    }

    /// As [`LocalHost::count`], always by the worker.
    ///
    /// # Errors
    /// As [`LocalHost::count`].
    pub async fn count(&self, texts: &[Segment]) -> Result<Vec<u32>, ProviderError> {
        self.host.count_by_worker(&self.path, texts).await
    }
}

impl Provider for LocalProvider {
    fn stream(&self, request: Request, cancel: CancellationToken) -> EventStream {
        let (events, arriving) = mpsc::unbounded_channel();
        let job = ReplyJob { path: self.path.clone(), context: self.context, request, cancel: cancel.clone(), events };
        // A host that is shut down drops the job, and with it the sender: the stream then ends with an error.
        let _ = self.host.commands.send(Command::Reply(Box::new(job)));
        follow(arriving, cancel, self.host.settings.policy.cancel).boxed()
    }
}

type Arriving = mpsc::UnboundedReceiver<Result<GenerationEvent, ProviderError>>;

/// Passes events on up to the last one. A cancel ends the stream within `patience`, whatever the worker does.
fn follow(
    mut arriving: Arriving,
    cancel: CancellationToken,
    patience: std::time::Duration,
) -> impl futures_util::Stream<Item = Result<GenerationEvent, ProviderError>> {
    async_stream::stream! {
        let overdue = async {
            cancel.cancelled().await;
            tokio::time::sleep(patience).await;
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
    fn texts_are_counted_in_portions_that_fit_into_a_frame() {
        let texts: Vec<_> =
            [600, 500, 400, 2_000, 1].map(|kb| Segment { text: "x".repeat(kb * 1_000), control: false }).into();
        let sizes: Vec<_> = portions(&texts).map(<[Segment]>::len).collect();
        assert_eq!(sizes, [1, 2, 1, 1]);
        assert_eq!(portions(&[]).count(), 0);
    }
}
