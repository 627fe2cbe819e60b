//! The types that the window, HTTP and the command line see. They are separate from the inner
//! types, which stay free to change, and every one is exported to TypeScript
//! (`ui/src/lib/api/generated.ts`).
//!
//! Points in time are text (RFC 3339), because the exporter refuses 64-bit integers.

mod chats;
pub mod client;
mod data_warnings;
mod error;
mod library;
mod models;
mod prompt_sections;
mod prompts;
mod reasons;
mod turn_options;

pub use chats::*;
pub use data_warnings::*;
pub use domain::{
    ApiKeyId, CharacterId, ChatId, DocumentId, EndpointId, FolderId, KeyframeId, LorebookId,
    MemoryId, MessageId, ModelId, PersonaId, SwipeId, ToolServerId,
};
pub use error::*;
pub use library::*;
pub use models::*;
pub use prompt_sections::*;
pub use prompts::*;
pub use reasons::*;
pub use turn_options::*;
