//! What is said in frames. The types are the wire's own: the domain may change without the protocol noticing.

use serde::{Deserialize, Serialize};

/// Raised whenever an older worker would misunderstand a newer supervisor, or the other way round.
pub const PROTOCOL: u32 = 6;

/// A run of text. Only `control` text can become control tokens such as `<|im_end|>`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    pub text: String,
    pub control: bool,
}

/// To the worker. Ids are the supervisor's, and rise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Request {
    /// Answered by [`Reply::Loading`]s, then [`Reply::Loaded`] or an error. Replaces the loaded model, whose caches are
    /// saved first.
    Load(Load),
    /// Answered by [`Reply::Counts`], even while a reply is generated.
    Count { id: u64, texts: Vec<Segment> },
    /// Answered by [`Reply::Tokens`], even while a reply is generated.
    Tokenize { id: u64, texts: Vec<Segment> },
    /// Answered by [`Reply::Prefill`]s and [`Reply::Text`]s, then [`Reply::Done`] or an error. One at a time; a second
    /// one waits.
    Generate(Generate),
    /// Answered by [`Reply::Embeddings`]. Only for a model that was loaded for [`Purpose::Embeddings`].
    Embed { id: u64, texts: Vec<String> },
    /// Ends the generation `id`, running or waiting, with [`FinishReason::Cancelled`].
    Cancel { id: u64 },
    /// Drops the cache of that key from memory.
    Forget { cache_key: String },
    /// Saves no cache of these keys until a reply has begun with another prompt: words in it were withdrawn.
    KeepOffDisk { cache_keys: Vec<String> },
    /// Ends what is running, saves the caches and ends the process. The end of the pipe does so too, but saves nothing.
    Shutdown,
}

/// Which model, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Load {
    pub path: String,
    /// Context size in tokens.
    pub context: u32,
    pub threads: u32,
    pub gpu_layers: u32,
    pub purpose: Purpose,
    /// Bytes of memory for the KV caches of chats other than the current one.
    #[serde(default)]
    pub aside: u64,
    /// Where caches outlive the process; `None` keeps them in memory alone.
    #[serde(default)]
    pub saved: Option<SavedCaches>,
}

/// What a model is loaded for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    #[default]
    Replies,
    /// Only counts and tokenizes: no weights are read.
    Vocabulary,
    /// Makes vectors of texts, of every token's own.
    Embeddings,
}

/// A folder for the caches of one model at one context size, and of nothing else: llama.cpp cannot tell whose they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedCaches {
    /// Absolute. Made when it is needed.
    pub folder: String,
    /// Bytes that are written at one time, at the most.
    pub budget: u64,
}

/// One reply to make.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Generate {
    pub id: u64,
    /// Requests of one key share a KV cache; the caches of other keys are put aside, not lost.
    pub cache_key: String,
    pub segments: Vec<Segment>,
    pub sampling: Sampling,
    /// Texts that end the reply; they are not part of it.
    pub stop: Vec<String>,
    /// Tokens of reply at the most.
    pub max_tokens: u32,
    /// GBNF with a rule `root`: the reply is of its language, or is the beginning of such a text if it ends for its length.
    #[serde(default)]
    pub grammar: Option<String>,
}

/// How tokens are drawn, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sampling {
    /// 1 is off.
    pub repeat_penalty: f32,
    /// Tokens that the penalties look back on; 0 is off.
    pub repeat_range: u32,
    /// 0 is off.
    pub frequency_penalty: f32,
    /// 0 is off.
    pub presence_penalty: f32,
    /// 0 is off.
    pub dry_multiplier: f32,
    pub dry_base: f32,
    /// Tokens that may be said again for nothing.
    pub dry_allowed_length: u32,
    /// Tokens; 0 is all.
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
    /// On either side of the temperature; 0 is off.
    pub dynatemp_range: f32,
    pub dynatemp_exponent: f32,
    /// 0 is off; 1 or 2 stands in the place of all cuts.
    pub mirostat: u32,
    /// Bits of surprise.
    pub mirostat_tau: f32,
    pub mirostat_eta: f32,
    pub seed: u32,
}

/// Greedy, and everything else off.
impl Default for Sampling {
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

/// From the worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Reply {
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
    Loaded(Loaded),
    /// `done` of `total` prompt tokens are read, of which `reused` came from the cache.
    Prefill {
        id: u64,
        done: u32,
        total: u32,
        reused: u32,
    },
    /// A piece of the reply: whole characters, and nothing that may yet turn out to be a stop sequence.
    Text {
        id: u64,
        text: String,
    },
    Done(Done),
    /// Tokens of each text, in order.
    Counts {
        id: u64,
        counts: Vec<u32>,
    },
    /// Token ids of each text, in order.
    Tokens {
        id: u64,
        tokens: Vec<Vec<i32>>,
    },
    /// One for each text, in order.
    Embeddings {
        id: u64,
        texts: Vec<Embedding>,
    },
    /// `id` is the request's, where it has one.
    Error {
        id: Option<u64>,
        code: ErrorCode,
        message: String,
    },
}

/// A text as vectors. Those of its tokens are of length 1, each number times [`Embedding::SCALE`] and rounded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Embedding {
    /// The pieces of the text, with the model's marks around them; what was beyond its context is left out.
    pub tokens: Vec<i32>,
    /// Base64 of one vector for each token, one behind the other, a signed byte for each number.
    pub vectors: String,
    /// Base64 of the mean of the tokens' own vectors, of length 1, little-endian `f32`s.
    pub mean: String,
}

impl Embedding {
    /// What 1 is in a byte.
    pub const SCALE: f32 = 127.0;
}

/// What is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loaded {
    /// Tokens; 0 where only the vocabulary is loaded.
    pub context: u32,
    /// Tokens in the vocabulary.
    pub vocab: u32,
    /// Numbers of a vector; 0 unless it was loaded for them.
    pub dimensions: u32,
    /// The model asks for a beginning-of-sequence token: a prompt costs the sum of its segments, and 1 if its first
    /// control segment does not itself begin with that token.
    pub bos: bool,
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
    /// The model ended its turn, or a stop sequence did.
    Stop,
    /// `max_tokens`, or the end of the context.
    Length,
    Cancelled,
}

/// Token counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    pub prompt: u32,
    /// Of the prompt, taken from the cache.
    pub reused: u32,
    /// Of the prompt, read anew.
    pub evaluated: u32,
    pub generated: u32,
}

/// Milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Timings {
    pub prefill_ms: f64,
    pub decode_ms: f64,
}

/// What went wrong, for the supervisor to act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// No file at the path.
    Missing,
    /// llama.cpp refused the file.
    Load,
    /// No memory for the context.
    Memory,
    /// Nothing is loaded that could do this, or for something else.
    NotLoaded,
    /// The prompt does not fit into the context.
    ContextOverflow,
    /// The prompt has no tokens.
    Empty,
    /// The grammar cannot be read, or the model has no token that goes on in it.
    Grammar,
    /// llama.cpp failed while it computed.
    Compute,
    /// The request was not understood.
    Malformed,
}
