//! The engine: joins the layers, opens and closes them.

use std::path::Path;
use std::time::Duration;

use futures_util::future::BoxFuture;
use local::LocalHost;

use crate::api::Restored;
use crate::base::events::Events;
use crate::base::handle::Base;
use crate::base::open_store::{self, OpenError};
use crate::base::options::{CACHE_FOLDER, Options};
use crate::base::protection::convert;
use crate::base::protection::unlock::UnlockedFolder;
use crate::base::protection::upkeep;
use crate::base::secrets::Secrets;
use crate::import::handle::Imports;
use crate::learn::handle::Learning;
use crate::library::backups::Backups;
use crate::library::handle::Library;
use crate::recall_service::embeddings::encoder::Encoder;
use crate::recall_service::embeddings::encoder_state::EncoderState;
use crate::recall_service::handle::RecallService;
use crate::settings::app_settings;
use crate::settings::environment::Environment;
use crate::settings::handle::Configuration;
use crate::turn::handle::Turns;

/// How long a closing engine waits for replies to be stored, and then for the worker to exit.
const GOODBYE: Duration = Duration::from_secs(3);

/// How long a closing engine waits for the backup of its session.
const LAST_BACKUP: Duration = Duration::from_secs(20);

/// The core of the app. All clones are one engine.
#[derive(Clone)]
pub struct Engine {
    pub(crate) base: Base,
    pub(crate) config: Configuration,
    pub(crate) library: Library,
    pub(crate) recall: RecallService,
    pub(crate) turns: Turns,
    pub(crate) learning: Learning,
    pub(crate) imports: Imports,
}

impl Engine {
    /// Opens the data folder, and creates it if needed. The first start adds the sample characters;
    /// every start adds the models in `options.model_dirs`.
    ///
    /// # Errors
    /// [`OpenError`], with a way to recover.
    pub fn open(options: Options) -> BoxFuture<'static, Result<Self, OpenError>> {
        Box::pin(Self::open_all(options))
    }

    async fn open_all(mut options: Options) -> Result<Self, OpenError> {
        let finished = convert::finish_before_opening(&mut options).await?;
        let mut opened = open_store::open_store(&options).await?;
        if let Some(unlocked) = options.keys.clone() {
            upkeep::refresh_key_files(options.data_dir.clone(), unlocked).await;
        }
        let mut worker = local::WorkerSettings::default();
        if let Some(program) = &options.worker {
            worker.worker.clone_from(program);
        }
        let host = Encoder::host(&worker).map_err(threadless)?;
        let encoder = Encoder::find_in(&host, &options.model_dirs);
        worker.state_dir = Some(options.data_dir.join(CACHE_FOLDER));
        worker.cache_keys = options.keys.as_ref().map(UnlockedFolder::cache_keys);
        let local = LocalHost::new(worker).map_err(threadless)?;
        opened.notices.extend(finished);
        opened.notices.extend(delete_unusable_caches(&local).await);
        let settings = app_settings::parse(&opened.settings);
        let environment = Environment::read(&options.environment);
        let has_new_warnings = opened.has_new_warnings;
        let base = Base::new(opened.store, &options, (opened.notices, opened.warnings));
        let encoder_model = encoder.as_ref().map(|encoder| encoder.model().to_owned());
        let secrets = secrets(options.without_keychain).await;
        let config = Configuration::new(base, local, encoder_model, secrets, settings, environment);
        let engine = Self::join(config, EncoderState::new(host, encoder));
        // A restored backup and the environment can have another value than the window saw.
        if let Err(error) = engine.config.privacy.apply_log_setting().await {
            tracing::warn!(%error, "the log does not follow its setting");
        }
        let prepared = async {
            engine.library.welcome().await?;
            if has_new_warnings {
                engine.library.warnings.warnings_changed().await;
            }
            let private = &engine.library.private_characters;
            private.begin(options.show_private).await?;
            engine
                .library
                .stale_caches
                .drop_stale_caches_in_background();
            engine.library.trash.purge_in_background();
            engine.library.prompt_retention.remove_in_background();
            engine.library.backups.back_up_in_background();
            engine.library.updates.check_weekly_in_background();
            engine.recall.load_embedding_choice().await?;
            engine.config.hub.load_downloads().await?;
            engine.config.model_moves.load_moves().await?;
            engine.config.models.announce_loading();
            engine.config.models.apply_model_limits().await?;
            engine.config.models.find_models(&options.model_dirs).await
        };
        prepared.await.map_err(open_store::broken)?;
        Ok(engine)
    }

    /// Purges what has expired, as each session does half a minute after its start.
    ///
    /// # Errors
    /// The database cannot be read or written.
    #[cfg(feature = "evaluation")]
    pub async fn purge_now(&self) -> Result<(), crate::api::ApiError> {
        let now = self.library.base().now();
        self.library.trash.purge_expired(now).await
    }

    /// Removes the prompts that the settings no longer allow, as idle time does every hour. Returns
    /// how many.
    ///
    /// # Errors
    /// The database cannot be read or written.
    #[cfg(feature = "evaluation")]
    pub async fn remove_outdated_prompts(&self) -> Result<usize, crate::api::ApiError> {
        self.library.prompt_retention.remove_outdated().await
    }

    /// Checks for updates if the user wants that once a week and the last check was a week ago, as
    /// each session does every hour. Returns whether it did.
    ///
    /// # Errors
    /// Those of a check.
    #[cfg(feature = "evaluation")]
    pub async fn check_for_updates_if_due(&self) -> Result<bool, crate::api::ApiError> {
        self.library.updates.check_if_due().await
    }

    fn join(config: Configuration, reading: EncoderState) -> Self {
        let base = config.base().clone();
        let library = Library::new(config.clone());
        let recall = RecallService::new(library.clone(), reading);
        let turns = Turns::new(recall.clone());
        let learning = Learning::new(turns.clone());
        let imports = Imports::new(&library);
        Self {
            base,
            config,
            library,
            recall,
            turns,
            learning,
            imports,
        }
    }

    /// Moves a damaged database away; the next [`Self::open`] starts with an empty one. Nothing is
    /// deleted. Returns where it went.
    ///
    /// # Errors
    /// Fails if the folder is not writable.
    pub async fn set_aside(options: &Options) -> Result<Option<std::path::PathBuf>, OpenError> {
        open_store::set_aside(options).await
    }

    /// Replaces a damaged database with the newest intact backup and keeps the damaged file.
    ///
    /// # Errors
    /// Fails if no backup is intact, or if the folder is not writable.
    pub async fn restore_newest(options: &Options) -> Result<Restored, OpenError> {
        Backups::restore(options, None).await
    }

    /// Replaces the database with a backup and sets the old database aside. Uses the newest intact
    /// backup if there is no `file`. The engine must be closed.
    ///
    /// # Errors
    /// Fails if no intact backup exists, if it is from a newer version, or if the folder is not
    /// writable.
    pub async fn restore(options: &Options, file: Option<&Path>) -> Result<Restored, OpenError> {
        Backups::restore(options, file).await
    }

    /// Subscribes to all later events, for a front end that shows the questions of tools to the
    /// user.
    pub fn subscribe(&self) -> Events {
        self.base.events().subscribe_front_end()
    }

    /// Subscribes to all later events, for a program without a user in front of it. A tool that
    /// needs a permission is refused at once if nobody else listens.
    pub fn subscribe_without_user(&self) -> Events {
        self.base.events().subscribe()
    }

    /// Closes the engine: stops replies, stores their text, and ends the worker. Takes a few
    /// seconds at most.
    pub fn shutdown(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.close())
    }

    async fn close(&self) {
        self.base.idle().end();
        self.base.running().cancel_all();
        self.imports.import_reports.importing().cancel();
        if tokio::time::timeout(GOODBYE, self.config.tool_servers.running().end_all())
            .await
            .is_err()
        {
            tracing::warn!("a tool server did not end in time");
        }
        let transfers = self
            .config
            .hub
            .downloads()
            .stop_all()
            .into_iter()
            .chain(self.config.model_moves.jobs().stop_all())
            .chain(self.library.updates.stop());
        if tokio::time::timeout(GOODBYE, futures_util::future::join_all(transfers))
            .await
            .is_err()
        {
            tracing::warn!("a download or a move did not end in time");
        }
        if tokio::time::timeout(GOODBYE, self.settle()).await.is_err() {
            tracing::warn!("a reply did not end in time");
        }
        if tokio::time::timeout(LAST_BACKUP, self.library.backups.back_up_at_end())
            .await
            .is_err()
        {
            tracing::warn!("the backup of this session did not end in time");
        }
        self.recall.reading().shutdown().await;
        // Must come before the worker saves its caches.
        let dropping = self.library.stale_caches.begin_dropping().await;
        if tokio::time::timeout(GOODBYE, self.config.local().shutdown())
            .await
            .is_err()
        {
            tracing::warn!("the worker did not end in time");
        }
        let dropped = async { self.library.stale_caches.dropped(dropping?).await };
        if !matches!(tokio::time::timeout(GOODBYE, dropped).await, Ok(Ok(()))) {
            tracing::warn!("saved caches contain withdrawn text until the next start");
        }
    }
}

