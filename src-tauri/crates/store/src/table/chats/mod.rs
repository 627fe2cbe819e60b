//! Chats, and the data that belongs to a whole chat: branches, checkpoints, backgrounds, texts that
//! replace those of the card, data of other apps.
//!
//! Guarantees
//! - A deleted chat can be restored until a purge.
//! - Rows that belong to a chat are removed with it.

mod api_chat;
mod background;
mod branch_link;
mod branches;
mod chat;
mod checkpoint;
pub(crate) mod copy;
mod foreign;
mod text;

pub use background::Background;
pub use branch_link::{BranchLink, BranchOrigin, StoryKey, StoryStep};
pub use chat::ChatSummary;
pub use checkpoint::Checkpoint;
pub use copy::{CopiedRange, Copies};
pub use foreign::ForeignChat;
