//! The portable edition, which keeps its data beside it, and the archive of an update.

use super::contents::Contents;
use super::facts::Release;
use super::installation;
use super::tree::{self, set_times};
use crate::process::{command, run};
use anyhow::Result;
use std::fs;
use std::path::Path;

/// Folder in the archive of the portable edition.
const FOLDER: &str = "Inglenook";

/// Packs the portable edition with `tar`.
///
/// # Errors
/// A file is missing, or `tar` fails.
pub(super) fn pack_tar(release: &Release, contents: &Contents, archive: &Path) -> Result<()> {
    let staged = archive.with_extension("stage");
    stage(release, contents, &staged)?;
    pack_folder(release, &staged, archive)
}

/// Packs the portable edition with `zip`, which Windows unpacks by itself.
///
/// # Errors
/// A file is missing, or `zip` fails.
pub(super) fn pack_zip(release: &Release, contents: &Contents, archive: &Path) -> Result<()> {
    let staged = archive.with_extension("stage");
    stage(release, contents, &staged)?;
    let files = set_times(&staged, release.date)?;
    run(command("zip")
        .current_dir(&staged)
        // Times in a ZIP archive are local.
        .env("TZ", "UTC")
        .args(["-X", "-9", "-q"])
        .arg(archive)
        .args(files))?;
    Ok(fs::remove_dir_all(staged)?)
}

fn stage(release: &Release, contents: &Contents, staged: &Path) -> Result<()> {
    let root = staged.join(FOLDER);
    installation::stage(release, contents, &root, true)?;
    Ok(fs::write(root.join("portable"), "")?)
}

/// Packs an update: one version without the models.
///
/// # Errors
/// A file is missing, or `tar` fails.
pub(super) fn pack_update(release: &Release, contents: &Contents, archive: &Path) -> Result<()> {
    let staged = archive.with_extension("stage");
    tree::stage(&contents.version(), &staged)?;
    pack_folder(release, &staged, archive)
}

/// Packs a folder so that equal files give equal bytes, and removes the folder.
fn pack_folder(release: &Release, folder: &Path, archive: &Path) -> Result<()> {
    let level = if release.is_debug { "-1" } else { "-19" };
    run(command("tar")
        .args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner"])
        .arg(format!("--mtime=@{}", release.date))
        .arg(format!("--use-compress-program=zstd {level} -T0 -q"))
        .arg("-C")
        .arg(folder)
        .arg("-cf")
        .args([archive, Path::new(".")]))?;
    Ok(fs::remove_dir_all(folder)?)
}
