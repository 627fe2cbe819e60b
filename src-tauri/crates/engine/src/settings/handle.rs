//! Settings layer: all rooms of settings, models, endpoints and presets.

use std::ops::Deref;
use std::sync::{Arc, RwLock};

use local::LocalHost;

use crate::api::Settings;
use crate::base::handle::Base;
use crate::base::secrets::Secrets;
use crate::settings::access::Access;
use crate::settings::app_settings::AppSettings;
use crate::settings::counting::Counting;
use crate::settings::encryption_hint::EncryptionHint;
use crate::settings::endpoints::Endpoints;
use crate::settings::environment::Environment;
use crate::settings::health::HealthChecks;
use crate::settings::hub::Hub;
use crate::settings::keychain::Keychain;
use crate::settings::layers::{SettingEdits, SettingLayers};
use crate::settings::licences::Licences;
use crate::settings::model_handles::ModelHandles;
use crate::settings::model_lookup::ModelLookup;
use crate::settings::model_moves::ModelMoves;
use crate::settings::model_speeds::ModelSpeeds;
use crate::settings::models::Models;
use crate::settings::page_values::PageValues;
use crate::settings::privacy::Privacy;
use crate::settings::prompts::Prompts;
use crate::settings::protection::Protection;
use crate::settings::speed_test::SpeedTests;
use crate::settings::token_counts::TokenCounts;
use crate::settings::tool_servers::ToolServers;

/// The rooms of settings, models, endpoints and presets. Clones share one state.
#[derive(Clone)]
pub(crate) struct Configuration(Arc<SettingsRooms>);

/// One room for each feature, lowest first.
pub(crate) struct SettingsRooms {
    base: Base,
    local: LocalHost,
    pub(crate) app_settings: AppSettings,
    pub(crate) privacy: Privacy,
    pub(crate) protection: Protection,
    pub(crate) encryption_hint: EncryptionHint,
    pub(crate) page_values: PageValues,
    pub(crate) token_counts: TokenCounts,
    pub(crate) access: Access,
    pub(crate) prompts: Prompts,
    pub(crate) endpoints: Endpoints,
    pub(crate) setting_layers: SettingLayers,
    pub(crate) model_speeds: ModelSpeeds,
    pub(crate) models: Models,
    pub(crate) setting_edits: SettingEdits,
    pub(crate) speed_tests: SpeedTests,
    pub(crate) model_handles: ModelHandles,
    pub(crate) counting: Counting,
    pub(crate) hub: Hub,
    pub(crate) model_moves: ModelMoves,
    pub(crate) tool_servers: ToolServers,
    pub(crate) health: HealthChecks,
    pub(crate) licences: Licences,
}

impl Deref for Configuration {
    type Target = SettingsRooms;

    fn deref(&self) -> &SettingsRooms {
        &self.0
    }
}

impl Configuration {
    /// `encoder_model` names the embedding model, if there is one.
    pub(crate) fn new(
        base: Base,
        local: LocalHost,
        encoder_model: Option<String>,
        secrets: Secrets,
        settings: Settings,
        environment: Environment,
    ) -> Self {
        let app_settings = AppSettings::new(
            &base,
            Arc::new(RwLock::new(settings)),
            Arc::new(environment),
            Arc::new(RwLock::new(encoder_model)),
        );
        let privacy = Privacy::new(&base, &app_settings);
        let keychain = Keychain::new(Arc::new(secrets));
        let protection = Protection::new(&base, &keychain);
        let encryption_hint = EncryptionHint::new(&base);
        let page_values = PageValues::new(&base);
        let model_lookup = ModelLookup::new(&base);
        let token_counts = TokenCounts::new(&base, &local);
        let access = Access::new(&base, &app_settings);
        let prompts = Prompts::new(&base, &local);
        let endpoints = Endpoints::new(&base, &app_settings, &keychain, &token_counts);
        let setting_layers =
            SettingLayers::new(&base, &app_settings, &endpoints, &model_lookup, &prompts);
        let model_speeds = ModelSpeeds::new(&base, &local);
        let models = Models::new(
            &base,
            &local,
            &app_settings,
            &model_lookup,
            &setting_layers,
            &token_counts,
        );
        let setting_edits = SettingEdits::new(
            &base,
            &app_settings,
            &endpoints,
            &models,
            &privacy,
            &prompts,
            &setting_layers,
        );
        let speed_tests = SpeedTests::new(&local, &model_lookup, &models, &setting_edits);
        let model_handles = ModelHandles::new(
            &base,
            &local,
            &endpoints,
            &model_lookup,
            &models,
            &setting_layers,
            &token_counts,
        );
        let counting = Counting::new(
            &base,
            &local,
            &app_settings,
            &endpoints,
            &model_lookup,
            &token_counts,
        );
        let hub = Hub::new(
            &base,
            &local,
            &app_settings,
            &keychain,
            &models,
            &model_speeds,
        );
        let model_moves = ModelMoves::new(
            &base,
            &local,
            &app_settings,
            &hub,
            &model_handles,
            &model_lookup,
            &models,
        );
        let tool_servers = ToolServers::new(&base, &keychain);
        let health = HealthChecks::new(
            &base,
            &local,
            &app_settings,
            &endpoints,
            &models,
            &setting_edits,
            &token_counts,
        );
        Self(Arc::new(SettingsRooms {
            base,
            local,
            app_settings,
            privacy,
            protection,
            encryption_hint,
            page_values,
            token_counts,
            access,
            prompts,
            endpoints,
            setting_layers,
            model_speeds,
            models,
            setting_edits,
            speed_tests,
            model_handles,
            counting,
            hub,
            model_moves,
            tool_servers,
            health,
            licences: Licences::of_this_program(),
        }))
    }

    pub(crate) fn base(&self) -> &Base {
        &self.0.base
    }

    pub(crate) fn local(&self) -> &LocalHost {
        &self.0.local
    }
}
