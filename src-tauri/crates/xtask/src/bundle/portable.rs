//! The portable edition, which keeps its data beside it, and the archive of an update.

use super::contents::Contents;
use super::facts::Release;
use super::tree::stage;
use crate::process::{command, run};
use anyhow::Result;
use std::fs;
use std::path::Path;

/// Folder in the archive of the portable edition.
const FOLDER: &str = "Inglenook";

/// Packs the portable edition: launchers, one version, and the models, which all versions share.
///
/// # Errors
/// A file is missing, or `tar` fails.
pub(super) fn pack(release: &Release, contents: &Contents, archive: &Path) -> Result<()> {
    let staged = archive.with_extension("stage");
    let version = Path::new("versions").join(&release.version);
    let mut files = contents.launchers();
    files.extend(
        contents
            .version()
            .into_iter()
            .map(|file| file.below(&version)),
    );
    files.extend(contents.models("models"));
    let root = staged.join(FOLDER);
    stage(&files, &root)?;
    fs::write(root.join("portable"), "")?;
    fs::write(root.join("current"), format!("{}\n", release.version))?;
    fs::write(root.join(version).join("complete"), "")?;
    pack_folder(release, &staged, archive)
}

/// Packs an update: one version without the models.
///
/// # Errors
/// A file is missing, or `tar` fails.
pub(super) fn pack_update(release: &Release, contents: &Contents, archive: &Path) -> Result<()> {
    let staged = archive.with_extension("stage");
    stage(&contents.version(), &staged)?;
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
