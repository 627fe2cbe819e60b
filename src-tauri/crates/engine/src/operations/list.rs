//! The list of all operations. The window's commands, the HTTP routes and the TypeScript client are
//! generated from it, so they cannot differ.

/// Calls `$then!` with every operation of [`crate::Engine`] that a UI may call: docs, name,
/// arguments, result.
#[macro_export]
macro_rules! operations {
    ($then:ident) => {
        $then! {
            /// The data that the window needs for its first screen.
            library.chats: startup() -> Startup;
            /// Version, data folder, database, models, worker, token counts, each with a reason if
            /// it fails. No endpoint is called.
            config.health: health() -> Health;
            /// The same, after contacting every endpoint, each for at most five seconds.
            config.health: health_with_endpoints() -> Health;
            /// The licences of software, models and data of others in this build; `null` if it has no
            /// list of them.
            config.licences: third_party_licences() -> Option<String>;
            config.app_settings: get_settings() -> Settings;
            /// Changes the fields that are present, and no others.
            config.app_settings: update_settings(change: SettingsChange) -> Settings;
            /// The settings of prompts and replies as they are for `owner`: value, origin, layers.
            config.setting_edits: layered_settings(owner: SettingOwner) -> LayeredSettings;
            /// Sets one of them for `owner`; without a value the layer below applies again.
            config.setting_edits: set_setting(owner: SettingOwner, key: String, value: Option<SettingValue>) -> LayeredSettings;

            /// The space that stored prompts of past turns and the log take.
            config.privacy: privacy_space() -> PrivacySpace;

            /// Whether the data folder is encrypted, how it can be unlocked, and which of its files
            /// are not encrypted.
            config.protection: protection_status() -> ProtectionStatus;
            /// Replaces the passphrase of the data folder. The old one is valid until the new one
            /// has unlocked the folder.
            config.protection: change_passphrase(passphrase: SecretText, replacement: SecretText) -> ();
            /// Replaces a forgotten passphrase with the recovery code.
            config.protection: reset_passphrase(code: SecretText, replacement: SecretText) -> ();
            /// Replaces the recovery code. The result has the only copy of the new one.
            config.protection: renew_recovery_code(passphrase: SecretText) -> NewRecoveryCode;
            /// Lets the system's keychain unlock the folder when the user logs in, or ends that.
            config.protection: set_unlock_at_login(on: bool, passphrase: SecretText) -> ();
            /// Whether to say that the chats are not encrypted: after the first week, until the
            /// hint is dismissed.
            config.encryption_hint: hints_at_encryption() -> bool;
            config.encryption_hint: dismiss_encryption_hint() -> ();
            /// Choices of the window's page, such as the text size. A page in a browser keeps its
            /// own there.
            config.page_values: page_values() -> Vec<PageValue>;
            /// Keeps a choice of the window's page; without a value it is removed.
            config.page_values: save_page_value(key: String, value: Option<String>) -> ();

            /// The server of the local API: whether it is on, its address, and why it failed.
            config.access: local_api() -> LocalApi;
            /// The keys of the local API, the oldest first.
            config.access: list_api_keys() -> Vec<ApiKey>;
            /// Makes a key of the local API. The result has the only copy of the secret.
            config.access: create_api_key(name: String, limits: ApiKeyLimits) -> NewApiKey;
            /// Changes the name and the limits of a key.
            config.access: update_api_key(id: ApiKeyId, name: String, limits: ApiKeyLimits) -> ApiKey;
            /// Deletes a key of the local API. Requests with it are refused from now on.
            config.access: revoke_api_key(id: ApiKeyId) -> ();

            /// Warnings about the data that are in force: lost changes, failed backups, missing
            /// pictures.
            library.warnings: data_warnings() -> DataWarnings;
            /// Hides a warning until its cause comes again.
            library.warnings: dismiss_data_warning(kind: DataWarningKind) -> DataWarnings;
            library.backups: backups() -> Backups;
            /// Makes a backup now and verifies it.
            library.backups: backup() -> Backup;
            /// Shows what a restore of that backup would bring back and remove. Nothing is changed.
            library.backups: preview_restore(file: String) -> RestorePreview;
            /// Restores that backup at the next start; the current data is set aside then.
            library.backups: restore_at_next_start(file: String) -> ();
            library.backups: delete_backups(files: Vec<String>) -> ();
            /// Sets the maximum size of all backups. The next backup applies it.
            library.backups: set_backup_budget(megabytes: u32) -> Backups;
            library.backups: forget_second_place() -> Backups;

            /// Returns the stored status of updates. Contacts no server.
            library.updates: updates_status() -> UpdateStatus;
            /// Asks the server of updates for the newest version. Its answer must be signed.
            library.updates: check_for_updates() -> UpdateStatus;
            /// Downloads the newer version and verifies it. Events report the progress and the end.
            library.updates: download_update() -> UpdateStatus;
            /// Stops the download; what it has received stays.
            library.updates: stop_update_download() -> UpdateStatus;
            /// Makes a backup, installs the downloaded version next to this one, and lets it start
            /// after a restart.
            library.updates: install_update() -> UpdateStatus;
            /// Lets the previous version start after a restart. It may refuse data that this
            /// version has saved; the status names the backup from before the update.
            library.updates: go_back_to_previous_version() -> UpdateStatus;

            /// Deleted chats, characters and lorebooks, the last deleted first.
            library.trash: trash() -> Vec<TrashItem>;
            library.trash: restore_from_trash(items: Vec<TrashRef>) -> ();
            /// Deletes them permanently, at once; with `backups` also every backup that contains
            /// one of them, after a new one is made.
            library.trash: delete_from_trash(items: Vec<TrashRef>, backups: bool) -> DeletedForGood;
            /// Permanently deletes everything in the trash, and the messages, memories and
            /// documents that were deleted since the start; with `backups` also every backup, after
            /// a new one is made.
            library.trash: empty_trash(backups: bool) -> DeletedForGood;
            /// Counts what `forget` would remove. Nothing is changed.
            library.forgetting: forget_preview(subject: ForgetSubject) -> ForgetPreview;
            /// Removes everything about a character, a persona or a span of days, for good; with
            /// `backups` also the backups that contain it, after a new one is made. The report says
            /// what could not be removed.
            library.forgetting: forget(subject: ForgetSubject, backups: bool) -> ForgetReport;
            /// Number of removals that wait for the second location of the backups.
            library.forgetting: owed_removals() -> u32;

            library.characters: list_characters() -> Vec<CharacterSummary>;
            library.characters: get_character(id: CharacterId) -> Character;
            library.characters: create_character(fields: CharacterFields) -> Character;
            library.characters: update_character(id: CharacterId, fields: CharacterFields) -> Character;
            /// Replaces the picture. `data` is the file's content in base64 (PNG, JPEG or WebP).
            library.characters: set_character_picture(id: CharacterId, data: String) -> Character;
            /// Copies a character with its pictures, documents, settings and links to lorebooks,
            /// without its chats.
            library.characters: duplicate_character(id: CharacterId) -> Character;
            /// The earlier versions of a card, newest first. Every save keeps one.
            library.characters: card_versions(character: CharacterId) -> Vec<CardVersion>;
            /// The changes from an earlier version of a card to the current one, for each field
            /// that differs.
            library.characters: card_version_changes(character: CharacterId, version: String) -> Vec<FieldChanges>;
            /// Restores the fields and the picture of an earlier version. The card that this
            /// replaces becomes a version.
            library.characters: restore_card_version(character: CharacterId, version: String) -> Character;
            library.characters: forget_card_versions(character: CharacterId) -> ();
            /// Moves the character to the trash; `restore_character` undoes it.
            library.characters: delete_character(id: CharacterId) -> ();
            library.characters: restore_character(id: CharacterId) -> ();
            /// The ids of the characters whose cards contain every word of `query`, or words that
            /// begin with it: names, tags, creators, descriptions.
            library.characters: find_characters(query: String) -> Vec<CharacterId>;
            library.characters: set_favourites(characters: Vec<CharacterId>, favourite: bool) -> ();
            /// Whether private characters can be hidden, and whether they are shown.
            library.private_characters: private_characters() -> PrivateCharacters;
            /// Makes a character private, or no longer. A private character and its chats are
            /// hidden at once unless private characters are shown.
            library.private_characters: set_character_private(character: CharacterId, on: bool) -> ();
            /// Shows private characters until `hide_private` or a restart. After several wrong
            /// passphrases, the next try has to wait.
            library.private_characters: show_private(passphrase: SecretText) -> ();
            /// Hides private characters. Their running replies end first.
            library.private_characters: hide_private() -> ();
            /// Adds tags to the cards of all these characters, and removes others. Returns the
            /// former tags of the cards that changed; `restore_tags` undoes it.
            library.characters: tag_characters(characters: Vec<CharacterId>, add: Vec<String>, remove: Vec<String>)
                -> Vec<CharacterTags>;
            library.characters: restore_tags(tags: Vec<CharacterTags>) -> ();
            /// Moves all of them to the trash, or none; `restore_characters` undoes it.
            library.characters: delete_characters(characters: Vec<CharacterId>) -> ();
            library.characters: restore_characters(characters: Vec<CharacterId>) -> ();
            /// Counts the tokens of each text for the default model.
            config.counting: count_fields(texts: Vec<String>) -> TextCounts;
            /// The files that belong to a character's card, in its order.
            library.characters: card_assets(character: CharacterId) -> Vec<CardAsset>;
            /// The hash of a small version of a picture among them; `null` if the file is no
            /// picture.
            library.characters: show_card_asset(character: CharacterId, id: String) -> Option<String>;
            /// The hash of a picture among them in a size for viewing; `null` if the file is no
            /// picture.
            library.characters: card_asset_picture(character: CharacterId, id: String) -> Option<String>;
            /// Adds a file to the card, at the end. `data` is its content in base64.
            library.characters: add_card_asset(character: CharacterId, kind: String, file: String, data: String) -> Vec<CardAsset>;
            library.characters: update_card_asset(character: CharacterId, id: String, kind: String, name: String) -> Vec<CardAsset>;
            /// Returns what `restore_card_asset` needs to undo it until the app ends.
            library.characters: remove_card_asset(character: CharacterId, id: String) -> String;
            library.characters: restore_card_asset(character: CharacterId, removed: String) -> Vec<CardAsset>;
            /// The pictures of a card that show emotions, in its order.
            library.characters: sprites(character: CharacterId) -> Vec<Sprite>;
            /// The hash of the picture for an emotion, else of the one for neutral; `null` if the
            /// card has neither. `variant` chooses among several pictures of one emotion.
            library.characters: sprite(character: CharacterId, emotion: String, variant: u32) -> Option<String>;
            /// The hash of the card's own picture with that name; `null` if it has none.
            library.characters: card_picture(character: CharacterId, name: String) -> Option<String>;
            /// The entries of the lorebook in a character's card, in the book's order.
            turns.lore_activation: card_lore(character: CharacterId) -> Vec<LoreEntry>;

            /// The lorebooks outside cards, then those in cards, which have the ids of their
            /// characters.
            library.lorebooks: list_lorebooks() -> Vec<LorebookSummary>;
            library.lorebooks: get_lorebook(id: LorebookId) -> Lorebook;
            /// Creates a lorebook outside a card. It applies nowhere until it is bound.
            library.lorebooks: create_lorebook(name: String) -> Lorebook;
            library.lorebooks: update_lorebook(id: LorebookId, fields: LorebookFields) -> Lorebook;
            /// Copies a lorebook of either kind. The copy has a name of its own and applies nowhere
            /// until it is bound.
            library.lorebooks: duplicate_lorebook(id: LorebookId) -> Lorebook;
            /// Enables or disables a lorebook outside a card.
            library.lorebooks: enable_lorebook(id: LorebookId, enabled: bool) -> Lorebook;
            /// Sets where a lorebook outside a card applies.
            library.lorebooks: bind_lorebook(id: LorebookId, bindings: Vec<LorebookBinding>) -> Lorebook;
            /// Moves the lorebook to the trash; `restore_lorebook` undoes it.
            library.lorebooks: delete_lorebook(id: LorebookId) -> ();
            library.lorebooks: restore_lorebook(id: LorebookId) -> ();
            /// An empty `id` creates a new entry at the end.
            library.lorebooks: save_lore_entry(book: LorebookId, entry: LorebookEntry) -> LorebookEntry;
            /// Enables or disables entries.
            library.lorebooks: enable_lore_entries(book: LorebookId, ids: Vec<String>, enabled: bool) -> Lorebook;
            /// Returns what `restore_lore_entries` needs to undo it.
            library.lorebooks: delete_lore_entries(book: LorebookId, ids: Vec<String>) -> String;
            library.lorebooks: restore_lore_entries(book: LorebookId, deleted: String) -> Lorebook;
            /// Sets the order in which users see the entries; it does not affect the prompt.
            library.lorebooks: order_lore_entries(book: LorebookId, ids: Vec<String>) -> Lorebook;
            /// Copies entries into another lorebook, or moves them if `leave` is true.
            library.lorebooks: copy_lore_entries(book: LorebookId, ids: Vec<String>, to: LorebookId, leave: bool) -> ();

            /// The entries of a book that are marked for search by meaning, and whether each is
            /// embedded; empty without an encoder.
            recall: entry_meanings(book: LorebookId) -> Vec<EntryMeaning>;

            /// The entries that `text` would activate as the next message of `chat`, with `book`
            /// besides the chat's own books; without a chat, in `book` alone. Nothing is stored.
            turns.previews: try_lore(book: Option<LorebookId>, text: String, chat: Option<ChatId>) -> LoreTrial;

            /// The pictures that chats can show behind their messages, by name.
            library.backgrounds: list_backgrounds() -> Vec<Background>;
            /// Adds one to the gallery. `data` is its content in base64 (PNG, JPEG or WebP).
            library.backgrounds: add_background(name: String, data: String) -> Background;
            /// Sets the words of the scenes in which chats show it, separated by commas. Empty:
            /// none.
            library.backgrounds: set_scene_words(picture: String, words: String) -> Background;
            /// The background of a chat: its own, else the one whose words occur in its scene, else
            /// that of the character or of all chats.
            library.backgrounds: chat_background(chat: ChatId) -> Option<ChatBackground>;
            /// Removes one from the gallery. Chats that use it show none.
            library.backgrounds: remove_background(picture: String) -> ();
            /// The progress of a folder import; `null` if none is running.
            imports.import_reports: import_progress() -> Option<ImportProgress>;
            /// Cancels the import of a folder after its current item. Everything imported so far
            /// stays.
            imports.import_reports: cancel_import() -> ();
            /// The stored reports of imports, newest first.
            imports.import_reports: list_import_reports() -> Vec<ImportRecord>;
            imports.import_reports: get_import_report(id: String) -> ImportReport;
            /// Stores the report of files that were sent one by one as one selection, and notifies
            /// listeners.
            imports.import_reports: keep_import_report(report: ImportReport) -> ();

            library.personas: list_personas() -> Vec<Persona>;
            /// Without an id it is a new one.
            library.personas: save_persona(persona: PersonaDraft) -> Persona;
            library.personas: delete_persona(id: PersonaId) -> ();
            /// Replaces the picture; without `data` it is removed. `data` is the file's content in
            /// base64 (PNG, JPEG or WebP).
            library.personas: set_persona_picture(id: PersonaId, data: Option<String>) -> Persona;
            /// Sets the persona with which new chats with a character begin; without one, the
            /// default applies again.
            library.personas: bind_persona(character: CharacterId, persona: Option<PersonaId>) -> ();
            /// Adds a persona with the name, the description and the picture of a character.
            library.personas: persona_from_character(character: CharacterId) -> Persona;
            /// Adds a character with the name, the description and the picture of a persona.
            library.personas: character_from_persona(persona: PersonaId) -> Character;

            library.chats: list_chats() -> Vec<ChatSummary>;
            library.chats: new_chat(character: CharacterId) -> Chat;
            /// Starts a chat with several characters, the first of which greets. Without a title,
            /// the names are the title.
            library.chats: new_group(title: String, characters: Vec<CharacterId>) -> Chat;
            /// Opens a chat with its newest messages.
            library.chats: open_chat(id: ChatId) -> Chat;
            /// The page of messages before `before`, a message's id.
            library.chats: messages_before(chat: ChatId, before: MessageId, limit: u32) -> MessagePage;
            /// Messages that match a search such as `lamp "red door" from:mira before:2026-01-31`,
            /// in one chat or in all. `skip` is the number of hits that are known already.
            library.chats: search_messages(text: String, chat: Option<ChatId>, skip: u32) -> SearchPage;
            /// The messages of a chat whose shown version matches a search, in the order of the
            /// chat.
            library.chats: find_in_chat(chat: ChatId, text: String) -> ChatMatches;
            /// Everything that matches a search, by group: messages, their earlier texts, notes,
            /// memories, lorebook entries and characters. With `meaning`, hits whose meaning is
            /// similar follow.
            recall: search(text: String, chat: Option<ChatId>, meaning: bool) -> SearchResults;
            library.chats: rename_chat(id: ChatId, title: String) -> ();
            library.chats: set_chat_model(id: ChatId, model: Option<ModelRef>) -> ();
            library.chats: set_chat_persona(id: ChatId, persona: PersonaId) -> ();
            /// The fields of the card that a chat may replace, and the replacements in this chat.
            library.characters: chat_texts(chat: ChatId) -> Vec<ChatText>;
            /// Replaces a field of the card in a chat; without a text the card's own applies again.
            library.characters: set_chat_text(chat: ChatId, field: CardField, text: Option<String>) -> Vec<ChatText>;
            /// The documents that are attached to a chat, a character or a lorebook, oldest first.
            library.documents: list_documents(owner: DocumentOwner) -> Vec<AttachedDocument>;
            library.documents: get_document(id: DocumentId) -> AttachedDocument;
            /// Attaches a document (UTF-8, HTML, EPUB or PDF): passages that match a turn are added
            /// to its prompt. `data` is the file's content in base64.
            library.documents: attach_document(owner: DocumentOwner, name: String, data: String) -> AttachedDocument;
            /// Removes the document from every later prompt; `restore_document` undoes it until the
            /// app ends.
            library.documents: remove_document(id: DocumentId) -> ();
            library.documents: restore_document(id: DocumentId) -> ();
            /// Stores the text in the composer.
            learning: save_draft(chat: ChatId, text: String) -> ();
            /// Stores the text in the composer. If it is not `known`, the text that this window
            /// stored or saw last, another window wrote it, and it becomes a draft. Returns the
            /// drafts of other windows, newest first.
            learning: keep_draft(chat: ChatId, text: String, known: String) -> Vec<Draft>;
            /// The drafts of a form, newest first.
            library.drafts: drafts(kind: DraftKind, owner: String) -> Vec<Draft>;
            /// Stores what is typed in a form until the form is saved. It replaces `before`, the
            /// window's last draft of the form, and no draft of another window.
            library.drafts: write_draft(place: DraftPlace, text: String, base: String, before: Option<String>) -> SavedDraft;
            /// Removes a draft, because its text was stored or is not wanted.
            library.drafts: discard_draft(id: String) -> ();
            /// Moves the chat to the trash; `restore_chat` undoes it.
            library.trash: delete_chat(id: ChatId) -> ();
            /// Number of memories that a deletion of these chats would delete, unless it keeps what
            /// was learned in them.
            library.trash: learned_in(chats: Vec<ChatId>) -> u32;
            /// Moves all of them to the trash, or none. With `keep_learned`, the memories that were
            /// learned in them stay, except summaries. `restore_from_trash` undoes it.
            library.trash: delete_chats(chats: Vec<ChatId>, keep_learned: bool) -> ();
            library.trash: restore_chat(id: ChatId) -> ();

            /// The folders of the chat list and of the character library, sorted by name.
            library.folders: list_folders() -> Vec<Folder>;
            /// Creates a folder if its id is empty, and changes it otherwise.
            library.folders: save_folder(folder: FolderDraft) -> Folder;
            /// Deletes a folder; its contents move to the folder that contains it. Returns what
            /// `restore_folder` needs.
            library.folders: delete_folder(id: FolderId) -> DeletedFolder;
            library.folders: restore_folder(deleted: DeletedFolder) -> ();
            /// Puts chats or characters in a folder; without a folder, outside of all. Returns the
            /// former places of those that moved; `restore_places` undoes it.
            library.folders: move_to_folder(kind: FolderKind, items: Vec<String>, folder: Option<FolderId>) -> Vec<PlacedItem>;
            /// Keeps chats or characters at the top of their list, or no longer. `restore_places`
            /// undoes it.
            library.folders: pin_items(kind: FolderKind, items: Vec<String>, pinned: bool) -> Vec<PlacedItem>;
            /// Takes chats or characters out of their list, or puts them back. Searches still find
            /// them. `restore_places` undoes it.
            library.folders: archive_items(kind: FolderKind, items: Vec<String>, archived: bool) -> Vec<PlacedItem>;
            /// Undoes `move_to_folder`, `pin_items` or `archive_items`.
            library.folders: restore_places(kind: FolderKind, places: Vec<PlacedItem>) -> ();

            /// Reports what a camera shows. The next turn of the chat includes it; nothing is
            /// stored before.
            turns.inputs: report_vision(chat: ChatId, report: VisionReport) -> ();
            /// Stores the user's message, then starts the reply.
            turns.sending: send_message(chat: ChatId, text: String) -> Started;
            /// Stores a picture for a message. `data` is the file's content in base64 (PNG, JPEG or
            /// WebP).
            library.assets: add_picture(name: String, data: String) -> Picture;
            /// Stores the user's message with pictures from `add_picture`, then starts the reply;
            /// the text may be empty.
            turns.sending: send_pictures(chat: ChatId, text: String, pictures: Vec<Picture>) -> Started;
            /// Sends the text, or runs it if it is a slash command such as `/mode study`; `//mode`
            /// sends `/mode`. The pictures belong to a message, and a command leaves them.
            turns.slash: run_command(chat: ChatId, text: String, pictures: Vec<Picture>) -> CommandOutcome;
            /// Completions of a slash command that is being typed, best first.
            turns.slash: complete_command(chat: ChatId, text: String) -> Vec<CommandCompletion>;
            /// The quick replies that a chat shows: those of every chat, of its character, its own.
            library.quick_replies: quick_replies(chat: ChatId) -> Vec<QuickReplySet>;
            /// All sets of quick replies, and where they are shown.
            library.quick_replies: quick_reply_sets(chat: ChatId) -> Vec<QuickReplySetSummary>;
            /// Shows a set of quick replies in a chat, with its character or everywhere, or no
            /// longer.
            library.quick_replies: bind_quick_replies(set: String, chat: ChatId, scope: QuickReplyScope, bound: bool) -> Vec<QuickReplySetSummary>;
            /// A set of quick replies as the editor shows it.
            library.quick_replies: quick_reply_form(set: String) -> QuickReplyForm;
            /// Stores a new or a changed set of quick replies. Returns its id.
            library.quick_replies: save_quick_replies(form: QuickReplyForm) -> String;
            /// Deletes a set of quick replies.
            library.quick_replies: delete_quick_replies(set: String) -> ();
            /// Allows or forbids that the quick replies of a set run by themselves.
            library.quick_replies: allow_quick_replies(set: String, allowed: bool) -> ();
            /// Runs a quick reply: sends its text, or runs its commands as if the user had typed
            /// them. `typed` is the text in the composer.
            turns.slash: run_quick_reply(chat: ChatId, set: String, index: u32, typed: String) -> QuickReplyRun;
            /// Runs the quick replies that run by themselves when a chat is opened, as far as the
            /// user allowed it.
            turns.slash: run_opening_quick_replies(chat: ChatId) -> ();
            /// Starts another swipe of the last reply.
            turns.sending: regenerate(chat: ChatId) -> Started;
            /// Starts another swipe of the last reply with a hint or with another model, for this
            /// swipe alone.
            turns.sending: regenerate_with(chat: ChatId, wanted: RegenerateOptions) -> Started;
            /// The probabilities of the tokens of a message's selected swipe; empty if they were
            /// not recorded.
            turns.sending: token_choices(message: MessageId) -> TokenChoices;
            /// Starts another swipe of the last reply: equal up to `token`, then an alternative in
            /// its place. Both count from 0.
            turns.sending: continue_from_token(chat: ChatId, token: u32, alternative: u32) -> Started;
            /// Sets the characters that take part besides the chat's own, in the order of their
            /// turns.
            library.groups: set_members(chat: ChatId, characters: Vec<CharacterId>) -> ();
            /// Sets how the characters of a group chat take turns.
            library.groups: set_group(chat: ChatId, options: GroupOptions) -> ();
            /// Mutes a participant, or marks it as away: who is away neither hears nor speaks.
            library.groups: set_member(chat: ChatId, character: CharacterId, muted: bool, away: bool) -> ();
            /// Lets a participant know all messages so far, as if it had been present.
            library.groups: let_member_know(chat: ChatId, character: CharacterId) -> ();
            /// Lets the participant speak who goes on without the user; `null` if nobody does.
            turns.sending: speak_next(chat: ChatId) -> Option<Started>;
            /// Lets a participant speak now; without a character, the narrator.
            turns.sending: let_speak(chat: ChatId, speaker: Option<String>) -> Started;
            /// Continues the last reply.
            turns.sending: continue_reply(chat: ChatId) -> Started;
            /// Starts a draft of the user's next message in the composer; it is not sent.
            turns.sending: impersonate(chat: ChatId) -> ();
            /// Stops the reply or the draft; the text so far is kept.
            turns.sending: stop(chat: ChatId) -> ();
            /// Questions about tools that wait for the user's answer, oldest first. The chat's
            /// reply waits as well.
            turns.tools: pending_tools(chat: ChatId) -> Vec<ToolRequest>;
            turns.tools: answer_tool(request: String, decision: ToolDecision) -> ();
            /// The user's decisions about tools, newest first.
            turns.tools: tool_grants() -> Vec<ToolGrant>;
            /// Deletes a decision, so that the user is asked again.
            turns.tools: forget_tool_grant(source: String, tool: String, chat: Option<ChatId>) -> ();
            turns.edits: select_swipe(message: MessageId, index: u32) -> Message;
            /// Deletes one version of a message for good; the only one cannot be deleted.
            turns.edits: delete_swipe(message: MessageId, index: u32) -> Message;
            turns.edits: edit_message(message: MessageId, text: String) -> Message;
            /// Works like `edit_message`, unless the text is no longer `was`: then nothing changes,
            /// and the result is `null`.
            turns.edits: edit_message_from(message: MessageId, was: String, text: String) -> Option<Message>;
            /// `restore_message` undoes it until the app ends.
            turns.edits: delete_message(message: MessageId) -> ();
            turns.edits: restore_message(message: MessageId) -> ();
            /// Keeps a message in the prompt verbatim when it leaves the window.
            turns.previews: pin_message(message: MessageId, pinned: bool) -> Message;
            /// Hides a message from the model, or sends it again; it stays in the chat.
            turns.edits: hide_message(message: MessageId, hidden: bool) -> Message;
            /// Deletes a message and all later ones, and returns them; `restore_messages` undoes it
            /// until the app ends.
            turns.edits: delete_from(message: MessageId) -> Vec<MessageId>;
            turns.edits: restore_messages(messages: Vec<MessageId>) -> ();
            /// Hides the messages from `first` through `last` from the model, or sends them again.
            /// Returns those that changed.
            turns.edits: hide_range(first: MessageId, last: MessageId, hidden: bool) -> Vec<MessageId>;
            /// Hides these messages, or sends them again.
            turns.edits: hide_messages(messages: Vec<MessageId>, hidden: bool) -> ();
            /// Exchanges a message with the next one, or with the previous one.
            turns.edits: move_message(message: MessageId, down: bool) -> ();
            /// Copies a chat up to a message into a new chat with a link back. `swipe` is the index
            /// of the version that the branch shows.
            turns.edits: branch_chat(message: MessageId, swipe: Option<u32>, title: Option<String>) -> Chat;
            /// Moves a message and all later ones into a new chat. `delete_chat` and
            /// `restore_messages` undo it.
            turns.edits: split_chat(message: MessageId) -> SplitChat;
            /// Appends the messages of another chat of the same character, which moves to the
            /// trash. `delete_from` with the first added message and `restore_chat` undo it.
            turns.edits: join_chats(chat: ChatId, other: ChatId) -> JoinedChat;
            /// Links to branches, checkpoints, edited messages and ratings.
            library.chats: chat_marks(chat: ChatId) -> ChatMarks;
            /// Adds or renames the checkpoint of a message; without a name it is removed.
            library.chats: set_checkpoint(message: MessageId, name: Option<String>) -> ChatMarks;
            /// Rates a swipe; without a rating, the rating is removed.
            library.chats: rate_swipe(swipe: SwipeId, rating: Option<Rating>) -> ();
            /// The earlier texts of a message, newest first. `edit_message` restores one.
            library.chats: revisions(message: MessageId) -> Vec<Revision>;
            /// The changes, by words, from an earlier text to the one that replaced it. `index`
            /// counts from the newest.
            library.chats: revision_changes(message: MessageId, index: u32) -> Vec<ChangedText>;
            /// Deletes the earlier texts of a message permanently.
            library.chats: delete_revisions(message: MessageId) -> ();
            /// The chats of one origin as a tree.
            library.chats: story_tree(chat: ChatId) -> StoryTree;
            /// A chat as a document for people. `last` limits it to so many messages from the end.
            library.exports: render_chat(chat: ChatId, format: ReadableFormat, options: ReadableOptions, last: Option<u32>) -> RenderedChat;
            /// The messages of a chat up to one of them, for reading.
            library.chats: read_path(chat: ChatId, through: MessageId) -> Vec<StoryMessage>;
            /// Makes the user's name in an imported chat a persona, and uses it in that chat.
            library.chats: persona_from_chat(chat: ChatId) -> Persona;
            /// Keeps the user's name of an imported chat, so that pages no longer ask for a
            /// persona.
            library.personas: keep_chat_name(chat: ChatId) -> ();
            /// Starts a new scene: the next prompt begins with the next message, and all messages
            /// are kept.
            turns.previews: new_scene(chat: ChatId) -> ();

            /// The sections of the chat's prompt template, and which of them the chat leaves out.
            turns.previews: prompt_sections(chat: ChatId) -> PromptSections;
            /// Includes a section of the template in the prompts of a chat, or leaves it out.
            turns.previews: set_prompt_section(chat: ChatId, name: String, on: bool) -> PromptSections;
            /// The prompt that `text` would send, with changes to try; nothing is sent or stored.
            turns.previews: preview_prompt(chat: ChatId, text: String, what_if: WhatIf) -> PromptReport;
            /// The stored manifest of a reply.
            turns.previews: manifest(swipe: SwipeId) -> PromptReport;
            /// The manifest of a reply, compared with that of the turn before.
            turns.previews: compare_prompt(swipe: SwipeId) -> PromptComparison;
            /// The prompt that `text` would send, compared with the last one that was sent.
            turns.previews: compare_next(chat: ChatId, text: String) -> PromptComparison;
            /// The prompt of a reply at one stage, compared with the stage before.
            turns.previews: prompt_stage(swipe: SwipeId, stage: PromptStage) -> StageComparison;
            /// The prompt that `text` would send at one stage, compared with the stage before.
            turns.previews: next_stage(chat: ChatId, text: String, what_if: WhatIf, stage: PromptStage) -> StageComparison;
            /// The turns with a manifest, newest first; `before` is a message's id.
            turns.previews: past_turns(chat: ChatId, before: Option<MessageId>, limit: u32) -> Vec<PastTurn>;

            /// The first `pages` pages of a character's memories; with a query, of those that match
            /// it, best first.
            library.memories: find_memories(character: CharacterId, query: String, filter: MemoryFilter, pages: u32) -> FoundMemories;
            /// The first sentences of message ranges of a character's chats that no model has
            /// summarized, newest first, at most 500.
            library.memories: keyframes(character: CharacterId) -> Vec<Keyframe>;
            /// Without an id it is a new one.
            library.memories: save_memory(draft: MemoryDraft) -> Memory;
            /// Removes the memory from every later prompt; `restore_memory` undoes it until the app
            /// ends.
            library.memories: delete_memory(id: MemoryId) -> ();
            library.memories: restore_memory(id: MemoryId) -> ();
            library.memories: pin_memory(id: MemoryId, pinned: bool) -> Memory;
            /// Replaces two memories by one with `text` and the sources of both; `unmerge_memories`
            /// undoes it until the app ends.
            library.memories: merge_memories(first: MemoryId, second: MemoryId, text: String) -> Memory;
            library.memories: unmerge_memories(merged: MemoryId, parts: Vec<MemoryId>) -> ();
            /// Forgets all memories of a character, of a pair or of everybody, and returns their
            /// ids; `restore_memories` undoes it until the app ends.
            library.memories: forget_memories(of: MemoryOwner) -> Vec<MemoryId>;
            library.memories: restore_memories(memories: Vec<MemoryId>) -> ();
            /// Imports the memories of an exported file for a character; existing ones stay as they
            /// are.
            library.memories: import_memories(character: CharacterId, json: String) -> MemoryImport;
            /// Consolidates all memories: merges those that say the same, archives outdated ones,
            /// and retires old and uncertain ones. `unarchive_memories` restores each.
            learning: consolidate_memories() -> Consolidation;
            /// Restores archived memories. From then on only the user can archive them.
            learning: unarchive_memories(memories: Vec<MemoryId>) -> ();
            /// The size of all memories and vectors in the database.
            library.memories: memory_storage() -> MemoryStorage;
            /// The ids of the lorebooks that apply there: a memory may belong to one of them.
            library.memories: memory_worlds(character: CharacterId, persona: PersonaId, chat: Option<ChatId>) -> Vec<LorebookId>;
            /// Shows what a turn with these words would recall in a chat, and why, best first.
            /// Nothing is sent or stored.
            turns.previews: try_recall(chat: ChatId, words: String) -> Recollection;
            /// Shows what the newest reply of a chat was written with, and why; empty if no reply
            /// has a manifest.
            turns.previews: recalled(chat: ChatId) -> Recollection;
            /// The messages with these ids, in order; a deleted one is left out.
            library.memories: receipts(messages: Vec<MessageId>) -> Vec<Receipt>;

            config.prompts: list_templates() -> Vec<TemplateSummary>;
            config.prompts: get_template(id: String) -> TemplateDocument;
            /// An empty `id` creates a new one; the id of a built-in one stores a changed copy in
            /// its place.
            config.prompts: save_template(id: String, json: String) -> TemplateDocument;
            /// A built-in one is reset to its original.
            config.prompts: delete_template(id: String) -> ();
            config.prompts: check_template(json: String) -> Vec<TemplateProblem>;
            /// The template, rendered for a chat; nothing is stored.
            turns.previews: render_template(json: String, chat: ChatId) -> RenderedTemplate;
            /// The sections of a template that is being edited, merged with those that it inherits.
            config.prompts: template_sections(json: String) -> Vec<TemplateSection>;
            config.prompts: template_variables() -> Vec<VariableDoc>;
            config.prompts: list_modes() -> Vec<Mode>;
            config.prompts: save_mode(mode: Mode) -> Mode;
            /// A built-in one is reset to its original.
            config.prompts: delete_mode(name: String) -> ();
            library.scripts: list_regex_scripts() -> Vec<RegexScriptRow>;
            library.scripts: save_regex_script(script: RegexScriptRow) -> RegexScriptRow;
            library.scripts: delete_regex_script(id: String) -> ();
            /// Sets the order in which scripts run, each on the result of the one before.
            library.scripts: order_regex_scripts(ids: Vec<String>) -> Vec<RegexScriptRow>;
            /// The result of a script on a sample, with the macros of the chat. Nothing is stored.
            library.scripts: try_regex_script(script: String, sample: String, chat: Option<ChatId>) -> ScriptTrial;
            library.scripts: card_scripts(character: CharacterId) -> CardScripts;
            /// Allows or forbids the scripts of a character's card.
            library.scripts: allow_card_scripts(character: CharacterId, allowed: bool) -> ();

            config.prompts: list_chat_formats() -> Vec<ChatFormat>;
            /// An empty `id` creates a new one; built-in ones cannot be changed.
            config.prompts: save_chat_format(format: ChatFormat) -> ChatFormat;
            config.prompts: delete_chat_format(id: String) -> ();
            config.prompts: list_sampler_presets() -> Vec<SamplerPreset>;
            /// An empty `id` creates a new one.
            config.prompts: save_sampler_preset(preset: SamplerPreset) -> SamplerPreset;
            /// Everything that used it falls back to its own values.
            config.prompts: delete_sampler_preset(id: String) -> ();
            /// The preset in SillyTavern's format, as JSON.
            config.prompts: export_sampler_preset(id: String) -> String;

            config.models: list_models() -> Vec<Model>;
            /// Removes the file from the library; it stays on the disk.
            config.model_moves: remove_model(id: ModelId) -> ();
            /// Deletes the file of a model in the download folder, and removes it from the library.
            config.model_moves: delete_model_file(id: ModelId) -> ();
            /// The address of the model hub, and the folders of model files.
            config.hub: hub_settings() -> HubSettings;
            /// Sets the address of the hub; an empty one restores the default. Forgets the token if
            /// it changes.
            config.hub: set_hub_address(address: String) -> HubSettings;
            /// Stores the access token for the hub in the keychain; an empty one removes it.
            config.hub: set_hub_token(token: String) -> HubSettings;
            /// Forgets a model folder. Its models stay in the library, and its files stay where
            /// they are.
            config.hub: forget_model_folder(folder: String) -> HubSettings;
            /// Chooses a model folder for later downloads; an empty text chooses the one inside the
            /// data folder.
            config.hub: set_download_folder(folder: String) -> HubSettings;
            /// Searches the hub for models with GGUF files. `page` is the cursor of a further page.
            config.hub: search_hub(query: String, page: Option<String>) -> HubSearch;
            /// The model files of a repository on the hub.
            config.hub: hub_files(repo: String) -> HubRepository;
            /// Reads the header of a file on the hub, and reports the memory that it needs at a
            /// context size in tokens.
            config.hub: hub_fit(repo: String, path: String, context: Option<u32>) -> FitReport;
            /// The catalogue of models that comes with the app, the best one for this machine
            /// first.
            config.hub: suggested_models() -> Vec<SuggestedModel>;
            /// How fast the models of the library write on this machine, as measured or estimated.
            /// Those whose speed is not known are left out.
            config.model_speeds: model_speeds() -> Vec<ModelSpeed>;
            /// Whether to say that a larger model talks better: only small ones can answer, and the
            /// hint was not dismissed.
            config.hub: hints_at_larger_model() -> bool;
            config.hub: dismiss_larger_model_hint() -> ();
            /// Downloads a model of the catalogue, and makes it the default afterwards.
            config.hub: download_suggestion(id: String) -> Download;
            /// Downloads a file of the hub, with the file that reads pictures for it if `projector`
            /// names one. Events report the progress and the end.
            config.hub: start_download(repo: String, path: String, projector: Option<String>, makes_default: bool) -> Download;
            /// The downloads that are not complete, the oldest first.
            config.hub: list_downloads() -> Vec<Download>;
            /// Pauses a download; what it has received stays.
            config.hub: pause_download(id: String) -> Download;
            /// Resumes a download that was paused, failed or interrupted.
            config.hub: resume_download(id: String) -> Download;
            /// Cancels a download and deletes what it has received.
            config.hub: cancel_download(id: String) -> ();
            /// Moves the files of a model into a model folder; an empty text is the one inside the
            /// data folder. The copy is compared by its checksum before the old files are deleted.
            /// Events report the progress and the end.
            config.model_moves: move_model(id: ModelId, folder: String) -> ModelMove;
            /// Moves every model of a model folder into another one.
            config.model_moves: move_models_of_folder(from: String, folder: String) -> Vec<ModelMove>;
            /// The moves of models that have not ended.
            config.model_moves: list_model_moves() -> Vec<ModelMove>;
            /// Cancels a move and deletes what it has copied.
            config.model_moves: cancel_model_move(id: ModelId) -> ();
            /// Other apps on this machine with model files that are not in the library.
            config.hub: find_other_models() -> Vec<OtherAppModels>;
            /// Adds the models of one of these apps to the library, without copying them.
            config.hub: add_other_models(app: String) -> AddedModels;
            /// Whether and where each local model is loaded, in the order of the library.
            config.models: model_states() -> Vec<ModelState>;
            /// Loads a model with its own settings, and waits until it is loaded.
            config.models: load_model(id: ModelId) -> ModelState;
            /// Unloads a model once its current reply has ended. The next reply loads it again.
            config.models: unload_model(id: ModelId) -> ModelState;
            /// The model reads no pictures from now on.
            config.models: remove_model_projector(id: ModelId) -> ModelState;
            /// The model reads pictures with the file in its folder from now on, if there is one.
            config.models: pair_model_projector(id: ModelId) -> ModelState;
            /// Changes the weight of one of the model's adapters (LoRA), from 0 to 2.
            config.models: set_adapter_weight(id: ModelId, path: String, weight: f32) -> ModelState;
            /// Loads the model without this adapter from now on.
            config.models: remove_model_adapter(id: ModelId, path: String) -> ModelState;
            /// The embedding model, and how much it has still to embed.
            recall: embedding_choice() -> EmbeddingModel;
            /// Uses the embedding model that comes with the app.
            recall: use_bundled_embedding_model() -> EmbeddingModel;
            /// Measures the model for about ten seconds with several numbers of threads and batch
            /// sizes, and stores the best as settings of the model.
            config.speed_tests: measure_model(id: ModelId) -> SpeedTest;
            /// Lists the devices that can compute models. A driver that crashes costs only the
            /// process that asks it.
            config.models: list_devices() -> ComputeDevices;
            config.endpoints: list_endpoints() -> Vec<Endpoint>;
            config.endpoints: save_endpoint(draft: EndpointDraft) -> Endpoint;
            config.endpoints: delete_endpoint(id: EndpointId) -> ();
            /// Removes the endpoint's tokenizer file. Its tokens are counted by an encoding that
            /// fits its model, or estimated.
            config.endpoints: remove_endpoint_tokenizer(id: EndpointId) -> Endpoint;
            /// Asks the endpoint of a draft for its models. Nothing is saved.
            config.endpoints: test_endpoint(draft: EndpointDraft) -> EndpointTest;
            /// Asks a stored endpoint for its models and stores the list.
            config.endpoints: refresh_endpoint(id: EndpointId) -> EndpointTest;
            /// Common services and servers, to prefill the endpoint form with.
            config.endpoints: endpoint_services() -> Vec<EndpointService>;

            /// The servers that offer tools (MCP), with their tools as they were listed last.
            config.tool_servers: list_tool_servers() -> Vec<ToolServer>;
            /// Adds or changes a tool server. A new one is switched off.
            config.tool_servers: save_tool_server(draft: ToolServerDraft) -> ToolServer;
            /// Adds the servers of a text, such as `{"mcpServers": {...}}`. All are switched off.
            config.tool_servers: add_tool_servers(text: String) -> AddedToolServers;
            /// Removes a tool server with its values and permissions.
            config.tool_servers: delete_tool_server(id: ToolServerId) -> ();
            /// Switches a tool server on or off. It starts when it is switched on; if that fails,
            /// its state has the reason.
            config.tool_servers: switch_tool_server(id: ToolServerId, on: bool) -> ToolServer;
            /// Starts the server, also if it is off, and lists its tools and resources.
            config.tool_servers: test_tool_server(id: ToolServerId) -> ToolServerTest;
            /// Stores what the user has decided about a tool. Only `chat` needs a chat.
            config.tool_servers: set_tool_grant(server: ToolServerId, tool: String, chat: Option<ChatId>, grant: ServerToolGrant) -> ToolServer;
            /// Reads a resource of a tool server that is on, as text.
            config.tool_servers: read_server_resource(id: ToolServerId, uri: String) -> String;
            /// The models that chats chose, latest first.
            config.endpoints: recent_models() -> Vec<ModelRef>;
        }
    };
}
