//! The encoder and the caches that recall searches.

use crate::recall_service::emotion_guess::Prototypes;
use crate::recall_service::encoder::Encoder;
use crate::recall_service::near_cache::NearCache;
use crate::recall_service::prefetched::InAdvance;
use crate::recall_service::prefetched::Prefetched;
use crate::recall_service::text_cache::TextCache;
use crate::recall_service::vector_cache::VectorCache;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The encoder, and the caches of recall.
pub(crate) struct EncoderState {
    pub(crate) encoder: Option<Encoder>,
    pub(crate) cache: Arc<VectorCache>,
    pub(crate) texts: Arc<TextCache>,
    pub(crate) near: Arc<NearCache>,
    pub(crate) in_advance: InAdvance,
    pub(crate) lately: Prefetched,
    prototypes: Prototypes,
    /// Number of prompts that are being assembled.
    pub(crate) asking: Arc<AtomicUsize>,
}

/// Marks a prompt that is being assembled, until it is dropped.
pub(crate) struct ForegroundGuard(pub(crate) Arc<AtomicUsize>);

impl Drop for ForegroundGuard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl EncoderState {
    pub(crate) fn new(encoder: Option<Encoder>) -> Self {
        Self {
            encoder,
            cache: Arc::default(),
            texts: Arc::default(),
            near: Arc::default(),
            in_advance: InAdvance::default(),
            lately: Prefetched::default(),
            prototypes: Prototypes::default(),
            asking: Arc::default(),
        }
    }

    pub(crate) fn lately(&self) -> &Prefetched {
        &self.lately
    }

    pub(crate) fn prototypes(&self) -> &Prototypes {
        &self.prototypes
    }

    pub(crate) fn in_advance(&self) -> &InAdvance {
        &self.in_advance
    }

    /// Pauses background embedding: the cores and the encoder are for the user who waits.
    pub(crate) fn ask(&self) -> ForegroundGuard {
        self.asking.fetch_add(1, Ordering::Relaxed);
        ForegroundGuard(Arc::clone(&self.asking))
    }

    pub(crate) fn is_asked(&self) -> bool {
        self.asking.load(Ordering::Relaxed) > 0
    }

    pub(crate) fn encoder(&self) -> Option<&Encoder> {
        self.encoder.as_ref()
    }

    pub(crate) fn cache(&self) -> Arc<VectorCache> {
        Arc::clone(&self.cache)
    }

    pub(crate) fn texts(&self) -> Arc<TextCache> {
        Arc::clone(&self.texts)
    }

    pub(crate) fn near(&self) -> Arc<NearCache> {
        Arc::clone(&self.near)
    }

    pub(crate) async fn shutdown(&self) {
        if let Some(encoder) = &self.encoder {
            encoder.shutdown().await;
        }
    }
}
