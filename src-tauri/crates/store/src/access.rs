//! The handles of one transaction: a read handle and a write handle for each table.
//!
//! The list at the end of this file defines all handles. The file of a table implements the methods
//! of its two handles, so it depends on this file, and this file depends on no table.

use std::ops::Deref;
use std::path::Path;

use rusqlite::Connection;

use crate::FolderKeys;

/// A consistent snapshot of the store.
pub struct ReadTransaction<'c> {
    pub(crate) conn: &'c Connection,
    pub(crate) dir: &'c Path,
    pub(crate) keys: Option<&'c FolderKeys>,
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

/// Assets: pictures and imported files.
pub struct Assets<'a> {
    pub(crate) conn: &'a Connection,
}

/// Write access to [`Assets`]. This handle also knows the folder of their files, and its keys.
pub struct AssetsMut<'a> {
    pub(crate) conn: &'a Connection,
    pub(crate) dir: &'a Path,
    pub(crate) keys: Option<&'a FolderKeys>,
}

impl ReadTransaction<'_> {
    /// Assets: pictures and imported files.
    pub fn assets(&self) -> Assets<'_> {
        Assets { conn: self.conn }
    }
}

impl WriteTransaction<'_> {
    /// Write access to [`Assets`].
    pub fn assets_mut(&mut self) -> AssetsMut<'_> {
        AssetsMut {
            conn: self.read.conn,
            dir: self.read.dir,
            keys: self.read.keys,
        }
    }
}

/// Defines the handles of each line, `reads: ReadHandle, writes: WriteHandle;`, and the methods
/// `ReadTransaction::reads` and `WriteTransaction::writes` that return them. The doc comment of a
/// line describes the table. A line without a write handle is a search.
macro_rules! tables {
    ($($(#[$doc:meta])* $reads:ident: $Reads:ident $(, $writes:ident: $Writes:ident)?;)*) => {
        $(
            $(#[$doc])*
            pub struct $Reads<'a> {
                pub(crate) conn: &'a Connection,
            }

            $(
                #[doc = concat!("Write access to [`", stringify!($Reads), "`].")]
                pub struct $Writes<'a> {
                    pub(crate) conn: &'a Connection,
                }
            )?
        )*

        impl ReadTransaction<'_> {
            $(
                $(#[$doc])*
                pub fn $reads(&self) -> $Reads<'_> {
                    $Reads { conn: self.conn }
                }
            )*
        }

        impl WriteTransaction<'_> {
            $($(
                #[doc = concat!("Write access to [`", stringify!($Reads), "`].")]
                pub fn $writes(&mut self) -> $Writes<'_> {
                    $Writes { conn: self.read.conn }
                }
            )?)*
        }
    };
}

