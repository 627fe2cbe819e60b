//! The packages for Linux.

use super::contents::{Built, Contents};
use super::facts::Release;
use super::{deb, empty_folder, portable, rpm, sizes, tree, worker};
use crate::process::{FEATURES, cargo, command, output, run, target};
use crate::run::{prepare, programs};
use crate::system::Need;
use anyhow::{Context, Result};
use std::fs;
use std::path::Path;

/// Builds everything and then the packages.
///
/// # Errors
/// A step fails.
pub(super) fn bundle(is_debug: bool) -> Result<()> {
    let needs: &[Need] = if is_debug {
        &[Need::Build]
    } else {
        &[Need::Build, Need::Bundle]
    };
    prepare(needs)?;
    let release = Release::now(is_debug);
    let profile = if is_debug { "debug" } else { "release" };
    let libraries = if is_debug {
        programs(false)?;
        Vec::new()
    } else {
        build_programs()?;
        worker::build_for_linux()?
    };
    let built = Built {
        target: host()?,
        folder: target()?.join(profile),
        libraries,
    };
    let folder = empty_folder(profile)?;
    let contents = Contents::gather(&release, &built, &folder)?.with_integration(&built)?;
    if is_debug {
        pack_deb(&release, &contents, &folder, true)?;
    } else {
        pack_all(&release, &contents, &folder)?;
    }
    eprintln!("The packages are in {}", folder.display());
    Ok(())
}

/// The platform that the packages are made on and for.
fn host() -> Result<String> {
    let version = output(command("rustc").arg("-vV")).context("cannot run `rustc -vV`")?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("`rustc -vV` names no host")?.to_owned())
}

fn build_programs() -> Result<()> {
    run(cargo("build")
        .args(["--locked", "--release", "-p", "nook", "-p", "inglenook"])
        .args(["-p", "launcher", "--no-default-features"])
        .args(FEATURES))
}

fn pack_all(release: &Release, contents: &Contents, folder: &Path) -> Result<()> {
    contents.check_metadata()?;
    pack_deb(release, contents, folder, false)?;
    pack_deb(release, contents, folder, true)?;
    pack_rpm(release, contents, folder)?;
    pack_portable(release, contents, folder)?;
    sizes::print(&contents.system_package("deb", true)?, folder)
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
    portable::pack_tar(release, contents, &archive("portable"))?;
    portable::pack_update(release, contents, &archive("update"))
}
