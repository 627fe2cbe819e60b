//! Counts tokens: exactly for local models and known tokenizers, else estimated.

pub(crate) mod count_cache;
pub(crate) mod remote_count;
pub(crate) mod text_counts;
pub(crate) mod token_counter;
pub(crate) mod tokenizer_files;

use local::LocalHost;

use crate::base::handle::Base;
use crate::settings::app_settings::AppSettings;
use crate::settings::endpoints::Endpoints;
use crate::settings::model_lookup::ModelLookup;
use crate::settings::token_counts::TokenCounts;

/// Counts tokens of texts. Clones share one state.
#[derive(Clone)]
pub(crate) struct Counting {
    base: Base,
    local: LocalHost,
    app_settings: AppSettings,
    endpoints: Endpoints,
    model_lookup: ModelLookup,
    token_counts: TokenCounts,
}

impl Counting {
    pub(super) fn new(
        base: &Base,
        local: &LocalHost,
        app_settings: &AppSettings,
        endpoints: &Endpoints,
        model_lookup: &ModelLookup,
        token_counts: &TokenCounts,
    ) -> Self {
        Self {
            base: base.clone(),
            local: local.clone(),
            app_settings: app_settings.clone(),
            endpoints: endpoints.clone(),
            model_lookup: model_lookup.clone(),
            token_counts: token_counts.clone(),
        }
    }

    fn base(&self) -> &Base {
        &self.base
    }

    fn local(&self) -> &LocalHost {
        &self.local
    }
}
