//! Loads models and serves requests with the loaded one. Everything runs on one thread, because a
//! context borrows its model and llama.cpp cannot create two contexts at once.

use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use llama_cpp_2::LlamaCppError;
use llama_cpp_2::context::params::LlamaContextParams;
use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::model::params::LlamaModelParams;
use llama_cpp_2::model::{LlamaLoraAdapter, LlamaModel};
use worker::frame::FrameError;
use worker::protocol::{
    Adapter, Done, ErrorCode, FinishReason, Generate, Load, LoadPurpose, LoadedModelInfo,
    Placement, Timings, Usage, WireSegment, WorkerReply, WorkerRequest,
};

use crate::cache::checkpoints::Rollback;
use crate::cache::disk::Disk;
use crate::cache::{SEQUENCES, SequenceCache};
use crate::chunk::ChunkSize;
use crate::embed::Embedder;
use crate::generate::GenerationSession;
use crate::inbox::{Inbox, ReplyWriter};
use crate::projector::{Projector, with_beats};
use crate::vocab::Vocab;
use crate::worker_error::WorkerError;
use crate::{devices, placement, tuning};

/// Error that ends the process.
#[derive(Debug)]
pub(crate) enum Fatal {
    Backend(LlamaCppError),
    /// The supervisor closed the pipe.
    Pipe(FrameError),
}

impl std::fmt::Display for Fatal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Backend(error) => write!(f, "cannot start llama.cpp: {error}"),
            Self::Pipe(error) => write!(f, "the supervisor is gone: {error}"),
        }
    }
}

impl From<FrameError> for Fatal {
    fn from(error: FrameError) -> Self {
        Self::Pipe(error)
    }
}

/// A model in memory, with the adapter that was read for it.
struct LoadedFile {
    model: LlamaModel,
    adapter: Option<(LlamaLoraAdapter, Adapter)>,
}

/// Starts llama.cpp and returns the names of its devices.
pub(crate) fn start(graphics: bool) -> Result<(LlamaBackend, Vec<String>), Fatal> {
    load_backends(graphics);
    let backend = LlamaBackend::init().map_err(Fatal::Backend)?;
    let devices = devices::list();
    Ok((
        backend,
        devices
            .into_iter()
            .map(|device| format!("{} ({})", device.name, device.description))
            .collect(),
    ))
}

/// Loads backends only from the folder of this binary, so that no other place can inject one.
/// Graphics backends are in a folder of their own, so that a worker without them runs no code of a
/// driver.
#[cfg(feature = "portable")]
fn load_backends(graphics: bool) {
    let Some(folder) = std::env::current_exe()
        .ok()
        .and_then(|exe| Some(exe.parent()?.to_owned()))
    else {
        return;
    };
    llama_cpp_2::llama_backend::load_backends_from_path(&folder);
    let of_graphics = folder.join(GRAPHICS_FOLDER);
    if graphics && of_graphics.is_dir() {
        llama_cpp_2::llama_backend::load_backends_from_path(&of_graphics);
    }
}

#[cfg(not(feature = "portable"))]
fn load_backends(_graphics: bool) {}

/// Beside the binary.
#[cfg(feature = "portable")]
const GRAPHICS_FOLDER: &str = "graphics";

/// Serves requests until the pipe closes or a shutdown arrives.
pub(crate) fn run(
    backend: &LlamaBackend,
    mut inbox: Inbox,
    replies: &Arc<ReplyWriter>,
) -> Result<(), Fatal> {
    let mut next = without_model(&mut inbox, replies)?;
    while let Some(load) = next {
        next = match load_model(backend, &load, &inbox, replies) {
            Ok(LoadedFile { model, adapter }) => {
                with_model(backend, (&model, adapter), &load, &mut inbox, replies)?
            }
            Err(refusal) => refuse(refusal, &mut inbox, replies)?,
        };
    }
    Ok(())
}

fn refuse(
    WorkerError { code, message }: WorkerError,
    inbox: &mut Inbox,
    replies: &ReplyWriter,
) -> Result<Option<Load>, FrameError> {
    replies.send(&WorkerReply::Error {
        id: None,
        code,
        message,
    })?;
    without_model(inbox, replies)
}

