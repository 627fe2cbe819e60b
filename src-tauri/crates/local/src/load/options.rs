//! How to load a model for replies.

use std::time::UNIX_EPOCH;

use worker::protocol::{Adapter, CacheType, FlashAttention, Tuning};

/// Choices of a user for one model. The default leaves everything to the app.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LoadOptions {
    /// Layers that graphics devices compute, 0 for none; `None`: as many as fit their free memory.
    pub gpu_layers: Option<u32>,
    /// The first layers, whose experts stay in the memory of the processor; `None`: as many as the
    /// graphics devices have no room for.
    pub processor_experts: Option<u32>,
    /// Name of the only graphics device to use; `None`: all discrete ones, or else the integrated
    /// one.
    pub device: Option<String>,
    /// Compute threads; `None`: those of [`WorkerSettings`](crate::WorkerSettings).
    pub threads: Option<u32>,
    /// Tokens per batch while a prompt is read; `None`: by the size of the model.
    pub batch: Option<u32>,
    pub cache_type: CacheType,
    pub flash_attention: FlashAttention,
    /// Absolute path of the file that reads pictures for the model (mmproj). Only prompts with
    /// pictures load it.
    pub projector: Option<String>,
    /// Adapters whose effects add up.
    pub adapters: Vec<Adapter>,
}

impl LoadOptions {
    /// `adapter` has the effect of all adapters.
    pub(crate) fn tuning(&self, adapter: Option<Adapter>, processor_experts: u32) -> Tuning {
        Tuning {
            device: self.device.clone(),
            batch: self.batch,
            cache_type: self.cache_type,
            flash_attention: self.flash_attention,
            adapter,
            processor_experts,
        }
    }

    /// The same options for a prompt without pictures.
    pub(crate) fn without_projector(&self) -> Self {
        Self {
            projector: None,
            ..self.clone()
        }
    }

    /// Whether a model that is loaded with `self` can do what `wished` needs: a projector does no
    /// harm.
    pub(crate) fn includes(&self, wished: &Self) -> bool {
        self == wished || wished.projector.is_none() && self.without_projector() == *wished
    }

    /// Identifies the projector for the caches of pictures; empty without one.
    pub fn projector_identity(&self) -> String {
        let Some(path) = &self.projector else {
            return String::new();
        };
        let about = std::fs::metadata(path).ok();
        let length = about.as_ref().map_or(0, std::fs::Metadata::len);
        let changed =
            about.and_then(|about| about.modified().ok()?.duration_since(UNIX_EPOCH).ok());
        format!("{path} {length} {}", changed.unwrap_or_default().as_nanos())
    }

    /// Identifies what changes the content of a KV cache, so that a saved cache is not used with
    /// other options. Empty for the default.
    pub(crate) fn cache_variant(&self) -> String {
        let changed =
            (self.cache_type, self.flash_attention) != <(CacheType, FlashAttention)>::default();
        let adapters: Vec<_> = self
            .adapters
            .iter()
            .filter(|adapter| adapter.weight != 0.0)
            .map(identity)
            .collect();
        if !changed && adapters.is_empty() {
            return String::new();
        }
        format!(
            "{:?} {:?} {}",
            self.cache_type,
            self.flash_attention,
            adapters.join(" ")
        )
    }
}

/// Identifies the effect of an adapter: its weight, its path, and its size and time, because
/// another file can take its place.
fn identity(adapter: &Adapter) -> String {
    let about = std::fs::metadata(&adapter.path).ok();
    let written = about.as_ref().and_then(|about| about.modified().ok());
    format!(
        "{adapter:?} {:?} {written:?}",
        about.map(|about| about.len())
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_of_adapters_is_another_cache() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name).display().to_string();
        std::fs::write(path("a"), "a").unwrap();
        let variant = |adapters: &[(&str, f32)]| {
            let adapters = adapters
                .iter()
                .map(|(name, weight)| Adapter {
                    path: path(name),
                    weight: *weight,
                })
                .collect();
            LoadOptions {
                adapters,
                ..LoadOptions::default()
            }
            .cache_variant()
        };
        let one = variant(&[("a", 1.0)]);
        assert_eq!(
            one,
            variant(&[("a", 1.0), ("b", 0.0)]),
            "one without a weight has no effect"
        );
        assert_eq!(
            (variant(&[]), variant(&[("a", 0.0)])),
            (String::new(), String::new())
        );
        for other in [&[("a", 0.5)][..], &[("b", 1.0)], &[("a", 1.0), ("b", 1.0)]] {
            assert_ne!(one, variant(other));
        }
        std::fs::write(path("a"), "another").unwrap();
        assert_ne!(one, variant(&[("a", 1.0)]), "another file in its place");
    }
}
