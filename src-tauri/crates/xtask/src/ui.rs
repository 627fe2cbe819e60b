//! Installs the UI's packages and builds the UI.

use crate::models::sha256;
use crate::process::{command, root, run};
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

/// Calls a script of ui/package.json.
pub(crate) fn npm(script: &str) -> Command {
    let mut command = command("npm");
    command
        .current_dir(folder())
        .args(["run", "--silent", script]);
    command
}

fn folder() -> PathBuf {
    root().join("ui")
}

/// Installs the packages of the lock file if it has changed since the last installation.
///
/// # Errors
/// There is no lock file, or npm fails.
pub(crate) fn install() -> Result<()> {
    let lock = sha256(&folder().join("package-lock.json"))?;
    // Inside node_modules, so that it is deleted together with it.
    let stamp = folder().join("node_modules/.installed-lock.sha256");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    eprintln!("Installing the UI's packages");
    run(command("npm")
        .current_dir(folder())
        .args(["ci", "--no-audit", "--no-fund"]))?;
    fs::write(&stamp, lock).with_context(|| format!("cannot write {}", stamp.display()))
}

/// Builds ui/dist if a source is newer.
///
/// # Errors
/// The build fails.
pub(crate) fn build() -> Result<()> {
    let built = fs::metadata(folder().join("dist/index.html")).and_then(|file| file.modified());
    if built.is_ok_and(|built| newest_source(&folder()) <= Some(built)) {
        return Ok(());
    }
    run(&mut npm("build"))
}

fn newest_source(folder: &Path) -> Option<SystemTime> {
    let entries = fs::read_dir(folder).ok()?.filter_map(Result::ok);
    let times = entries.filter_map(|entry| {
        let kind = entry.file_type().ok()?;
        match entry.file_name().to_str()? {
            "node_modules" | "dist" | "test-results" => None,
            _ if kind.is_dir() => newest_source(&entry.path()),
            _ => entry.metadata().ok()?.modified().ok(),
        }
    });
    times.max()
}
