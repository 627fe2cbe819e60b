//! The plan and the prompt: what fits, what is left out and why, and the bytes that are sent.

mod compile;
mod digest;
mod draft;
mod epoch;
mod fill;
mod head;
mod item;
mod late;
mod price;
mod sacrifice;
mod sheet;
mod stretch;
mod what_if;

use domain::MessageId;
use domain::chat::WindowState;
use domain::prompt::{Prompt, PromptRole, Segment};
use serde::{Deserialize, Serialize};

pub use epoch::{EpochReason, base};
pub use what_if::leave_out;

use crate::chat_template::{ChatTemplate, TemplateError};
use crate::frame::{BlockKind, Frame, Priority, Signal, Source, Zone};
use crate::frozen::FrozenBlock;
use crate::{Budget, CountTokens, Estimate, line_ends};
use draft::Draft;

/// Where lorebook entries and notes stand.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// Where they leave the sent prefix as it is.
    #[default]
    CacheFirst,
    /// Where SillyTavern would put them, at the price of reading the prompt again from there on.
    Classic,
}

/// Whether context blocks stay with their messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Retention {
    /// They are sent again as they were, until the epoch ends.
    #[default]
    AppendOnly,
    /// Only this turn's is sent.
    Ephemeral,
}

/// Which messages may leave the window (C26).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Watermark {
    /// All: nobody keeps summaries.
    #[default]
    Off,
    /// None is covered by a summary yet.
    Nothing,
    /// Those up to this one.
    Upto(MessageId),
}

/// Whom the prompt is for, and how it is laid out.
#[derive(Clone, Copy)]
pub struct Setup<'a> {
    /// The local model's; `None` means a remote chat endpoint, which has its own.
    pub template: Option<&'a ChatTemplate>,
    /// Tells models apart: a change of it ends the epoch.
    pub model: &'a str,
    pub budget: Budget,
    pub placement: Placement,
    pub retention: Retention,
    pub watermark: Watermark,
    /// [`Source::key`]s of what the user leaves out, to see what happens.
    pub without: &'a [String],
    /// Texts that end the reply.
    pub stop: &'a [String],
}

impl<'a> Setup<'a> {
    /// The defaults, for `model` with `budget`.
    pub fn new(template: Option<&'a ChatTemplate>, model: &'a str, budget: Budget) -> Self {
        let (placement, retention, watermark) = (Placement::default(), Retention::default(), Watermark::default());
        Self { template, model, budget, placement, retention, watermark, without: &[], stop: &[] }
    }
}

/// What must stay does not fit. All figures are tokens.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} is too long: the prompt needs {needed} tokens, and {available} are there", self.block())]
pub struct Overflow {
    /// The largest of what must stay; `None` if the context takes no text at all.
    pub largest: Option<Largest>,
    /// With the reply's reserve and the margin.
    pub needed: u32,
    pub available: u32,
}

/// A block that takes much of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Largest {
    pub kind: BlockKind,
    pub source: Source,
    pub tokens: u32,
}

impl Overflow {
    /// Tokens that are missing.
    pub fn missing(&self) -> u32 {
        self.needed.saturating_sub(self.available)
    }

    /// The largest block in words.
    pub fn block(&self) -> String {
        let words = |largest: &Largest| format!("{} ({})", largest.kind.as_str(), largest.source.words());
        self.largest.as_ref().map_or_else(|| "the prompt".to_owned(), words)
    }
}

/// Why there is no prompt.
#[derive(Debug, thiserror::Error)]
pub enum AssembleError {
    /// Not an error of the turn: these counts are needed, and then the same call again.
    #[error("{} segments are not counted yet", .0.len())]
    Uncounted(Vec<Segment>),
    #[error(transparent)]
    Overflow(#[from] Overflow),
    #[error(transparent)]
    Template(#[from] TemplateError),
}

/// Why a block is not in the prompt (invariant 9).
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
}

impl Dropped {
    /// In words, for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::NoRoom => "no room in its share of the budget",
            Self::NoRoomForExamples => "no room for examples beside the history",
            Self::AlreadyVisible => "already visible",
            Self::SaidByAnother => "another one that is told says it as well",
            Self::InWindow => "its messages are in the window",
            Self::OlderThanWindow => "older than the window",
            Self::NewerSummaries => "newer summaries take its place",
            Self::SentBefore => "the answered words were sent before, and keep what was sent with them",
            Self::NoPlace => "nothing is answered that it could stand in front of",
            Self::OverLimit => "given up, because the prompt was over the limit",
            Self::NextEpoch => "waits for the next epoch, when the digest is written anew",
            Self::LeftOut => "left out by you",
            Self::SwitchedOff => "the template's section for it is switched off",
        }
    }
}

