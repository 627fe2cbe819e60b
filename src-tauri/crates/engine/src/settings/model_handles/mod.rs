//! Prepares the model of a turn: provider, chat template, token budget and counter.

pub(crate) mod chat_template;
pub(crate) mod handle;
pub(crate) mod message_content;
pub(crate) mod prepare;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::ModelId;
use local::LocalHost;

use crate::base::handle::Base;
use crate::settings::endpoints::Endpoints;
use crate::settings::layers::SettingLayers;
use crate::settings::model_handles::chat_template::KnownTemplate;
use crate::settings::model_lookup::ModelLookup;
use crate::settings::models::Models;
use crate::settings::token_counts::TokenCounts;

/// Chat templates by model and chosen format: the name of a built-in one, or the JSON of a
/// user-defined one.
pub(super) type Templates = HashMap<(ModelId, String), KnownTemplate>;

/// Models that are ready for a turn. Clones share one state.
#[derive(Clone)]
pub(crate) struct ModelHandles {
    base: Base,
    local: LocalHost,
    endpoints: Endpoints,
    model_lookup: ModelLookup,
    models: Models,
    setting_layers: SettingLayers,
    token_counts: TokenCounts,
    templates: Arc<Mutex<Templates>>,
}

impl ModelHandles {
    pub(super) fn new(
        base: &Base,
        local: &LocalHost,
        endpoints: &Endpoints,
        model_lookup: &ModelLookup,
        models: &Models,
        setting_layers: &SettingLayers,
        token_counts: &TokenCounts,
    ) -> Self {
        Self {
            base: base.clone(),
            local: local.clone(),
            endpoints: endpoints.clone(),
            model_lookup: model_lookup.clone(),
            models: models.clone(),
            setting_layers: setting_layers.clone(),
            token_counts: token_counts.clone(),
            templates: Arc::default(),
        }
    }

    fn base(&self) -> &Base {
        &self.base
    }

    fn local(&self) -> &LocalHost {
        &self.local
    }

    pub(super) fn templates(&self) -> MutexGuard<'_, Templates> {
        self.templates
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
