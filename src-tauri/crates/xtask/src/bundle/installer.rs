//! The Windows installer, made by NSIS from `src-tauri/windows/installer.nsi`.

use super::contents::Contents;
use super::facts::Release;
use super::installation;
use super::tree::set_times;
use crate::process::{command, root, run};
use anyhow::Result;
use std::fs;
use std::path::Path;

const SCRIPT: &str = "src-tauri/windows/installer.nsi";
const ICON: &str = "src-tauri/icons/icon.ico";

/// Packs the installer, with or without the models.
///
/// # Errors
/// A file is missing, or `makensis` fails.
pub(super) fn pack(
    release: &Release,
    contents: &Contents,
    installer: &Path,
    models: bool,
) -> Result<()> {
    let staged = installer.with_extension("stage");
    installation::stage(release, contents, &staged, models)?;
    set_times(&staged, release.date)?;
    let define = |name: &str, value: String| format!("-D{name}={value}");
    let mut call = command("makensis");
    call.env("SOURCE_DATE_EPOCH", release.date.to_string())
        .args(["-V2", "-NOCD"])
        .arg(define("VERSION", release.version.clone()))
        .arg(define("ICON", root().join(ICON).display().to_string()))
        .arg(define("STAGE", staged.display().to_string()))
        .arg(define("OUTPUT", installer.display().to_string()));
    if models {
        call.arg("-DMODELS");
    }
    run(call.arg(root().join(SCRIPT)))?;
    Ok(fs::remove_dir_all(staged)?)
}
