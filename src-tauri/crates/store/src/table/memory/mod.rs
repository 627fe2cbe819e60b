//! Memories, keyframes, and the embeddings of messages and items.
//!
//! Guarantees
//! - A memory is valid only while its source messages are present and unchanged; `row` has the
//!   condition. A keyframe is deleted when one of its texts changes.
//! - Embeddings are removed with their texts, and a changed text is queued again.
//! - A retraction marks the chats whose saved KV caches may contain it.

mod archive;
mod bulk;
mod detach;
mod item_embedding;
mod keyframe;
mod memories;
pub(crate) mod row;
mod search;
mod vector;
mod world;

pub use archive::ActiveMemory;
pub use bulk::{MemoryFilter, MemorySet, MemoryStorage};
pub use item_embedding::{
    EmbeddedKind, EmbeddingGroup, LoreEntryText, QueuedItem, StoredEmbedding,
};
pub use search::FoundMemory;
pub use vector::{MessageContent, NewVector, QueuedText, StoredVector, VectorRevision};
