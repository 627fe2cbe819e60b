//! The local provider with a real worker and a real model (SmolLM2-135M). `cargo xtask setup` provides both.

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
mod pieces;
mod replies;
mod samplers;
mod saved;
mod support;
mod tokens;
mod vulkan;
