//! Messages of the protocol. The types are separate from the domain, so that the domain can change without the
//! protocol.

use serde::{Deserialize, Serialize};

use crate::token_rules::{TokenChoice, WireRules};

/// Increment this when an older worker and a newer supervisor would misunderstand each other.
pub const PROTOCOL: u32 = 8;

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
    /// Answered by [`WorkerReply::Loading`] frames, then [`WorkerReply::LoadedModelInfo`] or an error. Replaces the loaded model, whose
    /// caches are saved first.
    Load(Load),
    /// Answered by [`WorkerReply::Counts`], even during a reply.
    Count { id: u64, texts: Vec<WireSegment> },
    /// Counts the tokens of pictures by their width and height in pixels. Answered by [`WorkerReply::Counts`], even during
    /// a reply. Requires a model with a projector.
    CountPictures { id: u64, sizes: Vec<(u32, u32)> },
    /// Answered by [`WorkerReply::Tokens`], even during a reply.
    Tokenize { id: u64, texts: Vec<WireSegment> },
    /// Answered by [`WorkerReply::Prefill`] and [`WorkerReply::Text`] frames, then [`WorkerReply::Done`] or an error. A second generation
    /// is queued.
    Generate(Generate),
    /// Answered by [`WorkerReply::Embeddings`]. Requires a model loaded for [`LoadPurpose::Embeddings`].
    Embed { id: u64, texts: Vec<String> },
    /// Answers [`WorkerReply::PixelsWanted`].
    Pixels(Pixels),
    /// Ends the generation `id`, running or queued, with [`FinishReason::Cancelled`].
    Cancel { id: u64 },
    /// Drops the cache of this key from memory.
    Forget { cache_key: String },
    /// Excludes the caches of these keys from saving, because text in them was withdrawn, until a reply has started
    /// with another prompt.
    KeepOffDisk { cache_keys: Vec<String> },
    /// Ends the current work, saves the caches and exits. Closing the pipe also exits, but saves nothing.
    Shutdown,
}

/// The model to load, and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Load {
    pub path: String,
    /// Context size in tokens.
    pub context: u32,
    pub threads: u32,
    pub gpu_layers: u32,
    pub purpose: LoadPurpose,
    /// Maximum bytes of memory for the KV caches of chats other than the current one.
    #[serde(default)]
    pub aside: u64,
    /// Folder for caches that outlive the process; `None` keeps them in memory only.
    #[serde(default)]
    pub saved: Option<SavedCacheFolder>,
    #[serde(default)]
    pub tuning: Tuning,
    /// Absolute path of the file that reads pictures for the model (mmproj).
    #[serde(default)]
    pub projector: Option<String>,
}

/// How to compute with a model. The default leaves every choice to the worker.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tuning {
    /// Name of the only graphics device to use, such as `Vulkan0`; `None` means those that llama.cpp selects.
    pub device: Option<String>,
    /// Tokens per batch while a prompt is read; `None` depends on the size of the model. It limits the delay of a cancel.
    pub batch: Option<u32>,
    pub cache_type: CacheType,
    pub flash_attention: FlashAttention,
    pub adapter: Option<Adapter>,
}

/// Data type of the KV cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheType {
    #[default]
    F16,
    /// Half the memory. Needs flash attention.
    Q8_0,
}

/// Whether attention is computed in one fused step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FlashAttention {
    /// On, if the device supports it.
    #[default]
    Auto,
    On,
    Off,
}

/// A LoRA adapter for the loaded model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Adapter {
    /// Absolute path.
    pub path: String,
    /// Factor of its effect; 1 is the effect of its training.
    pub weight: f32,
}

/// Most KV cells for helper jobs.
const MOST_ROOM: u32 = 2_048;

impl Load {
    /// Number of KV cells, in tokens, that a context of `context` tokens gets beside them for helper jobs.
    pub fn background_room(context: u32) -> u32 {
        (context / 4).min(MOST_ROOM)
    }

    /// Returns the largest context whose KV cells, with the room for helper jobs, are at most `cells`.
    pub fn context_of(cells: u32) -> u32 {
        (cells / 5 * 4).max(cells.saturating_sub(MOST_ROOM))
    }
}

/// Purpose of a loaded model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadPurpose {
    #[default]
    Replies,
    /// Only counting and tokenizing, without weights.
    Vocabulary,
    /// Embeddings: one vector per token.
    Embeddings,
}

/// A folder for the caches of exactly one model and context size, because llama.cpp does not check what a cache belongs
/// to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedCacheFolder {
    /// Absolute path. Created when needed.
    pub folder: String,
    /// Maximum bytes to write on one occasion.
    pub budget: u64,
}

/// One reply to generate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Generate {
    pub id: u64,
    /// Requests with the same key share a KV cache. Caches of other keys are put aside, not dropped.
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
    /// Identifies the pixels, such as by a checksum. Pictures with the same identity and size are the same.
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
    /// Base64 of three bytes for each pixel (red, green, blue), by rows. Empty if the picture cannot be read.
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
    /// The generation `id` waits for the pixels of this picture, an index into [`Generate::pictures`]. Answered by
    /// [`WorkerRequest::Pixels`] or [`WorkerRequest::Cancel`].
    PixelsWanted {
        id: u64,
        picture: usize,
    },
    /// A piece of the reply: whole characters, and no text that may become a stop text.
    Text {
        id: u64,
        text: String,
    },
    /// The tokens of the text frames before it, if the request wants alternatives.
    Choices {
        id: u64,
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

/// Token embeddings of a text. Each vector has length 1; its numbers are multiplied by [`EncodedEmbedding::SCALE`] and
/// rounded.
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

/// The loaded model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadedModelInfo {
    /// Context size in tokens; 0 if only the vocabulary is loaded.
    pub context: u32,
    /// Number of tokens in the vocabulary.
    pub vocab: u32,
    /// Vector length; 0 unless the model was loaded for embeddings.
    pub dimensions: u32,
    /// The model requires a beginning-of-sequence token. A prompt has the sum of its segments' tokens, plus 1 if its
    /// first control segment does not begin with that token.
    pub bos: bool,
    #[serde(default)]
    pub placement: Placement,
}

/// The devices and memory of a loaded model, as llama.cpp reports them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    /// Number of layers, including the output layer; 0 if only the vocabulary is loaded.
    pub layers: u32,
    /// Layers on graphics devices.
    pub gpu_layers: u32,
    /// Memory by device. The processor is the device without a name.
    pub memory: Vec<DeviceMemory>,
}

/// Bytes of a loaded model on one device.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceMemory {
    /// Name such as `Vulkan0`; empty for the processor.
    pub device: String,
    pub weights: u64,
    /// KV cache and recurrent state.
    pub cache: u64,
    pub compute: u64,
}

impl DeviceMemory {
    pub fn total(&self) -> u64 {
        self.weights.saturating_add(self.cache).saturating_add(self.compute)
    }
}

/// A device that can compute models. `inglenook-worker --devices` prints a list of them as JSON and exits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// Name for [`Tuning::device`], such as `Vulkan0`.
    pub name: String,
    /// Product name.
    pub description: String,
    /// Name of the backend, such as `Vulkan` or `CUDA`.
    pub backend: String,
    pub kind: DeviceKind,
    /// Bytes.
    pub total: u64,
    /// Bytes that other programs do not use.
    pub free: u64,
}

/// Kind of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeviceKind {
    Processor,
    /// A graphics card with memory of its own.
    Discrete,
    /// Graphics that share the memory of the processor.
    Integrated,
    /// A helper of the processor, such as a matrix library.
    Accelerator,
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
