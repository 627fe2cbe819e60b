//! Expectations for prompts, and their scores, based only on string comparison.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use engine::scenario::Probed;

use super::StoryPlan;

/// Group of a question and the expectation for its prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expectation {
    /// Group first, for example "A shared, 1000".
    pub name: String,
    /// Percentage of the questions that must pass.
    pub goal: u32,
    pub wants: ExpectedRecall,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExpectedRecall {
    /// The memory section contains all of these.
    All(Vec<String>),
    /// The memory section contains the newest value, and older values only with a date on the same
    /// line.
    Newest { newest: String, older: Vec<String> },
    /// The memory section contains no older value without the newest.
    NotOnlyStale { newest: String, older: Vec<String> },
    /// A line of the memory section contains the text and the day.
    Dated { string: String, day: String },
    /// Memory uses at most this many tokens.
    AtMost(u32),
    /// The first item does not contain these.
    NotFirst(Vec<String>),
    /// The prompt does not contain these.
    Nowhere(Vec<String>),
    /// The prompt contains all of these.
    Somewhere(Vec<String>),
    /// The prompt leaves this many tokens free, and its messages contain all of these.
    Fits { reserve: u32, newest: Vec<String> },
}

impl ExpectedRecall {
    pub fn met(&self, answer: &Probed) -> bool {
        let has = |string: &String| answer.memory.contains(string.as_str());
        let line = |string: &String| {
            answer
                .items
                .iter()
                .find(|item| item.text.contains(string.as_str()))
        };
        let prompt = answer.prompt.as_deref().unwrap_or_default();
        match self {
            Self::All(strings) => strings.iter().all(has),
            Self::Newest { newest, older } => {
                let dated = |old: &String| line(old).is_none_or(|item| has_date(&item.text));
                has(newest) && older.iter().all(dated)
            }
            Self::NotOnlyStale { newest, older } => has(newest) || !older.iter().any(has),
            Self::Dated { string, day } => {
                line(string).is_some_and(|item| item.text.contains(day.as_str()))
            }
            Self::AtMost(tokens) => answer.memory_tokens <= *tokens,
            Self::NotFirst(strings) => {
                let first = answer.items.first();
                first.is_none_or(|item| {
                    strings
                        .iter()
                        .all(|string| !item.text.contains(string.as_str()))
                })
            }
            Self::Nowhere(strings) => strings
                .iter()
                .all(|string| !prompt.contains(string.as_str())),
            Self::Somewhere(strings) => strings
                .iter()
                .all(|string| prompt.contains(string.as_str())),
            Self::Fits { reserve, newest } => {
                answer.tokens + reserve <= answer.limit
                    && newest.iter().all(|said| prompt.contains(said.as_str()))
            }
        }
    }
}

/// Whether the text contains a year of the story after a month's name.
fn has_date(text: &str) -> bool {
    const MONTHS: [&str; 12] = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    MONTHS
        .iter()
        .any(|month| text.contains(&format!("{month} 2026")))
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct ScoreRow {
    passed: usize,
    asked: usize,
    goal: u32,
    /// Ids of failed questions, for diagnosis.
    failed: Vec<String>,
}

/// Scores by group.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table {
    rows: BTreeMap<String, ScoreRow>,
    /// Times of all probes, sorted.
    milliseconds: Vec<u64>,
}

/// Expectation for every prompt of any group (group F).
const ISOLATION: &str = "F nobody else's answers";

impl Table {
    pub fn of(plan: &StoryPlan, answers: &[Probed]) -> Self {
        let mut table = Self::default();
        for answer in answers {
            if let Some(case) = plan.wants.get(&answer.id) {
                table.count(&case.name, case.goal, &answer.id, case.wants.met(answer));
            }
            table.count(ISOLATION, 100, &answer.id, alone(plan, answer));
            table.milliseconds.push(answer.milliseconds as u64);
        }
        table.milliseconds.sort_unstable();
        table
    }

    /// Adds the result of a separate check.
    pub fn count(&mut self, name: &str, goal: u32, what: &str, passed: bool) {
        let row = self
            .rows
            .entry(name.to_owned())
            .or_insert_with(|| ScoreRow {
                goal,
                ..ScoreRow::default()
            });
        row.asked += 1;
        row.passed += usize::from(passed);
        if !passed {
            row.failed.push(what.to_owned());
        }
    }

    /// Returns the percentage of passed questions; 0 for a case without any.
    pub fn percent(&self, name: &str) -> f64 {
        self.rows
            .get(name)
            .map_or(0.0, |row| 100.0 * row.passed as f64 / row.asked as f64)
    }

    pub fn failed(&self, name: &str) -> &[String] {
        self.rows.get(name).map_or(&[], |row| &row.failed)
    }

    /// Returns the cases with their percentages and goals.
    pub fn cases(&self) -> impl Iterator<Item = (&str, f64, u32)> {
        self.rows
            .iter()
            .map(|(name, row)| (name.as_str(), self.percent(name), row.goal))
    }
}

impl fmt::Display for Table {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            out,
            "{:<34} {:>6} {:>6} {:>8}",
            "case", "goal", "is", "asked"
        )?;
        for (name, row) in &self.rows {
            let short = if self.percent(name) < f64::from(row.goal) {
                "  <-"
            } else {
                ""
            };
            writeln!(
                out,
                "{name:<34} {:>6} {:>6.1} {:>8}{short}",
                row.goal,
                self.percent(name),
                row.asked
            )?;
        }
        let of = |percent: usize| {
            self.milliseconds
                .get(self.milliseconds.len() * percent / 100)
                .copied()
                .unwrap_or(0)
        };
        write!(
            out,
            "a prompt: {} ms (median), {} ms (95th of 100)",
            of(50),
            of(95)
        )
    }
}

/// Whether the prompt contains no answer of another pair.
fn alone(plan: &StoryPlan, answer: &Probed) -> bool {
    let prompt = answer.prompt.as_deref().unwrap_or_default();
    let words: BTreeSet<&str> = prompt
        .split(|letter: char| !letter.is_ascii_alphanumeric())
        .collect();
    let present = |pair: &String| {
        *pair == answer.pair
            || plan
                .voices
                .get(&answer.chat)
                .is_some_and(|all| all.contains(pair))
    };
    words
        .into_iter()
        .all(|word| plan.canaries.get(word).is_none_or(present))
}
