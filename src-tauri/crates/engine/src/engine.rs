//! SKELETON while the engine is written: signatures are final, bodies are not.
use std::path::PathBuf;

use crate::api::*;

#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Holds the database, the assets and the backups.
    pub data_dir: PathBuf,
    /// Folders searched for the models that ship with the app.
    pub model_dirs: Vec<PathBuf>,
    /// The worker binary; `None` looks beside the running program.
    pub worker: Option<PathBuf>,
}

/// Why the engine did not start. Every variant has a way out that the faces offer.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process holds the folder.
    #[error("{dir} is in use by another Inglenook")]
    InUse { dir: String },
    /// The database is damaged. `Engine::set_aside` keeps a copy and lets a fresh one start; `Engine::restore_newest` takes the newest verified backup.
    #[error("the database {path} is damaged: {detail}")]
    Damaged { path: String, detail: String, newest_backup: Option<String> },
    /// The folder cannot be written, the disk is full, the database is from a newer version...
    #[error("{message}")]
    Storage { message: String, hint: String },
}

/// The core. Cheap to clone; all clones are one engine.
#[derive(Clone)]
pub struct Engine {}

/// A file made for the user to keep.
pub struct Exported {
    pub file_name: String,
    pub mime: &'static str,
    pub bytes: Vec<u8>,
    pub warnings: Vec<String>,
}

/// A picture by content hash.
pub struct Asset {
    pub bytes: Vec<u8>,
    pub mime: String,
}

/// What a caller may say about one turn; what it leaves out comes from the settings.
#[derive(Debug, Clone, Default)]
pub struct TurnOptions {
    pub model: Option<ModelRef>,
    pub sampler: domain::sampling::SamplerOptions,
}

/// An exact or estimated count.
#[derive(Debug, Clone, serde::Serialize)]
pub struct TokenCount {
    pub tokens: u32,
    pub model: String,
    pub exact: bool,
    /// Only where ids were asked for.
    pub ids: Option<Vec<u32>>,
}

/// Events for one listener. `Event::Missed` stands for events that a slow listener lost.
pub struct Events;

impl Events {
    pub async fn next(&mut self) -> Option<Event> {
        None
    }
}

fn unbuilt<T>() -> Result<T, ApiError> {
    Err(ApiError::Internal { message: "not built yet".into() })
}

impl Engine {
    pub async fn open(_options: Options) -> Result<Self, OpenError> {
        Ok(Self {})
    }
    /// Moves a damaged database out of the way (nothing is deleted); the next `open` starts fresh. Returns where it went.
    pub async fn set_aside(_options: &Options) -> Result<PathBuf, OpenError> {
        Ok(PathBuf::new())
    }
    /// Puts the newest verified backup in the damaged database's place and keeps the damaged one.
    pub async fn restore_newest(_options: &Options) -> Result<PathBuf, OpenError> {
        Ok(PathBuf::new())
    }
    pub fn subscribe(&self) -> Events {
        Events
    }
    /// Imports cards, and model files in place; folders are searched one level deep. Announces `Event::Imported`.
    pub async fn import_paths(&self, _paths: Vec<PathBuf>) -> Result<ImportReport, ApiError> {
        unbuilt()
    }
    pub async fn import_bytes(&self, _file_name: String, _bytes: Vec<u8>) -> Result<ImportReport, ApiError> {
        unbuilt()
    }
    pub async fn export_character(&self, _id: String, _format: CardFormat) -> Result<Exported, ApiError> {
        unbuilt()
    }
    pub async fn add_model(&self, _path: PathBuf) -> Result<Model, ApiError> {
        unbuilt()
    }
    pub async fn asset(&self, _hash: String) -> Result<Asset, ApiError> {
        unbuilt()
    }
    pub async fn send_with(&self, _chat: String, _text: String, _options: TurnOptions) -> Result<Started, ApiError> {
        unbuilt()
    }
    /// `preview_prompt` with the turn's options.
    pub async fn preview_with(&self, _chat: String, _text: String, _options: TurnOptions) -> Result<PromptReport, ApiError> {
        unbuilt()
    }
    pub async fn count_tokens(&self, _model: Option<ModelRef>, _text: String, _ids: bool) -> Result<TokenCount, ApiError> {
        unbuilt()
    }
    /// Whole chats for `show`: all messages.
    pub async fn whole_chat(&self, _id: String) -> Result<Chat, ApiError> {
        unbuilt()
    }
    /// Process id of the running worker, for tests and `doctor`.
    pub async fn worker_pid(&self) -> Option<u32> {
        None
    }
    /// Stops generations (partials are kept), the worker, and closes the store.
    pub async fn shutdown(&self) {}
}

macro_rules! stubs {
    ($($(#[doc = $doc:literal])* $name:ident($($arg:ident: $ty:ty),*) -> $result:ty;)*) => {
        impl Engine {$(
            $(#[doc = $doc])*
            pub async fn $name(&self, $($arg: $ty),*) -> Result<$result, ApiError> {
                let _ = ($($arg,)*);
                unbuilt()
            }
        )*}
    };
}
crate::operations!(stubs);
