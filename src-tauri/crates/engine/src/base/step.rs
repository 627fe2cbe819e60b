//! Logs each step of a turn when it is done, so that a maintainer can see where a turn went wrong.
//! The log names the chat, never its text.

use domain::ChatId;

/// Log target of all steps, at debug level.
const TARGET: &str = "inglenook::turn";

#[derive(Debug, Clone, Copy)]
pub(crate) enum TurnStep {
    /// The user's message is stored.
    Said,
    /// Chat, card, persona, settings and the messages of the window are loaded.
    Collect,
    /// Lorebook entries are activated, and memories are recalled.
    Activate,
    /// All candidate blocks are built, with the newest message after the history.
    Frame,
    /// The blocks that fit are chosen.
    Plan,
    /// The epoch and the frozen context blocks are stored.
    Freeze,
    /// The model is called.
    Call,
    /// The first text has arrived.
    Stream,
    /// The model has requested a tool.
    Tool,
    /// The calls of a round have been run, and their results are stored.
    ToolRound,
    /// The last text has arrived.
    Finish,
    /// Reply and manifest are stored.
    Keep,
    /// Idle work may start.
    Idle,
}

impl TurnStep {
    pub(crate) fn done(self, chat: ChatId) {
        tracing::debug!(target: TARGET, step = ?self, %chat);
    }
}
