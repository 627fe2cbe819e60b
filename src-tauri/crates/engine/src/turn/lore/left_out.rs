//! Reports activated lorebook entries that did not fit: a notice names them, and the X-ray lists
//! them as left out.

use context::frame::{BlockKind, Source};
use context::lore::{LoreOutcome, PreparedBooks, Rejected, Rule};
use context::plan::PlannedBlock;
use context::reason::BlockReason;

/// Maximum number of entries to name in one notice.
const MAX_NAMED: usize = 5;

/// Notice for the user.
pub(crate) fn notice(outcome: &LoreOutcome, books: &PreparedBooks) -> Option<String> {
    let left: Vec<&Rejected> = without_room(outcome).collect();
    if left.is_empty() {
        return None;
    }
    let mut names: Vec<String> = left
        .iter()
        .take(MAX_NAMED)
        .map(|entry| format!("\"{}\"", name(entry, books)))
        .collect();
    if left.len() > MAX_NAMED {
        names.push(format!("{} more", left.len() - MAX_NAMED));
    }
    let names = names.join(", ");
    let tokens = outcome.budget;
    Some(format!(
        "Lorebook entries over the token limit are left out: {names}. Lore may use {tokens} tokens, or fewer if a book \
         says so. Shorten the entries, or raise the lore budget in Settings."
    ))
}

/// Rows for the X-ray.
pub(crate) fn blocks(outcome: &LoreOutcome, books: &PreparedBooks) -> Vec<PlannedBlock> {
    let row = |entry: &Rejected| {
        let written = books.rejected(entry);
        let book = entry.book.to_string();
        let title = name(entry, books);
        let source = Source::Lore {
            book,
            entry: entry.uid.to_string(),
            title,
        };
        let reason = match entry.rule {
            Rule::BookBudget => BlockReason::OverBookBudget,
            _ => BlockReason::OverLoreBudget,
        };
        PlannedBlock::left_out(
            BlockKind::Lore,
            source,
            reason,
            written.map_or("", |entry| &entry.content),
        )
    };
    without_room(outcome).map(row).collect()
}

fn without_room(outcome: &LoreOutcome) -> impl Iterator<Item = &Rejected> {
    outcome
        .rejected
        .iter()
        .filter(|entry| matches!(entry.rule, Rule::Budget | Rule::BookBudget))
}

/// Returns the entry's title, or else its first key, or else its number.
fn name(entry: &Rejected, books: &PreparedBooks) -> String {
    let written = books.rejected(entry);
    let names = written
        .into_iter()
        .flat_map(|entry| [&entry.comment, &entry.name].into_iter().chain(&entry.keys));
    let named = names.map(|name| name.trim()).find(|name| !name.is_empty());
    named.map_or_else(
        || format!("{} {}", entry.book, entry.uid.as_str()),
        str::to_owned,
    )
}
