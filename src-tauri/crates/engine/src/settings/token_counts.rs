//! Token counts and tokenizers in memory.

use std::sync::Arc;

use local::LocalHost;

use crate::base::handle::Base;
use crate::settings::counting::count_cache::KnownCounts;
use crate::settings::counting::tokenizer_files::TokenizerFiles;

/// Known token counts, and the tokenizers of endpoints. Clones share one state.
#[derive(Clone)]
pub(crate) struct TokenCounts {
    base: Base,
    local: LocalHost,
    counts: Arc<KnownCounts>,
    tokenizers: Arc<TokenizerFiles>,
}

impl TokenCounts {
    pub(super) fn new(base: &Base, local: &LocalHost) -> Self {
        Self {
            base: base.clone(),
            local: local.clone(),
            counts: Arc::default(),
            tokenizers: Arc::default(),
        }
    }

    pub(super) fn base(&self) -> &Base {
        &self.base
    }

    pub(super) fn local(&self) -> &LocalHost {
        &self.local
    }

    pub(crate) fn known_counts(&self) -> &KnownCounts {
        &self.counts
    }

    pub(crate) fn tokenizer_files(&self) -> &TokenizerFiles {
        &self.tokenizers
    }
}
