//! The local provider with a real worker and a real model (SmolLM2-135M). `cargo xtask setup`
//! provides both.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "tests")]

mod adapters;
mod cancel;
mod conformance;
mod corpus;
mod death;
mod devices;
mod embeddings;
mod files;
mod pictures;
mod pieces;
mod replies;
mod samplers;
mod saved;
mod sealed_caches;
mod support;
#[allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    reason = "shared with other crates"
)]
#[path = "../../../../../tests/src/tiny_models/mod.rs"]
mod tiny_models;
mod tokens;
mod vulkan;
