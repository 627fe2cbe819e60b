//! The report of a run: its slowest tests, its failures, and one line per step.

use super::step::Outcome;
use crate::tally::TestCounts;
use std::io::Write as _;
use std::process::ExitCode;

/// Number of tests in the list of the slowest.
const SLOWEST: usize = 20;

/// Prints the report, whose last line is the count, and returns the status of the run.
pub(super) fn report(outcomes: &[Outcome]) -> ExitCode {
    let mut sum = TestCounts::default();
    // Repeats the failures at the end, because often only the end of a long log is read or kept.
    let mut lines = slowest(outcomes);
    lines += "\n";
    for failure in outcomes.iter().flat_map(|outcome| &outcome.failures) {
        lines += &format!("{failure}\n");
    }
    for outcome in outcomes {
        sum += outcome.tally;
        lines += &line(outcome);
    }
    lines += &format!("\n{} passed, {} failed\n", sum.passed, sum.failed);
    let written = std::io::stdout().write_all(lines.as_bytes());
    if sum.failed == 0 && written.is_ok() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Lists the tests that take longest.
fn slowest(outcomes: &[Outcome]) -> String {
    let mut times: Vec<_> = outcomes.iter().flat_map(|outcome| &outcome.times).collect();
    times.sort_by(|a, b| b.0.total_cmp(&a.0));
    if times.is_empty() {
        return String::new();
    }
    let rows = times
        .iter()
        .take(SLOWEST)
        .map(|(seconds, name)| format!("  {seconds:7.1} s  {name}\n"));
    format!("\nSlowest tests\n{}", rows.collect::<String>())
}

fn line(outcome: &Outcome) -> String {
    let Outcome {
        name,
        time,
        tally: TestCounts { passed, failed },
        skipped,
        ..
    } = outcome;
    match skipped {
        Some(reason) => format!("  {name:32} skipped: {reason}\n"),
        None => format!(
            "  {name:32} {:7.1} s  {passed:5} passed {failed:4} failed\n",
            time.as_secs_f64()
        ),
    }
}
