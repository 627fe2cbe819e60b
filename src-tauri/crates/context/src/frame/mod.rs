//! The frame: every candidate block of a turn, with its source and the reason for it.

mod kind;
mod signal;
mod source;

use std::borrow::Cow;

use domain::chat::Role;
use domain::prompt::PromptRole;
use domain::{MessageId, Timestamp, ToolRound};
use serde::{Deserialize, Serialize};

pub use kind::{BlockKind, Priority, Share, Zone};
pub use signal::{Signal, SignalKind};
pub use source::Source;

use crate::frozen::FrozenBlock;
use crate::line_ends::unix_lines;
use crate::reason::{BlockReason, Reasons};
use crate::tools::FrameTools;

/// All candidates of one turn. The frame makes no decisions: the plan decides which ones fit and
/// where they go.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Frame {
    /// Composed parts in prompt order. All are required except the examples.
    pub head: Vec<HeadPart>,
    /// Candidates for the digest, keyframes oldest first. They are used only when an epoch starts;
    /// until then the digest stays unchanged.
    pub digest: Vec<Candidate>,
    /// Messages of the scene, oldest first. Messages from the anchor on are enough, unless
    /// [`base`](crate::base) says that the window needs a new anchor. The last message is the one
    /// to answer, or the reply to continue.
    pub history: Vec<HistoryMessage>,
    /// Candidates for the context block of this turn.
    pub context: Vec<Candidate>,
    /// Lorebook entries and notes with a position set by the author of the card.
    pub placed: Vec<Placed>,
    /// Positions of the lore in the head, at most one per place. Lore without a section goes next
    /// to the character.
    pub lore: Vec<LoreSection>,
    /// Places whose lore the template has switched off; it is not sent.
    pub without_lore: Vec<InsertionPoint>,
    /// The current time, if the model should know it.
    pub clock: Option<PromptTime>,
    pub tools: FrameTools,
    /// Text that the reply begins with, which the model continues. Empty: none. A reply that is
    /// continued has its own beginning.
    pub reply_start: String,
}

impl Frame {
    /// The message to answer; `None` if the last message is a reply to continue.
    pub fn input(&self) -> Option<&HistoryMessage> {
        self.history
            .last()
            .filter(|message| message.role != Role::Character)
    }
}

/// A text of the head.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HeadPart {
    pub kind: BlockKind,
    pub source: Source,
    #[serde(alias = "reason")]
    pub reasons: Reasons,
    /// Adjacent parts of one role become paragraphs of one message.
    pub role: PromptRole,
    pub text: String,
    /// See [`Candidate::written`].
    pub written: Option<String>,
}

/// A text that is sent if it is relevant and fits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    pub kind: BlockKind,
    pub source: Source,
    #[serde(alias = "reason")]
    pub reasons: Reasons,
    /// Replaces the default heading of its group; an additional first line is shared by several
    /// groups. Empty means the default.
    pub heading: String,
    /// Precedes the text, for example speaker and day. Empty for none.
    pub title: String,
    pub text: String,
    /// The source text before variables, macros and scripts; `None` if it equals `text`.
    pub written: Option<String>,
    /// Higher is better. Scores are comparable only within a share of the budget.
    pub score: f32,
    /// The components of the score, if it has several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signals: Vec<Signal>,
    /// The messages it was made from. It is redundant while all of them are in the window.
    pub about: Vec<MessageId>,
    /// Other sources, each with its text, that contain the same. The candidate is dropped if one of
    /// them is included.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub said_by: Vec<(Source, String)>,
}

impl Candidate {
    pub fn new(
        kind: BlockKind,
        source: Source,
        reasons: impl Into<Reasons>,
        text: impl Into<String>,
    ) -> Self {
        let reasons = reasons.into();
        let text = text.into();
        Self {
            kind,
            source,
            reasons,
            heading: String::new(),
            title: String::new(),
            text,
            written: None,
            score: 0.0,
            signals: Vec::new(),
            about: Vec::new(),
            said_by: Vec::new(),
        }
    }

    /// Sets the source text.
    #[must_use]
    pub fn with_source_text(self, written: &str) -> Self {
        Self {
            written: differing_source_text(written, &self.text),
            ..self
        }
    }

    #[must_use]
    pub fn with_score(self, score: f32) -> Self {
        Self { score, ..self }
    }

    #[must_use]
    pub fn with_signals(self, signals: Vec<Signal>) -> Self {
        Self { signals, ..self }
    }

    #[must_use]
    pub fn with_title(self, title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            ..self
        }
    }

    #[must_use]
    pub fn with_heading(self, heading: impl Into<String>) -> Self {
        Self {
            heading: heading.into(),
            ..self
        }
    }

    /// Puts it under the `heading` of the template. A heading of its own replaces only the last
    /// line.
    #[must_use]
    pub fn headed(self, heading: &str) -> Self {
        if self.heading.is_empty() {
            return self.with_heading(heading);
        }
        match heading.rsplit_once('\n') {
            Some((shared, _)) => Self {
                heading: format!("{shared}\n{}", self.heading),
                ..self
            },
            None => self,
        }
    }

    #[must_use]
    pub fn with_source_messages(self, about: Vec<MessageId>) -> Self {
        Self { about, ..self }
    }
}

