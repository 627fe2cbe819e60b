//! The manifest of a turn: what was sent and what it cost, stored with the reply; the X-ray only draws it.
//!
//! Every text is stored once, in the segments: the blocks that were kept are their plain ones, in order.

use crate::api::{Figures, PromptReport};

/// The JSON to store for `report`.
pub(crate) fn to_json(report: &PromptReport) -> String {
    let mut report = report.clone();
    report.text = String::new();
    report.messages.iter_mut().for_each(|message| message.text = String::new());
    for block in report.blocks.iter_mut().filter(|block| block.kept) {
        block.text = String::new();
    }
    serde_json::to_string(&report).unwrap_or_default()
}

/// Reads what [`to_json`] wrote; `None` if it is not that.
pub(crate) fn from_json(json: &str) -> Option<PromptReport> {
    let mut report: PromptReport = serde_json::from_str(json).ok()?;
    report.text = report.segments.iter().map(|segment| segment.text.as_str()).collect();
    let mut texts = report.segments.iter().filter(|segment| !segment.control).map(|segment| segment.text.as_str());
    let mut messages = report.messages.iter_mut();
    let (mut message, mut owner) = (None, String::new());
    for block in report.blocks.iter_mut().filter(|block| block.kept) {
        let part = texts.next().unwrap_or_default();
        block.text = part.trim_start_matches('\n').to_owned();
        // Blocks of one message share what stands before the last dash of their ids.
        let of = block.id.rsplit_once('-').map_or("", |(of, _)| of);
        let first = owner != of;
        if first {
            (message, owner) = (messages.next(), of.to_owned());
        }
        if let Some(message) = &mut message {
            message.text.push_str(if first { &block.text } else { part });
        }
    }
    Some(report)
}

/// The figures as they are stored beside the manifest.
pub(crate) fn figures_json(figures: &Figures) -> String {
    serde_json::to_string(figures).unwrap_or_default()
}

pub(crate) fn figures(json: &str) -> Option<Figures> {
    serde_json::from_str(json).ok()
}
