//! The tests of the Windows programs, run under Wine.

use super::toolchain::Toolchain;
use super::wine::Wine;
use crate::bundle;
use crate::system::{self, Need};
use crate::tally::{self, TestCounts};
use crate::test::step::{Measured, Outcome, run_tests, time_step};
use anyhow::Result;
use std::path::Path;

/// Crates whose unit tests need no other program.
const CRATES: [&str; 13] = [
    "context",
    "documents",
    "domain",
    "installation",
    "jinja",
    "launcher",
    "mcp",
    "protection",
    "provider",
    "recall",
    "store",
    "tokenizer",
    "updates",
];

/// Parts of the names of the crates' tests that run Python, which Wine cannot start.
const WITH_PYTHON: [&str; 3] = ["python", "libsodium_writes", "real_model::"];

/// Builds the packages, then tests the crates, the command line and the installer. `filter` is a
/// part of the names of the tests to run.
pub(crate) fn run(filter: Option<&str>) -> Vec<Outcome> {
    let mut made = None;
    let packages = time_step("Windows packages", || {
        system::ensure(&[Need::Build, Need::Windows, Need::Wine])?;
        let packages = bundle::windows::bundle()?;
        let toolchain = Toolchain::find()?;
        made = Some((Wine::prepare(&toolchain)?, toolchain, packages));
        Ok(Measured {
            tally: TestCounts::of_one(true),
            ..Measured::default()
        })
    });
    let mut outcomes = vec![packages];
    if let Some((wine, toolchain, packages)) = made {
        outcomes.push(crates(&wine, &toolchain, filter));
        outcomes.push(programs(&wine, &toolchain, &packages, filter));
    }
    outcomes
}

fn crates(wine: &Wine, toolchain: &Toolchain, filter: Option<&str>) -> Outcome {
    let packages = CRATES.iter().flat_map(|name| ["-p", *name]);
    let packages: Vec<&str> = packages.collect();
    cargo_tests(
        "Windows unit tests",
        (wine, toolchain),
        &packages,
        filter,
        None,
    )
}

/// Runs the tests of the command line, which also install the packages.
fn programs(wine: &Wine, toolchain: &Toolchain, packages: &Path, filter: Option<&str>) -> Outcome {
    // The packages and the profile of the bundle: with others, cargo would build all of them again.
    let mut selected = vec!["--release", "--test", "cli"];
    selected.extend(bundle::windows::PROGRAMS);
    cargo_tests(
        "Windows programs",
        (wine, toolchain),
        &selected,
        filter,
        Some(packages),
    )
}

fn cargo_tests(
    name: &'static str,
    (wine, toolchain): (&Wine, &Toolchain),
    selected: &[&str],
    filter: Option<&str>,
    packages: Option<&Path>,
) -> Outcome {
    let call = || -> Result<_> {
        let mut call = toolchain.cargo("test")?;
        call.arg("--no-fail-fast").args(selected);
        call.args(filter).args(["--", "--test-threads", "2"]);
        match packages {
            Some(packages) => call.env("INGLENOOK_WINE_PACKAGES", packages),
            None => call.args(WITH_PYTHON.iter().flat_map(|part| ["--skip", *part])),
        };
        wine.as_runner(&mut call);
        Ok(call)
    };
    match call() {
        Ok(mut call) => run_tests(name, &mut call, |printed| {
            tally::cargo_test(&printed.stdout)
        }),
        Err(error) => time_step(name, || Err(error)),
    }
}
