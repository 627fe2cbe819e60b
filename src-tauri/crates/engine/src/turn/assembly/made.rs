//! The prompt of a turn, before it is sent.

use context::Assembled;
use context::frame::Source;
use context::macros::MacroState;
use domain::Timestamp;

use crate::api::{self, AssemblyTimings};
use crate::library::snapshots::macro_changes::VariableChanges;

/// A prompt, with its notices, variable changes and timings.
pub(crate) struct BuiltPrompt {
    pub(crate) assembled: Assembled,
    /// The text that the reply begins with, before the model's own.
    pub(crate) reply_start: String,
    /// Time that macros in the head and the chat template show.
    pub(crate) head_at: Timestamp,
    pub(crate) placement: api::Placement,
    pub(crate) notices: Vec<String>,
    /// Macro variables after the turn's texts, and the changes that the head's texts made.
    pub(crate) variables: MacroState,
    pub(crate) head_changes: VariableChanges,
    pub(crate) timings: AssemblyTimings,
}

impl BuiltPrompt {
    /// Tokens of a tool round of this reply, from 0.
    pub(crate) fn round_tokens(&self, round: u32) -> u32 {
        let of = |source: &Source| matches!(source, Source::ToolRound { message: None, round: number, .. } if *number == round);
        let blocks = self
            .assembled
            .blocks
            .iter()
            .filter(|block| block.dropped.is_none() && of(&block.source));
        blocks.map(|block| block.tokens).sum()
    }
}