/// A candidate and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlannedBlock {
    pub zone: Zone,
    pub kind: BlockKind,
    pub source: Source,
    pub reason: String,
    pub priority: Priority,
    pub role: PromptRole,
    /// The message whose words it is, or stands in front of.
    pub message: Option<MessageId>,
    /// Index into [`Prompt::messages`], if it was kept.
    pub turn: Option<usize>,
    /// Index into [`Assembled::segments`], if it was kept.
    pub segment: Option<usize>,
    pub score: Option<f32>,
    /// As [`Candidate::signals`](crate::frame::Candidate::signals).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub signals: Vec<Signal>,
    /// With the control text in front of it, so that the kept blocks add up to the prompt. A guess for what was dropped.
    pub tokens: u32,
    /// Why it was left out; `None` where it was kept.
    pub dropped: Option<Dropped>,
    /// As sent, without the line breaks in front of it.
    pub text: String,
    /// Its own words, where others stand around them in the prompt; `None` where `text` is them.
    pub own: Option<String>,
    /// As [`Candidate::written`](crate::frame::Candidate::written).
    pub written: Option<String>,
}

impl PlannedBlock {
    /// Creates the block of a text that was dropped for lack of room before planning.
    pub fn left_out(kind: BlockKind, source: Source, reason: &str, text: &str) -> Self {
        let segment = Segment { text: text.to_owned(), control: false };
        Self {
            zone: Zone::Input,
            kind,
            source,
            reason: reason.to_owned(),
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

    /// Is sent as `words`, which hold what it says itself.
    fn say(&mut self, words: &str) {
        let own = std::mem::replace(&mut self.text, words.to_owned());
        self.own = Some(own).filter(|own| !own.is_empty() && own != words);
    }
}

/// How the budget was used, in tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Shares {
    /// What head and input leave.
    pub usable: u32,
    pub history_budget: u32,
    pub history_used: u32,
    pub retrieval_budget: u32,
    /// This turn's context.
    pub retrieval_used: u32,
    pub digest_used: u32,
}

/// A picture that the prompt has a place for. Its bytes are the caller's to bring.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedPicture {
    /// Index into [`Prompt::messages`].
    pub turn: usize,
    /// Names its content.
    pub hash: String,
}

/// A prompt with the account of how it came to be.
#[derive(Debug, Clone, PartialEq)]
pub struct Assembled {
    pub prompt: Prompt,
    /// The prompt as runs of text, as counted. For remote models a likeness, for the X-ray only.
    pub segments: Vec<Segment>,
    /// Of each segment.
    pub segment_tokens: Vec<u32>,
    pub blocks: Vec<PlannedBlock>,
    /// Of the messages that are kept, in their order.
    pub pictures: Vec<PlannedPicture>,
    /// Tokens of the prompt.
    pub total: u32,
    pub shares: Shares,
    pub budget: Budget,
    pub exact: bool,
    /// Where the window stands now.
    pub window: WindowState,
    /// Why the prefix is a new one; `None` while it goes on.
    pub new_epoch: Option<EpochReason>,
    /// To be stored with their messages: what stands in front of the answered words, and what is left of older blocks.
    pub context_blocks: Vec<(MessageId, Vec<FrozenBlock>)>,
    /// In the window before, and out of it now.
    pub left: Vec<MessageId>,
    /// Messages before the window that were found important now, 8 to 9 (S4.36): to be stored, so that later epochs know.
    pub judged: Vec<(MessageId, u8)>,
    /// These are due to leave, and no summary covers them. They stay while the limit allows it.
    pub uncovered: Vec<MessageId>,
}

/// Makes the prompt of a turn: the one function behind send, regenerate, continue, preview and tests.
///
/// # Errors
/// [`AssembleError::Uncounted`] asks for counts; [`AssembleError::Overflow`] if what must stay does not fit.
pub fn assemble(
    frame: &Frame,
    setup: &Setup<'_>,
    state: &WindowState,
    counter: &dyn CountTokens,
) -> Result<Assembled, AssembleError> {
    let fallback;
    let layout = match setup.template {
        Some(template) => template,
        None => {
            fallback = ChatTemplate::chatml();
            &fallback
        }
    };
    let mut frozen = crate::frozen::EpochState::read(&state.frozen);
    frozen.digest.iter_mut().for_each(line_ends::unix_frozen);
    let frame = line_ends::unix_frame(frame);
    let mut draft = Draft::new(&frame, setup, state, &frozen, layout, counter)?;
    draft.plan()?;
    let compiled = draft.settle()?;
    Ok(draft.finish(compiled))
}
