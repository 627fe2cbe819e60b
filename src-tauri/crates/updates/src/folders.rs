//! The folders of versions: `versions/<version>`, and the files `current` and `previous` that name
//! two of them.
//!
//! A version gets its name after it is complete, and `current` is replaced after that, so a kill
//! between any two steps leaves a version that starts.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use installation::{Installation, VERSIONS};
use semver::Version;

use crate::archive::{self, InstallError, failed};
use crate::manifest::{MAX_VERSION, UpdateArchive};

/// Names the version that the launchers start.
const CURRENT: &str = "current";
/// Names the version to go back to.
const PREVIOUS: &str = "previous";
/// The last file of a version to be written.
pub(crate) const COMPLETE: &str = "complete";
/// Bytes to read of `current` and `previous`.
const MAX_POINTER: u64 = 128;

/// A step that has ended. After each of them, the process may be killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstallStep {
    /// The folder of the new version is empty.
    Begun,
    /// This many entries of the archive are unpacked.
    Unpacked {
        entries: usize,
    },
    /// The new version is complete, and does not have its name yet.
    Completed,
    /// An older copy of the new version is removed.
    Cleared,
    Named,
    /// The new content of `previous` or `current` is written beside it.
    PointerPrepared,
    PreviousReplaced,
    CurrentReplaced,
    OthersRemoved,
}

/// An installation that updates itself, and its running version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionFolders {
    root: PathBuf,
    running: String,
}

impl VersionFolders {
    /// Returns the folders around `program`; `None` unless it is in `versions/<version>/bin`.
    #[must_use]
    pub fn of(program: &Path) -> Option<Self> {
        let root = Installation::of(program)?.root()?.to_owned();
        let running = program.parent()?.parent()?.file_name()?.to_str()?;
        is_version(running).then(|| Self {
            root,
            running: running.to_owned(),
        })
    }

    /// The version of the running program.
    #[must_use]
    pub fn running(&self) -> &str {
        &self.running
    }

    /// The version that the launchers start next.
    #[must_use]
    pub fn next_version(&self) -> String {
        self.pointer(CURRENT)
            .unwrap_or_else(|| self.running.clone())
    }

    /// Another complete version, to go back to.
    #[must_use]
    pub fn previous(&self) -> Option<String> {
        self.pointer(PREVIOUS)
            .filter(|version| *version != self.running)
    }

    /// Path of the downloaded archive of `version`. It has this name only if its checksum was
    /// right.
    #[must_use]
    pub fn archive(&self, version: &Version) -> PathBuf {
        self.versions().join(format!("{version}.archive"))
    }

    /// Path of that archive until it is complete.
    #[must_use]
    pub fn part(&self, version: &Version) -> PathBuf {
        self.versions().join(format!("{version}.part"))
    }

    pub(crate) fn versions(&self) -> PathBuf {
        self.root.join(VERSIONS)
    }

    /// Unpacks the downloaded archive of `version`, and lets the launchers start that version next.
    /// Keeps the running version to go back to, and removes all others. `observe` learns each step.
    ///
    /// # Errors
    /// [`InstallError`]. The launchers start the same version as before then. An archive that is not
    /// right is deleted.
    pub fn install(
        &self,
        version: &Version,
        archive: &UpdateArchive,
        observe: &mut dyn FnMut(InstallStep),
    ) -> Result<(), InstallError> {
        let name = version.to_string();
        if self.next_version() != name {
            self.make_next(version, archive, observe)?;
        }
        self.remove_others(&name);
        observe(InstallStep::OthersRemoved);
        Ok(())
    }

    /// Lets the launchers start the previous version next, and returns it. The running version can
    /// be chosen again.
    ///
    /// # Errors
    /// [`InstallError::NoPrevious`], or `current` cannot be written.
    pub fn go_back(&self) -> Result<String, InstallError> {
        let previous = self.previous().ok_or(InstallError::NoPrevious)?;
        self.write_pointer(CURRENT, &previous, &mut |_| ())?;
        self.write_pointer(PREVIOUS, &self.running, &mut |_| ())?;
        Ok(previous)
    }

