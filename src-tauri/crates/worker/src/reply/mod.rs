//! The parts of one running reply: its sampler, its drafts and its text.

pub(crate) mod draft;
pub(crate) mod reply_text;
pub(crate) mod sampler;
pub(crate) mod text_filter;
mod text_frame;
pub(crate) mod token_choices;
