//! The embedding model, its vectors, and what is guessed from them.

pub(crate) mod choice;
pub(crate) mod emotion_examples;
pub(crate) mod emotion_guess;
pub(crate) mod encoder;
pub(crate) mod encoder_state;
pub(crate) mod for_clients;
pub(crate) mod items;
pub(crate) mod queue;
pub(crate) mod text_cache;
pub(crate) mod turn_embedding;
pub(crate) mod vector_cache;
