//! The frame: every candidate of a turn, with where it comes from and why it is here (S0.3).

mod kind;
mod signal;
mod source;

use std::borrow::Cow;

use domain::chat::Role;
use domain::prompt::PromptRole;
use domain::{MessageId, Timestamp};
use serde::{Deserialize, Serialize};

pub use kind::{BlockKind, Priority, Share, Zone};
pub use signal::{Signal, SignalKind};
pub use source::Source;

use crate::frozen::FrozenBlock;
use crate::line_ends::unix_lines;

/// Everything one turn may be made of. Building it decides nothing: what fits, and where it stands, is the plan's business.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Frame {
    /// Composed already, in prompt order. All of it must stay, but for the examples.
    pub head: Vec<HeadPart>,
    /// What the digest may be made of, keyframes oldest first. It is looked at only when an epoch starts; in between, the
    /// digest stays as it was.
    pub digest: Vec<Candidate>,
    /// The scene's messages, oldest first. From the anchor on is enough, unless [`base`](crate::base) says that the window
    /// finds its place anew. The last one is what is answered, or the reply to go on with.
    pub history: Vec<HistoryMessage>,
    /// What this turn's context block may be made of.
    pub context: Vec<Candidate>,
    /// Lorebook entries and notes, with the places that a card's maker meant for them.
    pub placed: Vec<Placed>,
    /// Where the template has the lore of the head, one for each place at the most. Without one it stands beside the
    /// character.
    pub lore: Vec<LoreSection>,
    /// Places whose lore the template has switched off: it is not sent.
    pub without_lore: Vec<Place>,
    /// What time it is, if the model is to know.
    pub clock: Option<Now>,
}

impl Frame {
    /// The words that are answered, if the last message is not a reply to go on with.
    pub fn input(&self) -> Option<&HistoryMessage> {
        self.history.last().filter(|message| message.role != Role::Character)
    }
}

/// A text of the head.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeadPart {
    pub kind: BlockKind,
    pub source: Source,
    pub reason: String,
    /// Neighbours of one role are paragraphs of one message.
    pub role: PromptRole,
    pub text: String,
    /// As [`Candidate::written`].
    pub written: Option<String>,
}

/// A text that is sent if there is room and reason.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    pub kind: BlockKind,
    pub source: Source,
    pub reason: String,
    /// Stands above its group in place of the usual words; a line above it heads several groups. Empty: the usual.
    pub heading: String,
    /// Stands before the text: whose words, of which day. Empty for none.
    pub title: String,
    pub text: String,
    /// As it stands where it comes from, before variables, macros and scripts; `None` where that is the text (S0.11).
    pub written: Option<String>,
    /// More is better; compared only among candidates that share a part of the budget.
    pub score: f32,
    /// What the score is made of, where it is made of several things.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signals: Vec<Signal>,
    /// The messages it was made from. It says nothing new while all of them are in the window (invariant 3).
    pub about: Vec<MessageId>,
    /// Others, each with its text, that say it as well: it is not said where one of them is (C11).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub said_by: Vec<(Source, String)>,
}

impl Candidate {
    pub fn new(kind: BlockKind, source: Source, reason: impl Into<String>, text: impl Into<String>) -> Self {
        let (reason, text) = (reason.into(), text.into());
        Self {
            kind,
            source,
            reason,
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

    /// Made of `written`.
    #[must_use]
    pub fn made_of(self, written: &str) -> Self {
        Self { written: unlike(written, &self.text), ..self }
    }

    #[must_use]
    pub fn scored(self, score: f32) -> Self {
        Self { score, ..self }
    }

    #[must_use]
    pub fn because(self, signals: Vec<Signal>) -> Self {
        Self { signals, ..self }
    }

    #[must_use]
    pub fn titled(self, title: impl Into<String>) -> Self {
        Self { title: title.into(), ..self }
    }

    #[must_use]
    pub fn headed(self, heading: impl Into<String>) -> Self {
        Self { heading: heading.into(), ..self }
    }

    #[must_use]
    pub fn about(self, about: Vec<MessageId>) -> Self {
        Self { about, ..self }
    }
}

/// `written`, unless it is what `text` says.
pub fn unlike(written: &str, text: &str) -> Option<String> {
    let written = written.trim();
    (written != text.trim()).then(|| written.to_owned())
}

/// Where a lorebook entry or a note belongs (formats.md, lorebook placement).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Place {
    BeforeCharacter,
    AfterCharacter,
    BeforeExamples,
    AfterExamples,
    /// Messages from the end; 0 stands after the last one.
    Depth(u32),
}

/// The place that a template has for the entries of one [`Place`], and its own words there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LoreSection {
    pub place: Place,
    /// Index of the part of the head that it stands in front of; behind all of them if there is none.
    pub at: usize,
    /// Stands in front of the first entry.
    pub before: String,
    /// Stands behind the last one.
    pub after: String,
}

