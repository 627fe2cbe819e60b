//! Settings layer: settings, models, endpoints, presets and formats.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};

use domain::ModelId;
use local::LocalHost;

use crate::api::Settings;
use crate::base::handle::Base;
use crate::base::secrets::Secrets;
use crate::settings::api_server::ApiServer;
use crate::settings::chat_template::KnownTemplate;
use crate::settings::count_cache::KnownCounts;
use crate::settings::environment::Environment;
use crate::settings::hub::downloads::Downloads;
use crate::settings::hub::known_repos::KnownRepos;
use crate::settings::model_moves::moves::ModelMoves;
use crate::settings::paired_projectors::PairedProjectors;
use crate::settings::tokenizer_files::TokenizerFiles;
use crate::settings::tool_servers::RunningServers;

/// Chat templates by model and chosen format: the name of a built-in one, or the JSON of a
/// user-defined one.
type Templates = HashMap<(ModelId, String), KnownTemplate>;

/// Settings, models, endpoints and presets. Clones share one state.
#[derive(Clone)]
pub(crate) struct Configuration {
    inner: Arc<ConfigurationState>,
}

struct ConfigurationState {
    base: Base,
    local: LocalHost,
    encoder_model: RwLock<Option<String>>,
    secrets: Secrets,
    settings: RwLock<Settings>,
    environment: Environment,
    templates: Mutex<Templates>,
    projectors: PairedProjectors,
    tokenizers: TokenizerFiles,
    counts: KnownCounts,
    downloads: Downloads,
    model_moves: ModelMoves,
    known_repos: KnownRepos,
    api_server: ApiServer,
    tool_servers: RunningServers,
}

impl Drop for ConfigurationState {
    fn drop(&mut self) {
        self.downloads.stop_all();
        self.model_moves.stop_all();
    }
}

/// A handle for background tasks, so that dropping the engine releases the data folder.
#[derive(Clone)]
pub(crate) struct WeakConfiguration {
    inner: Weak<ConfigurationState>,
}

impl WeakConfiguration {
    /// `None` once the engine is gone.
    pub(crate) fn upgrade(&self) -> Option<Configuration> {
        self.inner.upgrade().map(|inner| Configuration { inner })
    }
}

impl Configuration {
    /// `encoder_model` names the embedding model, if there is one.
    pub(crate) fn new(
        base: Base,
        local: LocalHost,
        encoder_model: Option<String>,
        secrets: Secrets,
        (settings, environment): (Settings, Environment),
    ) -> Self {
        let inner = ConfigurationState {
            downloads: Downloads::new(base.events().clone()),
            model_moves: ModelMoves::new(base.events().clone()),
            known_repos: KnownRepos::default(),
            api_server: ApiServer::default(),
            tool_servers: RunningServers::default(),
            base,
            local,
            encoder_model: RwLock::new(encoder_model),
            secrets,
            settings: RwLock::new(settings),
            environment,
            templates: Mutex::default(),
            projectors: PairedProjectors::default(),
            tokenizers: TokenizerFiles::default(),
            counts: KnownCounts::default(),
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    pub(crate) fn downgrade(&self) -> WeakConfiguration {
        WeakConfiguration {
            inner: Arc::downgrade(&self.inner),
        }
    }

    pub(crate) fn base(&self) -> &Base {
        &self.inner.base
    }

    pub(crate) fn paired_projectors(&self) -> &PairedProjectors {
        &self.inner.projectors
    }

    pub(crate) fn local(&self) -> &LocalHost {
        &self.inner.local
    }

    /// Identifies the embedding model; `None` if there is none.
    pub(crate) fn encoder_model(&self) -> Option<String> {
        self.inner
            .encoder_model
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    pub(crate) fn set_encoder_model(&self, model: Option<String>) {
        *self
            .inner
            .encoder_model
            .write()
            .unwrap_or_else(PoisonError::into_inner) = model;
    }

    pub(crate) fn secrets(&self) -> &Secrets {
        &self.inner.secrets
    }

    pub(crate) fn settings(&self) -> Settings {
        self.inner
            .settings
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Applies `change` and returns the settings after it.
    pub(crate) fn change_settings(&self, change: impl FnOnce(&mut Settings)) -> Settings {
        let mut settings = self
            .inner
            .settings
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        change(&mut settings);
        settings.clone()
    }

    pub(crate) fn environment(&self) -> &Environment {
        &self.inner.environment
    }

    pub(crate) fn templates(&self) -> MutexGuard<'_, Templates> {
        self.inner
            .templates
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn tokenizer_files(&self) -> &TokenizerFiles {
        &self.inner.tokenizers
    }

    pub(crate) fn downloads(&self) -> &Downloads {
        &self.inner.downloads
    }

    pub(crate) fn model_moves(&self) -> &ModelMoves {
        &self.inner.model_moves
    }

    pub(crate) fn known_repos(&self) -> &KnownRepos {
        &self.inner.known_repos
    }

    pub(crate) fn api_server(&self) -> &ApiServer {
        &self.inner.api_server
    }

    pub(crate) fn tool_servers(&self) -> &RunningServers {
        &self.inner.tool_servers
    }

    pub(crate) fn known_counts(&self) -> &KnownCounts {
        &self.inner.counts
    }
}
