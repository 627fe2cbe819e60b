//! The steps of a turn, told to the log as each is done: what a maintainer reads when a turn went another way than it
//! should (design.md, section 3; S3.18). They name the chat, never its words.

use domain::ChatId;

/// Everything of a turn is logged under this name, at the level of debugging.
const TARGET: &str = "inglenook::turn";

#[derive(Debug, Clone, Copy)]
pub(crate) enum Step {
    /// The user's words are on the disk.
    Said,
    /// Chat, card, persona, settings and the messages of the window are read.
    Collect,
    /// Lorebook entries are awake, memories recalled.
    Activate,
    /// Every block that could be sent is there, the newest message behind the history.
    Frame,
    /// The prompt is what fits.
    Plan,
    /// The epoch and what the turn froze are on the disk.
    Freeze,
    /// The model is called.
    Call,
    /// Its first words have come.
    Stream,
    /// It has asked for a tool.
    Tool,
    /// Its last words have come.
    Finish,
    /// Reply and manifest are on the disk.
    Keep,
    /// What is done in idle time may begin.
    Idle,
}

impl Step {
    pub(crate) fn done(self, chat: ChatId) {
        tracing::debug!(target: TARGET, step = ?self, %chat);
    }
}
