//! State that every layer shares.

use std::path::PathBuf;
use std::sync::Arc;

use domain::Timestamp;
use provider::Provider;
use store::{FolderKeys, Store};
use updates::UpdateSource;

use crate::base::clock::Clock;
use crate::base::events::Announcer;
use crate::base::idle::IdleWork;
use crate::base::memory_meter::MemoryMeter;
use crate::base::options::Options;
use crate::base::protection::unlock::UnlockedFolder;
use crate::base::records::data_warnings::DataWarningList;
use crate::base::running::Running;
use crate::base::tool_source::ToolSources;
use crate::base::vision::Vision;

/// The store, the clock, the events and the work in progress. Clones share one state.
#[derive(Clone)]
pub(crate) struct Base {
    inner: Arc<BaseState>,
}

struct BaseState {
    store: Store,
    keys: Option<UnlockedFolder>,
    clock: Clock,
    events: Announcer,
    running: Running,
    vision: Vision,
    idle: IdleWork,
    notices: Vec<String>,
    data_warnings: DataWarningList,
    provider: Option<Arc<dyn Provider>>,
    tools: ToolSources,
    home: Option<PathBuf>,
    shipped_models: Vec<PathBuf>,
    memory_meter: MemoryMeter,
    updates: UpdateSource,
}

impl Base {
    /// `notices` and `data_warnings` are messages for the user about opening `store`.
    pub(crate) fn new(
        store: Store,
        options: &Options,
        (notices, data_warnings): (Vec<String>, DataWarningList),
    ) -> Self {
        let inner = BaseState {
            store,
            keys: options.keys.clone(),
            clock: options.clock.clone(),
            events: Announcer::default(),
            running: Running::default(),
            vision: Vision::default(),
            idle: IdleWork::default(),
            notices,
            data_warnings,
            provider: options.provider.clone(),
            tools: options.tools.clone(),
            home: options.home.clone(),
            shipped_models: options.model_dirs.clone(),
            memory_meter: options.memory_meter.clone(),
            updates: options.updates.clone(),
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    pub(crate) fn store(&self) -> &Store {
        &self.inner.store
    }

    /// The keys of a protected data folder.
    pub(crate) fn keys(&self) -> Option<&UnlockedFolder> {
        self.inner.keys.as_ref()
    }

    /// The keys of the store, for functions on its closed files.
    pub(crate) fn folder_keys(&self) -> Option<Arc<FolderKeys>> {
        self.keys().map(|unlocked| Arc::clone(unlocked.keys()))
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.inner.clock
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.inner.clock.now()
    }

    pub(crate) fn events(&self) -> &Announcer {
        &self.inner.events
    }

    /// Replies in progress.
    pub(crate) fn running(&self) -> &Running {
        &self.inner.running
    }

    pub(crate) fn vision(&self) -> &Vision {
        &self.inner.vision
    }

    pub(crate) fn idle(&self) -> &IdleWork {
        &self.inner.idle
    }

    pub(crate) fn notices(&self) -> &[String] {
        &self.inner.notices
    }

    pub(crate) fn data_warnings(&self) -> &DataWarningList {
        &self.inner.data_warnings
    }

    /// Folder in which other apps keep their data; `None` if the user has no home folder.
    pub(crate) fn home(&self) -> Option<PathBuf> {
        self.inner.home.clone().or_else(std::env::home_dir)
    }

    /// Folders with the models that ship with the app.
    pub(crate) fn shipped_models(&self) -> &[PathBuf] {
        &self.inner.shipped_models
    }

    pub(crate) fn memory_meter(&self) -> &MemoryMeter {
        &self.inner.memory_meter
    }

    /// The folder in an environment variable of another app; `None` if the options name a home
    /// folder.
    pub(crate) fn folder_of_variable(&self, name: &str) -> Option<PathBuf> {
        let own = self
            .inner
            .home
            .is_none()
            .then(|| std::env::var_os(name))??;
        Some(PathBuf::from(own)).filter(|folder| folder.is_absolute())
    }

    /// The source of updates, and the program that they update.
    pub(crate) fn updates(&self) -> &UpdateSource {
        &self.inner.updates
    }

    /// The sources of tools besides the app's own.
    pub(crate) fn tools(&self) -> &ToolSources {
        &self.inner.tools
    }

    /// The provider that answers every turn, if the options name one.
    pub(crate) fn injected_provider(&self) -> Option<Arc<dyn Provider>> {
        self.inner.provider.clone()
    }
}