/// Waits for a load request; `None` at the end of the pipe.
fn without_model(inbox: &mut Inbox, replies: &ReplyWriter) -> Result<Option<Load>, FrameError> {
    while let Some(request) = inbox.next() {
        let id = match request {
            WorkerRequest::Load(load) => return Ok(Some(load)),
            WorkerRequest::Shutdown => return Ok(None),
            WorkerRequest::Cancel { .. }
            | WorkerRequest::Forget { .. }
            | WorkerRequest::KeepOffDisk { .. }
            | WorkerRequest::Pixels(_) => continue,
            WorkerRequest::Count { id, .. }
            | WorkerRequest::CountPictures { id, .. }
            | WorkerRequest::Tokenize { id, .. }
            | WorkerRequest::Embed { id, .. } => id,
            WorkerRequest::Generate(generate) => generate.id,
        };
        let message = "no model is loaded".to_owned();
        replies.send(&WorkerReply::Error {
            id: Some(id),
            code: ErrorCode::NotLoaded,
            message,
        })?;
    }
    Ok(None)
}

fn load_model(
    backend: &LlamaBackend,
    load: &Load,
    inbox: &Inbox,
    replies: &Arc<ReplyWriter>,
) -> Result<LoadedFile, WorkerError> {
    // The crate asserts in debug builds that the file exists.
    if !Path::new(&load.path).is_file() {
        return Err(WorkerError {
            code: ErrorCode::Missing,
            message: format!("the file {} does not exist", load.path),
        });
    }
    let (leaving, progress, mut shown) = (inbox.is_closing(), Arc::clone(replies), -1.0);
    let params = LlamaModelParams::default()
        .with_n_gpu_layers(load.gpu_layers)
        .with_vocab_only(load.purpose == LoadPurpose::Vocabulary)
        .with_progress_callback(move |fraction| {
            if fraction - shown >= 0.02 || fraction >= 1.0 {
                shown = fraction;
                return progress.send(&WorkerReply::Loading { fraction }).is_ok()
                    && !leaving.load(Ordering::Acquire);
            }
            !leaving.load(Ordering::Acquire)
        });
    let mut params = Box::pin(tuning::on_device(params, &load.tuning, load.gpu_layers)?);
    let experts = tuning::expert_tensors(load.tuning.processor_experts);
    if let Some(pattern) = experts.as_deref().filter(|_| load.gpu_layers > 0) {
        params.as_mut().add_cpu_buft_override(pattern);
    }
    let _ = placement::take();
    let mut model =
        LlamaModel::load_from_file(backend, &load.path, &params).map_err(|error| WorkerError {
            code: ErrorCode::Load,
            message: format!("llama.cpp cannot load {}: {error}", load.path),
        })?;
    let adapter = load
        .tuning
        .adapter
        .clone()
        .filter(|_| load.purpose == LoadPurpose::Replies);
    let read = |adapter: Adapter| Ok((tuning::read_adapter(&mut model, &adapter)?, adapter));
    let adapter = adapter.map(read).transpose()?;
    Ok(LoadedFile { model, adapter })
}

