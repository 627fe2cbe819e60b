//! Parses the numbers of passed and failed tests from the output of test runners.

use std::collections::HashSet;
use std::ops::AddAssign;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TestCounts {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
}

impl TestCounts {
    /// Counts a check without tests as one test.
    pub(crate) fn of_one(passed: bool) -> Self {
        Self {
            passed: u64::from(passed),
            failed: u64::from(!passed),
        }
    }

    /// Combines a runner's count with its exit status. A crash is reported as a failure even if no
    /// test failed, and so is a success without any tests.
    pub(crate) fn settled(counted: Option<Self>, succeeded: bool) -> Self {
        match counted {
            Some(tally) if succeeded || tally.failed > 0 => tally,
            Some(tally) => Self { failed: 1, ..tally },
            None => Self::of_one(false),
        }
    }
}

impl AddAssign for TestCounts {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

/// Whether cargo's output reports warnings of a crate: ``warning: `store` (lib) generated 2
/// warnings``. Cargo repeats them for crates that it does not build again.
pub(crate) fn has_warnings(output: &str) -> bool {
    output
        .lines()
        .any(|line| line.starts_with("warning: `") && line.contains(" generated "))
}

/// Parses the last line `Summary [   1.2s] 5 tests run: 4 passed (1 slow), 1 failed, 0 skipped` of
/// cargo-nextest.
pub(crate) fn nextest(output: &str) -> Option<TestCounts> {
    let line = output
        .lines()
        .rev()
        .find(|line| line.trim_start().starts_with("Summary ["))?;
    let (_, counts) = line.split_once("run:")?;
    let failures = ["failed", "timed out", "exec failed"];
    Some(TestCounts {
        passed: count_before(counts, "passed"),
        failed: failures
            .iter()
            .map(|words| count_before(counts, words))
            .sum(),
    })
}

/// Sums every line `test result: ok. 3 passed; 0 failed; 1 ignored; …` of `cargo test`.
pub(crate) fn cargo_test(output: &str) -> Option<TestCounts> {
    let mut sum = None;
    for line in output
        .lines()
        .filter_map(|line| line.trim().strip_prefix("test result:"))
    {
        let (_, counts) = line.split_once(". ").unwrap_or_default();
        *sum.get_or_insert_with(TestCounts::default) += TestCounts {
            passed: count_before(counts, "passed"),
            failed: count_before(counts, "failed"),
        };
    }
    sum
}

/// Parses the last line `N passed, N failed` of the browser tests.
pub(crate) fn last_line(output: &str) -> Option<TestCounts> {
    let line = output.lines().rev().find(|line| !line.trim().is_empty())?;
    let (passed, failed) = line.trim().split_once(" passed, ")?;
    Some(TestCounts {
        passed: passed.parse().ok()?,
        failed: failed.strip_suffix(" failed")?.parse().ok()?,
    })
}

/// Parses vitest's JSON report.
pub(crate) fn vitest(json: &str) -> Option<TestCounts> {
    let report: serde_json::Value = serde_json::from_str(json).ok()?;
    let count = |name: &str| report.get(name)?.as_u64();
    Some(TestCounts {
        passed: count("numPassedTests")?,
        failed: count("numFailedTests")?,
    })
}

/// Prefixes of the line of a failed test.
const FAILED: [&str; 6] = [
    "FAIL ",
    "TIMEOUT ",
    "ABORT ",
    "SIGABRT ",
    "SIGSEGV ",
    "LEAK-FAIL ",
];

/// Returns each failed test once, with the indented lines below it that explain the failure.
pub(crate) fn failures(output: &str) -> Vec<String> {
    let mut failures: Vec<String> = Vec::new();
    let mut depth = None;
    for line in output.lines() {
        let indent = line.len() - line.trim_start().len();
        // An assertion prints an empty line between its text and what differs.
        if indent == line.len() {
            continue;
        }
        match (
            FAILED.iter().any(|word| line[indent..].starts_with(word)),
            depth,
            failures.last_mut(),
        ) {
            (true, ..) => {
                depth = Some(indent);
                failures.push(line[indent..].to_owned());
            }
            (false, Some(of_test), Some(failure)) if indent > of_test => {
                *failure += "\n";
                *failure += line;
            }
            _ => depth = None,
        }
    }
    let mut seen = HashSet::new();
    failures.retain(|failure| seen.insert(failure.clone()));
    failures
}

/// Returns the seconds and the name of each finished test of cargo-nextest and of the browser
/// tests.
pub(crate) fn times(output: &str) -> Vec<(f64, String)> {
    let mut seen = HashSet::new();
    let times = output
        .lines()
        .filter_map(|line| nextest_time(line).or_else(|| browser_time(line)));
    // cargo-nextest repeats the line of a failed test at the end.
    times
        .filter(|(_, name)| seen.insert(*name))
        .map(|(seconds, name)| (seconds, name.to_owned()))
        .collect()
}

/// Parses `PASS [   1.250s] (3/9) store tests::finds`. A slow test that still runs has `>` before
/// its time.
fn nextest_time(line: &str) -> Option<(f64, &str)> {
    let (status, rest) = line.trim_start().split_once(" [")?;
    if status.chars().any(|letter| letter.is_ascii_lowercase()) {
        return None;
    }
    let (seconds, name) = rest.split_once("s] ")?;
    let name = name.trim_start();
    let name = name
        .strip_prefix('(')
        .and_then(|counted| counted.split_once(") "))
        .map_or(name, |(_, name)| name);
    Some((seconds.trim().parse().ok()?, name))
}

/// Parses `ok    sends a message (30 ms)`.
fn browser_time(line: &str) -> Option<(f64, &str)> {
    let (name, time) = line
        .strip_prefix("ok ")?
        .strip_suffix(" ms)")?
        .rsplit_once(" (")?;
    let milliseconds: f64 = time.parse().ok()?;
    Some((milliseconds / 1000.0, name.trim_start()))
}

/// Returns the number before `words` in a list separated by commas or semicolons, or 0.
fn count_before(counts: &str, words: &str) -> u64 {
    let parts = counts.split([',', ';']).map(str::trim);
    let mut counted = parts
        .filter_map(|part| part.split_once(' '))
        .filter_map(|(number, rest)| {
            let rest = rest.split(" (").next().unwrap_or(rest);
            (rest == words).then(|| number.parse().ok())?
        });
    counted.next().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(passed: u64, failed: u64) -> Option<TestCounts> {
        Some(TestCounts { passed, failed })
    }

    #[test]
    fn finds_warnings_of_crates() {
        assert!(has_warnings(
            "   Compiling store\nwarning: `store` (lib) generated 1 warning (run `cargo fix`)\n"
        ));
        assert!(!has_warnings(
            "warning: worker@0.1.0: no Vulkan SDK\n    Finished `dev` profile\n"
        ));
    }

    #[test]
    fn nextest_slow_passes_and_timeout_fails() {
        let all = "     Summary [   0.010s] 5 tests run: 5 passed, 0 skipped\n";
        let mixed = "Summary [ 61.0s] 9/12 tests run: 6 passed (2 slow, 1 flaky), 1 failed, 1 timed out, 1 exec failed, 3 skipped";
        assert_eq!(nextest(all), tally(5, 0));
        assert_eq!(nextest(mixed), tally(6, 3));
        assert_eq!(nextest("error: could not compile `store`"), None);
    }

    #[test]
    fn sums_cargo_test_over_binaries() {
        let output = "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\
                      test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1s\n";
        assert_eq!(cargo_test(output), tally(4, 2));
        assert_eq!(cargo_test("error: could not compile"), None);
    }

    #[test]
    fn reads_the_last_line_of_browser_tests() {
        assert_eq!(
            last_line("ok sends a message\n12 passed, 1 failed\n\n"),
            tally(12, 1)
        );
        assert_eq!(
            last_line("12 passed, 1 failed\nError: the browser went away\n"),
            None
        );
    }

    #[test]
    fn lists_each_failure_once_with_its_reason() {
        let browser = "ok    sends (3 ms)\nFAIL  edits\n      Error: no button\n      \n      at line 3\nok    deletes (2 ms)\n";
        assert_eq!(
            failures(browser),
            ["FAIL  edits\n      Error: no button\n      at line 3"]
        );
        let nextest = "        FAIL [   0.1s] (3/9) store finds\n  stderr ---\n    a thread panicked\n     Summary [   0.2s] 1 failed\n        FAIL [   0.1s] (3/9) store finds\n";
        assert_eq!(failures(nextest), ["FAIL [   0.1s] (3/9) store finds"]);
    }

    #[test]
    fn reads_the_time_of_each_test_once() {
        let nextest = "        SLOW [> 60.000s] (---) tests::it turns::a\n\
                       \x20       PASS [  61.500s] ( 1/12) tests::it turns::a\n\
                       \x20    TIMEOUT [ 240.000s] ( 2/12) store b\n\
                       \x20    Summary [ 301.0s] 2 tests run: 1 passed, 1 timed out, 0 skipped\n\
                       \x20    TIMEOUT [ 240.000s] ( 2/12) store b\n";
        assert_eq!(
            times(nextest),
            [
                (61.5, "tests::it turns::a".to_owned()),
                (240.0, "store b".to_owned())
            ]
        );
        let browser = "ok    deletes (a chat) (1500 ms)\nFAIL  edits\n2 passed, 1 failed\n";
        assert_eq!(times(browser), [(1.5, "deletes (a chat)".to_owned())]);
    }

    #[test]
    fn reads_the_vitest_report() {
        assert_eq!(
            vitest(r#"{"numTotalTests":7,"numPassedTests":6,"numFailedTests":1}"#),
            tally(6, 1)
        );
        assert_eq!(vitest("not json"), None);
    }

    #[test]
    fn crash_is_a_failure_whatever_was_counted() {
        assert_eq!(
            TestCounts::settled(tally(5, 0), true),
            TestCounts {
                passed: 5,
                failed: 0
            }
        );
        assert_eq!(
            TestCounts::settled(tally(5, 0), false),
            TestCounts {
                passed: 5,
                failed: 1
            }
        );
        assert_eq!(
            TestCounts::settled(tally(5, 2), false),
            TestCounts {
                passed: 5,
                failed: 2
            }
        );
        assert_eq!(
            TestCounts::settled(None, true),
            TestCounts {
                passed: 0,
                failed: 1
            }
        );
    }
}
