//! Keeps the prepared lorebooks of the last chat.

use std::collections::HashSet;
use std::sync::Arc;

use context::lore::PreparedBooks;
use domain::LorebookId;

/// The prepared books of a chat.
pub(crate) struct PreparedBookSet {
    pub(crate) prepared: PreparedBooks,
    /// Ids in the store, and names in prompts.
    pub(crate) ids: Vec<(LorebookId, String)>,
    /// Names of the books that only the speaker of a group scene knows.
    pub(crate) private: HashSet<String>,
}

/// The last prepared books, because the next turn is probably in the same chat.
#[derive(Default)]
pub(crate) struct LoreCache {
    pub(crate) last: Option<(u64, Arc<PreparedBookSet>)>,
}
