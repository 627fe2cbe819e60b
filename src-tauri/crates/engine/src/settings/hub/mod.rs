//! The model library beyond this machine: the hub, the catalogue, downloads, and the models of
//! other apps.

pub(crate) mod by_address;
pub(crate) mod catalogue;
pub(crate) mod download_faults;
pub(crate) mod download_job;
pub(crate) mod download_operations;
pub(crate) mod download_run;
pub(crate) mod downloads;
pub(crate) mod fit_report;
pub(crate) mod hub_settings;
pub(crate) mod known_repos;
pub(crate) mod larger_hint;
pub(crate) mod other_apps;
pub(crate) mod search;
mod suggestions;

use std::sync::{Arc, Weak};

use local::LocalHost;

use crate::base::handle::Base;
use crate::settings::app_settings::AppSettings;
use crate::settings::hub::downloads::Downloads;
use crate::settings::hub::known_repos::KnownRepos;
use crate::settings::keychain::Keychain;
use crate::settings::model_speeds::ModelSpeeds;
use crate::settings::models::Models;

/// The model hub, downloads, and the models of other apps. Clones share one state.
#[derive(Clone)]
pub(crate) struct Hub(Arc<HubState>);

struct HubState {
    base: Base,
    local: LocalHost,
    app_settings: AppSettings,
    keychain: Keychain,
    models: Models,
    model_speeds: ModelSpeeds,
    downloads: Downloads,
    known_repos: KnownRepos,
}

impl Drop for HubState {
    fn drop(&mut self) {
        self.downloads.stop_all();
    }
}

/// A handle for background tasks, so that dropping the engine releases the data folder.
#[derive(Clone)]
pub(crate) struct WeakHub(Weak<HubState>);

impl WeakHub {
    /// `None` once the engine is gone.
    fn upgrade(&self) -> Option<Hub> {
        self.0.upgrade().map(Hub)
    }
}

impl Hub {
    pub(super) fn new(
        base: &Base,
        local: &LocalHost,
        app_settings: &AppSettings,
        keychain: &Keychain,
        models: &Models,
        model_speeds: &ModelSpeeds,
    ) -> Self {
        Self(Arc::new(HubState {
            base: base.clone(),
            local: local.clone(),
            app_settings: app_settings.clone(),
            keychain: keychain.clone(),
            models: models.clone(),
            model_speeds: model_speeds.clone(),
            downloads: Downloads::new(base.events().clone()),
            known_repos: KnownRepos::default(),
        }))
    }

    fn downgrade(&self) -> WeakHub {
        WeakHub(Arc::downgrade(&self.0))
    }

    fn base(&self) -> &Base {
        &self.0.base
    }

    fn local(&self) -> &LocalHost {
        &self.0.local
    }

    fn app_settings(&self) -> &AppSettings {
        &self.0.app_settings
    }

    fn keychain(&self) -> &Keychain {
        &self.0.keychain
    }

    fn models(&self) -> &Models {
        &self.0.models
    }

    fn model_speeds(&self) -> &ModelSpeeds {
        &self.0.model_speeds
    }

    pub(crate) fn downloads(&self) -> &Downloads {
        &self.0.downloads
    }

    fn known_repos(&self) -> &KnownRepos {
        &self.0.known_repos
    }
}
