//! Builds the packages: app, command line, worker, web UI and default models.
//!
//! All packages contain one tree of files below a prefix, made once from the built programs:
//! `.deb` and `.rpm` put it below `/usr`; the portable edition puts it below `versions/<version>`,
//! next to launchers. Equal sources give equal bytes, see [`facts::Release::date`].

mod contents;
mod deb;
mod facts;
mod licences;
mod linux_worker;
mod portable;
mod rpm;
mod sbom;
mod sizes;
mod tree;

use crate::process::{FEATURES, cargo, run, target};
use crate::run::{prepare, programs};
use crate::system::Need;
use anyhow::{Context, Result};
use clap::Args;
use contents::Contents;
use facts::Release;
use std::fs;
use std::path::Path;

#[derive(Args)]
pub(crate) struct Options {
    /// Bundles the debug build as a .deb: fast to build, slow to run, with a worker for CPUs with
    /// AVX2 only.
    #[arg(long)]
    debug: bool,
}

/// Builds the package of the debug build, for its test.
///
/// # Errors
/// A step fails.
pub(crate) fn debug() -> Result<()> {
    bundle(&Options { debug: true })
}

/// Builds everything and then the packages, in `target/package/<profile>`.
///
/// # Errors
/// A step fails.
pub(crate) fn bundle(options: &Options) -> Result<()> {
    let needs: &[Need] = if options.debug {
        &[Need::Build]
    } else {
        &[Need::Build, Need::Bundle]
    };
    prepare(needs)?;
    let release = Release::now(options.debug);
    let profile = if options.debug { "debug" } else { "release" };
    let built = target()?.join(profile);
    let libraries = if options.debug {
        programs(false)?;
        Vec::new()
    } else {
        build_programs()?;
        linux_worker::build()?
    };

    // Old packages must not hide a failure of this run.
    let folder = target()?.join("package").join(profile);
    if folder.exists() {
        fs::remove_dir_all(&folder)
            .with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    fs::create_dir_all(&folder)?;
    let contents = Contents::gather(&release, &built, &libraries, &folder)?;
    if options.debug {
        pack_deb(&release, &contents, &folder, true)?;
    } else {
        pack_all(&release, contents, &folder)?;
    }
    eprintln!("The packages are in {}", folder.display());
    Ok(())
}

fn build_programs() -> Result<()> {
    run(cargo("build")
        .args(["--locked", "--release", "-p", "nook", "-p", "inglenook"])
        .args(["-p", "launcher", "--no-default-features"])
        .args(FEATURES))
}

fn pack_all(release: &Release, contents: Contents, folder: &Path) -> Result<()> {
    contents.check_metadata()?;
    pack_deb(release, &contents, folder, false)?;
    pack_deb(release, &contents, folder, true)?;
    pack_rpm(release, &contents, folder)?;
    pack_portable(release, &contents, folder)?;
    sizes::print(&contents, folder)
}

/// Packs the .deb, with or without the models.
fn pack_deb(release: &Release, contents: &Contents, folder: &Path, models: bool) -> Result<()> {
    let stage = folder.join("deb-stage");
    tree::stage(&contents.system_package("deb", models)?, &stage.join("usr"))?;
    let suffix = if models { "" } else { "-without-models" };
    let name = format!(
        "inglenook{suffix}_{}_{}.deb",
        release.version,
        deb::architecture()
    );
    deb::pack(release, &stage, &folder.join(name))?;
    Ok(fs::remove_dir_all(stage)?)
}

fn pack_rpm(release: &Release, contents: &Contents, folder: &Path) -> Result<()> {
    let stage = folder.join("rpm-stage");
    let files = contents.system_package("rpm", true)?;
    tree::stage(&files, &stage.join("usr"))?;
    let name = format!(
        "inglenook-{}.{}.rpm",
        release.version,
        std::env::consts::ARCH
    );
    rpm::pack(release, &files, &stage, &folder.join(name))?;
    Ok(fs::remove_dir_all(stage)?)
}

fn pack_portable(release: &Release, contents: &Contents, folder: &Path) -> Result<()> {
    let base = format!(
        "inglenook-{}-linux-{}",
        release.version,
        std::env::consts::ARCH
    );
    let archive = |kind: &str| folder.join(format!("{base}-{kind}.tar.zst"));
    portable::pack(release, contents, &archive("portable"))?;
    portable::pack_update(release, contents, &archive("update"))
}
