//! The packages for Windows, built on Linux.

use super::contents::{Built, Contents};
use super::facts::Release;
use super::{empty_folder, installer, portable, sizes, worker};
use crate::process::{FEATURES, run};
use crate::run::prepare;
use crate::system::Need;
use crate::windows::toolchain::{TARGET, Toolchain};
use anyhow::Result;
use std::path::{Path, PathBuf};

/// Processor of the programs, in the names of packages.
const ARCHITECTURE: &str = "x86_64";

/// The packages of the programs, and their features.
pub(crate) const PROGRAMS: [&str; 9] = [
    "-p",
    "nook",
    "-p",
    "inglenook",
    "-p",
    "launcher",
    "--no-default-features",
    FEATURES[0],
    FEATURES[1],
];

/// Builds everything and then the packages, and returns their folder.
///
/// # Errors
/// A step fails.
pub(crate) fn bundle() -> Result<PathBuf> {
    prepare(&[Need::Build, Need::Bundle, Need::Windows])?;
    let built = build(&Toolchain::find()?)?;
    let release = Release::now(false);
    let folder = empty_folder("windows")?;
    let contents = Contents::gather(&release, &built, &folder)?;
    pack_all(&release, &contents, &folder)?;
    eprintln!("The packages are in {}", folder.display());
    Ok(folder)
}

fn build(toolchain: &Toolchain) -> Result<Built> {
    run(toolchain.cargo("build")?.arg("--release").args(PROGRAMS))?;
    let libraries = worker::build_for_windows(toolchain)?;
    Ok(Built {
        target: TARGET.to_owned(),
        folder: toolchain.programs()?,
        libraries,
    })
}

fn pack_all(release: &Release, contents: &Contents, folder: &Path) -> Result<()> {
    let name = |kind: &str| {
        let version = &release.version;
        folder.join(format!("inglenook-{version}-windows-{ARCHITECTURE}-{kind}"))
    };
    installer::pack(release, contents, &name("setup.exe"), true)?;
    installer::pack(release, contents, &name("setup-without-models.exe"), false)?;
    portable::pack_zip(release, contents, &name("portable.zip"))?;
    portable::pack_update(release, contents, &name("update.tar.zst"))?;
    let mut files = contents.version();
    files.extend(contents.models("models"));
    sizes::print(&files, folder)
}
