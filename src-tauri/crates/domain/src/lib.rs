//! Domain types: cards, chats, messages, swipes, personas, lorebooks, settings, and the prompts
//! made of them.
//!
//! Guarantees
//! - A card survives import and export with every unknown field.
//! - Odd input gives an error with a reason, or a warning next to a result. It never panics.
//!
//! This crate uses no files, clocks, randomness, async code, SQL or HTTP. Callers pass in times and
//! ids.

pub mod archive;
pub mod backyard;
pub mod card;
pub mod chat;
pub mod chat_file;
pub mod dice;
pub mod emotion;
pub mod file_kind;
pub mod id;
pub mod lenient_json;
pub mod lorebook;
pub mod memory;
pub mod model;
pub mod overrides;
pub mod persona;
pub mod prompt;
pub mod quick_reply;
pub mod readable_chat;
pub mod regex_script;
pub mod sampling;
pub mod settings;
pub mod slash;
#[cfg(test)]
mod test_cases;
mod text;
pub mod time;
mod tool;

pub use archive::bundle;
pub use id::{
    ApiKeyId, CharacterId, ChatId, DocumentId, EndpointId, FolderId, KeyframeId, LorebookId,
    MemoryId, MessageId, ModelId, PersonaId, SwipeId, ToolServerId,
};
pub use memory::{document, embedding, keyframe};
pub use quick_reply::edit as quick_reply_edit;
pub use sampling::token_choice;
pub use text::{plain, plain_line, script, search_query, shown_text};
pub use time::Timestamp;
pub use tool::{tool_call, tool_server};
pub use tool_call::{
    SignedThought, ToolArguments, ToolCall, ToolDefinition, ToolResult, ToolRound,
};
