//! The types that the window, HTTP and the command line see. They are separate from the inner
//! types, which stay free to change, and every one is exported to TypeScript
//! (`ui/src/lib/api/generated.ts`).
//!
//! Ids and points in time are text (UUID, RFC 3339), because the exporter refuses 64-bit integers.

mod backups;
mod branches;
mod card_assets;
mod chats;
pub mod client;
mod data_warnings;
mod drafts;
mod error;
mod events;
mod folders;
mod hub;
mod layered;
mod library;
mod local_api;
mod lorebooks;
mod memory;
mod model_load;
mod models;
mod presets;
mod prompts;
mod quick_replies;
mod readable;
mod reasons;
mod regenerate;
mod search;
mod settings;
mod slash;
mod token_choices;
mod tool_servers;
mod tools;
mod turn_options;
mod vision;

pub use backups::*;
pub use branches::*;
pub use card_assets::*;
pub use chats::*;
pub use data_warnings::*;
pub use drafts::*;
pub use error::*;
pub use events::*;
pub use folders::*;
pub use hub::*;
pub use layered::*;
pub use library::*;
pub use local_api::*;
pub use lorebooks::*;
pub use memory::*;
pub use model_load::*;
pub use models::*;
pub use presets::*;
pub use prompts::*;
pub use quick_replies::*;
pub use readable::*;
pub use reasons::*;
pub use regenerate::*;
pub use search::*;
pub use settings::*;
pub use slash::*;
pub use token_choices::*;
pub use tool_servers::*;
pub use tools::*;
pub use turn_options::*;
pub use vision::*;