    fn make_next(
        &self,
        version: &Version,
        archive: &UpdateArchive,
        observe: &mut dyn FnMut(InstallStep),
    ) -> Result<(), InstallError> {
        let name = version.to_string();
        if self.running != name {
            let file = self.archive(version);
            let staged =
                archive::check(&file, archive).and_then(|()| self.stage(&name, &file, observe));
            if staged.as_ref().is_err_and(InstallError::is_about_archive) {
                log_failure(&file, remove(&file));
            }
            staged?;
            self.write_pointer(PREVIOUS, &self.running, observe)?;
            observe(InstallStep::PreviousReplaced);
        }
        self.write_pointer(CURRENT, &name, observe)?;
        observe(InstallStep::CurrentReplaced);
        Ok(())
    }

    /// Makes the complete folder of a version. A failure frees the space that it took.
    fn stage(
        &self,
        name: &str,
        archive: &Path,
        observe: &mut dyn FnMut(InstallStep),
    ) -> Result<(), InstallError> {
        let partial = self.versions().join(format!("{name}.partial"));
        let unpacked = self.unpack(archive, &partial, observe);
        if unpacked.is_err() {
            log_failure(&partial, remove(&partial));
        }
        unpacked?;
        let folder = self.versions().join(name);
        remove(&folder).map_err(|source| failed(&folder, source))?;
        observe(InstallStep::Cleared);
        fs::rename(&partial, &folder).map_err(|source| failed(&folder, source))?;
        archive::sync_folder(&self.versions())?;
        observe(InstallStep::Named);
        Ok(())
    }

    fn unpack(
        &self,
        archive: &Path,
        partial: &Path,
        observe: &mut dyn FnMut(InstallStep),
    ) -> Result<(), InstallError> {
        remove(partial).map_err(|source| failed(partial, source))?;
        fs::create_dir_all(partial).map_err(|source| failed(partial, source))?;
        observe(InstallStep::Begun);
        archive::unpack(archive, partial, observe)?;
        archive::sync_folders(partial)?;
        write_synced(&partial.join(COMPLETE), "")?;
        archive::sync_folder(partial)?;
        observe(InstallStep::Completed);
        Ok(())
    }

    /// The complete version that a pointer file names.
    fn pointer(&self, name: &str) -> Option<String> {
        let mut text = String::new();
        File::open(self.root.join(name))
            .ok()?
            .take(MAX_POINTER)
            .read_to_string(&mut text)
            .ok()?;
        let version = text.trim();
        (is_version(version) && self.is_complete(version)).then(|| version.to_owned())
    }

    fn is_complete(&self, version: &str) -> bool {
        self.versions().join(version).join(COMPLETE).is_file()
    }

    /// Replaces a pointer file as a whole.
    fn write_pointer(
        &self,
        name: &str,
        version: &str,
        observe: &mut dyn FnMut(InstallStep),
    ) -> Result<(), InstallError> {
        let new = self.root.join(format!("{name}.new"));
        write_synced(&new, &format!("{version}\n"))?;
        observe(InstallStep::PointerPrepared);
        let pointer = self.root.join(name);
        fs::rename(&new, &pointer).map_err(|source| failed(&pointer, source))?;
        archive::sync_folder(&self.root)
    }

    /// Removes everything but `version` and the running one. A failure costs only space: Windows
    /// keeps files that a program uses.
    fn remove_others(&self, version: &str) {
        let entries = fs::read_dir(self.versions());
        for entry in entries.into_iter().flatten().flatten() {
            let name = entry.file_name();
            if name != version && name != self.running.as_str() {
                log_failure(&entry.path(), remove(&entry.path()));
            }
        }
    }
}

fn is_version(name: &str) -> bool {
    name.len() <= MAX_VERSION && Version::parse(name).is_ok()
}

/// Removes a file or a folder, if it exists. A link is removed, not what it leads to.
fn remove(path: &Path) -> io::Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(about) if about.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

fn write_synced(path: &Path, text: &str) -> Result<(), InstallError> {
    let write = || {
        let mut file = File::create(path)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()
    };
    write().map_err(|source| failed(path, source))
}

fn log_failure(path: &Path, removed: io::Result<()>) {
    if let Err(error) = removed {
        tracing::warn!(path = %path.display(), %error, "a file of an old version stays");
    }
}
