//! The table of counts and the lists behind them.

use crate::house::limits::{Count, LIMITS};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The places behind a count.
pub(crate) struct List {
    pub(crate) title: String,
    pub(crate) lines: Vec<String>,
}

/// The result of one counter.
#[derive(Default)]
pub(crate) struct Counted {
    pub(crate) counts: Vec<(Count, u64)>,
    pub(crate) lists: Vec<List>,
}

impl Counted {
    /// Adds a count together with the list of what it counts.
    pub(crate) fn list(&mut self, count: Count, title: &str, lines: Vec<String>) {
        self.counts.push((count, lines.len() as u64));
        self.lists.push(List {
            title: title.to_owned(),
            lines,
        });
    }
}

/// A line of the table.
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) today: u64,
    pub(crate) goal: Option<u64>,
    pub(crate) limit: Option<u64>,
    pub(crate) last_month: Option<u64>,
}

impl Row {
    pub(crate) fn exceeds_limit(&self) -> bool {
        self.limit.is_some_and(|limit| self.today > limit)
    }
}

/// Puts the counts into the order of [`LIMITS`].
pub(crate) fn rows(counts: &[(Count, u64)]) -> Vec<Row> {
    let counts: BTreeMap<Count, u64> = counts.iter().copied().collect();
    let measured = LIMITS
        .iter()
        .filter_map(|row| Some((row, *counts.get(&row.count)?)));
    measured
        .map(|(row, today)| Row {
            name: row.name.to_owned(),
            today,
            goal: row.goal,
            limit: row.limit,
            last_month: row.last_month,
        })
        .collect()
}

/// The aligned table. A row over its limit says so.
pub(crate) fn table(rows: &[Row]) -> String {
    let width = rows
        .iter()
        .map(|row| row.name.chars().count())
        .max()
        .unwrap_or(0);
    let mut text = format!(
        "{:width$} {:>8} {:>8} {:>10}\n",
        "count", "today", "goal", "last month"
    );
    for row in rows {
        let goal = number(row.goal);
        let last_month = number(row.last_month);
        let _ = write!(
            text,
            "{:width$} {:>8} {goal:>8} {last_month:>10}",
            row.name, row.today
        );
        if row.exceeds_limit() {
            let _ = write!(text, "  over the limit of {}", number(row.limit));
        }
        text.push('\n');
    }
    text
}

/// A list below its title.
pub(crate) fn list(list: &List) -> String {
    let lines: String = list
        .lines
        .iter()
        .map(|line| format!("  {line}\n"))
        .collect();
    format!("\n{}\n{lines}", list.title)
}

fn number(value: Option<u64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_is_aligned_and_names_exceeded_limits() {
        let row = |name: &str, today, limit| Row {
            name: name.to_owned(),
            today,
            goal: Some(5),
            limit: Some(limit),
            last_month: None,
        };
        assert_eq!(
            table(&[row("files", 12, 12), row("long files", 7, 6)]),
            "count         today     goal last month\n\
             files            12        5          -\n\
             long files        7        5          -  over the limit of 6\n"
        );
    }

    #[test]
    fn limits_are_not_below_goals_and_named_once() {
        let mut names: Vec<&str> = LIMITS.iter().map(|row| row.name).collect();
        assert!(LIMITS.iter().all(|row| row.goal <= row.limit));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), LIMITS.len());
    }
}
