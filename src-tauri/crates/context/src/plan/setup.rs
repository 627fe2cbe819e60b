//! Choices of the caller: model, layout, and the messages that may leave the window.

use domain::MessageId;
use serde::{Deserialize, Serialize};

use crate::Budget;
use crate::chat_template::ChatTemplate;

/// Placement of lorebook entries and notes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// Positions that keep the sent prefix unchanged.
    #[default]
    CacheFirst,
    /// Positions as in SillyTavern, which make the model read the prompt again from there on.
    Classic,
}

/// Whether context blocks stay with their messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Retention {
    /// They are re-sent unchanged until the epoch ends.
    #[default]
    AppendOnly,
    /// Only the context block of this turn is sent.
    Ephemeral,
}

/// The messages that may leave the window, because a summary covers them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Watermark {
    /// All messages, because no summaries are kept.
    #[default]
    Off,
    /// None, because no message is covered by a summary yet.
    Nothing,
    /// Messages up to and including this one.
    Upto(MessageId),
}

/// The model that the prompt is for, and the layout.
#[derive(Clone, Copy)]
pub struct Setup<'a> {
    /// Template of the local model. `None` means a remote chat endpoint, which applies its own.
    pub template: Option<&'a ChatTemplate>,
    /// Identifies the model; a change ends the epoch.
    pub model: &'a str,
    pub budget: Budget,
    pub placement: Placement,
    pub retention: Retention,
    pub watermark: Watermark,
    /// [`Source::key`]s of sources that the user excludes in a what-if preview.
    pub without: &'a [String],
    /// Texts that end the reply.
    pub stop: &'a [String],
}

impl<'a> Setup<'a> {
    /// Default settings for `model` with `budget`.
    pub fn new(template: Option<&'a ChatTemplate>, model: &'a str, budget: Budget) -> Self {
        let placement = Placement::default();
        let retention = Retention::default();
        let watermark = Watermark::default();
        Self {
            template,
            model,
            budget,
            placement,
            retention,
            watermark,
            without: &[],
            stop: &[],
        }
    }
}
