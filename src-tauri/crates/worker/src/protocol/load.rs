//! Requests to load a model.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::saved::CacheKeys;

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
    /// Name of the only graphics device to use, such as `Vulkan0`; `None` means those that
    /// llama.cpp selects.
    pub device: Option<String>,
    /// Tokens per batch while a prompt is read; `None` depends on the size of the model. It limits
    /// the delay of a cancel.
    pub batch: Option<u32>,
    pub cache_type: CacheType,
    pub flash_attention: FlashAttention,
    pub adapter: Option<Adapter>,
    /// The first layers, whose experts stay in the memory of the processor while graphics devices
    /// compute the rest of them.
    pub processor_experts: u32,
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
    /// Number of KV cells, in tokens, that a context of `context` tokens gets beside them for
    /// helper jobs.
    pub fn background_room(context: u32) -> u32 {
        (context / 4).min(MOST_ROOM)
    }

    /// Returns the largest context whose KV cells, with the room for helper jobs, are at most
    /// `cells`.
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

/// A folder for the caches of exactly one model and context size, because llama.cpp does not check
/// what a cache belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedCacheFolder {
    /// Absolute path. Created when needed.
    pub folder: String,
    /// Maximum bytes to write on one occasion.
    pub budget: u64,
    /// With keys, the files are encrypted; plain ones are neither read nor written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys: Option<Arc<CacheKeys>>,
}
