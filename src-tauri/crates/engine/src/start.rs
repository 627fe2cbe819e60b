//! Opening the engine: the store, what the first start brings, and the ways out of a damaged database.

use std::path::PathBuf;
use std::time::Duration;

use domain::PersonaId;
use domain::card::Card;
use domain::persona::Persona;
use store::{Notice, Store, StoreError};
use uuid::Uuid;

use crate::Engine;
use crate::api::{Restored, Startup};
use crate::engine::Options;
use crate::error::{Answer, internal};
use crate::manifest;
use crate::picture::Picture;
use crate::settings::{self, OPEN_CHAT, WELCOMED};
use crate::trash::purged_at;

/// How long after the start what was deleted is purged.
const PURGE_AFTER: Duration = Duration::from_secs(30);

include!(concat!(env!("OUT_DIR"), "/samples.rs"));

/// A character that comes with the app: its card, and its picture as PNG.
struct Sample {
    card: &'static str,
    picture: &'static [u8],
}

/// Why the engine did not start. Every variant has a way out, which the faces offer.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process holds the folder.
    #[error("{message}")]
    InUse { message: String },
    /// [`Engine::restore_newest`] takes the newest verified backup; [`Engine::set_aside`] keeps a copy and lets a fresh
    /// database start.
    #[error("{message}")]
    Damaged { message: String, newest_backup: Option<PathBuf> },
    #[error("{message}")]
    Storage { message: String, hint: String },
}

impl Engine {
    /// Moves a damaged database out of the way; the next `open` starts fresh. Nothing is deleted. Returns where it went.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub async fn set_aside(options: &Options) -> Result<Option<PathBuf>, OpenError> {
        let (dir, now) = (options.data_dir.clone(), options.clock.now());
        blocking(move || Store::set_aside(&dir, now)).await.map_err(explain)
    }

    /// Replaces a damaged database with the newest intact backup and keeps the damaged file.
    ///
    /// # Errors
    /// Fails if no backup is intact, or if the folder is not writable.
    pub async fn restore_newest(options: &Options) -> Result<Restored, OpenError> {
        Self::restore(options, None).await
    }

    pub async fn startup(&self) -> Answer<Startup> {
        let open = self.store().read(|store| store.settings().get(OPEN_CHAT)).await?;
        let open: Option<String> = open.and_then(|json| serde_json::from_str(&json).ok());
        let chats = self.list_chats().await?;
        let still_there = open.filter(|id| chats.iter().any(|chat| chat.id == *id));
        Ok(Startup {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            settings: self.settings(),
            chat: still_there.or_else(|| chats.first().map(|chat| chat.id.clone())),
            notices: self.notices().to_vec(),
            data_dir: self.store().dir().display().to_string(),
        })
    }

    /// The sample characters, a persona, and a chat in which the first of them has greeted (S1.28). A welcome that was cut
    /// off is finished by the next start.
    pub(crate) async fn welcome(&self) -> Answer<()> {
        let (welcomed, personas, known) = self
            .store()
            .read(|store| Ok((store.settings().get(WELCOMED)?, store.personas().list()?, store.characters().list()?)))
            .await?;
        if welcomed.is_some() {
            return Ok(());
        }
        if personas.is_empty() {
            let persona = Persona {
                id: PersonaId(Uuid::now_v7()),
                name: "Traveller".into(),
                description: String::new(),
                instructions: String::new(),
            };
            self.store().write(move |store| store.personas_mut().insert(&persona)).await?;
        }
        let mut host = None;
        for sample in SAMPLES {
            let (card, _) = Card::from_json(sample.card.as_bytes())?;
            let known = known.iter().find(|listed| listed.character.name == card.name());
            let id = match known {
                Some(known) => known.character.id,
                None => self.add_character(&card, Some(Picture { png: sample.picture.to_vec() }), None).await?.id,
            };
            host.get_or_insert(id);
        }
        if let Some(host) = host.filter(|_| known.iter().all(|listed| listed.chats == 0)) {
            self.start_chat(host).await?;
        }
        Ok(self.store().write(|store| store.settings_mut().set(WELCOMED, "true")).await?)
    }

    /// Permanently removes items deleted in an earlier session and expired trash. Runs in the background, because a
    /// large purge takes seconds.
    pub(crate) fn purge_in_background(&self) {
        let (engine, before) = (self.downgrade(), purged_at(self.now()));
        tokio::spawn(async move {
            // The first screen is drawn through the same writer; and an engine that is gone by then has let its folder go.
            tokio::time::sleep(PURGE_AFTER).await;
            let Some(engine) = engine.upgrade() else { return };
            if let Err(error) = engine.store().purge(before, manifest::without_words).await {
                tracing::warn!(%error, "what was deleted is not purged yet");
            }
            if let Err(error) = engine.drop_stale_caches().await {
                tracing::warn!(%error, "a saved cache has words that were purged");
            }
            engine.forget_what_is_gone().await;
        });
    }

    /// Chats go with their characters too, and one that was deleted just before a crash may still be in the cache.
    pub(crate) async fn forget_what_is_gone(&self) {
        let Ok(chats) = self.store().read(|store| store.chats().list()).await else { return };
        let chats: Vec<String> = chats.iter().map(|chat| chat.id.to_string()).collect();
        let local = self.local().clone();
        let forget = move || local.forget_all_but(chats.iter().map(String::as_str));
        if let Err(error) = tokio::task::spawn_blocking(forget).await {
            tracing::warn!(%error, "the cache may hold chats that are gone");
        }
    }
}

