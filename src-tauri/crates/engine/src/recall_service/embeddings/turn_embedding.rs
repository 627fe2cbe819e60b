//! The embedding of a turn's query.

use recall::query_embedding::Understood;
use tokio::sync::OnceCell;

/// The embedding of this turn's question, made once, on first use.
#[derive(Default)]
pub(crate) struct TurnEmbedding(pub(crate) OnceCell<Understanding>);

#[derive(Default)]
pub(crate) struct Understanding {
    pub(crate) words: Option<Understood>,
    /// The embedding made in advance, if the question's own did not come in time.
    pub(crate) before: Option<Understood>,
    pub(crate) notice: Option<&'static str>,
}

impl TurnEmbedding {
    /// Why the embedding of the question is missing.
    pub(crate) fn notice(&self) -> Option<&'static str> {
        self.0.get()?.notice
    }
}
