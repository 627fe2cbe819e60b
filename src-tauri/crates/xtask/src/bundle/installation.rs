//! The files of an installation that updates itself, see the crate `installation`.

use super::contents::Contents;
use super::facts::Release;
use super::tree::{self, PackagedFile};
use anyhow::Result;
use std::fs;
use std::path::Path;

/// Stages launchers, one version and, with `models`, the models, which all versions share.
///
/// # Errors
/// A file is missing or cannot be copied.
pub(super) fn stage(
    release: &Release,
    contents: &Contents,
    folder: &Path,
    models: bool,
) -> Result<()> {
    let version = Path::new("versions").join(&release.version);
    let in_version = |file: PackagedFile| file.below(&version);
    let mut files = contents.launchers();
    files.extend(contents.version().into_iter().map(in_version));
    if models {
        files.extend(contents.models("models"));
    }
    tree::stage(&files, folder)?;
    fs::write(folder.join("current"), format!("{}\n", release.version))?;
    Ok(fs::write(folder.join(version).join("complete"), "")?)
}
