//! Messages of the protocol. The types are separate from the domain, so that the domain can change
//! without the protocol.

use serde::{Deserialize, Serialize};

mod load;
mod placement;

pub use load::{Adapter, CacheType, FlashAttention, Load, LoadPurpose, SavedCacheFolder, Tuning};
pub use placement::{Device, DeviceKind, DeviceMemory, LoadedModelInfo, Placement};

use crate::token_rules::{TokenChoice, WireRules};

/// Increment this when an older worker and a newer supervisor would misunderstand each other.
pub const PROTOCOL: u32 = 11;

/// Maximum edge of a picture, in pixels. Its pixels then fit into a frame.
pub const MAX_PICTURE_EDGE: u32 = 896;

/// A run of text. Only `control` text can become control tokens such as `<|im_end|>`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WireSegment {
    pub text: String,
    pub control: bool,
}

/// Requests to the worker. The supervisor assigns increasing ids.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum WorkerRequest {
    /// Answered by [`WorkerReply::Loading`] frames, then [`WorkerReply::LoadedModelInfo`] or an
    /// error. Replaces the loaded model, whose caches are saved first.
    Load(Load),
    /// Answered by [`WorkerReply::Counts`], even during a reply.
    Count { id: u64, texts: Vec<WireSegment> },
    /// Counts the tokens of pictures by their width and height in pixels. Answered by
    /// [`WorkerReply::Counts`], even during a reply. Requires a model with a projector.
    CountPictures { id: u64, sizes: Vec<(u32, u32)> },
    /// Answered by [`WorkerReply::Tokens`], even during a reply.
    Tokenize { id: u64, texts: Vec<WireSegment> },
    /// Answered by [`WorkerReply::Prefill`] and [`WorkerReply::Text`] frames, then
    /// [`WorkerReply::Done`] or an error. A second generation is queued.
    Generate(Generate),
    /// Answered by [`WorkerReply::Embeddings`]. Requires a model loaded for
    /// [`LoadPurpose::Embeddings`].
    Embed { id: u64, texts: Vec<String> },
    /// Answers [`WorkerReply::PixelsWanted`].
    Pixels(Pixels),
    /// Ends the generation `id`, running or queued, with [`FinishReason::Cancelled`].
    Cancel { id: u64 },
    /// Drops the cache of this key from memory.
    Forget { cache_key: String },
    /// Excludes the caches of these keys from saving, because text in them was withdrawn, until a
    /// reply has started with another prompt.
    KeepOffDisk { cache_keys: Vec<String> },
    /// Ends the current work, saves the caches and exits. Closing the pipe also exits, but saves
    /// nothing.
    Shutdown,
}

/// One reply to generate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Generate {
    pub id: u64,
    /// Requests with the same key share a KV cache. Caches of other keys are put aside, not
    /// dropped.
    pub cache_key: String,
    /// A helper job: it uses the background sequence, so that the chat stays in the KV cache.
    #[serde(default)]
    pub background: bool,
    pub segments: Vec<WireSegment>,
    /// In the order of the prompt.
    #[serde(default)]
    pub pictures: Vec<WirePicture>,
    pub sampling: WireSampling,
    /// Texts that end the reply and are not part of it.
    pub stop: Vec<String>,
    /// Maximum tokens of the reply.
    pub max_tokens: u32,
    #[serde(default)]
    pub rules: Box<WireRules>,
}

/// A picture of a prompt. The worker asks for its pixels only if it must read them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WirePicture {
    /// Index of the segment after it. A prompt does not end with a picture.
    pub before: usize,
    /// Identifies the pixels, such as by a checksum. Pictures with the same identity and size are
    /// the same.
    pub identity: String,
    /// In pixels, from 1 to [`MAX_PICTURE_EDGE`].
    pub width: u32,
    pub height: u32,
}

/// The pixels of a picture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pixels {
    /// Id of the generation.
    pub id: u64,
    /// Index into [`Generate::pictures`].
    pub picture: usize,
    /// Base64 of three bytes for each pixel (red, green, blue), by rows. Empty if the picture
    /// cannot be read.
    pub rgb: String,
}

/// Sampler settings, in the default order of application.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WireSampling {
    /// 1 is off.
    pub repeat_penalty: f32,
    /// Number of recent tokens for the penalties; 0 is off.
    pub repeat_range: u32,
    /// 0 is off.
    pub frequency_penalty: f32,
    /// 0 is off.
    pub presence_penalty: f32,
    /// 0 is off.
    pub dry_multiplier: f32,
    pub dry_base: f32,
    /// Length in tokens of a repetition without penalty.
    pub dry_allowed_length: u32,
    /// Range in tokens; 0 means the whole context.
    pub dry_range: u32,
    /// 0 is off.
    pub top_n_sigma: f32,
    /// 0 is off.
    pub top_k: u32,
    /// 1 is off.
    pub typical_p: f32,
    /// 1 is off.
    pub top_p: f32,
    /// 0 is off.
    pub min_p: f32,
    /// 0 is off.
    pub xtc_probability: f32,
    pub xtc_threshold: f32,
    /// 0 is greedy.
    pub temperature: f32,
    /// Deviation on either side of the temperature; 0 is off.
    pub dynatemp_range: f32,
    pub dynatemp_exponent: f32,
    /// 0 is off; 1 or 2 replaces all truncation samplers.
    pub mirostat: u32,
    /// Target surprise in bits.
    pub mirostat_tau: f32,
    pub mirostat_eta: f32,
    pub seed: u32,
}

