//! Pure retrieval: lexical search (BM25), late interaction, similarity, query analysis, excerpts
//! and maximal marginal relevance (MMR). It does no I/O; the engine reads the store and calls it.

pub mod attributes;
pub mod command_parser;
pub mod excerpt;
pub mod full_text;
pub mod hints;
pub mod late_interaction;
pub mod memory_mmr;
pub mod neighbour_pooling;
pub mod possession_index;
pub mod possessions;
pub mod query_embedding;
pub mod question;
pub mod question_share;
pub mod scores;
pub mod signals;
pub mod similarity;
pub mod statement;
pub mod tokens;
pub mod updates;
pub mod weights;
