//! Work for the supervisor.

use std::path::PathBuf;
use std::sync::Arc;

use domain::embedding::Embedding;
use domain::prompt::Segment;
use provider::{GenerationEvent, ProviderError, Request};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::load::LoadOptions;
use crate::pool::Confirmation;

/// Commands that handles send to the supervisor.
#[derive(Debug)]
pub(crate) enum ActorCommand {
    Reply(Box<WorkerReplyJob>),
    Texts(TextsJob),
    /// Drops the caches of this cache key.
    Forget(String),
    /// See [`LocalHost::exclude_from_saving`](crate::LocalHost::exclude_from_saving).
    KeepOffDisk(Vec<String>, Arc<Confirmation>),
    /// Loads a model without a request for a reply.
    Load(Box<LoadJob>),
    /// Ends the worker once it is idle. The next request starts another one.
    Unload(oneshot::Sender<()>),
    Shutdown(oneshot::Sender<()>),
}

/// A model to load in advance.
#[derive(Debug)]
pub(crate) struct LoadJob {
    pub(crate) path: PathBuf,
    pub(crate) context: u32,
    pub(crate) options: Arc<LoadOptions>,
    pub(crate) done: oneshot::Sender<Result<(), ProviderError>>,
}

/// A requested reply.
#[derive(Debug)]
pub(crate) struct WorkerReplyJob {
    pub(crate) path: PathBuf,
    pub(crate) context: u32,
    pub(crate) options: Arc<LoadOptions>,
    pub(crate) request: Request,
    pub(crate) cancel: CancellationToken,
    pub(crate) events: mpsc::UnboundedSender<Result<GenerationEvent, ProviderError>>,
}

impl WorkerReplyJob {
    pub(super) fn send_event(&self, event: GenerationEvent) {
        // A closed receiver has the same effect as a cancel, which `given_up` detects.
        let _ = self.events.send(Ok(event));
    }

    /// The options for this prompt: one without pictures needs no projector.
    pub(super) fn options_of_prompt(&self) -> Arc<LoadOptions> {
        match self.request.prompt.pictures.is_empty() {
            true => Arc::new(self.options.without_projector()),
            false => Arc::clone(&self.options),
        }
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled() || self.events.is_closed()
    }

    pub(super) async fn given_up(&self) {
        tokio::select! {
            () = self.cancel.cancelled() => {}
            () = self.events.closed() => {}
        }
    }
}

/// Texts to count, tokenize or embed.
#[derive(Debug)]
pub(crate) struct TextsJob {
    pub(crate) path: PathBuf,
    pub(crate) texts: Vec<Segment>,
    pub(crate) receiver: TextsReceiver,
    /// Pictures to count instead of texts.
    pub(crate) pictures: Option<PictureSizes>,
}

/// Pictures to count. The model must be loaded for replies, because only then its projector is.
#[derive(Debug)]
pub(crate) struct PictureSizes {
    pub(crate) context: u32,
    pub(crate) options: Arc<LoadOptions>,
    /// Widths and heights in pixels.
    pub(crate) sizes: Vec<(u32, u32)>,
}

/// Receiver of the result of a [`TextsJob`].
#[derive(Debug)]
pub(crate) enum TextsReceiver {
    Counts(oneshot::Sender<Result<Vec<u32>, ProviderError>>),
    Tokens(oneshot::Sender<Result<Vec<Vec<i32>>, ProviderError>>),
    Embeddings(oneshot::Sender<Result<Vec<Embedding>, ProviderError>>),
    Bos(oneshot::Sender<Result<bool, ProviderError>>),
}

pub(super) enum ActorJob {
    Reply(Box<WorkerReplyJob>),
    Texts(TextsJob),
    /// Queued, because earlier replies were requested with the withdrawn text in their prompts.
    KeepOffDisk(Vec<String>, Arc<Confirmation>),
    Load(Box<LoadJob>),
    Unload(oneshot::Sender<()>),
}

impl ActorJob {
    pub(super) fn keeps_off_disk(self) -> Option<(Vec<String>, Arc<Confirmation>)> {
        match self {
            Self::KeepOffDisk(cache_keys, done) => Some((cache_keys, done)),
            Self::Reply(_) | Self::Texts(_) | Self::Load(_) | Self::Unload(_) => None,
        }
    }
}
