//! How to load a model for replies.

use std::time::UNIX_EPOCH;

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
    /// Absolute path of the file that reads pictures for the model (mmproj). Only prompts with pictures load it.
    pub projector: Option<String>,
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

    /// The same options for a prompt without pictures.
    pub(crate) fn without_projector(&self) -> Self {
        Self { projector: None, ..self.clone() }
    }

    /// Whether a model that is loaded with `self` can do what `wished` needs: a projector does no harm.
    pub(crate) fn includes(&self, wished: &Self) -> bool {
        self == wished || wished.projector.is_none() && self.without_projector() == *wished
    }

    /// Identifies the projector for the caches of pictures; empty without one.
    pub fn projector_identity(&self) -> String {
        let Some(path) = &self.projector else { return String::new() };
        let about = std::fs::metadata(path).ok();
        let length = about.as_ref().map_or(0, std::fs::Metadata::len);
        let changed = about.and_then(|about| about.modified().ok()?.duration_since(UNIX_EPOCH).ok());
        format!("{path} {length} {}", changed.unwrap_or_default().as_nanos())
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
