//! Memories, keyframes and embeddings.

mod archive;
mod bulk;
mod item_embeddings;
mod keyframes;
pub(super) mod memories;
mod vectors;
mod worlds;
