//! Runs the turns of a chat, and provides the one API that every front end calls.
//!
//! Guarantees:
//! - The user's message is stored before any model is called. A partial reply is check-pointed
//!   while it streams, and kept however it ends.
//! - One function compiles prompts: chat, regenerate, preview and tests all call it. The previewed,
//!   counted and sent prompts are therefore equal.
//! - Regenerating appends a swipe and overwrites nothing.
//! - Every operation exists once, in [`operations!`]. The window's command, the HTTP route and
//!   `nook call` reach all of them through [`Engine::call`].
//!
//! This crate contains no windows, sockets, SQL or C++.

pub mod api;
pub mod typescript;

mod base;
#[cfg(any(test, feature = "evaluation"))]
mod evaluation;
mod import;
mod learn;
mod library;
mod operations;
mod recall_service;
mod settings;
mod turn;

pub use api::TurnOptions;
pub use base::clock::Clock;
pub use base::events::Events;
pub use base::log_folder::LogFolder;
pub use base::memory_meter::MemoryMeter;
pub use base::open_store::OpenError;
pub use base::options::Options;
pub use base::panics::contained;
pub use base::protection::error::UnlockError;
pub use base::protection::prepare::PreparedProtection;
pub use base::protection::protect_error::ProtectError;
pub use base::protection::status::is_protected;
pub use base::protection::unlock::{UnlockSecret, UnlockedFolder};
pub use base::protection::wrong_tries::WrongTries;
pub use base::tool_source::{SourceGrants, SourceTool, ToolOutput, ToolSource, ToolSources};
pub use domain::shown_text::visible_line;
#[cfg(any(test, feature = "evaluation"))]
pub use evaluation::{corpus, emotion, scenario};
pub use library::assets::asset::Asset;
pub use library::assets::pictures::MAX_PICTURE_BYTES;
pub use library::characters::cards::Exported;
pub use library::quick_replies::files::QuickReplies;
pub use local::disable_core_dumps;
pub use operations::engine::Engine;
pub use recall_service::embeddings::encoder::Encoder;
pub use settings::counting::text_counts::TokenCount;
pub use settings::environment::environment;
pub use settings::tool_servers::OfferedServerTool;
pub use store::make_private_folder;

/// A random seed for a turn without one. It is stored with the turn, so that the turn can be
/// repeated.
fn seed() -> u32 {
    uuid::Uuid::new_v4().as_fields().0
}
