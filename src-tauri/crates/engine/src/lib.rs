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

mod engine;

pub mod typescript;

pub use engine::{Asset, Engine, Events, Exported, OpenError, Options, TokenCount, TurnOptions};
