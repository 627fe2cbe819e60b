//! The part of a model that reads pictures (mmproj), through llama.cpp's `mtmd`.
//!
//! It gets plain pixels only. Decoders for files, and the programs that `mtmd` would start for
//! videos, are never reached.

use std::collections::HashMap;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::mtmd::{
    MtmdBitmap, MtmdContext, MtmdContextParams, MtmdInputChunkType, MtmdInputChunks, MtmdInputText,
    mtmd_default_marker,
};
use worker::protocol::{ErrorCode, MAX_PICTURE_EDGE, WorkerReply};

use crate::inbox::ReplyWriter;
use crate::picture_tokens::PictureSize;
use crate::worker_error::WorkerError;

/// Distance of the frames that show the supervisor that the worker is alive.
const BEAT: Duration = Duration::from_secs(3);
/// Number of them: a picture that takes longer than half an hour looks like a hang.
const BEATS: u32 = 600;

/// A loaded projector. It must not outlive the model that it was loaded for.
pub(crate) struct Projector {
    context: MtmdContext,
    /// Sizes of pictures by width and height in pixels.
    sizes: HashMap<(u32, u32), PictureSize>,
}

impl Projector {
    /// Loads the file at `path` for `model`.
    pub(crate) fn open(
        path: &str,
        model: &LlamaModel,
        threads: i32,
        graphics: bool,
    ) -> Result<Self, WorkerError> {
        let refused = |why: &str| WorkerError {
            code: ErrorCode::Projector,
            message: format!("the file {path} cannot read pictures for this model: {why}"),
        };
        if !Path::new(path).is_file() {
            return Err(refused("it does not exist"));
        }
        let params = MtmdContextParams {
            use_gpu: graphics,
            print_timings: false,
            n_threads: threads,
            ..MtmdContextParams::default()
        };
        let opened = MtmdContext::init_from_file(path, model, &params);
        let context = opened.map_err(|_| {
            refused("it is damaged, unknown to llama.cpp, or belongs to another model")
        })?;
        if !context.support_vision() {
            return Err(refused("it reads only sound"));
        }
        Ok(Self {
            context,
            sizes: HashMap::new(),
        })
    }

    /// Returns the number of tokens that one batch of the model must hold, because the tokens of a
    /// picture see each other; 0 if they are read in order like text.
    pub(crate) fn least_batch(&mut self) -> u32 {
        const SHAPES: [(u32, u32); 3] = [
            (MAX_PICTURE_EDGE, MAX_PICTURE_EDGE),
            (MAX_PICTURE_EDGE, MAX_PICTURE_EDGE / 2),
            (MAX_PICTURE_EDGE / 2, MAX_PICTURE_EDGE),
        ];
        if !self.reads_at_once() {
            return 0;
        }
        let tokens = SHAPES
            .iter()
            .filter_map(|(width, height)| self.size(*width, *height).ok());
        tokens.map(|size| size.tokens as u32).max().unwrap_or(0)
    }

    fn reads_at_once(&self) -> bool {
        self.context.decode_use_non_causal()
    }

    /// The space that a picture of this size takes, with the texts that the model needs around it.
    pub(crate) fn size(&mut self, width: u32, height: u32) -> Result<PictureSize, String> {
        if let Some(size) = self.sizes.get(&(width, height)) {
            return Ok(*size);
        }
        // The number depends on the size only, so the pixels can be any.
        let chunks = self.chunks(width, height, &vec![0; bytes(width, height)?])?;
        let positions =
            usize::try_from(chunks.total_positions()).map_err(|error| error.to_string())?;
        let size = PictureSize {
            tokens: chunks.total_tokens(),
            positions,
        };
        if size.tokens == 0 || positions == 0 {
            return Err("the picture has no tokens".to_owned());
        }
        self.sizes.insert((width, height), size);
        Ok(size)
    }

    /// Encodes a picture and evaluates it at `position` of `sequence`. `rgb` has three bytes for
    /// each pixel, by rows.
    pub(crate) fn read(
        &mut self,
        context: &mut LlamaContext<'_>,
        (width, height, rgb): (u32, u32, &[u8]),
        (position, sequence): (usize, i32),
        batch: usize,
    ) -> Result<(), String> {
        let chunks = self.chunks(width, height, rgb)?;
        let batch = if self.reads_at_once() {
            context.n_batch() as usize
        } else {
            batch
        };
        let (position, batch) = (i32::try_from(position), i32::try_from(batch));
        let (Ok(position), Ok(batch)) = (position, batch) else {
            return Err("the text is too long".to_owned());
        };
        let read = chunks.eval_chunks(&mut self.context, context, position, sequence, batch, false);
        read.map(|_| ()).map_err(|error| error.to_string())
    }

    fn chunks(&self, width: u32, height: u32, rgb: &[u8]) -> Result<MtmdInputChunks, String> {
        if rgb.len() != bytes(width, height)? {
            return Err("the pixels do not have the stated size".to_owned());
        }
        let picture =
            MtmdBitmap::from_image_data(width, height, rgb).map_err(|error| error.to_string())?;
        let text = MtmdInputText {
            text: mtmd_default_marker().to_owned(),
            add_special: false,
            parse_special: true,
        };
        let chunks = self
            .context
            .tokenize(text, &[&picture])
            .map_err(|error| error.to_string())?;
        let kinds = (0..chunks.len()).filter_map(|index| Some(chunks.get(index)?.chunk_type()));
        if kinds
            .filter(|kind| *kind == MtmdInputChunkType::Image)
            .count()
            == 0
        {
            return Err("the picture has no content for the model".to_owned());
        }
        Ok(chunks)
    }
}

/// Number of bytes of a picture, if its size is allowed.
fn bytes(width: u32, height: u32) -> Result<usize, String> {
    let allowed = 1..=MAX_PICTURE_EDGE;
    if !allowed.contains(&width) || !allowed.contains(&height) {
        return Err(format!(
            "a picture of {width} × {height} pixels is not supported; an edge has at most {MAX_PICTURE_EDGE}"
        ));
    }
    Ok(width as usize * height as usize * 3)
}

/// Does `work`, which cannot be interrupted, and meanwhile repeats `frame`, so that the supervisor
/// does not take the silence for a hang.
pub(crate) fn with_beats<T>(
    replies: &ReplyWriter,
    frame: &WorkerReply,
    work: impl FnOnce() -> T,
) -> T {
    let (ended, waiting) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for _ in 0..BEATS {
                if waiting.recv_timeout(BEAT) != Err(RecvTimeoutError::Timeout)
                    || replies.send(frame).is_err()
                {
                    return;
                }
            }
        });
        let result = work();
        drop(ended);
        result
    })
}
