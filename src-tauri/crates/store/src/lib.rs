//! Stores all user data in one SQLite file and a folder of assets.
//!
//! Guarantees
//! - Each `write` is one transaction. When its future is ready, the transaction is on disk or did
//!   not happen.
//! - One process opens a data folder, and it has one writer. Reads never fail with "database is
//!   locked".
//! - Nothing is deleted silently. Deleted items can be restored until `purge`. A damaged or
//!   replaced database is moved aside, and an upgrade keeps a verified copy of the old one.
//! - `purge` erases data from the database file, not only its rows. Backups keep their copies,
//!   including pictures, until they are removed.
//! - A missing, empty or foreign database next to backups or pictures is damage. Only the user can
//!   request a fresh start.
//!
//! This crate does not know prompts, card formats, HTTP or secrets. It reads no clock and no
//! randomness: callers pass in times and ids.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod access;
mod asset;
mod asset_files;
mod backup;
mod checksum;
mod commits;
mod connection;
mod error;
mod files;
mod identity;
mod lock;
mod migrate;
mod open;
mod pool;
mod purge;
mod query;
mod search;
mod sql;
mod store;
mod table;
#[cfg(test)]
mod tests;

pub use access::{ReadTransaction, WriteTransaction};
pub use asset::{AssetHash, NotAHash};
pub use asset_files::AssetRepair;
pub use backup::{
    BackupChoices, BackupFile, BackupKind, BackupPlace, Difference, Differences, Restored,
    TakenBackup,
};
pub use error::StoreError;
pub use files::make_private_folder;
pub use open::{Notice, Opened, Options};
pub use purge::{Before, Purged, RedactManifest};
pub use query::Query;
pub use search::{Excerpt, register as register_search_functions};
pub use store::Store;
pub use table::api_chat::{ApiChats, ApiChatsMut};
pub use table::api_key::{ApiKey, ApiKeys, ApiKeysMut};
pub use table::asset::{Asset, Assets, AssetsMut};
pub use table::background::{Background, Backgrounds, BackgroundsMut};
pub use table::bound_persona::{BoundPersonas, BoundPersonasMut};
pub use table::branch::{
    BranchLink, BranchLinks, BranchLinksMut, BranchOrigin, StoryKey, StoryStep,
};
pub use table::calibration::{Calibrations, CalibrationsMut};
pub use table::card_file::{CardFile, CardFiles, CardFilesMut};
pub use table::card_version::{CardVersion, CardVersions, CardVersionsMut};
pub use table::character::{Character, Characters, CharactersMut, ListedCharacter};
pub use table::chat::{ChatSummary, Chats, ChatsMut};
pub use table::chat_copy::{CopiedRange, Copies};
pub use table::chat_text::{ChatTexts, ChatTextsMut};
pub use table::checkpoint::{Checkpoint, Checkpoints, CheckpointsMut};
pub use table::document::{Documents, DocumentsMut, FoundPassage};
pub use table::download::{Downloads, DownloadsMut};
pub use table::draft::{Draft, DraftPlace, Drafts, DraftsMut};
pub use table::endpoint::{Endpoints, EndpointsMut};
pub use table::endpoint_dialect::{EndpointDialects, EndpointDialectsMut};
pub use table::endpoint_model::{EndpointModels, EndpointModelsMut};
pub use table::favourite::{Favourites, FavouritesMut};
pub use table::folder::{Folder, FolderContents, FolderKind, Folders, FoldersMut, Place};
pub use table::foreign::{ForeignChat, ForeignData, ForeignDataMut};
pub use table::group::{Groups, GroupsMut};
pub use table::import_report::{ImportRecord, ImportReports, ImportReportsMut};
pub use table::item_embedding::{
    EmbeddedKind, EmbeddingGroup, ItemEmbeddings, ItemEmbeddingsMut, LoreEntryText, QueuedItem,
    StoredEmbedding,
};
pub use table::item_search::{FoundItem, ItemKind, ItemPlace, ItemSearch};
pub use table::keyframe::{Keyframes, KeyframesMut};
pub use table::listing::{CharacterListItem, Listing, Listings, ListingsMut};
pub use table::lorebook::{BoundLorebook, ChatParticipants, Lorebook, Lorebooks, LorebooksMut};
pub use table::manifest::{Manifests, ManifestsMut, StoredManifest};
pub use table::memory::{FoundMemory, Memories, MemoriesMut};
pub use table::memory_archive::ActiveMemory;
pub use table::memory_bulk::{MemoryFilter, MemorySet, MemoryStorage};
pub use table::message::{MessageCount, Messages, MessagesMut, NewMessage, WindowMessage};
pub use table::message_search::{FoundMessage, MessageSearch, SearchAuthor, SearchFilter};
pub use table::message_text::{MessageKey, MessageTexts, TextRevision, VisibleText};
pub use table::model::{Models, ModelsMut};
pub use table::model_adapter::{ModelAdapter, ModelAdapters, ModelAdaptersMut};
pub use table::model_move::{ModelMoves, ModelMovesMut};
pub use table::model_projector::{ModelProjectors, ModelProjectorsMut, ProjectorChoice};
pub use table::persona::{Personas, PersonasMut};
pub use table::picture::{Pictures, PicturesMut};
pub use table::preset::{Preset, PresetKind, Presets, PresetsMut};
pub use table::quick_reply::{QuickReplyBindings, QuickReplyBindingsMut, QuickReplyOwner};
pub use table::revision::{Revision, Revisions, RevisionsMut};
pub use table::scoped_setting::{ScopedSettings, ScopedSettingsMut};
pub use table::setting::{Settings, SettingsMut};
pub use table::source::{Sources, SourcesMut};
pub use table::source_text::SourceText;
pub use table::stale_cache::{StaleCaches, StaleCachesMut, StaleChats};
pub use table::swipe::{NewSwipe, Swipes, SwipesMut};
pub use table::token_choice::{StoredChoices, StoredChoicesMut};
pub use table::token_count::{TextHash, TokenCounts, TokenCountsMut};
pub use table::tool_grant::{ToolGrant, ToolGrants, ToolGrantsMut};
pub use table::tool_server::{StoredGrant, ToolServers, ToolServersMut};
pub use table::trash::{Trash, TrashId, TrashMut, Trashed};
pub use table::vector::{
    MessageContent, NewVector, QueuedText, StoredVector, VectorRevision, Vectors, VectorsMut,
};
