//! Local models: the library of files, loading, adapters and projectors.

pub(crate) mod files;
pub(crate) mod load;
pub(crate) mod load_options;
pub(crate) mod paired_projectors;
pub(crate) mod projectors;
pub(crate) mod raw_models;

use std::sync::Arc;

use local::LocalHost;

use crate::base::handle::Base;
use crate::settings::app_settings::AppSettings;
use crate::settings::layers::SettingLayers;
use crate::settings::model_lookup::ModelLookup;
use crate::settings::models::paired_projectors::PairedProjectors;
use crate::settings::token_counts::TokenCounts;

/// Local models. Clones share one state.
#[derive(Clone)]
pub(crate) struct Models {
    base: Base,
    local: LocalHost,
    app_settings: AppSettings,
    model_lookup: ModelLookup,
    setting_layers: SettingLayers,
    token_counts: TokenCounts,
    projectors: Arc<PairedProjectors>,
}

impl Models {
    pub(super) fn new(
        base: &Base,
        local: &LocalHost,
        app_settings: &AppSettings,
        model_lookup: &ModelLookup,
        setting_layers: &SettingLayers,
        token_counts: &TokenCounts,
    ) -> Self {
        Self {
            base: base.clone(),
            local: local.clone(),
            app_settings: app_settings.clone(),
            model_lookup: model_lookup.clone(),
            setting_layers: setting_layers.clone(),
            token_counts: token_counts.clone(),
            projectors: Arc::default(),
        }
    }

    fn base(&self) -> &Base {
        &self.base
    }

    fn local(&self) -> &LocalHost {
        &self.local
    }

    fn paired_projectors(&self) -> &PairedProjectors {
        &self.projectors
    }
}