// The list of tables, sorted by room. A new table needs one line here.
tables! {
    // chats
    /// The chats that clients of the local API continue when they name only a character.
    api_chats: ApiChats, api_chats_mut: ApiChatsMut;
    /// Pictures behind chats.
    backgrounds: Backgrounds, backgrounds_mut: BackgroundsMut;
    /// Links from branches to the chats that they began in.
    branch_links: BranchLinks, branch_links_mut: BranchLinksMut;
    /// Texts of a chat that replace texts of its character's card.
    chat_texts: ChatTexts, chat_texts_mut: ChatTextsMut;
    /// Chats, with their participants and context windows.
    chats: Chats, chats_mut: ChatsMut;
    /// Named bookmarks on messages.
    checkpoints: Checkpoints, checkpoints_mut: CheckpointsMut;
    /// Data of other apps that this app does not use.
    foreign: ForeignData, foreign_mut: ForeignDataMut;

    // messages
    /// Records of the prompts that led to swipes.
    manifests: Manifests, manifests_mut: ManifestsMut;
    /// Full-text search over messages.
    message_search: MessageSearch;
    /// Visible texts of messages, and detection of their changes.
    message_texts: MessageTexts;
    /// Messages of chats, in order.
    messages: Messages, messages_mut: MessagesMut;
    /// Pictures attached to messages.
    pictures: Pictures, pictures_mut: PicturesMut;
    /// Texts that swipes had before edits.
    revisions: Revisions, revisions_mut: RevisionsMut;
    /// Alternative texts of a message.
    swipes: Swipes, swipes_mut: SwipesMut;
    /// Probabilities of the tokens of replies.
    token_choices: StoredChoices, token_choices_mut: StoredChoicesMut;

    // memory
    /// Embeddings of memories, document passages and lorebook entries.
    item_embeddings: ItemEmbeddings, item_embeddings_mut: ItemEmbeddingsMut;
    /// Keyframes and their source texts.
    keyframes: Keyframes, keyframes_mut: KeyframesMut;
    /// Memories and their source messages.
    memories: Memories, memories_mut: MemoriesMut;
    /// Embeddings of messages, and the queue of messages without one.
    vectors: Vectors, vectors_mut: VectorsMut;

    // library
    /// Personas of characters: new chats with a character begin with its persona.
    bound_personas: BoundPersonas, bound_personas_mut: BoundPersonasMut;
    /// Files that the user added to a card.
    card_files: CardFiles, card_files_mut: CardFilesMut;
    /// Cards that saves in the editor replaced.
    card_versions: CardVersions, card_versions_mut: CardVersionsMut;
    /// Characters: the imported cards with their files.
    characters: Characters, characters_mut: CharactersMut;
    /// Documents, stored as passages, and full-text search in them.
    documents: Documents, documents_mut: DocumentsMut;
    /// The user's favourite characters.
    favourites: Favourites, favourites_mut: FavouritesMut;
    /// Folders of chats and characters, and the place of each item.
    folders: Folders, folders_mut: FoldersMut;
    /// Additional characters of chats, and the speakers of messages.
    groups: Groups, groups_mut: GroupsMut;
    /// Full-text search over notes, memories, lorebook entries and characters.
    item_search: ItemSearch;
    /// Data for lists of characters, and search terms to find them.
    listings: Listings, listings_mut: ListingsMut;
    /// Lorebooks outside cards, and their bindings.
    lorebooks: Lorebooks, lorebooks_mut: LorebooksMut;
    /// Personas: the characters that the user plays.
    personas: Personas, personas_mut: PersonasMut;
    /// The user's private characters.
    private_characters: PrivateCharacters, private_characters_mut: PrivateCharactersMut;
    /// The chats that show a set of quick replies.
    quick_reply_bindings: QuickReplyBindings, quick_reply_bindings_mut: QuickReplyBindingsMut;
    /// Origins of imported items.
    sources: Sources, sources_mut: SourcesMut;
    /// Deleted chats, characters and lorebooks, which can be restored until they are purged.
    trash: Trash, trash_mut: TrashMut;

    // models
    /// Calibration of token counts for each model of an endpoint.
    calibrations: Calibrations, calibrations_mut: CalibrationsMut;
    /// Downloads of models that are not complete.
    downloads: Downloads, downloads_mut: DownloadsMut;
    /// The quirks found for each model of an endpoint, such as refused parameters.
    endpoint_dialects: EndpointDialects, endpoint_dialects_mut: EndpointDialectsMut;
    /// The models that endpoints offer.
    endpoint_models: EndpointModels, endpoint_models_mut: EndpointModelsMut;
    /// Remote endpoints.
    endpoints: Endpoints, endpoints_mut: EndpointsMut;
    /// Adapters (LoRA) of model files.
    model_adapters: ModelAdapters, model_adapters_mut: ModelAdaptersMut;
    /// Models whose files are on the way to another folder.
    model_moves: ModelMoves, model_moves_mut: ModelMovesMut;
    /// Files that read pictures for models, as the user has chosen them.
    model_projectors: ModelProjectors, model_projectors_mut: ModelProjectorsMut;
    /// Model files in the library.
    models: Models, models_mut: ModelsMut;
    /// Presets: JSON documents such as templates and sampler values.
    presets: Presets, presets_mut: PresetsMut;
    /// Cached token counts by text and tokenizer.
    token_counts: TokenCounts, token_counts_mut: TokenCountsMut;
    /// Decisions of the user about tools.
    tool_grants: ToolGrants, tool_grants_mut: ToolGrantsMut;
    /// Servers that offer tools, and the permissions for their tools.
    tool_servers: ToolServers, tool_servers_mut: ToolServersMut;

    // system
    /// Keys of the local API, as hashes.
    api_keys: ApiKeys, api_keys_mut: ApiKeysMut;
    /// Texts that were typed into a form and are not stored in their item yet.
    drafts: Drafts, drafts_mut: DraftsMut;
    /// Reports of imports.
    import_reports: ImportReports, import_reports_mut: ImportReportsMut;
    /// Choices of the window's page by key.
    page_values: PageValues, page_values_mut: PageValuesMut;
    /// Layered settings: JSON values by owner and key.
    scoped_settings: ScopedSettings, scoped_settings_mut: ScopedSettingsMut;
    /// App settings: JSON values by key.
    settings: Settings, settings_mut: SettingsMut;
    /// Chats whose saved KV caches may contain text that was retracted or removed.
    stale_caches: StaleCaches, stale_caches_mut: StaleCachesMut;
}