/// Serves requests with `model`. Returns the next model to load, or `None` at the end.
fn with_model(
    backend: &LlamaBackend,
    (model, adapter): (&LlamaModel, Option<(LlamaLoraAdapter, Adapter)>),
    load: &Load,
    inbox: &mut Inbox,
    replies: &ReplyWriter,
) -> Result<Option<Load>, Fatal> {
    let vocab = Vocab::of(model);
    let (vocabulary, bos) = (vocab.len().max(0) as u32, vocab.adds_bos());
    let placement = Placement::default();
    let loaded = LoadedModelInfo {
        context: 0,
        vocab: vocabulary,
        dimensions: 0,
        bos,
        placement,
    };
    if load.purpose == LoadPurpose::Vocabulary {
        replies.send(&WorkerReply::Loaded(loaded))?;
        return Ok(serve(&vocab, &mut LoadedModel::Vocabulary, inbox, replies)?);
    }
    let mut projector = match open_projector(model, load, replies) {
        Ok(projector) => projector,
        Err(refusal) => return Ok(refuse(refusal, inbox, replies)?),
    };
    let [chunk, most] = chunk(model, load);
    let batch = projector
        .as_mut()
        .map_or(most, |projector| projector.least_batch().max(most));
    let size = if load.context == 0 {
        model.n_ctx_train()
    } else {
        load.context
    };
    let rollback = Rollback::of(model, size);
    let params = match load.purpose {
        LoadPurpose::Embeddings => Embedder::params(model, threads(load)),
        _ => context_params(load, size, batch, rollback),
    };
    let Ok(mut context) = model.new_context(backend, params) else {
        let message = format!(
            "a context of {} tokens does not fit into memory",
            load.context
        );
        return Ok(refuse(
            WorkerError {
                code: ErrorCode::Memory,
                message,
            },
            inbox,
            replies,
        )?);
    };
    if let Some((mut read, adapter)) = adapter
        && let Err(refusal) = tuning::apply_adapter(&mut context, &mut read, &adapter)
    {
        return Ok(refuse(refusal, inbox, replies)?);
    }
    let size = if load.purpose == LoadPurpose::Embeddings {
        context.n_ctx()
    } else {
        size
    };
    // Without a graphics backend, llama.cpp does not log the number of layers.
    let placement = Placement {
        layers: model.n_layer() + 1,
        ..placement::take()
    };
    let (mut serving, dimensions) = match load.purpose {
        LoadPurpose::Embeddings => {
            let Ok(short) =
                model.new_context(backend, Embedder::short_params(model, threads(load)))
            else {
                let message =
                    "a second context for short texts does not fit into memory".to_owned();
                return Ok(refuse(
                    WorkerError {
                        code: ErrorCode::Memory,
                        message,
                    },
                    inbox,
                    replies,
                )?);
            };
            let embedder = Embedder::new(&vocab, context, short);
            let dimensions = embedder.dimensions();
            (LoadedModel::Embeddings(Box::new(embedder)), dimensions)
        }
        _ => {
            let cache = SequenceCache::new(
                rollback,
                size,
                load.aside,
                load.saved.clone().map(Disk::new),
            );
            let chunk = ChunkSize::new(chunk, most);
            // On a processor a batch costs almost as much as its tokens one by one, so drafts do
            // not pay.
            let drafts = load.gpu_layers > 0;
            let session = GenerationSession::new(&vocab, context, cache, chunk, drafts)
                .with_projector(projector);
            (LoadedModel::Replies(Box::new(session)), 0)
        }
    };
    replies.send(&WorkerReply::Loaded(LoadedModelInfo {
        context: size,
        dimensions,
        placement,
        ..loaded
    }))?;
    Ok(serve(&vocab, &mut serving, inbox, replies)?)
}

/// Loads the file that reads pictures, if the request names one.
fn open_projector(
    model: &LlamaModel,
    load: &Load,
    replies: &ReplyWriter,
) -> Result<Option<Projector>, WorkerError> {
    let path = load
        .projector
        .as_ref()
        .filter(|_| load.purpose == LoadPurpose::Replies);
    let open = |path: &String| {
        let still_loading = WorkerReply::Loading { fraction: 1.0 };
        with_beats(replies, &still_loading, || {
            Projector::open(path, model, threads(load), load.gpu_layers > 0)
        })
    };
    path.map(open).transpose()
}

/// Use of the loaded model.
enum LoadedModel<'m> {
    Vocabulary,
    Replies(Box<GenerationSession<'m>>),
    Embeddings(Box<Embedder<'m>>),
}

impl LoadedModel<'_> {
    fn save(&mut self) {
        if let Self::Replies(session) = std::mem::replace(self, Self::Vocabulary) {
            session.save();
        }
    }
}

/// Tokens of the first batch of a prompt, and the most of a later one. The first depends on the
/// model only: a short prompt is one batch, so that a seed reproduces its reply.
fn chunk(model: &LlamaModel, load: &Load) -> [u32; 2] {
    const GIB: u64 = 1 << 30;
    if let Some(batch) = load.tuning.batch {
        return [batch.clamp(1, MAX_BATCH); 2];
    }
    match model.size() {
        _ if load.gpu_layers > 0 => [256, 512],
        bytes if bytes < 2 * GIB => [64, 256],
        bytes if bytes < 6 * GIB => [32, 128],
        _ => [16, 128],
    }
}

/// Maximum tokens per batch.
const MAX_BATCH: u32 = 4_096;

pub(crate) fn context_params(
    load: &Load,
    context: u32,
    batch: u32,
    rollback: Rollback,
) -> LlamaContextParams {
    let threads = threads(load);
    tuning::tuned(LlamaContextParams::default(), &load.tuning)
        .with_n_ctx(NonZeroU32::new(context + Load::background_room(context)))
        .with_n_seq_max(SEQUENCES)
        // Both sequences share the cells.
        .with_kv_unified(true)
        .with_swa_full(rollback.keeps_whole_window())
        .with_n_batch(batch)
        .with_n_ubatch(batch)
        .with_n_threads(threads)
        .with_n_threads_batch(threads)
}

