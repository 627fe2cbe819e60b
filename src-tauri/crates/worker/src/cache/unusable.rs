//! Why a saved cache is not used.

use std::io;

/// The prompt is then evaluated again. The texts have no content of chats, because they reach the
/// log.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unusable {
    #[error("it is damaged, or belongs to another folder, model or chat")]
    Damaged,
    #[error("llama.cpp rejects its content")]
    Rejected,
    #[error("it cannot be read: {0}")]
    Io(#[from] io::Error),
}
