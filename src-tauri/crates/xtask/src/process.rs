//! Paths of the repository, and helpers for calling other programs.

use anyhow::{Context, Result, bail};
use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The UI is embedded in every build, so that run, clippy, tests and bundles share one build of
/// Tauri.
pub(crate) const FEATURES: [&str; 2] = ["--features", "inglenook/custom-protocol"];

/// Returns the root folder of the repository.
pub(crate) fn root() -> PathBuf {
    // Cargo sets the variable at run time; the constant would be wrong if clones share a target
    // folder.
    let manifest = env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    manifest.ancestors().nth(3).unwrap_or(&manifest).to_owned()
}

/// Returns cargo's target folder, because this program is in `<target>/<profile>/`.
pub(crate) fn target() -> Result<PathBuf> {
    let exe = env::current_exe().context("cannot find the path of this program")?;
    Ok(exe
        .ancestors()
        .nth(2)
        .context("this program is not in a target folder")?
        .to_owned())
}

/// Creates a call of `program` in the repository's root folder.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root());
    // Cargo sets these for this crate. ring's build script watches them and would rebuild each
    // time.
    for (name, _) in env::vars_os() {
        if name.to_str().is_some_and(|name| {
            name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
        }) {
            command.env_remove(name);
        }
    }
    command
}

/// Returns the cargo that runs this program.
pub(crate) fn cargo_program() -> OsString {
    env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Creates a call of cargo.
pub(crate) fn cargo(subcommand: &str) -> Command {
    let mut command = command(cargo_program());
    command.arg(subcommand);
    command
}

/// Makes clippy the compiler of the workspace's crates, so that one build checks them and makes
/// programs and tests. `cargo clippy` would check every library first and then build it again. All
/// builds of the dev profile use this, so that they share their results. A toolchain without clippy
/// builds as usual.
pub(crate) fn with_clippy(cargo: &mut Command) -> &mut Command {
    let driver = Path::new(&cargo_program())
        .with_file_name(format!("clippy-driver{}", env::consts::EXE_SUFFIX));
    if driver.is_file() {
        cargo
            .env("RUSTC_WORKSPACE_WRAPPER", driver)
            .env("CLIPPY_ARGS", "");
    }
    cargo
}

/// Runs a program and waits for its end.
///
/// # Errors
/// The program is missing or fails; the error contains its command line.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command
        .status()
        .with_context(|| format!("cannot start {}", command_line(command)))?;
    if !status.success() {
        bail!("{} failed ({status})", command_line(command));
    }
    Ok(())
}

/// Returns the output of a program, or `None` if it is missing or fails.
pub(crate) fn output(command: &mut Command) -> Option<String> {
    let output = command.output().ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns the command line for display; long arguments, such as the bundler's configuration, are
/// shortened.
pub(crate) fn command_line(command: &Command) -> String {
    let words = [command.get_program()]
        .into_iter()
        .chain(command.get_args());
    words
        .map(|word| word.to_string_lossy().chars().take(120).collect())
        .collect::<Vec<String>>()
        .join(" ")
}

/// Returns the name of a file for display and comparison.
pub(crate) fn file_name(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// Finds a program in `PATH`.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|path| is_program(path))
}

pub(crate) fn installed(program: &str) -> bool {
    find(program).is_some()
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata()
        .is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    ["exe", "cmd"]
        .iter()
        .any(|extension| path.with_extension(extension).is_file())
}
