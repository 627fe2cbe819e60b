//! The things people own and talk with: cards, chats, messages, swipes, personas, and the prompts made of them.
//!
//! Promises
//! - What is read is kept: a card survives import and export with every unknown field.
//! - Odd data is an error with a reason, or a warning beside a result; never a panic.
//!
//! Absent: files, clocks, randomness, async, SQL, HTTP. Whoever needs the time or an id passes it in.

pub mod archive;
pub mod backyard;
pub mod card;
pub mod chat;
pub mod chat_file;
pub mod document;
pub mod id;
pub mod keyframe;
pub mod lenient_json;
pub mod lorebook;
pub mod memory;
pub mod model;
pub mod overrides;
pub mod persona;
pub mod prompt;
pub mod regex_script;
pub mod sampling;
pub mod script;
pub mod settings;
pub mod time;
pub mod tool_call;

pub use id::{
    CharacterId, ChatId, DocumentId, EndpointId, KeyframeId, LorebookId, MemoryId, MessageId, ModelId, PersonaId,
    SwipeId,
};
pub use time::Timestamp;
pub use tool_call::{Arguments, ToolCall};
