//! Whole turns through the engine, in one binary, because linking takes longer than compiling.
//!
//! Tests that load the real model are in a module named `real_model`. `.config/nextest.toml` runs them one at a time.

#![allow(clippy::unwrap_used, reason = "a failed helper fails the test")]

mod asks;
mod bad_input;
mod bytes;
mod card_assets;
mod card_files;
mod card_rules;
mod card_versions;
mod chat_texts;
mod consolidation;
mod contents;
mod counting;
mod document_files;
mod document_owners;
mod documents;
mod emotions;
mod endpoints;
mod field;
mod folders;
mod foreign_files;
mod forgotten_meanwhile;
mod groups;
mod import_reports;
mod imported_chats;
mod invariants;
mod layers;
mod learning;
mod learning_model;
mod library;
mod lorebooks;
mod macros;
mod memory;
mod memory_changes;
mod memory_once;
mod memory_panel;
mod memory_personas;
mod memory_worlds;
mod odd_endpoints;
mod odd_imports;
mod personas;
mod plain_chats;
mod planted;
mod planted_sturdy;
mod real_model;
mod reason_texts;
mod requirements;
mod round_trips;
mod samplers;
mod scripts;
mod searching;
mod settings;
mod slash;
mod stages;
mod steps;
mod stories;
mod tavern;
mod trash;
mod turn_ends;
mod turn_log;
mod turns;
mod wire;
mod witnesses;
