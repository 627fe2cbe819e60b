//! The handles of one transaction: a read or write handle for each table.

use std::ops::Deref;
use std::path::Path;

use rusqlite::Connection;

use crate::table::api_chat::{ApiChats, ApiChatsMut};
use crate::table::api_key::{ApiKeys, ApiKeysMut};
use crate::table::asset::{Assets, AssetsMut};
use crate::table::background::{Backgrounds, BackgroundsMut};
use crate::table::bound_persona::{BoundPersonas, BoundPersonasMut};
use crate::table::branch::{BranchLinks, BranchLinksMut};
use crate::table::calibration::{Calibrations, CalibrationsMut};
use crate::table::card_file::{CardFiles, CardFilesMut};
use crate::table::card_version::{CardVersions, CardVersionsMut};
use crate::table::character::{Characters, CharactersMut};
use crate::table::chat::{Chats, ChatsMut};
use crate::table::chat_text::{ChatTexts, ChatTextsMut};
use crate::table::checkpoint::{Checkpoints, CheckpointsMut};
use crate::table::document::{Documents, DocumentsMut};
use crate::table::download::{Downloads, DownloadsMut};
use crate::table::draft::{Drafts, DraftsMut};
use crate::table::endpoint::{Endpoints, EndpointsMut};
use crate::table::endpoint_dialect::{EndpointDialects, EndpointDialectsMut};
use crate::table::endpoint_model::{EndpointModels, EndpointModelsMut};
use crate::table::favourite::{Favourites, FavouritesMut};
use crate::table::folder::{Folders, FoldersMut};
use crate::table::foreign::{ForeignData, ForeignDataMut};
use crate::table::group::{Groups, GroupsMut};
use crate::table::import_report::{ImportReports, ImportReportsMut};
use crate::table::item_embedding::{ItemEmbeddings, ItemEmbeddingsMut};
use crate::table::item_search::ItemSearch;
use crate::table::keyframe::{Keyframes, KeyframesMut};
use crate::table::listing::{Listings, ListingsMut};
use crate::table::lorebook::{Lorebooks, LorebooksMut};
use crate::table::manifest::{Manifests, ManifestsMut};
use crate::table::memory::{Memories, MemoriesMut};
use crate::table::message::{Messages, MessagesMut};
use crate::table::message_search::MessageSearch;
use crate::table::message_text::MessageTexts;
use crate::table::model::{Models, ModelsMut};
use crate::table::model_adapter::{ModelAdapters, ModelAdaptersMut};
use crate::table::model_move::{ModelMoves, ModelMovesMut};
use crate::table::model_projector::{ModelProjectors, ModelProjectorsMut};
use crate::table::persona::{Personas, PersonasMut};
use crate::table::picture::{Pictures, PicturesMut};
use crate::table::preset::{Presets, PresetsMut};
use crate::table::quick_reply::{QuickReplyBindings, QuickReplyBindingsMut};
use crate::table::revision::{Revisions, RevisionsMut};
use crate::table::scoped_setting::{ScopedSettings, ScopedSettingsMut};
use crate::table::setting::{Settings, SettingsMut};
use crate::table::source::{Sources, SourcesMut};
use crate::table::stale_cache::{StaleCaches, StaleCachesMut};
use crate::table::swipe::{Swipes, SwipesMut};
use crate::table::token_choice::{StoredChoices, StoredChoicesMut};
use crate::table::token_count::{TokenCounts, TokenCountsMut};
use crate::table::tool_grant::{ToolGrants, ToolGrantsMut};
use crate::table::tool_server::{ToolServers, ToolServersMut};
use crate::table::trash::{Trash, TrashMut};
use crate::table::vector::{Vectors, VectorsMut};

/// A consistent snapshot of the store.
pub struct ReadTransaction<'c> {
    pub(crate) conn: &'c Connection,
    pub(crate) dir: &'c Path,
}

/// One transaction. It is rolled back if the closure returns an error.
pub struct WriteTransaction<'c> {
    pub(crate) read: ReadTransaction<'c>,
}

/// Reads see the transaction's own writes.
impl<'c> Deref for WriteTransaction<'c> {
    type Target = ReadTransaction<'c>;

    fn deref(&self) -> &ReadTransaction<'c> {
        &self.read
    }
}

