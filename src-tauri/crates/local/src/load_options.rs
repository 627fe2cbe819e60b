//! How to load a model for replies.

use worker::protocol::{Adapter, CacheType, FlashAttention, Tuning};

/// Choices of a user for one model. The default leaves everything to the app.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LoadOptions {
    /// Layers that graphics devices compute, 0 for none; `None`: as many as fit their free memory.
    pub gpu_layers: Option<u32>,
    /// Name of the only graphics device to use; `None`: all discrete ones, or else the integrated one.
    pub device: Option<String>,
    /// Compute threads; `None`: those of [`WorkerSettings`](crate::WorkerSettings).
    pub threads: Option<u32>,
    /// Tokens per batch while a prompt is read; `None`: by the size of the model.
    pub batch: Option<u32>,
    pub cache_type: CacheType,
    pub flash_attention: FlashAttention,
    pub adapter: Option<Adapter>,
}

impl LoadOptions {
    pub(crate) fn tuning(&self) -> Tuning {
        Tuning {
            device: self.device.clone(),
            batch: self.batch,
            cache_type: self.cache_type,
            flash_attention: self.flash_attention,
            adapter: self.adapter.clone(),
        }
    }

    /// Identifies what changes the content of a KV cache, so that a saved cache is not used with other options. Empty
    /// for the default.
    pub(crate) fn cache_variant(&self) -> String {
        let changed = (self.cache_type, self.flash_attention) != <(CacheType, FlashAttention)>::default();
        if !changed && self.adapter.is_none() {
            return String::new();
        }
        let adapter = self.adapter.as_ref().map_or_else(String::new, |adapter| format!("{adapter:?}"));
        format!("{:?} {:?} {adapter}", self.cache_type, self.flash_attention)
    }
}