/// Greedy sampling without any other sampler.
impl Default for WireSampling {
    fn default() -> Self {
        Self {
            repeat_penalty: 1.0,
            repeat_range: 64,
            frequency_penalty: 0.0,
            presence_penalty: 0.0,
            dry_multiplier: 0.0,
            dry_base: 1.75,
            dry_allowed_length: 2,
            dry_range: 0,
            top_n_sigma: 0.0,
            top_k: 0,
            typical_p: 1.0,
            top_p: 1.0,
            min_p: 0.0,
            xtc_probability: 0.0,
            xtc_threshold: 0.1,
            temperature: 0.0,
            dynatemp_range: 0.0,
            dynatemp_exponent: 1.0,
            mirostat: 0,
            mirostat_tau: 5.0,
            mirostat_eta: 0.1,
            seed: 0,
        }
    }
}

/// Replies of the worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum WorkerReply {
    /// The first frame.
    Ready {
        protocol: u32,
        build: String,
        devices: Vec<String>,
    },
    /// 0 to 1.
    Loading {
        fraction: f32,
    },
    Loaded(LoadedModelInfo),
    /// `done` of `total` prompt tokens are processed; `reused` of them came from the cache.
    Prefill {
        id: u64,
        done: u32,
        total: u32,
        reused: u32,
    },
    /// The generation `id` waits for the pixels of this picture, an index into
    /// [`Generate::pictures`]. Answered by [`WorkerRequest::Pixels`] or [`WorkerRequest::Cancel`].
    PixelsWanted {
        id: u64,
        picture: usize,
    },
    /// A piece of the reply, of one or more tokens: whole characters, and no text that may become a
    /// stop text. The first one is sent at once, later ones in intervals.
    Text {
        id: u64,
        text: String,
        /// The tokens that end in this text, if the request wants alternatives.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tokens: Vec<TokenChoice>,
    },
    Done(Done),
    /// Token counts of the texts, in order.
    Counts {
        id: u64,
        counts: Vec<u32>,
    },
    /// Token ids of the texts, in order.
    Tokens {
        id: u64,
        tokens: Vec<Vec<i32>>,
    },
    /// One embedding per text, in order.
    Embeddings {
        id: u64,
        texts: Vec<EncodedEmbedding>,
    },
    /// `id` belongs to the request, if it has one.
    Error {
        id: Option<u64>,
        code: ErrorCode,
        message: String,
    },
}

/// Token embeddings of a text. Each vector has length 1; its numbers are multiplied by
/// [`EncodedEmbedding::SCALE`] and rounded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EncodedEmbedding {
    /// Token ids with the model's markers around them; truncated to the context.
    pub tokens: Vec<i32>,
    /// Base64 of the token vectors, concatenated, one signed byte per number.
    pub vectors: String,
    /// Base64 of the mean of the unrounded token vectors, with length 1, as little-endian `f32`s.
    pub mean: String,
}

impl EncodedEmbedding {
    /// Factor from a vector component, -1 to 1, to its quantized byte.
    pub const SCALE: f32 = 127.0;
}

/// A finished reply.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Done {
    pub id: u64,
    pub reason: FinishReason,
    pub usage: Usage,
    pub timings: Timings,
}

/// Why a reply ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// The model ended its turn, or a stop text matched.
    Stop,
    /// `max_tokens` or the end of the context was reached.
    Length,
    Cancelled,
}

/// Token counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    pub prompt: u32,
    /// Prompt tokens taken from the cache.
    pub reused: u32,
    /// Prompt tokens that were evaluated.
    pub evaluated: u32,
    pub generated: u32,
}

/// Durations in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Timings {
    pub prefill_ms: f64,
    pub decode_ms: f64,
}

/// Error class for the supervisor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// No file at the path.
    Missing,
    /// llama.cpp cannot load the file.
    Load,
    /// Not enough memory for the context.
    Memory,
    /// The adapter does not belong to the model, or is damaged.
    Adapter,
    /// The projector does not belong to the model, or is damaged.
    Projector,
    /// A picture cannot be read, or the model is loaded without a projector.
    Picture,
    /// No model is loaded, or it is loaded for another purpose.
    NotLoaded,
    /// The prompt does not fit into the context.
    ContextOverflow,
    /// The prompt has no tokens.
    Empty,
    /// The grammar is invalid, or no token of the model matches it.
    Grammar,
    /// llama.cpp failed during the computation.
    Compute,
    /// The request does not follow the protocol.
    Malformed,
}
