//! Frozen content of an epoch: context blocks of messages, the digest, and marks of the sent
//! messages. It is stored as JSON with the chat and re-sent unchanged until the epoch ends.

use domain::MessageId;
use domain::chat::Role;
use serde::{Deserialize, Serialize};

use crate::frame::{BlockKind, Candidate, HistoryMessage, Source};
use crate::reason::{BlockReason, Reasons};

/// An item of a context block or of the digest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FrozenBlock {
    pub kind: BlockKind,
    pub source: Source,
    #[serde(alias = "reason")]
    pub reasons: Reasons,
    /// See [`Candidate::heading`].
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub heading: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    pub text: String,
    /// See [`Candidate::written`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<String>,
}

impl From<&Candidate> for FrozenBlock {
    fn from(candidate: &Candidate) -> Self {
        Self {
            kind: candidate.kind,
            source: candidate.source.clone(),
            reasons: candidate.reasons.clone(),
            heading: candidate.heading.trim().to_owned(),
            title: candidate.title.trim().to_owned(),
            text: candidate.text.trim().to_owned(),
            written: candidate.written.clone(),
        }
    }
}

impl FrozenBlock {
    /// A block with the formatted date and time.
    pub fn clock(words: &str) -> Self {
        Self {
            kind: BlockKind::Clock,
            source: Source::Clock,
            reasons: BlockReason::NewDateOrTime.into(),
            heading: String::new(),
            title: String::new(),
            text: words.to_owned(),
            written: None,
        }
    }
}

/// Reads the context blocks of a stored column. Earlier versions stored a bare line with date and
/// time instead of JSON.
pub fn read(column: &str) -> Vec<FrozenBlock> {
    if let Ok(blocks) = serde_json::from_str(column) {
        return blocks;
    }
    let line = column.trim();
    let words = line
        .strip_prefix("[CONTEXT:")
        .and_then(|rest| rest.strip_suffix(']'))
        .unwrap_or(line)
        .trim();
    if words.is_empty() {
        Vec::new()
    } else {
        vec![FrozenBlock::clock(words)]
    }
}

/// Formats blocks for the column that [`read`] parses.
pub fn write(blocks: &[FrozenBlock]) -> String {
    serde_json::to_string(blocks).unwrap_or_default()
}

/// For each message of `history`, its distance from the end when it was first sent in the current
/// epoch. `frozen` is [`WindowState::frozen`](domain::chat::WindowState::frozen). Content that
/// depends on these depths stays as it was sent.
pub fn depths(frozen: &str, history: &[HistoryMessage]) -> Vec<u32> {
    let began = EpochState::read(frozen).began;
    let began = began
        .and_then(|id| history.iter().position(|message| message.id == id))
        .map(|before| before + 1);
    let mut depths = vec![0; history.len()];
    let mut end = history.len().saturating_sub(1);
    for (index, message) in history.iter().enumerate().rev() {
        match began {
            Some(began) if index <= began => end = began,
            // A prompt ended with this message, because it was answered.
            _ if message.role != Role::Character => end = index,
            _ => {}
        }
        depths[index] = u32::try_from(end - index).unwrap_or(u32::MAX);
    }
    depths
}

/// The content of [`WindowState::frozen`](domain::chat::WindowState::frozen).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct EpochState {
    pub(crate) digest: Vec<FrozenBlock>,
    /// The newest messages that were sent, each with the hash of the window up to and including it.
    pub(crate) marks: Vec<SentMark>,
    /// The message before the newest one when the epoch began. Depths are counted from the message
    /// after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) began: Option<MessageId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SentMark {
    pub(crate) message: MessageId,
    pub(crate) hash: u64,
}

impl EpochState {
    /// Returns an empty state if `frozen` is empty or unreadable; the caller then starts a new
    /// epoch.
    pub(crate) fn read(frozen: &str) -> Self {
        serde_json::from_str(frozen).unwrap_or_default()
    }

    pub(crate) fn write(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_back_written_context_blocks() {
        let lore = Source::Lore {
            book: "b".into(),
            entry: "7".into(),
            title: "Lamps".into(),
        };
        let lore = Candidate::new(
            BlockKind::Lore,
            lore,
            BlockReason::Key { key: "lamp".into() },
            "They burn whale oil.",
        );
        let made = FrozenBlock::from(&lore.clone().with_source_text("They burn {{oil}}."));
        for blocks in [
            vec![],
            vec![FrozenBlock::clock("noon"), FrozenBlock::from(&lore), made],
        ] {
            assert_eq!(read(&write(&blocks)), blocks);
        }
    }

    /// `chat` has one letter per message, `u` for the user and `c` for the character. `began` is
    /// the message before the newest one at the start of the epoch.
    #[track_caller]
    fn check_depths(chat: &str, began: Option<u128>, expected: &[u32]) {
        let id = |number: u128| serde_json::from_value(format!("{number:032x}").into()).unwrap();
        let role = |letter| {
            if letter == 'u' {
                Role::User
            } else {
                Role::Character
            }
        };
        let said = |(number, letter): (usize, char)| {
            HistoryMessage::new(
                id(number as u128),
                role(letter),
                "",
                "",
                domain::Timestamp(0),
            )
        };
        let history: Vec<HistoryMessage> = chat.chars().enumerate().map(said).collect();
        let state = EpochState {
            began: began.map(id),
            ..EpochState::default()
        };
        assert_eq!(
            depths(&state.write(), &history),
            expected,
            "{chat} {began:?}"
        );
    }

    #[test]
    fn depths_stay_as_first_sent() {
        check_depths("cucu", Some(2), &[3, 2, 1, 0]);
        check_depths("cucucu", Some(2), &[3, 2, 1, 0, 1, 0]);
        check_depths("cucuc", Some(2), &[3, 2, 1, 0, 0]);
        check_depths("cuc", Some(2), &[3, 2, 1]);
        check_depths("cuucu", Some(0), &[1, 0, 0, 1, 0]);
        check_depths("ucu", Some(9), &[0, 1, 0]);
        check_depths("ucu", None, &[0, 1, 0]);
        check_depths("", None, &[]);
    }

    #[test]
    fn reads_bare_line_of_earlier_versions_as_clock() {
        assert_eq!(
            read("[CONTEXT: Saturday, 23:11]"),
            [FrozenBlock::clock("Saturday, 23:11")]
        );
        assert_eq!(read(""), []);
    }
}
