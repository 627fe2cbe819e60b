//! Tests of the real binary with temporary data folders. Tests that load the default model are in
//! `real_model`. `.config/nextest.toml` runs them one at a time.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod calls;
mod canaries;
mod damaged_files;
mod data;
mod endpoints;
mod exports;
mod forgetting;
mod groups;
mod hostile;
mod hub;
#[cfg(windows)]
mod installer;
mod kills;
mod library;
mod lore;
mod mcp;
mod memory;
mod model_moves;
mod passphrases;
mod paths;
mod prompts;
mod protection;
mod real_model;
mod scripted_endpoint;
mod searching;
mod serving;
mod sillytavern;
mod stories;
mod talking;
#[cfg(unix)]
mod tool_servers;
mod tools;
mod words;
mod world;
