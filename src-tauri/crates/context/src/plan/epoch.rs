//! Detects when the sent prefix stops being valid.

use std::hash::Hasher;

use domain::MessageId;
use domain::chat::WindowState;
use domain::prompt::PromptRole;
use serde::{Deserialize, Serialize};

use super::Setup;
use crate::frame::HistoryMessage;
use crate::frozen::SentMark;
use crate::hash::Fast;
use crate::tools::wording;
use crate::{Budget, ChatTemplate};

/// Number of newest messages whose hashes are kept. A change before them ends the epoch; a change
/// among them, such as another wording of the last question, only replaces the newest messages.
const MARKS: usize = 16;

/// The reason for a new epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum EpochReason {
    First,
    Model,
    /// The same texts are formatted differently.
    Layout,
    Head,
    Edited,
    Full,
    /// Required content needed the tokens of the digest or of the examples.
    OverLimit,
}

impl EpochReason {
    /// A description for display.
    pub fn description(self) -> &'static str {
        match self {
            Self::First => "start of the chat",
            Self::Model => "the model or its budget changed",
            Self::Layout => "the chat format or the prompt layout changed",
            Self::Head => "the card, the persona or the template was edited",
            Self::Edited => "an older message was edited, or scripts rewrite it differently now",
            Self::Full => "the window was full",
            Self::OverLimit => "the message to answer needed the space",
        }
    }

    /// True if the anchor may move back.
    pub(crate) fn finds_a_new_anchor(self) -> bool {
        matches!(self, Self::First | Self::Model | Self::Edited)
    }
}

/// The part of an epoch's fingerprint that identifies the model and its budget. If it changes, the
/// window needs a new anchor; otherwise the anchor stays.
pub fn base(model: &str, budget: &Budget) -> String {
    let budget = format!("{} {}", budget.limit, budget.history_cap);
    format!("{:016x}-", hash([model, &budget].into_iter()))
}

/// Fingerprint of everything that the prefix depends on except the messages: [`base`], the layout,
/// and the texts and roles of the head.
pub(crate) fn fingerprint<'t>(
    setup: &Setup<'_>,
    head: impl Iterator<Item = (PromptRole, &'t str)>,
) -> String {
    let head = head.flat_map(|(role, text)| [role.as_str(), text]);
    format!(
        "{}{:016x}-{:016x}",
        base(setup.model, &setup.budget),
        layout(setup),
        hash(head)
    )
}

/// Identifies the layout: the chat template, the placement of lore, and the retention of context
/// blocks.
fn layout(setup: &Setup<'_>) -> u64 {
    let template = setup.template.map(ChatTemplate::fingerprint);
    crate::hash::of(&(template, setup.placement as u8, setup.retention as u8))
}

/// Compares two fingerprints part by part from the front.
pub(crate) fn changed(state: &WindowState, fingerprint: &str, base: &str) -> Option<EpochReason> {
    if state.fingerprint == fingerprint {
        return None;
    }
    let before = state.fingerprint.as_str();
    let with_layout = fingerprint
        .rsplit_once('-')
        .map_or(fingerprint, |(with_layout, _)| with_layout);
    Some(match (state.epoch, before) {
        (0, _) => EpochReason::First,
        (_, "") => EpochReason::Edited,
        _ if before.starts_with(with_layout) => EpochReason::Head,
        _ if before.starts_with(base) => EpochReason::Layout,
        _ => EpochReason::Model,
    })
}

/// True if the messages up to one of `marks` are unchanged since they were sent.
pub(crate) fn continues(marks: &[SentMark], window: &[HistoryMessage]) -> bool {
    if marks.is_empty() {
        return true;
    }
    let mut hash = Fast::default();
    window.iter().any(|message| {
        add(&mut hash, message, &message.text);
        // There are at most 16 marks, and usually only the newest few messages match one.
        marks
            .iter()
            .any(|mark| mark.message == message.id && mark.hash == hash.finish())
    })
}

/// Marks of the newest messages of `window`, which starts at the anchor. `begins` is true if an
/// epoch begins.
pub(crate) fn marks(window: &[HistoryMessage], begins: bool) -> Vec<SentMark> {
    let mut hash = Fast::default();
    let skip = window.len().saturating_sub(MARKS);
    let mut marks = Vec::with_capacity(MARKS.min(window.len()));
    for (index, message) in window.iter().enumerate() {
        add(&mut hash, message, message.message_text(begins).0);
        if index >= skip {
            marks.push(SentMark {
                message: message.id,
                hash: hash.finish(),
            });
        }
    }
    marks
}

fn add(hash: &mut Fast, message: &HistoryMessage, text: &str) {
    let MessageId(id) = message.id;
    hash.write(id.as_bytes());
    hash.write(message.role.as_str().as_bytes());
    hash.write(text.as_bytes());
    for round in &message.rounds {
        hash.write(wording::calls(round).as_bytes());
        hash.write(wording::results(round).as_bytes());
    }
}

/// The FNV-1a hash of the texts, each terminated by a zero byte.
fn hash<'a>(texts: impl Iterator<Item = &'a str>) -> u64 {
    let bytes = texts.flat_map(|text| text.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
