//! Shows the outcome of a lorebook test.

use context::lore::{Activated, Profile, Rejected};
use serde::Serialize;

/// Activated and skipped entries, in activation order.
#[derive(Serialize)]
pub(super) struct Report {
    pub(super) activated: Vec<Activated>,
    pub(super) rejected: Vec<Rejected>,
    pub(super) tokens: u32,
    pub(super) budget: u32,
    pub(super) overflowed: bool,
    pub(super) patterns_exhausted: bool,
    pub(super) profile: Profile,
    /// How tokens were counted.
    pub(super) counting: &'static str,
    /// Entries that could not be parsed.
    pub(super) skipped: Vec<String>,
}

pub(super) fn shown(report: &Report) -> String {
    let mut lines: Vec<String> = report.activated.iter().map(fired).collect();
    lines.extend(report.rejected.iter().map(|entry| {
        let rule = serde_json::to_value(entry.rule).unwrap_or_default();
        format!(
            "-  {} {}: {}",
            entry.book,
            entry.uid,
            rule.as_str().unwrap_or_default().replace('_', " ")
        )
    }));
    lines.extend(report.skipped.iter().map(|skipped| format!("?  {skipped}")));
    let over = if report.overflowed {
        ", which was not enough"
    } else {
        ""
    };
    lines.push(format!(
        "about {} of {} tokens{over}",
        report.tokens, report.budget
    ));
    lines.join("\n")
}

pub(super) fn fired(entry: &Activated) -> String {
    let value = serde_json::to_value(entry).unwrap_or_default();
    let word = |name: &str| value[name].as_str().unwrap_or("nowhere").replace('_', " ");
    let key = entry
        .key
        .as_ref()
        .map(|key| format!(" {key:?}"))
        .unwrap_or_default();
    let message = value["message"]
        .as_u64()
        .map(|at| format!(" in message {}", at + 1))
        .unwrap_or_default();
    format!(
        "+  {} {}: {}{key}{message}, {}, {} tokens",
        entry.book,
        entry.uid,
        word("reason"),
        word("position"),
        entry.tokens
    )
}
