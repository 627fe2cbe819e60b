//! Prompt assembly: candidates form a frame, the frame becomes a plan that fits the budget, and the
//! plan compiles to a prompt.
//!
//! Guarantees
//! - The same card, chat, settings and time give the same bytes, so the model can reuse the shared
//!   prefix.
//! - Between epochs, every prompt begins with the bytes of the previous prompt and its reply.
//! - `tokens of the prompt + reply reserve <= limit`, always. Required content is never cut: if it
//!   does not fit, nothing is sent and the error names the block and the missing tokens.
//! - Text by people, cards and models never becomes a control token, because the chat template is
//!   rendered with the contents kept apart.
//! - One function, [`assemble`], makes every prompt: send, regenerate, continue, preview and tests.
//!
//! This crate has no files, clocks, randomness, async or tokenizers. Its only port is
//! [`CountTokens`].

pub mod budget;
pub mod chat_template;
pub mod clock;
pub mod convert;
pub mod count;
pub mod display;
pub mod emotion_tag;
pub mod frame;
pub mod frozen;
mod hash;
pub mod importance;
mod js_regex;
pub mod json_pattern;
mod line_ends;
pub mod lore;
pub mod macros;
pub mod plan;
pub mod prompt_template;
pub mod reason;
pub mod regex_script;
pub mod reuse;
pub mod scene_words;
#[cfg(test)]
mod test_cases;
pub mod tools;
mod window;
mod wording;

pub use budget::Budget;
pub use chat_template::{ChatTemplate, TemplateError};
pub use count::{CountTokens, Estimate};
pub use frame::{
    BlockKind, Candidate, Frame, HeadPart, HistoryMessage, InsertionPoint, LoreSection, Placed,
    Priority, PromptTime, Source, Zone,
};
pub use frozen::FrozenBlock;
pub use line_ends::unix_lines;
pub use plan::{
    AssembleError, Assembled, Dropped, EpochReason, Largest, Overflow, Placement, PlannedBlock,
    PlannedPicture, Retention, Setup, Shares, Watermark, assemble, base, leave_out,
};
pub use reason::{BlockReason, Reasons};
