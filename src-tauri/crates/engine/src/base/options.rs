//! Options for opening the engine.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use provider::Provider;
use store::FolderKeys;
use updates::UpdateSource;

use crate::base::clock::Clock;
use crate::base::memory_meter::MemoryMeter;
use crate::base::protection::unlock::UnlockedFolder;
use crate::base::tool_source::ToolSources;

/// In the data folder: KV caches of chats. It can be deleted at any time.
pub(crate) const CACHE_FOLDER: &str = "cache";

/// Options for [`Self::open`].
#[derive(Clone, Default)]
pub struct Options {
    /// Folder of the database, the assets, the backups and the saved KV caches.
    pub data_dir: PathBuf,
    /// The keys of a protected data folder; see [`Engine::unlock`](crate::Engine::unlock).
    pub keys: Option<UnlockedFolder>,
    /// Shows private characters from the start.
    pub show_private: bool,
    /// Folders with the models that ship with the app.
    pub model_dirs: Vec<PathBuf>,
    /// Path of the worker binary; `None` looks next to the running program.
    pub worker: Option<PathBuf>,
    /// Keeps endpoint keys in memory only, even if the system has a keychain.
    pub without_keychain: bool,
    pub clock: Clock,
    /// Environment variables that may override settings; see [`crate::settings::environment`].
    pub environment: BTreeMap<String, String>,
    /// Provider that answers every turn, regardless of the settings. For tests and previews.
    pub provider: Option<Arc<dyn Provider>>,
    /// Tools besides the app's own.
    pub tools: ToolSources,
    /// Folder in which other apps' models are looked for; `None` is the user's home folder.
    pub home: Option<PathBuf>,
    /// Measures the memory, whose speed decides how fast models write.
    pub memory_meter: MemoryMeter,
    /// The source of updates, and the program that they update.
    pub updates: UpdateSource,
}

impl Options {
    /// The keys of the store.
    pub(crate) fn folder_keys(&self) -> Option<Arc<FolderKeys>> {
        self.keys
            .as_ref()
            .map(|unlocked| Arc::clone(unlocked.keys()))
    }
}
