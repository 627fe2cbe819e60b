//! A reply while it is being written.

use std::time::Instant;

use domain::ToolCall;
use domain::token_choice::TokenChoice;
use provider::FinishReason;

use crate::api;
use crate::api::{ApiError, Figures};
use crate::base::clock::millis;
use crate::turn::assembly::made::BuiltPrompt;
use crate::turn::replies::emotions::EmotionSettings;
use crate::turn::replies::generate::Finish;
use crate::turn::replies::passages::{Passages, ReplyPart};
use crate::turn::replies::target::Target;
use crate::turn::tools::progress::ToolProgress;

/// The text so far, and how much of it is stored.
pub(crate) struct ReplyDraft {
    /// Includes the base of a continued reply.
    pub(crate) text: String,
    /// Whether the model has written text in this turn.
    pub(crate) written: bool,
    pub(crate) inserted: bool,
    /// Some of the text is not stored yet.
    pub(crate) dirty: bool,
    pub(crate) saved: Instant,
    pub(crate) figures: Figures,
    /// The part of the reply that the reader sees.
    pub(crate) words: String,
    /// The reply contains thoughts from this turn.
    pub(crate) thought: bool,
    /// When the first text arrived.
    pub(super) first_text: Option<Instant>,
    /// Tool calls that the model requested and that were not run.
    pub(crate) tool_calls: Vec<ToolCall>,
    pub(crate) tools: ToolProgress,
    /// The tokens of this turn with their probabilities, if they are recorded.
    pub(crate) tokens: Vec<TokenChoice>,
    /// Text to store before the model's first text.
    pub(super) start: String,
    pub(super) passages: Passages,
    /// Whether listeners receive the text while it grows, not only at the end.
    pub(super) streams: bool,
    pub(super) emotions: EmotionSettings,
}

impl ReplyDraft {
    /// The emotion that the reply's own tag names, as written.
    pub(crate) fn emotion_tag(&self) -> Option<&str> {
        self.passages
            .emotion()
            .or(self.tools.emotion_tag.as_deref())
    }

    /// Whether the model has written text or requested a tool in this turn.
    fn said(&self, target: &Target) -> bool {
        !self.words.trim().is_empty() || self.tool_calls.len() > target.tool_calls().len()
    }

    /// Sets the figures of the reply from its last request.
    pub(super) fn measure(&mut self, finish: Option<&Finish>, made: &BuiltPrompt) {
        let thought_ms = self.figures.thought_ms;
        let mut rounds = std::mem::take(&mut self.tools.figures);
        for (number, round) in (0..).zip(&mut rounds) {
            round.tokens = made.round_tokens(number);
        }
        self.figures = figures(finish, made.assembled.total, self.figures.first_text_ms);
        (
            self.figures.thought_ms,
            self.figures.tool_rounds,
            self.figures.tool_limit,
        ) = (thought_ms, rounds, self.tools.limit);
    }

    /// Measures the time from the first text to the end of the thoughts.
    pub(super) fn time_thoughts(&mut self, part: &ReplyPart) {
        let begun = *self.first_text.get_or_insert_with(Instant::now);
        if part.closes_thoughts || !part.thoughts.is_empty() {
            self.figures.thought_ms = Some(millis(begun));
        }
    }

    /// Returns an error if a finished generation produced no usable reply.
    pub(super) fn fault(&self, target: &Target, reason: FinishReason) -> Option<ApiError> {
        match reason {
            FinishReason::Cancelled => None,
            FinishReason::Stop | FinishReason::Length if self.said(target) => None,
            _ if self.thought => Some(only_thoughts(reason)),
            FinishReason::Stop if !self.written => Some(silent()),
            FinishReason::Stop | FinishReason::Length => None,
        }
    }
}

pub(crate) fn figures(finish: Option<&Finish>, total: u32, first_text_ms: Option<f64>) -> Figures {
    let Some(Finish { usage, timings, .. }) = finish else {
        return Figures {
            prompt: Some(total),
            first_text_ms,
            ..Figures::default()
        };
    };
    Figures {
        prompt: usage.prompt.or(Some(total)),
        reused: usage.reused,
        evaluated: usage.evaluated,
        generated: usage.generated,
        prefill_ms: Some(timings.prefill_ms),
        first_text_ms,
        decode_ms: Some(timings.decode_ms),
        thought_ms: None,
        tool_rounds: Vec::new(),
        tool_limit: false,
    }
}

/// Error for a reply that contains only thoughts. The thoughts are saved.
pub(crate) fn only_thoughts(reason: FinishReason) -> ApiError {
    let (message, hint) = match reason {
        FinishReason::Length => (
            "The model wrote only thoughts: the reply reached its maximum length before they ended.",
            "Continue the reply, raise the maximum reply length, or switch thinking off for this model.",
        ),
        FinishReason::Stop | FinishReason::Cancelled => (
            "The model wrote only thoughts and no reply.",
            "Try again, or switch thinking off for this model.",
        ),
    };
    ApiError::Provider {
        message: message.into(),
        hint: hint.into(),
        class: api::ProviderClass::Malformed,
    }
}

pub(crate) fn silent() -> ApiError {
    ApiError::Provider {
        message: "The model returned an empty reply.".into(),
        hint: "Try again, or raise the temperature.".into(),
        class: api::ProviderClass::Malformed,
    }
}
