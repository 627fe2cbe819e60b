//! The encoder and the caches that recall searches.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use local::LocalHost;

use crate::recall_service::embeddings::emotion_guess::Prototypes;
use crate::recall_service::embeddings::encoder::Encoder;
use crate::recall_service::embeddings::text_cache::TextCache;
use crate::recall_service::embeddings::vector_cache::VectorCache;
use crate::recall_service::messages::near_cache::NearCache;
use crate::recall_service::prefetched::{InAdvance, Prefetched};

/// The encoder, and the caches of recall.
pub(crate) struct EncoderState {
    /// Runs whichever model is chosen.
    host: LocalHost,
    bundled: Option<Encoder>,
    encoder: RwLock<Option<Encoder>>,
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
    /// `bundled` is the encoder that comes with the app.
    pub(crate) fn new(host: LocalHost, bundled: Option<Encoder>) -> Self {
        Self {
            host,
            encoder: RwLock::new(bundled.clone()),
            bundled,
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

    pub(crate) fn encoder(&self) -> Option<Encoder> {
        self.encoder
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Uses another encoder from now on. The caches know which encoder made each of their vectors.
    pub(crate) fn switch(&self, encoder: Option<Encoder>) {
        *self.encoder.write().unwrap_or_else(PoisonError::into_inner) = encoder;
    }

    pub(crate) fn host(&self) -> &LocalHost {
        &self.host
    }

    pub(crate) fn bundled(&self) -> Option<&Encoder> {
        self.bundled.as_ref()
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
        self.host.shutdown().await;
    }
}