/// `written`, or `None` if it equals `text`.
pub fn differing_source_text(written: &str, text: &str) -> Option<String> {
    let written = written.trim();
    (written != text.trim()).then(|| written.to_owned())
}

/// The position of a lorebook entry or a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum InsertionPoint {
    BeforeCharacter,
    AfterCharacter,
    BeforeExamples,
    AfterExamples,
    /// Number of messages from the end; 0 is after the last one.
    Depth(u32),
}

/// The position in a template for the entries of one [`InsertionPoint`], and the template text
/// around them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LoreSection {
    pub place: InsertionPoint,
    /// Index of the head part that follows it; past the end if none follows.
    pub at: usize,
    /// Text before the first entry.
    pub before: String,
    /// Text after the last entry.
    pub after: String,
}

/// The `injection_order` of texts that set none.
pub const USUAL_ORDER: i32 = 100;

fn usual_order() -> i32 {
    USUAL_ORDER
}

/// A candidate with a position. `classic` always uses the position. `cache-first` uses it for
/// constant entries in the head, and for texts at a depth that are not system texts, together with
/// the texts above them. It puts all others into the context block of this turn, the deepest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Placed {
    pub candidate: Candidate,
    pub place: InsertionPoint,
    /// Role of the message that it becomes at its depth.
    pub role: PromptRole,
    /// Ascending among texts at one place. At a depth, it applies to lore; other texts keep their
    /// sequence.
    pub order: i32,
    /// Ascending among texts at one depth, before role and `order`.
    #[serde(default = "usual_order")]
    pub injection_order: i32,
    /// The entry is active in every turn until it is edited.
    pub constant: bool,
}

/// A message as the prompt sees it: the selected swipe, and the context block that was sent with
/// it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HistoryMessage {
    pub id: MessageId,
    pub role: Role,
    /// Display name of the speaker.
    pub speaker: String,
    pub text: String,
    /// The stored text if it differs from `text`, or the source text of a task.
    pub written: Option<String>,
    /// Names of the scripts that changed the text for the prompt.
    pub scripts: Vec<String>,
    /// Scripts can depend on the depth, so their results change as the chat grows, but the sent
    /// prefix must not. `text` is the text as first sent; `anew` replaces it when a new epoch
    /// begins.
    pub anew: Option<RewrittenText>,
    pub created: Timestamp,
    /// The source of a message that nobody wrote: the task of a background job, which follows the
    /// history.
    pub task: Option<Source>,
    /// The context block sent with the message. `None` means that the message was never sent; an
    /// empty list means sent without a block.
    pub context: Option<Vec<FrozenBlock>>,
    /// The user wants this message kept verbatim.
    pub pinned: bool,
    /// 1 to 10. If `None`, [`judge`](crate::importance::judge) scores the message when it leaves
    /// the window.
    pub importance: Option<u8>,
    /// Content hashes of the pictures that are sent with the message.
    pub pictures: Vec<String>,
    /// Tokens of non-text content, such as pictures.
    pub extra_tokens: u32,
    /// The tool rounds that led to the message. They stay with it.
    pub rounds: Vec<ToolRound>,
}

impl HistoryMessage {
    pub fn new(
        id: MessageId,
        role: Role,
        speaker: impl Into<String>,
        text: impl Into<String>,
        created: Timestamp,
    ) -> Self {
        let speaker = speaker.into();
        let text = text.into();
        // Message marks are compared between turns, so they must be computed from the text that is
        // sent.
        let text = match unix_lines(&text) {
            Cow::Owned(lines) => lines,
            Cow::Borrowed(_) => text,
        };
        Self {
            id,
            role,
            speaker,
            text,
            written: None,
            scripts: Vec::new(),
            anew: None,
            created,
            task: None,
            context: None,
            pinned: false,
            importance: None,
            pictures: Vec::new(),
            extra_tokens: 0,
            rounds: Vec::new(),
        }
    }

    /// `reason`, the number and the token cost of its pictures, and the scripts that changed its
    /// text.
    pub(crate) fn reasons(&self, reason: BlockReason, scripts: &[String]) -> Reasons {
        let mut reasons = Reasons::from(reason);
        if !self.pictures.is_empty() {
            reasons.push(BlockReason::Images {
                count: self.pictures.len(),
                tokens: self.extra_tokens,
            });
        }
        reasons.push_scripts(scripts);
        reasons
    }

    /// The text to send, and the names of the scripts that changed it. `begins` is true if an epoch
    /// begins.
    pub(crate) fn message_text(&self, begins: bool) -> (&str, &[String]) {
        match &self.anew {
            Some(anew) if begins => (&anew.text, &anew.scripts),
            _ => (&self.text, &self.scripts),
        }
    }
}

/// A text after scripts ran.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RewrittenText {
    pub text: String,
    /// Names of the scripts that changed it.
    pub scripts: Vec<String>,
}

/// The current time, as a timestamp and as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PromptTime {
    pub at: Timestamp,
    /// Formatted for people: "Saturday, 21 November 2026, 23:11".
    pub words: String,
}