/// Deletes saved caches of the other kind: plain ones of a folder that is protected now, and
/// encrypted ones of a folder that is not. Returns a notice if one remains.
async fn delete_unusable_caches(local: &LocalHost) -> Option<String> {
    let local = local.clone();
    let deleted = tokio::task::spawn_blocking(move || local.delete_unusable_caches()).await;
    if deleted.unwrap_or(false) {
        return None;
    }
    Some(
        "A saved cache from before the protection of your data was switched could not be deleted. \
         Delete the folder cache in the data folder."
            .to_owned(),
    )
}

fn threadless(error: std::io::Error) -> OpenError {
    OpenError::Storage {
        message: format!("Inglenook could not start a thread: {error}."),
        hint: "Close other programs and try again.".into(),
    }
}

async fn secrets(without_keychain: bool) -> Secrets {
    let find = move || {
        if without_keychain {
            Secrets::for_session()
        } else {
            Secrets::find()
        }
    };
    tokio::task::spawn_blocking(find)
        .await
        .unwrap_or_else(|_| Secrets::for_session())
}

macro_rules! delegate {
    ($($(#[doc = $doc:literal])* $($room:ident).+: $name:ident($($arg:ident: $ty:ty),*) -> $result:ty;)*) => {
        mod delegates {
            use futures_util::future::BoxFuture;

            use super::Engine;
            use crate::api::*;

            impl Engine {
                $(
                    $(#[doc = $doc])*
                    pub fn $name(&self, $($arg: $ty),*) -> BoxFuture<'_, Result<$result, ApiError>> {
                        Box::pin(self.$($room).+.$name($($arg),*))
                    }
                )*
            }
        }
    };
}
crate::operations!(delegate);