macro_rules! tables {
    ($($read:ident: $reads:ident, $write:ident: $writes:ident;)*) => {
        impl ReadTransaction<'_> {
            $(pub fn $read(&self) -> $reads<'_> {
                $reads { conn: self.conn }
            })*

            pub fn item_search(&self) -> ItemSearch<'_> {
                ItemSearch { conn: self.conn }
            }

            pub fn message_search(&self) -> MessageSearch<'_> {
                MessageSearch { conn: self.conn }
            }

            pub fn message_texts(&self) -> MessageTexts<'_> {
                MessageTexts { conn: self.conn }
            }

            pub fn assets(&self) -> Assets<'_> {
                Assets { conn: self.conn, dir: self.dir }
            }
        }
        impl WriteTransaction<'_> {
            $(pub fn $write(&mut self) -> $writes<'_> {
                $writes { conn: self.read.conn }
            })*

            pub fn assets_mut(&mut self) -> AssetsMut<'_> {
                AssetsMut { conn: self.read.conn, dir: self.read.dir }
            }
        }
    };
}

tables! {
    characters: Characters, characters_mut: CharactersMut;
    card_files: CardFiles, card_files_mut: CardFilesMut;
    card_versions: CardVersions, card_versions_mut: CardVersionsMut;
    favourites: Favourites, favourites_mut: FavouritesMut;
    folders: Folders, folders_mut: FoldersMut;
    listings: Listings, listings_mut: ListingsMut;
    personas: Personas, personas_mut: PersonasMut;
    bound_personas: BoundPersonas, bound_personas_mut: BoundPersonasMut;
    chats: Chats, chats_mut: ChatsMut;
    api_chats: ApiChats, api_chats_mut: ApiChatsMut;
    chat_texts: ChatTexts, chat_texts_mut: ChatTextsMut;
    branch_links: BranchLinks, branch_links_mut: BranchLinksMut;
    checkpoints: Checkpoints, checkpoints_mut: CheckpointsMut;
    revisions: Revisions, revisions_mut: RevisionsMut;
    messages: Messages, messages_mut: MessagesMut;
    swipes: Swipes, swipes_mut: SwipesMut;
    token_choices: StoredChoices, token_choices_mut: StoredChoicesMut;
    foreign: ForeignData, foreign_mut: ForeignDataMut;
    groups: Groups, groups_mut: GroupsMut;
    pictures: Pictures, pictures_mut: PicturesMut;
    backgrounds: Backgrounds, backgrounds_mut: BackgroundsMut;
    documents: Documents, documents_mut: DocumentsMut;
    drafts: Drafts, drafts_mut: DraftsMut;
    lorebooks: Lorebooks, lorebooks_mut: LorebooksMut;
    quick_reply_bindings: QuickReplyBindings, quick_reply_bindings_mut: QuickReplyBindingsMut;
    vectors: Vectors, vectors_mut: VectorsMut;
    keyframes: Keyframes, keyframes_mut: KeyframesMut;
    item_embeddings: ItemEmbeddings, item_embeddings_mut: ItemEmbeddingsMut;
    memories: Memories, memories_mut: MemoriesMut;
    manifests: Manifests, manifests_mut: ManifestsMut;
    token_counts: TokenCounts, token_counts_mut: TokenCountsMut;
    calibrations: Calibrations, calibrations_mut: CalibrationsMut;
    models: Models, models_mut: ModelsMut;
    downloads: Downloads, downloads_mut: DownloadsMut;
    model_adapters: ModelAdapters, model_adapters_mut: ModelAdaptersMut;
    model_projectors: ModelProjectors, model_projectors_mut: ModelProjectorsMut;
    model_moves: ModelMoves, model_moves_mut: ModelMovesMut;
    endpoints: Endpoints, endpoints_mut: EndpointsMut;
    endpoint_dialects: EndpointDialects, endpoint_dialects_mut: EndpointDialectsMut;
    endpoint_models: EndpointModels, endpoint_models_mut: EndpointModelsMut;
    tool_servers: ToolServers, tool_servers_mut: ToolServersMut;
    import_reports: ImportReports, import_reports_mut: ImportReportsMut;
    api_keys: ApiKeys, api_keys_mut: ApiKeysMut;
    settings: Settings, settings_mut: SettingsMut;
    presets: Presets, presets_mut: PresetsMut;
    sources: Sources, sources_mut: SourcesMut;
    stale_caches: StaleCaches, stale_caches_mut: StaleCachesMut;
    tool_grants: ToolGrants, tool_grants_mut: ToolGrantsMut;
    trash: Trash, trash_mut: TrashMut;
    scoped_settings: ScopedSettings, scoped_settings_mut: ScopedSettingsMut;
}
