//! Selects the checks that a change can break, for `cargo xtask test --changed`.
//!
//! Tests of the window and of the browser are slow and depend on everything, so they run only if
//! `--only` names them.

use crate::process::{command, command_line, output, root};
use anyhow::{Context, Result};
use std::collections::BTreeSet;
use std::fs;

/// Checks to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ChangePlan {
    pub(crate) rust: Rust,
    pub(crate) ui: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Rust {
    Nothing,
    /// Tests that match this filter of cargo-nextest.
    Matching(String),
    Everything,
}

impl ChangePlan {
    pub(crate) const EVERYTHING: Self = Self {
        rust: Rust::Everything,
        ui: true,
    };
    const NOTHING: Self = Self {
        rust: Rust::Nothing,
        ui: false,
    };

    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::NOTHING
    }
}

/// Files of the UI that the engine's tests generate and compare.
const GENERATED: [&str; 2] = ["ui/src/lib/api/generated.ts", "ui/tests/mock/settings.json"];

/// Plans for the difference between the working tree and the point where its branch left `main`.
///
/// # Errors
/// Git is missing, or there is no branch `main`.
pub(crate) fn since_main() -> Result<ChangePlan> {
    let base = ["main", "origin/main"]
        .iter()
        .find_map(|branch| git(&["merge-base", "HEAD", branch]).ok());
    let base = base.context("git finds no common commit with `main`")?;
    // Without renames, because a file that left a crate can break the crate.
    let changed = git(&["diff", "--name-only", "--no-renames", "-z", base.trim()])?;
    let new = git(&["ls-files", "--others", "--exclude-standard", "-z"])?;
    let files: Vec<&str> = changed
        .split('\0')
        .chain(new.split('\0'))
        .filter(|file| !file.is_empty())
        .collect();
    Ok(plan(&files, &crates()?))
}

fn git(arguments: &[&str]) -> Result<String> {
    let mut call = command("git");
    call.args(arguments);
    output(&mut call).with_context(|| format!("{} failed", command_line(&call)))
}

/// Returns the crates in `src-tauri/crates`, whose folders have the names of their packages.
fn crates() -> Result<BTreeSet<String>> {
    let folder = root().join("src-tauri/crates");
    let entries = fs::read_dir(&folder)
        .with_context(|| format!("cannot list {}", folder.display()))?
        .flatten();
    let crates = entries.filter(|entry| entry.path().join("Cargo.toml").is_file());
    Ok(crates
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect())
}

/// Plans for the changed `files`, which are relative to the repository's root.
fn plan(files: &[&str], crates: &BTreeSet<String>) -> ChangePlan {
    let mut packages = BTreeSet::new();
    let mut ui = false;
    for file in files {
        let parts: Vec<&str> = file.split('/').collect();
        match parts[..] {
            ["ui", ..] => {
                ui = true;
                packages.extend(GENERATED.contains(file).then_some("engine"));
            }
            _ if file.ends_with(".md") => {}
            ["src-tauri", "crates", name, ..] if crates.contains(name) => _ = packages.insert(name),
            // A crate that was only partly removed or added.
            ["src-tauri", "crates", ..] => return ChangePlan::EVERYTHING,
            ["src-tauri", "docs", ..] => {}
            ["src-tauri", ..] => _ = packages.insert("inglenook"),
            ["tests", ..] => _ = packages.insert("tests"),
            // Manifests, configuration and data that programs include.
            _ => return ChangePlan::EVERYTHING,
        }
    }
    // These tests start our programs, or read our code, without a dependency on the packages.
    if packages.iter().any(|package| *package != "xtask") {
        packages.extend(["tests", "xtask"]);
    }
    let filters: Vec<String> = packages
        .iter()
        .map(|package| format!("rdeps({package})"))
        .collect();
    let rust = if filters.is_empty() {
        Rust::Nothing
    } else {
        Rust::Matching(filters.join(" | "))
    };
    ChangePlan { rust, ui }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(files: &[&str]) -> ChangePlan {
        plan(
            files,
            &["engine", "store", "xtask"].map(str::to_owned).into(),
        )
    }

    fn matching(filter: &str) -> ChangePlan {
        ChangePlan {
            rust: Rust::Matching(filter.to_owned()),
            ui: false,
        }
    }

    #[test]
    fn documentation_needs_no_check() {
        let docs = [
            "README.md",
            "src-tauri/docs/testing.md",
            "src-tauri/docs/turn.svg",
            "models/LICENCES.md",
        ];
        assert!(planned(&docs).is_empty());
        assert!(planned(&[]).is_empty());
    }

    #[test]
    fn crate_runs_with_its_dependents_and_whole_turns() {
        let files = [
            "src-tauri/crates/store/src/pool.rs",
            "src-tauri/crates/engine/Cargo.toml",
        ];
        assert_eq!(
            planned(&files),
            matching("rdeps(engine) | rdeps(store) | rdeps(tests) | rdeps(xtask)")
        );
        assert_eq!(
            planned(&["src-tauri/src/main.rs"]),
            matching("rdeps(inglenook) | rdeps(tests) | rdeps(xtask)")
        );
        assert_eq!(
            planned(&["tests/tests/it/turns.rs"]),
            matching("rdeps(tests) | rdeps(xtask)")
        );
        assert_eq!(
            planned(&["src-tauri/crates/xtask/src/main.rs"]),
            matching("rdeps(xtask)")
        );
    }

    #[test]
    fn ui_runs_without_rust_unless_generated() {
        let ui = ChangePlan {
            ui: true,
            ..ChangePlan::NOTHING
        };
        assert_eq!(planned(&["ui/src/Root.svelte", "ui/help/en/memory.md"]), ui);
        assert_eq!(
            planned(&[GENERATED[0]]),
            ChangePlan {
                ui: true,
                ..matching("rdeps(engine) | rdeps(tests) | rdeps(xtask)")
            }
        );
    }

    #[test]
    fn shared_or_unknown_file_runs_everything() {
        for file in [
            "Cargo.lock",
            ".config/nextest.toml",
            "presets/prompts/modes.json",
            "src-tauri/crates/gone/a.rs",
        ] {
            assert_eq!(
                planned(&["README.md", file]),
                ChangePlan::EVERYTHING,
                "{file}"
            );
        }
    }
}
