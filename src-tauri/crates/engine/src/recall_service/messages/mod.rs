//! Search in the messages of the current and of earlier chats.

pub(crate) mod branches;
pub(crate) mod duplicates;
pub(crate) mod keyframes;
pub(crate) mod lexical;
pub(crate) mod message_mmr;
pub(crate) mod near_cache;
pub(crate) mod older;
pub(crate) mod passages;
pub(crate) mod recent;
pub(crate) mod scope;
pub(crate) mod similarity;
pub(crate) mod witnessed;
