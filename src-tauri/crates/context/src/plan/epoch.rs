//! When the sent prefix stops being valid, and how that is noticed.

use std::hash::Hasher;

use domain::MessageId;
use domain::chat::WindowState;
use domain::prompt::PromptRole;
use serde::{Deserialize, Serialize};

use super::Setup;
use crate::frame::HistoryMessage;
use crate::frozen::Mark;
use crate::hash::Fast;
use crate::{Budget, ChatTemplate};

/// Messages whose hashes are kept. A change behind the oldest of them ends the epoch; a change after it, such as another
/// wording of the last question, only takes back the newest words.
const MARKS: usize = 16;

/// Why a new epoch began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum EpochReason {
    First,
    Model,
    /// The same texts are written in another way.
    Layout,
    Head,
    Edited,
    Full,
    /// What must stay needed the room of the digest or of the examples.
    OverLimit,
}

impl EpochReason {
    /// In words, for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::First => "the chat begins",
            Self::Model => "the model or its budget is another one",
            Self::Layout => "the chat format or the layout of the prompt is another one",
            Self::Head => "the card, the persona or the template was edited",
            Self::Edited => "an older message was edited, or is rewritten by another script",
            Self::Full => "the window was full",
            Self::OverLimit => "the words to answer needed the room",
        }
    }

    /// The anchor may move back (requirements, section 2.3, rule 6).
    pub(crate) fn finds_a_new_anchor(self) -> bool {
        matches!(self, Self::First | Self::Model | Self::Edited)
    }
}

/// The part of an epoch's fingerprint that stands for the model and its budget. While it is the same, the anchor stays
/// where it is; another model, or another budget, finds its own (requirements, section 2.3, rule 6).
pub fn base(model: &str, budget: &Budget) -> String {
    let budget = format!("{} {}", budget.limit, budget.history_cap);
    format!("{:016x}-", hash([model, &budget].into_iter()))
}

/// Everything whose change makes the prefix a new one, but for the messages: [`base`], how texts are written, and the head's
/// texts with their roles.
pub(crate) fn fingerprint<'t>(setup: &Setup<'_>, head: impl Iterator<Item = (PromptRole, &'t str)>) -> String {
    let head = head.flat_map(|(role, text)| [role.as_str(), text]);
    format!("{}{:016x}-{:016x}", base(setup.model, &setup.budget), layout(setup), hash(head))
}

/// Stands for how texts become bytes: the chat template, where lore goes, and what is sent again.
fn layout(setup: &Setup<'_>) -> u64 {
    let template = setup.template.map(ChatTemplate::fingerprint);
    crate::hash::of(&(template, setup.placement as u8, setup.retention as u8))
}

/// Compares the fingerprints, part by part from the front.
pub(crate) fn changed(state: &WindowState, fingerprint: &str, base: &str) -> Option<EpochReason> {
    if state.fingerprint == fingerprint {
        return None;
    }
    let before = state.fingerprint.as_str();
    let with_layout = fingerprint.rsplit_once('-').map_or(fingerprint, |(with_layout, _)| with_layout);
    Some(match (state.epoch, before) {
        (0, _) => EpochReason::First,
        (_, "") => EpochReason::Edited,
        _ if before.starts_with(with_layout) => EpochReason::Head,
        _ if before.starts_with(base) => EpochReason::Layout,
        _ => EpochReason::Model,
    })
}

/// True if the messages up to one of `marks` are as they were sent.
pub(crate) fn continues(marks: &[Mark], window: &[HistoryMessage]) -> bool {
    if marks.is_empty() {
        return true;
    }
    let mut hash = Fast::default();
    window.iter().any(|message| {
        add(&mut hash, message, &message.text);
        // A dozen marks at most, and nearly always only the newest few messages are among them.
        marks.iter().any(|mark| mark.message == message.id && mark.hash == hash.finish())
    })
}

/// Marks of the newest messages of `window`, which begins at the anchor, as an epoch that begins or goes on sends them.
pub(crate) fn marks(window: &[HistoryMessage], begins: bool) -> Vec<Mark> {
    let mut hash = Fast::default();
    let skip = window.len().saturating_sub(MARKS);
    let mut marks = Vec::with_capacity(MARKS.min(window.len()));
    for (index, message) in window.iter().enumerate() {
        add(&mut hash, message, message.words(begins).0);
        if index >= skip {
            marks.push(Mark { message: message.id, hash: hash.finish() });
        }
    }
    marks
}

fn add(hash: &mut Fast, message: &HistoryMessage, text: &str) {
    let MessageId(id) = message.id;
    hash.write(id.as_bytes());
    hash.write(message.role.as_str().as_bytes());
    hash.write(text.as_bytes());
}

/// FNV-1a.
fn hash<'a>(texts: impl Iterator<Item = &'a str>) -> u64 {
    let bytes = texts.flat_map(|text| text.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}
