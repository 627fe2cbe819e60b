//! The layers of settings, read and changed in one place.

pub(crate) mod choice;
pub(crate) mod edits;
pub(crate) mod random_places;
pub(crate) mod shown;
pub(crate) mod stack;
pub(crate) mod values;

use crate::base::handle::Base;
use crate::settings::app_settings::AppSettings;
use crate::settings::endpoints::Endpoints;
use crate::settings::model_lookup::ModelLookup;
use crate::settings::models::Models;
use crate::settings::privacy::Privacy;
use crate::settings::prompts::Prompts;

/// Values of settings where they apply. Clones share one state.
#[derive(Clone)]
pub(crate) struct SettingLayers {
    base: Base,
    app_settings: AppSettings,
    endpoints: Endpoints,
    model_lookup: ModelLookup,
    prompts: Prompts,
}

impl SettingLayers {
    pub(super) fn new(
        base: &Base,
        app_settings: &AppSettings,
        endpoints: &Endpoints,
        model_lookup: &ModelLookup,
        prompts: &Prompts,
    ) -> Self {
        Self {
            base: base.clone(),
            app_settings: app_settings.clone(),
            endpoints: endpoints.clone(),
            model_lookup: model_lookup.clone(),
            prompts: prompts.clone(),
        }
    }

    fn base(&self) -> &Base {
        &self.base
    }
}

/// Changes of the layers of settings. Clones share one state.
#[derive(Clone)]
pub(crate) struct SettingEdits {
    base: Base,
    app_settings: AppSettings,
    endpoints: Endpoints,
    models: Models,
    privacy: Privacy,
    prompts: Prompts,
    setting_layers: SettingLayers,
}

impl SettingEdits {
    pub(super) fn new(
        base: &Base,
        app_settings: &AppSettings,
        endpoints: &Endpoints,
        models: &Models,
        privacy: &Privacy,
        prompts: &Prompts,
        setting_layers: &SettingLayers,
    ) -> Self {
        Self {
            base: base.clone(),
            app_settings: app_settings.clone(),
            endpoints: endpoints.clone(),
            models: models.clone(),
            privacy: privacy.clone(),
            prompts: prompts.clone(),
            setting_layers: setting_layers.clone(),
        }
    }

    fn base(&self) -> &Base {
        &self.base
    }
}
