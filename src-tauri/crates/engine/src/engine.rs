//! The engine itself: what all operations share, and its beginning and end.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};
use std::time::Duration;

use domain::{ModelId, Timestamp};
use local::LocalHost;
use provider::Provider;
use store::{AssetHash, Store};

use crate::answer::KnownTemplate;
use crate::api::Settings;
use crate::backup_schedule::BackupFailure;
use crate::characters::CardCache;
use crate::clock::Clock;
use crate::endpoint_tokenizer::TokenizerFiles;
use crate::error::{Answer, not_found};
use crate::events::{Announcer, Events};
use crate::importing::Importing;
use crate::known_counts::KnownCounts;
use crate::layered::Environment;
use crate::lore::LoreCache;
use crate::memory::{Encoder, Reading};
use crate::read_ahead::ReadingAhead;
use crate::running::Running;
use crate::scripts::ScriptCache;
use crate::secrets::Secrets;
use crate::start::{self, OpenError};

/// How long an ending engine waits for replies to be kept and the worker to go.
const GOODBYE: Duration = Duration::from_secs(3);

/// In the data folder: what the worker has read of chats. It can be deleted at any time.
const CACHE: &str = "cache";

/// Where the engine works, and with what.
#[derive(Clone, Default)]
pub struct Options {
    /// Holds the database, the assets, the backups and what the worker has read of chats.
    pub data_dir: PathBuf,
    /// Folders with the models that come with the app.
    pub model_dirs: Vec<PathBuf>,
    /// The worker binary; `None` looks beside the running program.
    pub worker: Option<PathBuf>,
    /// Keys of endpoints stay in memory, even where the system has a keychain.
    pub without_keychain: bool,
    pub clock: Clock,
    /// Variables that may override settings: [`crate::environment`], or a test's own.
    pub environment: BTreeMap<String, String>,
    /// Answers every turn, whatever the settings say. For tests and previews.
    pub provider: Option<Arc<dyn Provider>>,
}

/// The core. All clones are one engine.
#[derive(Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

/// An engine that may be gone.
pub(crate) struct WeakEngine {
    inner: Weak<Inner>,
}

impl WeakEngine {
    pub(crate) fn upgrade(&self) -> Option<Engine> {
        Some(Engine { inner: self.inner.upgrade()? })
    }
}

/// Chat templates by model and chosen format: the name of one that ships, or the whole document of the user's own.
type Templates = HashMap<(ModelId, String), KnownTemplate>;

struct Inner {
    store: Store,
    local: LocalHost,
    events: Announcer,
    running: Running,
    backup_failure: BackupFailure,
    importing: Importing,
    secrets: Secrets,
    clock: Clock,
    settings: RwLock<Settings>,
    environment: Environment,
    templates: Mutex<Templates>,
    notices: Vec<String>,
    provider: Option<Arc<dyn Provider>>,
    reading_ahead: ReadingAhead,
    reading: Reading,
    scripts: Mutex<ScriptCache>,
    lore: Mutex<LoreCache>,
    counts: KnownCounts,
    card: Mutex<CardCache>,
    tokenizers: TokenizerFiles,
    /// Keys of answerers that have refused to go on with an unfinished reply.
    without_prefill: Mutex<HashSet<String>>,
}

/// A file of the store by its content hash.
#[derive(Debug, Clone)]
pub struct Asset {
    pub bytes: Vec<u8>,
    pub mime: String,
}

impl Engine {
    /// Opens the data folder, creating it if needed. The first start brings the sample characters; every start finds the
    /// models in `options.model_dirs`.
    ///
    /// # Errors
    /// [`OpenError`], each with a way out.
    pub async fn open(options: Options) -> Result<Self, OpenError> {
        let opened = start::open_store(&options).await?;
        let mut settings = local::Settings::default();
        if let Some(worker) = &options.worker {
            settings.worker.clone_from(worker);
        }
        let threadless = |error: std::io::Error| OpenError::Storage {
            message: format!("The system gives Inglenook no thread: {error}."),
            hint: "Close other programs and try again.".into(),
        };
        let encoder = Encoder::run_by(&settings, &options.model_dirs).map_err(threadless)?;
        settings.state_dir = Some(options.data_dir.join(CACHE));
        let local = LocalHost::new(settings).map_err(threadless)?;
        let keyless = options.without_keychain;
        let secrets = tokio::task::spawn_blocking(move || match keyless {
            true => Secrets::for_session(),
            false => Secrets::find(),
        });
        let inner = Inner {
            store: opened.store,
            local,
            events: Announcer::default(),
            running: Running::default(),
            backup_failure: BackupFailure::default(),
            importing: Importing::default(),
            secrets: secrets.await.unwrap_or_else(|_| Secrets::for_session()),
            clock: options.clock,
            settings: RwLock::new(opened.settings),
            environment: Environment::read(&options.environment),
            templates: Mutex::default(),
            notices: opened.notices,
            provider: options.provider,
            reading_ahead: ReadingAhead::default(),
            reading: Reading::new(encoder),
            scripts: Mutex::default(),
            lore: Mutex::default(),
            counts: KnownCounts::default(),
            card: Mutex::default(),
            tokenizers: TokenizerFiles::default(),
            without_prefill: Mutex::default(),
        };
        let engine = Self { inner: Arc::new(inner) };
        let prepared = async {
            engine.welcome().await?;
            engine.drop_stale_caches_in_background();
            engine.purge_in_background();
            engine.back_up_in_background();
            engine.find_models(&options.model_dirs).await
        };
        prepared.await.map_err(start::broken)?;
        Ok(engine)
    }

