//! What was sent once and stays as it was until the epoch ends: the context blocks of messages, the digest, and marks of
//! the messages themselves. Stored as JSON beside what it belongs to.

use domain::MessageId;
use serde::{Deserialize, Serialize};

use crate::frame::{BlockKind, Candidate, Source};

/// A part of a context block, or of the digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FrozenBlock {
    pub kind: BlockKind,
    pub source: Source,
    pub reason: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    pub text: String,
}

impl From<&Candidate> for FrozenBlock {
    fn from(candidate: &Candidate) -> Self {
        Self {
            kind: candidate.kind,
            source: candidate.source.clone(),
            reason: candidate.reason.clone(),
            title: candidate.title.trim().to_owned(),
            text: candidate.text.trim().to_owned(),
        }
    }
}

impl FrozenBlock {
    /// The date and time, in words.
    pub fn clock(words: &str) -> Self {
        Self {
            kind: BlockKind::Clock,
            source: Source::Clock,
            reason: "time has moved on".to_owned(),
            title: String::new(),
            text: words.to_owned(),
        }
    }
}

/// The context block in a stored column. Text that is no JSON was written by a version whose blocks were bare lines of
/// date and time.
pub fn read(column: &str) -> Vec<FrozenBlock> {
    if let Ok(blocks) = serde_json::from_str(column) {
        return blocks;
    }
    let line = column.trim();
    let words = line.strip_prefix("[CONTEXT:").and_then(|rest| rest.strip_suffix(']')).unwrap_or(line).trim();
    if words.is_empty() { Vec::new() } else { vec![FrozenBlock::clock(words)] }
}

/// For the column that [`read`] reads.
pub fn write(blocks: &[FrozenBlock]) -> String {
    serde_json::to_string(blocks).unwrap_or_default()
}

/// What [`WindowState::frozen`](domain::chat::WindowState::frozen) holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EpochState {
    pub(crate) digest: Vec<FrozenBlock>,
    /// The newest messages that were sent, each with the hash of the window up to it.
    pub(crate) marks: Vec<Mark>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mark {
    pub(crate) message: MessageId,
    pub(crate) hash: u64,
}

impl EpochState {
    /// Nothing, if it is not there or cannot be read: then a new epoch will say what is.
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
    fn a_context_block_comes_back_as_it_was_stored() {
        let lore = Source::Lore { book: "b".into(), entry: "7".into(), title: "Lamps".into() };
        let lore = FrozenBlock::from(&Candidate::new(BlockKind::Lore, lore, "key \"lamp\"", "They burn whale oil."));
        for blocks in [vec![], vec![FrozenBlock::clock("noon"), lore]] {
            assert_eq!(read(&write(&blocks)), blocks);
        }
    }

    #[test]
    fn the_bare_line_of_earlier_versions_is_a_clock() {
        assert_eq!(read("[CONTEXT: Saturday, 23:11]"), [FrozenBlock::clock("Saturday, 23:11")]);
        assert_eq!(read(""), []);
    }
}