/// A candidate with a place of its own. `classic` puts it there; `cache-first` puts it there only if it is constant and its
/// place is in the head, and else into this turn's context block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Placed {
    pub candidate: Candidate,
    pub place: Place,
    /// Of a message that it makes at its depth.
    pub role: PromptRole,
    /// Ascending among texts of one place.
    pub order: i32,
    /// It is there every turn, as long as nobody edits it.
    pub constant: bool,
}

/// A message as the prompt sees it: the shown swipe, and what was sent in front of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HistoryMessage {
    pub id: MessageId,
    pub role: Role,
    /// Who says it, in words.
    pub speaker: String,
    pub text: String,
    /// As it is kept, where it goes out in other words; what a task was written as.
    pub written: Option<String>,
    /// Names of the scripts that changed the text on its way into the prompt.
    pub scripts: Vec<String>,
    /// Where scripts ask for the depth, the words of a message change as the chat goes on. The sent prefix must not: `text`
    /// is as it was first sent, and this takes its place once a new epoch begins.
    pub anew: Option<Rewritten>,
    pub created: Timestamp,
    /// Where the words come from that nobody has said: what a job beside the chat asks for, behind everything that was said.
    pub task: Option<Source>,
    /// The context block that was sent with it. `None` was never sent; `Some` of nothing was sent without one.
    pub context: Option<Vec<FrozenBlock>>,
    /// The user wants these words kept verbatim.
    pub pinned: bool,
    /// 1-10 (C10). Where nothing has judged it yet, [`judge`](crate::importance::judge) does when it leaves the window.
    pub importance: Option<u8>,
    /// Names of the pictures that are sent with it, by their content.
    pub pictures: Vec<String>,
    /// Tokens of what is no text, such as pictures (S2.8).
    pub extra_tokens: u32,
}

impl HistoryMessage {
    pub fn new(
        id: MessageId,
        role: Role,
        speaker: impl Into<String>,
        text: impl Into<String>,
        created: Timestamp,
    ) -> Self {
        let (speaker, text) = (speaker.into(), text.into());
        // Message marks are compared between turns, so they must be computed from the text that is sent.
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
        }
    }

    /// `reason`, with what its pictures cost.
    pub(crate) fn reason(&self, reason: &str) -> String {
        let tokens = self.extra_tokens;
        match self.pictures.len() {
            0 => reason.to_owned(),
            1 => format!("{reason}; 1 image, {tokens} tokens"),
            count => format!("{reason}; {count} images, {tokens} tokens"),
        }
    }

    /// The words as they go out where an epoch begins, or goes on; with the names of the scripts that changed them.
    pub(crate) fn words(&self, begins: bool) -> (&str, &[String]) {
        match &self.anew {
            Some(anew) if begins => (&anew.text, &anew.scripts),
            _ => (&self.text, &self.scripts),
        }
    }
}

/// A text as scripts left it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Rewritten {
    pub text: String,
    /// Names of those that changed it.
    pub scripts: Vec<String>,
}

/// A moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Now {
    pub at: Timestamp,
    /// As a person would say it: "Saturday, 21 November 2026, 23:11".
    pub words: String,
}