    /// News from now on.
    pub fn subscribe(&self) -> Events {
        self.inner.events.subscribe()
    }

    /// A picture or another file of the store.
    ///
    /// # Errors
    /// `NotFound`, for anything that is not the hash of an asset as well.
    pub async fn asset(&self, hash: String) -> Answer<Asset> {
        let hash: AssetHash = hash.parse().map_err(|_| not_found("file"))?;
        let known = self.store().read(move |store| store.assets().get(hash)).await?;
        let known = known.ok_or_else(|| not_found("file"))?;
        let bytes = tokio::fs::read(self.store().asset_path(hash)).await;
        Ok(Asset { bytes: bytes.map_err(|_| not_found("file"))?, mime: known.mime })
    }

    /// Ends: replies stop and what they wrote is kept, the worker goes. Takes a few seconds at the most.
    pub async fn shutdown(&self) {
        self.inner.reading_ahead.end();
        self.inner.running.cancel_all();
        self.inner.importing.cancel();
        if tokio::time::timeout(GOODBYE, self.settle()).await.is_err() {
            tracing::warn!("a reply did not end in time");
        }
        self.inner.reading.shutdown().await;
        // Asked for before the worker saves what it has read.
        let dropping = self.begin_dropping().await;
        if tokio::time::timeout(GOODBYE, self.inner.local.shutdown()).await.is_err() {
            tracing::warn!("the worker did not end in time");
        }
        let dropped = async { self.dropped(dropping?).await };
        if !matches!(tokio::time::timeout(GOODBYE, dropped).await, Ok(Ok(()))) {
            tracing::warn!("saved caches have words that were withdrawn until the next start");
        }
    }

    pub(crate) fn downgrade(&self) -> WeakEngine {
        WeakEngine { inner: Arc::downgrade(&self.inner) }
    }

    pub(crate) fn store(&self) -> &Store {
        &self.inner.store
    }

    pub(crate) fn local(&self) -> &LocalHost {
        &self.inner.local
    }

    pub(crate) fn events(&self) -> &Announcer {
        &self.inner.events
    }

    pub(crate) fn reading_ahead(&self) -> &ReadingAhead {
        &self.inner.reading_ahead
    }

    pub(crate) fn reading(&self) -> &Reading {
        &self.inner.reading
    }

    pub(crate) fn running(&self) -> &Running {
        &self.inner.running
    }

    pub(crate) fn backup_failure(&self) -> &BackupFailure {
        &self.inner.backup_failure
    }

    pub(crate) fn importing(&self) -> &Importing {
        &self.inner.importing
    }

    pub(crate) fn secrets(&self) -> &Secrets {
        &self.inner.secrets
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.inner.clock
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.inner.clock.now()
    }

    pub(crate) fn notices(&self) -> &[String] {
        &self.inner.notices
    }

    pub(crate) fn injected_provider(&self) -> Option<Arc<dyn Provider>> {
        self.inner.provider.clone()
    }

    pub(crate) fn settings(&self) -> Settings {
        self.inner.settings.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns them as they are after the change.
    pub(crate) fn change_settings(&self, change: impl FnOnce(&mut Settings)) -> Settings {
        let mut settings = self.inner.settings.write().unwrap_or_else(PoisonError::into_inner);
        change(&mut settings);
        settings.clone()
    }

    pub(crate) fn environment(&self) -> &Environment {
        &self.inner.environment
    }

    pub(crate) fn script_cache(&self) -> MutexGuard<'_, ScriptCache> {
        self.inner.scripts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn card_cache(&self) -> MutexGuard<'_, CardCache> {
        self.inner.card.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn tokenizer_files(&self) -> &TokenizerFiles {
        &self.inner.tokenizers
    }

    pub(crate) fn without_prefill(&self) -> MutexGuard<'_, HashSet<String>> {
        self.inner.without_prefill.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn lore_cache(&self) -> MutexGuard<'_, LoreCache> {
        self.inner.lore.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn known_counts(&self) -> &KnownCounts {
        &self.inner.counts
    }

    pub(crate) fn templates(&self) -> MutexGuard<'_, Templates> {
        self.inner.templates.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
