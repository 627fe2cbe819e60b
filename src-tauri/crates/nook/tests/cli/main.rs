//! Tests of the real binary with temporary data folders. Tests that need a model use the default one in the real
//! worker.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod data;
mod endpoints;
mod exports;
mod hostile;
mod library;
mod lore;
mod memory;
mod serving;
mod sillytavern;
mod talking;
mod words;
mod world;
