//! Builds the packages: app, command line, worker, web UI and default models.
//!
//! All packages contain one tree of files below a prefix, made once from the built programs:
//! `.deb` and `.rpm` put it below `/usr`; the portable edition and the Windows installer put it
//! below `versions/<version>`, next to launchers. Equal sources give equal bytes, see
//! [`facts::Release::date`].

mod contents;
mod deb;
mod facts;
mod installation;
mod installer;
mod licences;
mod linux;
mod macos;
mod portable;
mod rpm;
mod sbom;
mod sizes;
mod tree;
pub(crate) mod windows;
mod worker;

use crate::process::target;
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use std::fs;
use std::path::PathBuf;

#[derive(Args)]
pub(crate) struct Options {
    /// Bundles the debug build as a .deb: fast to build, slow to run, with a worker for CPUs with
    /// AVX2 only.
    #[arg(long)]
    debug: bool,
    /// The system that the packages are for.
    #[arg(long, value_enum, default_value_t = System::Linux)]
    target: System,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum System {
    Linux,
    /// Built on a Mac.
    Macos,
    /// Built on Linux by MinGW.
    Windows,
}

/// Builds the package of the debug build, for its test.
///
/// # Errors
/// A step fails.
pub(crate) fn debug() -> Result<()> {
    linux::bundle(true)
}

/// Builds everything and then the packages, in `target/package/<profile>` for Linux and in
/// `target/package/<system>` for other systems.
///
/// # Errors
/// A step fails.
pub(crate) fn bundle(options: &Options) -> Result<()> {
    match (options.target, options.debug) {
        (System::Linux, debug) => linux::bundle(debug),
        (System::Macos, false) => macos::bundle(),
        (System::Windows, false) => windows::bundle().map(drop),
        (System::Macos | System::Windows, true) => {
            bail!("--debug makes a package for Linux only")
        }
    }
}

/// Empties the folder of the packages, because old packages must not hide a failure of this run.
fn empty_folder(name: &str) -> Result<PathBuf> {
    let folder = target()?.join("package").join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder)
            .with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    fs::create_dir_all(&folder)?;
    Ok(folder)
}
