//! The one list of operations. The window's commands, the HTTP routes and the TypeScript client are all made from it, so
//! they cannot drift apart.

/// Calls `$then!` with every operation of [`crate::Engine`] that a UI may call: docs, name, arguments, result.
#[macro_export]
macro_rules! operations {
    ($then:ident) => {
        $then! {
            /// What the window needs to draw its first screen.
            startup() -> Startup;
            /// Version, data folder, database, models, worker, token counts: a reason with each no. No endpoint is asked.
            health() -> Health;
            get_settings() -> Settings;
            /// Changes the fields that are there, and no others.
            update_settings(change: SettingsChange) -> Settings;
            /// Settings of prompts and replies as they are for `owner`: value, origin, layers.
            layered_settings(owner: SettingOwner) -> LayeredSettings;
            /// Sets one of them for `owner`; without a value the layer below decides again.
            set_setting(owner: SettingOwner, key: String, value: Option<SettingValue>) -> LayeredSettings;

            backups() -> Backups;
            /// Makes a backup now: checked before it counts.
            backup() -> Backup;
            /// What a restore of that backup would bring back and take away. Nothing is changed.
            preview_restore(file: String) -> RestorePreview;
            /// Restores that backup at the next start; the present data is set aside then.
            restore_at_next_start(file: String) -> ();
            delete_backups(files: Vec<String>) -> ();
            /// Bytes that backups may take. The next backup applies it.
            set_backup_budget(megabytes: u32) -> Backups;
            forget_second_place() -> Backups;

            /// Deleted chats, characters and lorebooks, the last deleted first.
            trash() -> Vec<TrashItem>;
            restore_from_trash(items: Vec<TrashRef>) -> ();
            /// Removes them from the files at once; with `backups` also every backup that holds one of them, after a new one is made.
            delete_from_trash(items: Vec<TrashRef>, backups: bool) -> DeletedForGood;
            /// Removes all that is in the trash at once, and the messages, memories and documents deleted since the start; with
            /// `backups` also every backup, after a new one is made.
            empty_trash(backups: bool) -> DeletedForGood;

            list_characters() -> Vec<CharacterSummary>;
            get_character(id: String) -> Character;
            create_character(fields: CharacterFields) -> Character;
            update_character(id: String, fields: CharacterFields) -> Character;
            /// Replaces the picture. `data` is the file's content in base64 (PNG, JPEG or WebP).
            set_character_picture(id: String, data: String) -> Character;
            /// Goes to the trash; `restore_character` undoes it.
            delete_character(id: String) -> ();
            restore_character(id: String) -> ();
            /// Those whose card has every word of `query`, or the beginning of it: names, tags, creators, descriptions.
            find_characters(query: String) -> Vec<String>;
            set_favourites(characters: Vec<String>, favourite: bool) -> ();
            /// Adds tags to the cards of all of them, and takes others off.
            tag_characters(characters: Vec<String>, add: Vec<String>, remove: Vec<String>) -> ();
            /// All of them or none. They go to the trash; `restore_characters` undoes it.
            delete_characters(characters: Vec<String>) -> ();
            restore_characters(characters: Vec<String>) -> ();
            /// Tokens of each text by the model that answers by default.
            count_fields(texts: Vec<String>) -> TextCounts;
            /// The files that belong to a character's card, in its order.
            card_assets(character: String) -> Vec<CardAsset>;
            /// The hash of a small picture of one of them; nothing if it is no picture.
            show_card_asset(character: String, id: String) -> Option<String>;
            /// Puts a file to the card, at the end. `data` is its content in base64.
            add_card_asset(character: String, kind: String, file: String, data: String) -> Vec<CardAsset>;
            update_card_asset(character: String, id: String, kind: String, name: String) -> Vec<CardAsset>;
            /// Answers with what `restore_card_asset` needs to undo it until the app ends.
            remove_card_asset(character: String, id: String) -> String;
            restore_card_asset(character: String, removed: String) -> Vec<CardAsset>;
            /// The entries of the lorebook in a character's card, in the book's order.
            card_lore(character: String) -> Vec<LoreEntry>;

            /// Those outside cards, then those in cards, which answer to the ids of their characters.
            list_lorebooks() -> Vec<LorebookSummary>;
            get_lorebook(id: String) -> Lorebook;
            /// A new one outside a card, bound to nothing.
            create_lorebook(name: String) -> Lorebook;
            update_lorebook(id: String, fields: LorebookFields) -> Lorebook;
            /// Lets a lorebook outside a card count where it is bound, or nowhere.
            enable_lorebook(id: String, enabled: bool) -> Lorebook;
            /// Lets a lorebook outside a card count there and nowhere else.
            bind_lorebook(id: String, bindings: Vec<LorebookBinding>) -> Lorebook;
            /// Goes to the trash; `restore_lorebook` undoes it.
            delete_lorebook(id: String) -> ();
            restore_lorebook(id: String) -> ();
            /// An empty `id` makes a new entry, which comes last.
            save_lore_entry(book: String, entry: LorebookEntry) -> LorebookEntry;
            /// Switches entries on or off.
            enable_lore_entries(book: String, ids: Vec<String>, enabled: bool) -> Lorebook;
            /// Answers with what `restore_lore_entries` needs to undo it.
            delete_lore_entries(book: String, ids: Vec<String>) -> String;
            restore_lore_entries(book: String, deleted: String) -> Lorebook;
            /// The order in which people see them; it says nothing about the prompt.
            order_lore_entries(book: String, ids: Vec<String>) -> Lorebook;
            /// Copies entries into another lorebook; with `leave` they are moved.
            copy_lore_entries(book: String, ids: Vec<String>, to: String, leave: bool) -> ();

            /// The entries of a book that are marked to be found by their meaning, and whether each is read; nothing without an
            /// encoder.
            entry_meanings(book: String) -> Vec<EntryMeaning>;

            /// What `text` would wake as the next message of `chat`, with `book` besides the chat's own books; without a chat, in
            /// `book` alone. Nothing is stored.
            try_lore(book: Option<String>, text: String, chat: Option<String>) -> LoreTrial;

            /// Pictures that another app showed behind its chats, as they came; nothing here shows them.
            list_backgrounds() -> Vec<Background>;
            /// How far the import of a folder is; nothing where none is going on.
            import_progress() -> Option<ImportProgress>;
            /// Ends the import of a folder after what it is at. What came in stays.
            cancel_import() -> ();
            /// The kept reports of imports, the newest first.
            list_import_reports() -> Vec<ImportRecord>;
            get_import_report(id: String) -> ImportReport;
            /// Keeps the report of files that were sent one by one as one selection, and tells listeners.
            keep_import_report(report: ImportReport) -> ();

            list_personas() -> Vec<Persona>;
            /// An empty `id` makes a new one.
            save_persona(persona: Persona) -> Persona;
            delete_persona(id: String) -> ();
            /// Replaces the picture; without one there is none any more. `data` is the file's content in base64 (PNG, JPEG or WebP).
            set_persona_picture(id: String, data: Option<String>) -> Persona;

            list_chats() -> Vec<ChatSummary>;
            new_chat(character: String) -> Chat;
            /// Opens a chat with its newest messages.
            open_chat(id: String) -> Chat;
            /// The page of messages before `before`, a message's id.
            messages_before(chat: String, before: String, limit: u32) -> MessagePage;
            rename_chat(id: String, title: String) -> ();
            set_chat_model(id: String, model: Option<ModelRef>) -> ();
            set_chat_persona(id: String, persona: String) -> ();
            /// The texts of the card that a chat may replace, and what this one says instead.
            chat_texts(chat: String) -> Vec<ChatText>;
            /// Lets a chat say `text` instead of its card; without one, the card's words are back.
            set_chat_text(chat: String, field: CardField, text: Option<String>) -> Vec<ChatText>;
            /// The texts that are attached to a chat, a character or a lorebook, the oldest first.
            list_documents(owner: DocumentOwner) -> Vec<AttachedDocument>;
            get_document(id: String) -> AttachedDocument;
            /// Attaches a text (in UTF-8, or as HTML, EPUB or PDF): what of it fits the words of a turn goes with them. `data` is the
            /// file's content in base64.
            attach_document(owner: DocumentOwner, name: String, data: String) -> AttachedDocument;
            /// Gone from every later prompt; can be undone by `restore_document` until the app ends.
            remove_document(id: String) -> ();
            restore_document(id: String) -> ();
            /// Keeps what stands in the composer.
            save_draft(chat: String, text: String) -> ();
            /// Goes to the trash; `restore_chat` undoes it.
            delete_chat(id: String) -> ();
            /// How many memories `delete_chat` would take along that `delete_chat_but_facts` would not.
            learned_in(chat: String) -> u32;
            /// `delete_chat`, but what was learned in it stays; not what sums it up. Undone in the same way.
            delete_chat_but_facts(id: String) -> ();
            restore_chat(id: String) -> ();

            /// Commits the user's words, then starts the reply.
            send_message(chat: String, text: String) -> Started;
            /// Takes in a picture to be sent. `data` is the file's content in base64 (PNG, JPEG or WebP).
            add_picture(name: String, data: String) -> Picture;
            /// Commits the user's words with pictures that were taken in, then starts the reply; the words may be empty.
            send_pictures(chat: String, text: String, pictures: Vec<Picture>) -> Started;
            /// Starts another swipe of the last reply.
            regenerate(chat: String) -> Started;
            /// Those who take part besides the chat's own character, in the order of their turns.
            set_members(chat: String, characters: Vec<String>) -> ();
            /// Lets one who takes part speak now; without a character, the narrator.
            let_speak(chat: String, speaker: Option<String>) -> Started;
            /// Goes on with the last reply.
            continue_reply(chat: String) -> Started;
            /// Starts a draft of the user's next message, for the composer; it is not sent.
            impersonate(chat: String) -> ();
            /// Stops the reply or the draft; what is there is kept.
            stop(chat: String) -> ();
            select_swipe(message: String, index: u32) -> Message;
            edit_message(message: String, text: String) -> Message;
            /// Can be undone by `restore_message` until the app ends.
            delete_message(message: String) -> ();
            restore_message(message: String) -> ();
            /// Keeps a message in the prompt word for word when it leaves the window.
            pin_message(message: String, pinned: bool) -> Message;
            /// Keeps a message from the model, or lets it be sent again; it stays in the chat.
            hide_message(message: String, hidden: bool) -> Message;
            /// Makes the user's name in an imported chat a persona, which is played there from then on.
            persona_from_chat(chat: String) -> Persona;
            /// The next prompt starts with the next message; everything is kept.
            new_scene(chat: String) -> ();

            /// The prompt that `text` would send, with changes to try; nothing is sent or stored.
            preview_prompt(chat: String, text: String, what_if: WhatIf) -> PromptReport;
            /// The stored manifest of a reply.
            manifest(swipe: String) -> PromptReport;
            /// The manifest of a reply beside that of the turn before.
            compare_prompt(swipe: String) -> PromptComparison;
            /// The prompt that `text` would send beside the one that was sent last.
            compare_next(chat: String, text: String) -> PromptComparison;
            /// The prompt of a reply at one stage, beside the stage before.
            prompt_stage(swipe: String, stage: PromptStage) -> StageComparison;
            /// The prompt that `text` would send at one stage, beside the stage before.
            next_stage(chat: String, text: String, what_if: WhatIf, stage: PromptStage) -> StageComparison;
            /// Turns with a manifest, newest first; `before` is a message's id.
            past_turns(chat: String, before: Option<String>, limit: u32) -> Vec<PastTurn>;

            /// What counts with a character; with a query what fits it, best first. As many pages of it as are asked for.
            find_memories(character: String, query: String, filter: MemoryFilter, pages: u32) -> FoundMemories;
            /// What stretches of a character's chats came to where no model has summed them up: their first sentences. The newest first, 500 at the most.
            keyframes(character: String) -> Vec<Keyframe>;
            /// An empty `id` makes a new one.
            save_memory(draft: MemoryDraft) -> Memory;
            /// Gone from every later prompt; can be undone by `restore_memory` until the app ends.
            delete_memory(id: String) -> ();
            restore_memory(id: String) -> ();
            pin_memory(id: String, pinned: bool) -> Memory;
            /// One memory in the place of two, in the words of `text`, made from all that both were made from; can be undone by
            /// `unmerge_memories` until the app ends.
            merge_memories(first: String, second: String, text: String) -> Memory;
            unmerge_memories(merged: String, parts: Vec<String>) -> ();
            /// Forgets all of a character's, a pair's or everything, and answers with which they were; can be undone by
            /// `restore_memories` until the app ends.
            forget_memories(of: MemoryOwner) -> Vec<String>;
            restore_memories(memories: Vec<String>) -> ();
            /// Takes in the memories of an exported file for a character; what is there stays as it is.
            import_memories(character: String, json: String) -> MemoryImport;
            /// Holds all memories against each other: what says the same is merged, what is so no longer superseded, what is old
            /// and unsure retired. Each can be brought back by `unarchive_memories`.
            consolidate_memories() -> Consolidation;
            /// They count again, and are archived no more but by their user.
            unarchive_memories(memories: Vec<String>) -> ();
            /// What memories and vectors take in the file, of all characters.
            memory_storage() -> MemoryStorage;
            /// The lorebooks that count there, by their ids: a memory may belong to one of them.
            memory_worlds(character: String, persona: String, chat: Option<String>) -> Vec<String>;
            /// What a turn with those words would recall in a chat, and why, best first. Nothing is sent or stored.
            try_recall(chat: String, words: String) -> Recollection;
            /// What the newest reply of a chat was written with, and why; nothing where no reply has a manifest.
            recalled(chat: String) -> Recollection;
            /// The messages with those ids, in their order; one that is gone is left out.
            receipts(messages: Vec<String>) -> Vec<Receipt>;

            list_templates() -> Vec<TemplateSummary>;
            get_template(id: String) -> TemplateDocument;
            /// An empty `id` makes a new one; a built-in's id makes a changed one in its place.
            save_template(id: String, json: String) -> TemplateDocument;
            /// A built-in comes back as it was.
            delete_template(id: String) -> ();
            check_template(json: String) -> Vec<TemplateProblem>;
            /// The template filled in for a chat; nothing is stored.
            render_template(json: String, chat: String) -> RenderedTemplate;
            template_variables() -> Vec<VariableDoc>;
            list_modes() -> Vec<Mode>;
            save_mode(mode: Mode) -> Mode;
            /// A built-in comes back as it was.
            delete_mode(name: String) -> ();
            list_regex_scripts() -> Vec<RegexScriptRow>;
            save_regex_script(script: RegexScriptRow) -> RegexScriptRow;
            delete_regex_script(id: String) -> ();
            /// Scripts run in this order, one on the result of the other.
            order_regex_scripts(ids: Vec<String>) -> Vec<RegexScriptRow>;
            /// What a script as it is typed makes of a sample; macros name those of the chat. Nothing is stored.
            try_regex_script(script: String, sample: String, chat: Option<String>) -> ScriptTrial;
            card_scripts(character: String) -> CardScripts;
            /// Lets the scripts of a character's card run, or stops them.
            allow_card_scripts(character: String, allowed: bool) -> ();

            list_chat_formats() -> Vec<ChatFormat>;
            /// An empty `id` makes a new one; those that ship cannot be changed.
            save_chat_format(format: ChatFormat) -> ChatFormat;
            delete_chat_format(id: String) -> ();
            list_sampler_presets() -> Vec<SamplerPreset>;
            /// An empty `id` makes a new one.
            save_sampler_preset(preset: SamplerPreset) -> SamplerPreset;
            /// Whoever had chosen it goes on with their own values.
            delete_sampler_preset(id: String) -> ();
            /// The preset as SillyTavern reads it: JSON.
            export_sampler_preset(id: String) -> String;

            list_models() -> Vec<Model>;
            /// Forgets the file; it stays on the disk.
            remove_model(id: String) -> ();
            list_endpoints() -> Vec<Endpoint>;
            save_endpoint(draft: EndpointDraft) -> Endpoint;
            delete_endpoint(id: String) -> ();
            /// Its tokens are counted again by an encoding that fits its model, or by an estimate.
            remove_endpoint_tokenizer(id: String) -> Endpoint;
            /// Asks the endpoint of a draft for its models. Nothing is saved.
            test_endpoint(draft: EndpointDraft) -> EndpointTest;
            /// Asks a stored endpoint for its models and keeps the list.
            refresh_endpoint(id: String) -> EndpointTest;
            /// The usual services and servers, to prefill the endpoint form with.
            endpoint_services() -> Vec<EndpointService>;
            /// The models that chats chose, the last one first.
            recent_models() -> Vec<ModelRef>;
        }
    };
}
