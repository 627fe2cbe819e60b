//! Where things are, and how other programs are called.

use anyhow::{Context, Result, bail};
use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The UI is embedded in every build, so that run, clippy, tests and bundles share one build of Tauri.
pub(crate) const FEATURES: [&str; 2] = ["--features", "inglenook/custom-protocol"];

/// The top folder of the repository.
pub(crate) fn root() -> PathBuf {
    // Cargo sets the variable for what it runs; the constant would be wrong when clones share a target folder.
    let manifest = env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    manifest.ancestors().nth(3).unwrap_or(&manifest).to_owned()
}

/// Cargo's target folder: this program lies in `<target>/<profile>/`.
pub(crate) fn target() -> Result<PathBuf> {
    let exe = env::current_exe().context("the path of this program")?;
    Ok(exe.ancestors().nth(2).context("this program lies outside a target folder")?.to_owned())
}

/// A call of `program` in the repository's top folder.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root());
    // Cargo describes this crate to us in these; ring's build script watches them and would build again each time.
    for (name, _) in env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")) {
            command.env_remove(name);
        }
    }
    command
}

/// The cargo that runs us.
pub(crate) fn cargo_program() -> OsString {
    env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// A call of it.
pub(crate) fn cargo(subcommand: &str) -> Command {
    let mut command = command(cargo_program());
    command.arg(subcommand);
    command
}

/// Runs to the end.
///
/// # Errors
/// When the program is missing or says that it failed; the words name its command line.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start {}", words(command)))?;
    if !status.success() {
        bail!("{} failed ({status})", words(command));
    }
    Ok(())
}

/// What a program prints, or `None` when it is missing or fails.
pub(crate) fn output(command: &mut Command) -> Option<String> {
    let output = command.output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The command line, for people; words like the bundler's configuration are cut.
pub(crate) fn words(command: &Command) -> String {
    let words = [command.get_program()].into_iter().chain(command.get_args());
    words.map(|word| word.to_string_lossy().chars().take(120).collect()).collect::<Vec<String>>().join(" ")
}

/// The program of this name on the path.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(program)).find(|path| is_program(path))
}

pub(crate) fn installed(program: &str) -> bool {
    find(program).is_some()
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    ["exe", "cmd"].iter().any(|extension| path.with_extension(extension).is_file())
}