/// What opening the store gives the engine.
pub(crate) struct Opened {
    pub(crate) store: Store,
    pub(crate) settings: crate::api::Settings,
    pub(crate) notices: Vec<String>,
}

pub(crate) async fn open_store(options: &Options) -> Result<Opened, OpenError> {
    let dir = options.data_dir.clone();
    let store_options = store::Options { now: options.clock.now() };
    let newest = dir.clone();
    let opened = blocking(move || Store::open(&dir, store_options)).await.map_err(|error| match explain(error) {
        OpenError::Damaged { message, .. } => {
            let newest_backup = Store::newest_good_backup(&newest).map(|backup| backup.path);
            OpenError::Damaged { message, newest_backup }
        }
        other => other,
    })?;
    let stored = opened.store.read(|store| store.settings().all()).await.map_err(explain)?;
    Ok(Opened {
        notices: opened.notices.iter().filter_map(tell).collect(),
        settings: settings::parse(&stored),
        store: opened.store,
    })
}

/// What the user may want to know about the opening.
fn tell(notice: &Notice) -> Option<String> {
    match notice {
        Notice::Created => None,
        Notice::Checked => {
            Some("Inglenook was not closed properly last time. Your data was checked and is whole.".into())
        }
        Notice::RepliesInterrupted { replies: 1 } => {
            Some("An unfinished reply was cut off; the text that was there is kept.".into())
        }
        Notice::RepliesInterrupted { replies } => {
            Some(format!("{replies} unfinished replies were cut off; the text that was there is kept."))
        }
        Notice::Restored(restored) => Some(tell_restored(restored)),
        Notice::NotRestored { detail } => {
            Some(format!("The backup was not restored, and nothing has changed: {detail}."))
        }
        Notice::SecondPlaceMissing { folder } => Some(format!(
            "The second place for backups, {}, is not there. Connect it, or choose another in Settings, Backups.",
            folder.display()
        )),
        Notice::Upgraded { backup, .. } => {
            Some(format!("Your data was upgraded. A copy of how it was is in {}.", backup.display()))
        }
    }
}

fn tell_restored(restored: &store::Restored) -> String {
    let missing = match restored.missing {
        0 => String::new(),
        count => format!(" {count} pictures and files were in no backup."),
    };
    let aside = restored.aside.as_ref().map(|folder| format!(" The data from before is in {}.", folder.display()));
    format!("The backup was restored.{missing}{}", aside.unwrap_or_default())
}

pub(crate) fn explain(error: StoreError) -> OpenError {
    let message = error.to_string();
    tracing::error!(%error, "the store did not open");
    match error {
        StoreError::InUse { .. } => OpenError::InUse { message },
        StoreError::Damaged { .. } => OpenError::Damaged { message, newest_backup: None },
        StoreError::NotFound { what: "backup" } => OpenError::Storage {
            message: "There is no backup.".into(),
            hint: "Name the file of one, or start without the data; what is there is kept.".into(),
        },
        other => match other.into() {
            crate::api::ApiError::Storage { message, hint } | crate::api::ApiError::BadInput { message, hint } => {
                OpenError::Storage { message, hint }
            }
            _ => OpenError::Storage { message, hint: "See the log in the data folder.".into() },
        },
    }
}

pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    tokio::task::spawn_blocking(work).await.unwrap_or(Err(StoreError::Closed))
}

/// A defect while starting, as an error of the opening.
pub(crate) fn broken(error: crate::api::ApiError) -> OpenError {
    let _ = internal("the engine did not start");
    OpenError::Storage { message: error.to_string(), hint: "See the log in the data folder.".into() }
}
