//! Operations that no page can call: they take paths, bytes or options that only a program has.

use std::path::PathBuf;

use domain::{CharacterId, ChatId, LorebookId};
use futures_util::future::BoxFuture;

use crate::api::{
    self, Backup, Backups, CardFormat, ChatFileFormat, Health, ImportReport, LorebookFormat,
    Picture, PromptReport, ReadableOptions, Started, TurnOptions,
};
use crate::base::error::ApiResult;
use crate::library::assets::asset::Asset;
use crate::library::characters::cards::Exported;
use crate::library::quick_replies::files::QuickReplies;
use crate::operations::engine::Engine;

impl Engine {
    /// Lists all backups, newest first.
    pub fn list_backups(&self) -> BoxFuture<'_, ApiResult<Vec<Backup>>> {
        Box::pin(self.library.backups.list_backups())
    }

    /// Sets the second folder, which receives a copy of every later backup.
    ///
    /// # Errors
    /// `BadInput` if it is not a folder or is inside the data folder. `Storage` if it is not
    /// writable.
    pub fn set_second_place(&self, folder: PathBuf) -> BoxFuture<'_, ApiResult<Backups>> {
        Box::pin(self.library.backups.set_second_place(folder))
    }

    /// The folder with all data.
    pub fn data_folder(&self) -> PathBuf {
        self.base.store().dir().to_owned()
    }

    /// The backup folder, for the file manager.
    pub fn backup_folder(&self) -> PathBuf {
        self.library.backups.backup_folder()
    }

    /// Exports all data to one archive.
    pub fn export_archive(&self, file: PathBuf) -> BoxFuture<'_, ApiResult<()>> {
        Box::pin(self.library.backups.export_archive(file))
    }

    /// Imports an archive as a backup, which the user can compare and restore.
    pub fn import_archive(&self, file: PathBuf) -> BoxFuture<'_, ApiResult<Backup>> {
        Box::pin(self.library.backups.import_archive(file))
    }

    /// Checks everything that is stored: the database, the asset files it names, and the backups.
    pub fn check_data(&self) -> BoxFuture<'_, ApiResult<Health>> {
        Box::pin(self.library.backups.check_data())
    }

    /// Exports the card as a file that other apps can open.
    ///
    /// # Errors
    /// `NotFound`; `BadInput` if the card is too large for the format.
    pub fn export_character(
        &self,
        id: CharacterId,
        format: CardFormat,
    ) -> BoxFuture<'_, ApiResult<Exported>> {
        Box::pin(self.library.characters.export_character(id, format))
    }

    /// Works like [`Engine::export_chat_with`], with the default options.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn export_chat(
        &self,
        id: ChatId,
        format: ChatFileFormat,
    ) -> BoxFuture<'_, ApiResult<Exported>> {
        Box::pin(self.library.exports.export_chat(id, format))
    }

    /// Exports a chat for other apps or for reading; `options` applies to documents for people.
    /// Documents, tool calls and hidden reply parts other than thoughts are left out, with a
    /// warning, and so are pictures except in HTML.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn export_chat_with(
        &self,
        id: ChatId,
        format: ChatFileFormat,
        options: ReadableOptions,
    ) -> BoxFuture<'_, ApiResult<Exported>> {
        Box::pin(self.library.exports.export_chat_with(id, format, options))
    }

    /// A chat with all its messages.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn whole_chat(&self, id: ChatId) -> BoxFuture<'_, ApiResult<api::Chat>> {
        Box::pin(self.library.chats.whole_chat(id))
    }

    /// Attaches a UTF-8 text, such as a Markdown file, a web page, an EPUB or a PDF. Passages that
    /// match a turn are added to its prompt, in every chat where the owner applies.
    ///
    /// # Errors
    /// `NotFound` if the owner does not exist. `BadInput` if the file contains no text, more than
    /// the limit of text or more than [`MAX_FILE`] in total, if its name is empty or already used,
    /// or if the owner has [`MAX_DOCUMENTS`].
    pub fn attach_document_bytes(
        &self,
        owner: api::DocumentOwner,
        name: String,
        bytes: Vec<u8>,
    ) -> BoxFuture<'_, ApiResult<api::AttachedDocument>> {
        Box::pin(
            self.library
                .documents
                .attach_document_bytes(owner, name, bytes),
        )
    }

    /// Exports a book of either kind.
    ///
    /// # Errors
    /// `NotFound` if there is no such book, and no character with this id whose card has a book.
    pub fn export_lorebook(
        &self,
        id: LorebookId,
        format: LorebookFormat,
    ) -> BoxFuture<'_, ApiResult<Exported>> {
        Box::pin(self.library.lorebooks.export_lorebook(id, format))
    }

    /// The first page of the memories that apply with a character. With a query, the best matches
    /// come first.
    pub fn list_memories(
        &self,
        character: CharacterId,
        query: String,
    ) -> BoxFuture<'_, ApiResult<Vec<api::Memory>>> {
        Box::pin(self.library.memories.list_memories(character, query))
    }

    /// All memories with a character. Archived ones come last.
    pub fn every_memory(
        &self,
        character: CharacterId,
    ) -> BoxFuture<'_, ApiResult<Vec<api::Memory>>> {
        Box::pin(self.library.memories.every_memory(character))
    }

    /// All memories that apply with a character, as JSON.
    pub fn export_memories(&self, character: CharacterId) -> BoxFuture<'_, ApiResult<Exported>> {
        Box::pin(self.library.memories.export_memories(character))
    }

    /// Stores a PNG, JPEG or WebP to send with a message, without its metadata. The next purge
    /// deletes it if it is not sent.
    ///
    /// # Errors
    /// `BadInput` for any other file, a damaged one, and one larger than [`MAX_PICTURE_BYTES`].
    pub fn add_picture_bytes(
        &self,
        name: String,
        bytes: Vec<u8>,
    ) -> BoxFuture<'_, ApiResult<Picture>> {
        Box::pin(self.library.assets.add_picture_bytes(name, bytes))
    }

    /// Lists the sets in the order of their ids.
    pub fn list_quick_replies(&self) -> BoxFuture<'_, ApiResult<Vec<QuickReplies>>> {
        Box::pin(self.library.quick_replies.list_quick_replies())
    }

    /// Loads a picture or another stored file.
    ///
    /// # Errors
    /// `NotFound`, also if `hash` is not a valid hash.
    pub fn asset(&self, hash: String) -> BoxFuture<'_, ApiResult<Asset>> {
        Box::pin(self.library.assets.asset(hash))
    }

    /// A picture for a list, at most as large as a card there. If it cannot be scaled down, the
    /// original.
    ///
    /// # Errors
    /// `NotFound`, also if `hash` is not a valid hash.
    pub fn thumbnail(&self, hash: String) -> BoxFuture<'_, ApiResult<Asset>> {
        Box::pin(self.library.assets.thumbnail(hash))
    }

    /// Embeds all texts without an embedding and returns their number; 0 without an encoder (`nook
    /// memory learn`).
    ///
    /// # Errors
    /// Fails if the encoder cannot run or the store cannot be written.
    pub fn learn(&self) -> BoxFuture<'_, ApiResult<u32>> {
        Box::pin(self.recall.learn())
    }

    /// Works like [`Engine::impersonate`], with options for this draft.
    ///
    /// # Errors
    /// The errors of [`Engine::impersonate`].
    pub fn impersonate_with(
        &self,
        chat: ChatId,
        options: TurnOptions,
    ) -> BoxFuture<'_, ApiResult<()>> {
        Box::pin(self.turns.sending.impersonate_with(chat, options))
    }

    /// Works like [`Engine::send_message`], with options for this turn.
    ///
    /// # Errors
    /// `Busy` while a reply is being written in the chat. `Event::Ended` reports later errors.
    pub fn send_with(
        &self,
        chat: ChatId,
        text: String,
        options: TurnOptions,
    ) -> BoxFuture<'_, ApiResult<Started>> {
        Box::pin(self.turns.sending.send_with(chat, text, options))
    }

    /// Works like [`Engine::run_command`], with options for a message that is sent.
    ///
    /// # Errors
    /// The errors of [`Engine::send_with`] and of the operations behind the commands.
    pub fn run_command_with(
        &self,
        chat: ChatId,
        text: String,
        options: TurnOptions,
    ) -> BoxFuture<'_, ApiResult<api::CommandOutcome>> {
        Box::pin(self.turns.slash.run_command_with(chat, text, options))
    }

    /// Previews the prompt like [`Engine::preview_prompt`], with options for this turn. An empty
    /// `text` previews the next turn up to the user's message.
    ///
    /// # Errors
    /// `NoModel`; `ContextOverflow`; `Provider` if the model cannot count.
    pub fn preview_with(
        &self,
        chat: ChatId,
        text: String,
        options: TurnOptions,
    ) -> BoxFuture<'_, ApiResult<PromptReport>> {
        Box::pin(self.turns.previews.preview_with(chat, text, options))
    }

    /// Loads the model that will answer next and lets it read the open chat, so that the first
    /// reply comes sooner.
    pub fn warm_up_in_background(&self) {
        self.learning.warm_up_in_background()
    }

    /// Imports files, including those in folders and their subfolders. The report lists every file:
    /// imported, skipped because it already exists, or refused with a reason. A refused file does
    /// not stop the others. Listeners receive the report as well.
    ///
    /// # Errors
    /// Fails only if the database does.
    pub fn import_paths(&self, paths: Vec<PathBuf>) -> BoxFuture<'_, ApiResult<ImportReport>> {
        Box::pin(self.imports.folder_imports.import_paths(paths))
    }

    /// Imports a file whose content is already loaded, such as an upload.
    ///
    /// # Errors
    /// Fails only if the database does.
    pub fn import_bytes(
        &self,
        file_name: String,
        bytes: Vec<u8>,
    ) -> BoxFuture<'_, ApiResult<ImportReport>> {
        Box::pin(self.imports.file_imports.import_bytes(file_name, bytes))
    }

    /// Imports one file of a selection, like [`Engine::import_bytes`] but without its own report.
    /// The caller combines the results and calls [`Engine::keep_import_report`].
    ///
    /// # Errors
    /// Fails only if the database does.
    pub fn import_one_of_many(
        &self,
        file_name: String,
        bytes: Vec<u8>,
    ) -> BoxFuture<'_, ApiResult<ImportReport>> {
        Box::pin(
            self.imports
                .file_imports
                .import_one_of_many(file_name, bytes),
        )
    }

    /// Imports chat files of SillyTavern or another app, or text transcripts, as chats of
    /// `character`, regardless of the names in the files. Also notifies listeners.
    ///
    /// # Errors
    /// `NotFound` if there is no such character.
    pub fn import_chats_with(
        &self,
        character: CharacterId,
        files: Vec<PathBuf>,
    ) -> BoxFuture<'_, ApiResult<ImportReport>> {
        Box::pin(
            self.imports
                .chat_imports
                .import_chats_with(character, files),
        )
    }

    /// Works like [`Engine::import_chats_with`], for a file whose content is already loaded.
    ///
    /// # Errors
    /// `NotFound` if there is no such character.
    pub fn import_chat_with(
        &self,
        character: CharacterId,
        file: String,
        bytes: Vec<u8>,
    ) -> BoxFuture<'_, ApiResult<ImportReport>> {
        Box::pin(
            self.imports
                .chat_imports
                .import_chat_with(character, file, bytes),
        )
    }

    /// Imports one chat file of a selection, like [`Engine::import_chat_with`]. The caller reports
    /// all files together.
    ///
    /// # Errors
    /// `NotFound` if the character does not exist.
    pub fn import_one_chat_of_many(
        &self,
        character: CharacterId,
        file: String,
        bytes: Vec<u8>,
    ) -> BoxFuture<'_, ApiResult<ImportReport>> {
        Box::pin(
            self.imports
                .chat_imports
                .import_one_chat_of_many(character, file, bytes),
        )
    }

    /// Imports a SillyTavern folder. The report gives a reason for everything that is skipped, such
    /// as files that were imported before. Listeners receive the progress and the end.
    ///
    /// # Errors
    /// `BadInput` if the folder contains no characters; `Busy` while another folder is imported;
    /// errors of the database.
    pub fn import_sillytavern(&self, folder: PathBuf) -> BoxFuture<'_, ApiResult<ImportReport>> {
        Box::pin(self.imports.folder_imports.import_sillytavern(folder))
    }

    /// Exports a regex script or quick replies as SillyTavern's own file, or a template as a file
    /// of this app.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn export_prompt_file(
        &self,
        kind: api::PromptFile,
        id: String,
    ) -> BoxFuture<'_, ApiResult<Exported>> {
        Box::pin(self.library.quick_replies.export_prompt_file(kind, id))
    }

    /// Previews the prompt of the first turn of a new chat with `character`. Stores nothing.
    ///
    /// # Errors
    /// As [`Engine::preview_with`]; `NotFound` without the character.
    pub fn preview_first(
        &self,
        character: CharacterId,
        text: String,
        options: TurnOptions,
    ) -> BoxFuture<'_, ApiResult<PromptReport>> {
        Box::pin(self.turns.previews.preview_first(character, text, options))
    }

    /// Waits until no reply is written and no idle-time work is under way.
    pub async fn settle(&self) {
        self.base.idle().settled().await;
    }
}
