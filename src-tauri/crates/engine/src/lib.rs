//! One turn from collected to saved, and the one API that every face calls.
//!
//! Promises
//! - The user's words are on disk before any model is called; a partial reply is check-pointed while it streams and kept
//!   however it ends.
//! - One function compiles: chat, regenerate, preview and tests all call it, so preview = counted = sent.
//! - Regenerating appends a swipe and overwrites nothing.
//! - Every operation exists once, in [`operations!`]; a Tauri command, an HTTP route and a CLI verb are thin doors to it.
//!
//! Absent: windows, sockets, SQL, C++.

pub mod api;
pub mod operations;
pub mod typescript;

mod answer;
mod backup_schedule;
mod backups;
mod card_assets;
mod card_export;
mod card_fields;
mod characters;
mod chat_export;
mod chat_formats;
mod chat_texts;
mod chats;
mod clock;
mod collect;
mod content;
mod convert;
mod counting;
mod document_files;
mod documents;
mod drafts;
mod endpoint_dialect;
mod endpoint_models;
mod endpoint_secrets;
mod endpoint_tokenizer;
mod endpoints;
mod engine;
mod error;
mod events;
mod fetch;
mod folders;
mod foreign_chat;
mod foreign_date;
mod frame;
mod generation;
mod group;
mod health;
mod history;
mod import;
mod import_backyard;
mod import_bundle;
mod import_cards;
mod import_chat;
mod import_folder_settings;
mod import_groups;
mod import_known;
mod import_lorebook;
mod import_personas;
mod import_pictures;
mod import_preset;
mod import_reports;
mod import_settings;
mod import_sillytavern;
mod import_tags;
mod import_talk;
mod import_worlds;
mod importing;
mod keeping;
mod known_counts;
mod layered;
mod layered_choices;
mod layered_view;
mod library;
mod lore;
mod lore_books;
mod lore_counts;
mod lore_entries;
mod lore_left_out;
mod lore_near;
mod lore_reading;
mod lore_trial;
mod lorebooks;
mod macro_variables;
mod manifest;
mod memory;
mod models;
mod modes;
mod new_chat;
mod opening;
mod panics;
mod passages;
mod pdf;
mod personas;
mod picture;
mod pictures;
mod prompt_files;
mod quick_replies;
mod read_ahead;
mod remote_count;
mod report;
mod rewording;
mod running;
mod said;
mod sampler_presets;
mod script_library;
mod scripts;
mod secrets;
mod settings;
mod stages;
mod stale_caches;
mod start;
mod step;
mod story;
mod target;
mod tasks;
mod tavern;
mod templates;
mod text_counts;
mod thumbnails;
mod titles;
mod trash;
mod turn;
mod variables;
mod words;
mod xray;

pub use characters::Exported;
pub use clock::Clock;
pub use engine::{Asset, Engine, Options};
pub use events::Events;
pub use layered::environment;
pub use memory::{Encoder, corpus, scenario};
pub use models::TokenCount;
pub use panics::contained;
pub use pictures::MAX_PICTURE_BYTES;
pub use quick_replies::QuickReplies;
pub use start::OpenError;
pub use store::make_private_folder;
pub use turn::TurnOptions;

/// A seed for a turn that names none; it is stored with the turn, so that the turn can be repeated.
fn seed() -> u32 {
    uuid::Uuid::new_v4().as_fields().0
}
