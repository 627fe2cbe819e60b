//! Programs of other projects that tests talk to.

use crate::models::{cache, sha256};
use crate::process::{command, root, run};
use anyhow::{Context, Result};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// Tells the tests which Python has llama.cpp's server.
const SERVER_VARIABLE: &str = "INGLENOOK_OPENAI_SERVER";

/// llama.cpp's own OpenAI-compatible server, in a Python environment of its own in the cache.
///
/// # Errors
/// When pip fails; it has said why.
pub(crate) fn ensure() -> Result<()> {
    let requirements = root().join("src-tauri/crates/provider/tests/openai-server/requirements.txt");
    let wanted = sha256(&requirements)?;
    // Inside the environment, so that it goes when that goes.
    let stamp = environment()?.join("requirements.sha256");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    eprintln!("Installing llama.cpp's server for the tests into {}", environment()?.display());
    run(command("python3").args(["-m", "venv", "--clear"]).arg(environment()?))?;
    let pip = ["-m", "pip", "--disable-pip-version-check", "--quiet", "install", "--only-binary", ":all:"];
    run(command(python()?).args(pip).args(["--require-hashes", "-r"]).arg(&requirements))?;
    fs::write(&stamp, wanted).with_context(|| format!("cannot write {}", stamp.display()))
}

/// Tells a test where that server is.
///
/// # Errors
/// When the machine names no home folder.
pub(crate) fn name(command: &mut Command) -> Result<&mut Command> {
    Ok(command.env(SERVER_VARIABLE, python()?))
}

fn environment() -> Result<PathBuf> {
    Ok(cache()?.join("openai-server-venv"))
}

fn python() -> Result<PathBuf> {
    Ok(environment()?.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" }))
}
