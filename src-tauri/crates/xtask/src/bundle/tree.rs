//! The files of a package, and their copy in a staging folder.

use crate::process::file_name;
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// One file of a package.
#[derive(Clone)]
pub(super) struct PackagedFile {
    /// Place relative to the prefix, which is `/usr` in system packages.
    pub(super) to: PathBuf,
    /// The file on this machine.
    pub(super) from: PathBuf,
    pub(super) is_program: bool,
}

impl PackagedFile {
    pub(super) fn new(to: impl Into<PathBuf>, from: impl Into<PathBuf>) -> Self {
        Self {
            to: to.into(),
            from: from.into(),
            is_program: false,
        }
    }

    pub(super) fn program(to: impl Into<PathBuf>, from: impl Into<PathBuf>) -> Self {
        Self {
            is_program: true,
            ..Self::new(to, from)
        }
    }

    /// Returns a file that keeps its name in `folder`.
    pub(super) fn into_folder(folder: &str, from: impl Into<PathBuf>) -> Self {
        let from = from.into();
        Self::new(Path::new(folder).join(file_name(&from)), from)
    }

    /// Returns the same file in a folder of the package.
    pub(super) fn below(self, folder: &Path) -> Self {
        Self {
            to: folder.join(self.to),
            ..self
        }
    }

    /// Returns the size in bytes.
    ///
    /// # Errors
    /// The file does not exist.
    pub(super) fn bytes(&self) -> Result<u64> {
        let file = fs::metadata(&self.from)
            .with_context(|| format!("{} is missing", self.from.display()))?;
        Ok(file.len())
    }
}

/// Adds every file below `folder`, in the order of their names.
///
/// # Errors
/// A folder cannot be listed.
pub(super) fn add_folder(files: &mut Vec<PackagedFile>, to: &Path, folder: &Path) -> Result<()> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    paths.sort();
    for path in paths {
        let to = to.join(file_name(&path));
        if path.is_dir() {
            add_folder(files, &to, &path)?;
        } else {
            files.push(PackagedFile::new(to, path));
        }
    }
    Ok(())
}

/// Copies the files into `folder`, which is emptied first.
///
/// # Errors
/// A file is missing or cannot be copied.
pub(super) fn stage(files: &[PackagedFile], folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    fs::create_dir_all(folder)?;
    for file in files {
        copy(file, folder).with_context(|| format!("cannot copy {}", file.from.display()))?;
    }
    Ok(())
}

fn copy(file: &PackagedFile, folder: &Path) -> Result<()> {
    let to = folder.join(&file.to);
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::copy(&file.from, &to)?;
    set_mode(&to, if file.is_program { 0o755 } else { 0o644 })
}

/// Sets the time of every file below `folder` to the Unix time `date`, and returns the files,
/// relative to `folder` and sorted.
///
/// # Errors
/// A folder cannot be listed, or a file cannot be opened.
pub(super) fn set_times(folder: &Path, date: u64) -> Result<Vec<PathBuf>> {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(date);
    let mut files = Vec::new();
    add_folder(&mut files, Path::new(""), folder)?;
    for file in &files {
        let opened = fs::File::options().append(true).open(&file.from);
        opened
            .and_then(|opened| opened.set_modified(time))
            .with_context(|| format!("cannot set the time of {}", file.from.display()))?;
    }
    Ok(files.into_iter().map(|file| file.to).collect())
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    Ok(fs::set_permissions(path, fs::Permissions::from_mode(mode))?)
}

#[cfg(not(unix))]
fn set_mode(_: &Path, _: u32) -> Result<()> {
    Ok(())
}
