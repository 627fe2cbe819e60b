//! One step of a run: a check, or a runner with its own tests.

use crate::process::command_line;
use crate::python;
use crate::run::with_test_environment;
use crate::tally::{self, TestCounts};
use anyhow::{Context, Result};
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Result of one step.
pub(crate) struct Outcome {
    pub(crate) name: &'static str,
    pub(crate) time: Duration,
    pub(crate) tally: TestCounts,
    /// Failed tests, as reported by the runner.
    pub(crate) failures: Vec<String>,
    /// Seconds and name of each test, as reported by the runner.
    pub(crate) times: Vec<(f64, String)>,
    /// Why the step was skipped; it then has no count.
    pub(crate) skipped: Option<&'static str>,
}

/// A step that passes or fails as a whole.
pub(crate) fn run_check(name: &'static str, call: &mut Command) -> Outcome {
    time_step(name, || {
        Ok(Measured {
            tally: TestCounts::of_one(watch(call)?.succeeded),
            ..Measured::default()
        })
    })
}

/// A step with its own tests, which `count` reads from its output.
pub(crate) fn run_tests(
    name: &'static str,
    call: &mut Command,
    count: impl FnOnce(&CommandOutput) -> Option<TestCounts>,
) -> Outcome {
    time_step(name, || {
        let printed = watch(python::set_test_variables(with_test_environment(call)?)?)?;
        let texts = [&printed.stdout, &printed.stderr];
        Ok(Measured {
            tally: TestCounts::settled(count(&printed), printed.succeeded),
            failures: texts.map(|text| tally::failures(text)).concat(),
            times: texts.map(|text| tally::times(text)).concat(),
        })
    })
}

/// The measurements of a step.
#[derive(Default)]
pub(crate) struct Measured {
    pub(crate) tally: TestCounts,
    pub(crate) failures: Vec<String>,
    pub(crate) times: Vec<(f64, String)>,
}

/// Runs a step and takes its time. An error is a failure.
pub(crate) fn time_step(name: &'static str, step: impl FnOnce() -> Result<Measured>) -> Outcome {
    eprintln!("\n==> {name}");
    let started = Instant::now();
    let Measured {
        tally,
        failures,
        times,
    } = step().unwrap_or_else(|error| Measured {
        tally: TestCounts::of_one(false),
        failures: vec![format!("{name}: {error:#}")],
        times: Vec::new(),
    });
    Outcome {
        name,
        time: started.elapsed(),
        tally,
        failures,
        times,
        skipped: None,
    }
}

/// Exit status and output of a program.
pub(crate) struct CommandOutput {
    pub(crate) succeeded: bool,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs a program, shows its output live and keeps it. Disables colours so that counts can be
/// parsed.
///
/// # Errors
/// The program cannot be started.
pub(crate) fn watch(call: &mut Command) -> Result<CommandOutput> {
    call.env("CARGO_TERM_COLOR", "never")
        .env("NO_COLOR", "1")
        .env_remove("FORCE_COLOR");
    let mut child = call
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {}", command_line(call)))?;
    let stdout = child.stdout.take();
    let stderr = child.stderr.take();
    let out = thread::spawn(move || stdout.map(show));
    let err = thread::spawn(move || stderr.map(show));
    let [stdout, stderr] =
        [out.join(), err.join()].map(|text| text.ok().flatten().unwrap_or_default());
    Ok(CommandOutput {
        succeeded: child.wait()?.success(),
        stdout,
        stderr,
    })
}

fn show(source: impl Read) -> String {
    let mut source = BufReader::new(source);
    let mut text = String::new();
    let mut line = Vec::new();
    while source
        .read_until(b'\n', &mut line)
        .is_ok_and(|length| length > 0)
    {
        let shown = String::from_utf8_lossy(&line);
        eprint!("{shown}");
        text.push_str(&shown);
        line.clear();
    }
    text
}
