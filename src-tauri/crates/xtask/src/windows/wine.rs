//! Runs Windows programs by Wine, in a prefix of its own without a display.

use super::toolchain::{Toolchain, target_folder};
use crate::process::{command, root, run};
use anyhow::Result;
use std::path::PathBuf;
use std::process::Command;

/// Debian's 64-bit loader, which the package `wine64` does not put into `PATH`.
const LOADER: &str = "/usr/lib/wine/wine64";

/// A Wine prefix: the folder with the `C:` drive and the registry.
pub(super) struct Wine {
    prefix: PathBuf,
}

impl Wine {
    /// Creates the prefix where it is missing.
    ///
    /// # Errors
    /// Wine or the compiler fails.
    pub(super) fn prepare(toolchain: &Toolchain) -> Result<Self> {
        let wine = Self {
            prefix: target_folder()?.join("wine"),
        };
        let system = wine.prefix.join("drive_c/windows/system32");
        if !system.join("kernel32.dll").is_file() {
            run(wine.run(command(LOADER).args(["wineboot", "--init"])))?;
        }
        let source = root().join("src-tauri/crates/xtask/windows/bcryptprimitives.c");
        toolchain.compile_library(&source, &system.join("bcryptprimitives.dll"))?;
        Ok(wine)
    }

    /// Lets cargo run the tests that it builds for Windows.
    pub(super) fn as_runner<'c>(&self, cargo: &'c mut Command) -> &'c mut Command {
        self.run(cargo.env("CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER", LOADER))
    }

    fn run<'c>(&self, call: &'c mut Command) -> &'c mut Command {
        call.env("WINEPREFIX", &self.prefix)
            .env("WINEDEBUG", "-all")
            // Wine would ask whether to download these.
            .env("WINEDLLOVERRIDES", "mscoree=d;mshtml=d")
            .env_remove("DISPLAY")
    }
}
