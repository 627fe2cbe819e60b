//! Recall: searches messages, memories and documents for a turn.

pub(crate) mod branches;
pub(crate) mod duplicates;
pub(crate) mod embedding;
pub(crate) mod embedding_things;
pub(crate) mod emotion_guess;
pub(crate) mod encoder;
pub(crate) mod encoder_state;
pub(crate) mod facts;
pub(crate) mod handle;
pub(crate) mod hit;
pub(crate) mod keyframes;
pub(crate) mod lexical;
pub(crate) mod message_mmr;
pub(crate) mod near_cache;
pub(crate) mod older;
pub(crate) mod passages;
pub(crate) mod prefetched;
pub(crate) mod query;
pub(crate) mod query_terms;
pub(crate) mod recall;
pub(crate) mod recent;
pub(crate) mod scope;
pub(crate) mod similarity;
pub(crate) mod text_cache;
pub(crate) mod turn_embedding;
pub(crate) mod vector_cache;
