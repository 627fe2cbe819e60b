//! Recall: searches messages, memories and documents for a turn.

pub(crate) mod embeddings;
pub(crate) mod fact_candidates;
pub(crate) mod facts;
pub(crate) mod handle;
pub(crate) mod hit;
pub(crate) mod memory_scopes;
pub(crate) mod memory_search;
pub(crate) mod messages;
pub(crate) mod prefetched;
pub(crate) mod query;
pub(crate) mod query_terms;
pub(crate) mod recall;
pub(crate) mod recalled;
pub(crate) mod search;