fn threads(load: &Load) -> i32 {
    i32::try_from(load.threads.max(1)).unwrap_or(i32::MAX)
}

fn serve(
    vocab: &Vocab<'_>,
    serving: &mut LoadedModel<'_>,
    inbox: &mut Inbox,
    replies: &ReplyWriter,
) -> Result<Option<Load>, FrameError> {
    while let Some(request) = inbox.next() {
        match (request, &mut *serving) {
            (WorkerRequest::Load(load), serving) => {
                serving.save();
                return Ok(Some(load));
            }
            (WorkerRequest::Shutdown, serving) => {
                serving.save();
                return Ok(None);
            }
            (WorkerRequest::Forget { cache_key }, LoadedModel::Replies(session)) => {
                session.forget(&cache_key)
            }
            (WorkerRequest::KeepOffDisk { cache_keys }, LoadedModel::Replies(session)) => {
                session.exclude_from_saving(&cache_keys)
            }
            (WorkerRequest::Generate(generate), LoadedModel::Replies(session)) => {
                session.reply(&generate, inbox, replies)?
            }
            (WorkerRequest::Embed { id, texts }, LoadedModel::Embeddings(embedder)) => {
                replies.send(&embedder.answer(id, &texts))?;
            }
            (WorkerRequest::Generate(Generate { id, .. }) | WorkerRequest::Embed { id, .. }, _) => {
                let message = "the model is loaded for another purpose".to_owned();
                replies.send(&WorkerReply::Error {
                    id: Some(id),
                    code: ErrorCode::NotLoaded,
                    message,
                })?;
            }
            (WorkerRequest::CountPictures { id, sizes }, LoadedModel::Replies(session)) => {
                replies.send(&session.count_pictures(id, &sizes))?;
            }
            (WorkerRequest::CountPictures { id, .. }, _) => {
                let message = "the model is loaded for another purpose".to_owned();
                replies.send(&WorkerReply::Error {
                    id: Some(id),
                    code: ErrorCode::NotLoaded,
                    message,
                })?;
            }
            (WorkerRequest::Count { id, texts }, _) => count(vocab, id, &texts, replies)?,
            (WorkerRequest::Tokenize { id, texts }, _) => tokenize(vocab, id, &texts, replies)?,
            // The reply ended before the cancel or the pixels arrived, or the model has no chat
            // caches.
            (
                WorkerRequest::Cancel { .. }
                | WorkerRequest::Forget { .. }
                | WorkerRequest::KeepOffDisk { .. }
                | WorkerRequest::Pixels(_),
                _,
            ) => {}
        }
    }
    Ok(None)
}

pub(crate) fn count(
    vocab: &Vocab<'_>,
    id: u64,
    texts: &[WireSegment],
    replies: &ReplyWriter,
) -> Result<(), FrameError> {
    let counts = texts
        .iter()
        .map(|text| u32::try_from(vocab.tokenize(text).len()).unwrap_or(u32::MAX))
        .collect();
    replies.send(&WorkerReply::Counts { id, counts })
}

pub(crate) fn tokenize(
    vocab: &Vocab<'_>,
    id: u64,
    texts: &[WireSegment],
    replies: &ReplyWriter,
) -> Result<(), FrameError> {
    let tokens = texts
        .iter()
        .map(|text| vocab.tokenize(text).iter().map(|token| token.0).collect())
        .collect();
    match replies.send(&WorkerReply::Tokens { id, tokens }) {
        Err(error @ FrameError::TooLarge { .. }) => {
            let message = format!("the tokens do not fit into one frame: {error}");
            replies.send(&WorkerReply::Error {
                id: Some(id),
                code: ErrorCode::Malformed,
                message,
            })
        }
        sent => sent,
    }
}

/// Answers the cancel of a generation that had not started.
pub(crate) fn cancelled_before_start(id: u64) -> WorkerReply {
    let (usage, timings) = (Usage::default(), Timings::default());
    WorkerReply::Done(Done {
        id,
        reason: FinishReason::Cancelled,
        usage,
        timings,
    })
}
