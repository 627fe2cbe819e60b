//! What is sent to a model, and why: candidates become a frame, a frame becomes a plan that fits, a plan becomes a prompt.
//!
//! Promises
//! - The same card, chat, settings and time give the same bytes, so the model can keep the shared prefix.
//! - Between epochs every prompt begins with the bytes of the one before it, reply included (invariant 4).
//! - `tokens of the prompt + reply reserve <= limit`, always (invariant 1). What must stay is never cut: where it does not
//!   fit, nothing is sent and the error names the block and the missing tokens.
//! - Text by people, cards and models never becomes a control token: the chat template is rendered with it held apart.
//! - One function, [`assemble`], makes every prompt: send, regenerate, continue, preview and tests.
//!
//! Absent: files, clocks, randomness, async, tokenizers. The one port is [`CountTokens`].

pub mod budget;
pub mod chat_template;
pub mod clock;
pub mod convert;
pub mod count;
pub mod display;
pub mod frame;
pub mod frozen;
pub mod full_text;
mod hash;
pub mod importance;
mod js_regex;
mod line_ends;
pub mod lore;
pub mod macros;
pub mod plan;
pub mod prompt_template;
pub mod regex_script;
pub mod reuse;
pub mod similarity;
#[cfg(test)]
mod test_cases;
mod window;
mod wording;

pub use budget::Budget;
pub use chat_template::{ChatTemplate, TemplateError};
pub use count::{CountTokens, Estimate};
pub use frame::{
    BlockKind, Candidate, Frame, HeadPart, HistoryMessage, LoreSection, Now, Place, Placed, Priority, Source, Zone,
};
pub use frozen::FrozenBlock;
pub use line_ends::unix_lines;
pub use plan::{
    AssembleError, Assembled, Dropped, EpochReason, Largest, Overflow, Placement, PlannedBlock, PlannedPicture,
    Retention, Setup, Shares, Watermark, assemble, base, leave_out,
};
