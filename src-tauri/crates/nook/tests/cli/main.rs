//! The real binary on temporary data folders. Where a model answers, it is the default one in the real worker.

#![expect(clippy::unwrap_used, reason = "a test fails where it is surprised")]

mod data;
mod endpoints;
mod exports;
mod hostile;
mod library;
mod lore;
mod memory;
mod prompts;
mod serving;
mod sillytavern;
mod talking;
mod words;
mod world;
