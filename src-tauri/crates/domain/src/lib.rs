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
pub mod bundle;
pub mod card;
pub mod chat;
pub mod chat_file;
pub mod dice;
pub mod document;
pub mod embedding;
pub mod emotion;
pub mod file_kind;
pub mod id;
pub mod keyframe;
pub mod lenient_json;
pub mod lorebook;
pub mod memory;
pub mod model;
pub mod overrides;
pub mod persona;
pub mod plain;
pub mod plain_line;
pub mod prompt;
pub mod quick_reply;
pub mod quick_reply_edit;
pub mod readable_chat;
pub mod regex_script;
pub mod sampling;
pub mod script;
pub mod search_query;
pub mod settings;
pub mod shown_text;
pub mod slash;
#[cfg(test)]
mod test_cases;
pub mod time;
pub mod token_choice;
pub mod tool_call;
pub mod tool_server;

pub use id::{
    ApiKeyId, CharacterId, ChatId, DocumentId, EndpointId, FolderId, KeyframeId, LorebookId,
    MemoryId, MessageId, ModelId, PersonaId, SwipeId, ToolServerId,
};
pub use time::Timestamp;
pub use tool_call::{
    SignedThought, ToolArguments, ToolCall, ToolDefinition, ToolResult, ToolRound,
};
