//! The outcome of planning: kept and dropped blocks, tokens, and the error of a full prompt.

use crate::plan::EpochReason;
use domain::MessageId;
use domain::chat::WindowState;
use domain::prompt::{Prompt, PromptRole, Segment};
use serde::{Deserialize, Serialize};

use crate::chat_template::TemplateError;
use crate::frame::{BlockKind, Priority, Signal, Source, Zone};
use crate::frozen::FrozenBlock;
use crate::reason::{BlockReason, Reasons};
use crate::{Budget, CountTokens as _, Estimate};

/// Required content does not fit. All figures are tokens.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} is too long: the prompt needs {needed} tokens, but only {available} are available", self.block())]
pub struct Overflow {
    /// The largest required block; `None` if the context has no room for any text.
    pub largest: Option<Largest>,
    /// Includes the reserve for the reply and the margin.
    pub needed: u32,
    pub available: u32,
}

/// A block that takes many tokens of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Largest {
    pub kind: BlockKind,
    pub source: Source,
    pub tokens: u32,
}

impl Overflow {
    /// Number of missing tokens.
    pub fn missing(&self) -> u32 {
        self.needed.saturating_sub(self.available)
    }

    /// A description of the largest block.
    pub fn block(&self) -> String {
        let words = |largest: &Largest| {
            format!(
                "{} ({})",
                largest.kind.as_str(),
                largest.source.description()
            )
        };
        self.largest
            .as_ref()
            .map_or_else(|| "the prompt".to_owned(), words)
    }
}

/// The reason why no prompt was made.
#[derive(Debug, thiserror::Error)]
pub enum AssembleError {
    /// Not a failure: count these segments and make the same call again.
    #[error("{} segments are not counted yet", .0.len())]
    Uncounted(Vec<Segment>),
    #[error(transparent)]
    Overflow(#[from] Overflow),
    #[error(transparent)]
    Template(#[from] TemplateError),
}

/// The reason why a block is not in the prompt. Every candidate that was dropped has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Dropped {
    NoRoom,
    NoRoomForExamples,
    AlreadyVisible,
    SaidByAnother,
    InWindow,
    OlderThanWindow,
    NewerSummaries,
    SentBefore,
    NoPlace,
    OverLimit,
    NextEpoch,
    LeftOut,
    SwitchedOff,
    NotThisTurn,
    ReplacedNote,
}

impl Dropped {
    /// A description for display.
    pub fn description(self) -> &'static str {
        match self {
            Self::NoRoom => "no room in its share of the budget",
            Self::NoRoomForExamples => "no room for examples next to the history",
            Self::AlreadyVisible => "already visible",
            Self::SaidByAnother => "another included item says the same",
            Self::InWindow => "its messages are in the window",
            Self::OlderThanWindow => "older than the window",
            Self::NewerSummaries => "replaced by newer summaries",
            Self::SentBefore => "already sent with the earlier message",
            Self::NoPlace => "there is no message to answer",
            Self::OverLimit => "dropped because the prompt was over the limit",
            Self::NextEpoch => "waits for the next epoch, when the digest is rewritten",
            Self::LeftOut => "left out by you",
            Self::SwitchedOff => "the template's section for it is switched off",
            Self::NotThisTurn => "its interval skips this turn",
            Self::ReplacedNote => "the character's note replaces it",
        }
    }
}

/// A candidate and the decision about it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlannedBlock {
    pub zone: Zone,
    pub kind: BlockKind,
    pub source: Source,
    pub reasons: Reasons,
    pub priority: Priority,
    pub role: PromptRole,
    /// The message that the block is part of or precedes.
    pub message: Option<MessageId>,
    /// Index into [`Prompt::messages`] if it was kept.
    pub turn: Option<usize>,
    /// Index into [`Assembled::segments`] if it was kept.
    pub segment: Option<usize>,
    pub score: Option<f32>,
    /// See [`Candidate::signals`](crate::frame::Candidate::signals).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub signals: Vec<Signal>,
    /// Includes the control text before it, so that the kept blocks add up to the prompt. An
    /// estimate for dropped blocks.
    pub tokens: u32,
    /// Why it was dropped; `None` if it was kept.
    pub dropped: Option<Dropped>,
    /// The text as sent, without leading line breaks.
    pub text: String,
    /// Its own text, if the prompt has other text around it; `None` if it equals `text`.
    pub own: Option<String>,
    /// See [`Candidate::written`](crate::frame::Candidate::written).
    pub written: Option<String>,
}

impl PlannedBlock {
    /// Creates the block of a text that was dropped for lack of room before planning.
    pub fn left_out(kind: BlockKind, source: Source, reason: BlockReason, text: &str) -> Self {
        let segment = Segment {
            text: text.to_owned(),
            control: false,
        };
        Self {
            zone: Zone::Input,
            kind,
            source,
            reasons: reason.into(),
            priority: Priority::Trimmable,
            role: PromptRole::System,
            message: None,
            turn: None,
            segment: None,
            score: None,
            signals: Vec::new(),
            tokens: Estimate.count(&segment).unwrap_or_default(),
            dropped: Some(Dropped::NoRoom),
            text: segment.text,
            own: None,
            written: None,
        }
    }

    /// Adds another text of the block, on its own line.
    pub(super) fn add(&mut self, words: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(words);
    }

    /// Sets the text as sent, `words`, which contains the block's own text.
    pub(super) fn say(&mut self, words: &str) {
        let own = std::mem::replace(&mut self.text, words.to_owned());
        self.own = Some(own).filter(|own| !own.is_empty() && own != words);
    }
}

/// Use of the budget, in tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Shares {
    /// Tokens that head and input leave.
    pub usable: u32,
    pub history_budget: u32,
    pub history_used: u32,
    pub retrieval_budget: u32,
    /// Tokens of the context block of this turn.
    pub retrieval_used: u32,
    pub digest_used: u32,
}

/// A picture with a position in the prompt. The caller supplies its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedPicture {
    /// Index into [`Prompt::messages`].
    pub turn: usize,
    /// Index into [`Assembled::segments`] of its message's text, which follows it.
    pub segment: Option<usize>,
    /// Hash of its content.
    pub hash: String,
}

/// A prompt with a report of how it was made.
#[derive(Debug, Clone, PartialEq)]
pub struct Assembled {
    pub prompt: Prompt,
    /// The prompt as counted runs of text. For remote models an approximation, used by the X-ray
    /// only.
    pub segments: Vec<Segment>,
    /// Tokens of each segment.
    pub segment_tokens: Vec<u32>,
    pub blocks: Vec<PlannedBlock>,
    /// Pictures of the kept messages, in order.
    pub pictures: Vec<PlannedPicture>,
    /// Tokens of the prompt.
    pub total: u32,
    pub shares: Shares,
    pub budget: Budget,
    pub exact: bool,
    /// The new state of the window.
    pub window: WindowState,
    /// Why the prefix is new; `None` if it continues the previous one.
    pub new_epoch: Option<EpochReason>,
    /// Context blocks to store with their messages: the one of the input, and the remains of stale
    /// ones.
    pub context_blocks: Vec<(MessageId, Vec<FrozenBlock>)>,
    /// Messages that were in the window before this turn and are no longer.
    pub left: Vec<MessageId>,
    /// Messages before the window that were newly rated important, 8 to 9. The caller stores the
    /// ratings for later epochs.
    pub judged: Vec<(MessageId, u8)>,
    /// Messages that should leave but that no summary covers. They stay while the limit allows it.
    pub uncovered: Vec<MessageId>,
}
