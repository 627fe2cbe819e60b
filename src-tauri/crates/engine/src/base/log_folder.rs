//! The folder of the window's log files.
//!
//! The window starts its log before the database is open, so it cannot read the setting
//! `write_log`. The file `off` in this folder means that the setting is off: the engine creates and
//! removes it, and the window looks for it before each line.

use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};

/// Name of the file that switches the log off.
const OFF: &str = "off";

/// The folder of the window's log files.
#[derive(Debug, Clone)]
pub struct LogFolder(PathBuf);

impl LogFolder {
    /// Start of the name of each log file.
    pub const PREFIX: &'static str = "inglenook";
    /// End of the name of each log file, after a dot.
    pub const SUFFIX: &'static str = "log";

    /// The folder in this data folder, whether it exists or not.
    #[must_use]
    pub fn in_data(data_dir: &Path) -> Self {
        Self(data_dir.join("logs"))
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Whether the log is switched off.
    #[must_use]
    pub fn is_off(&self) -> bool {
        self.0.join(OFF).exists()
    }

    /// Switches the log on.
    ///
    /// # Errors
    /// The file `off` cannot be removed.
    pub fn switch_on(&self) -> io::Result<()> {
        match fs::remove_file(self.0.join(OFF)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Switches the log off. [`Self::delete_files`] deletes what it has written.
    ///
    /// # Errors
    /// The file `off` cannot be created.
    pub fn switch_off(&self) -> io::Result<()> {
        store::make_private_folder(&self.0)?;
        fs::write(self.0.join(OFF), "")
    }

    /// Deletes all log files.
    ///
    /// # Errors
    /// A file cannot be deleted. The others are deleted.
    pub fn delete_files(&self) -> io::Result<()> {
        self.files()
            .map(|file| fs::remove_file(file.path()))
            .filter(
                |deleted| !matches!(deleted, Err(error) if error.kind() == io::ErrorKind::NotFound),
            )
            .fold(Ok(()), io::Result::and)
    }

    /// Size of all log files in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.files()
            .filter_map(|file| Some(file.metadata().ok()?.len()))
            .sum()
    }

    fn files(&self) -> impl Iterator<Item = DirEntry> {
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
        entries.filter(|entry| {
            let name = entry.file_name();
            let day = name
                .to_str()
                .and_then(|name| name.strip_prefix(Self::PREFIX)?.strip_suffix(Self::SUFFIX));
            day.is_some_and(|day| day.starts_with('.') && day.ends_with('.'))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switching_off_deletes_only_log_files() {
        let dir = tempfile::tempdir().unwrap();
        let folder = LogFolder::in_data(dir.path());
        assert!(!folder.is_off(), "the folder does not exist");
        fs::create_dir(folder.path()).unwrap();
        for name in [
            "inglenook.2026-11-21.log",
            "inglenook.2026-11-22.log",
            "mine.txt",
        ] {
            fs::write(folder.path().join(name), "line\n").unwrap();
        }
        assert_eq!(folder.bytes(), 10);

        folder.switch_off().unwrap();
        folder.delete_files().unwrap();
        assert!(folder.is_off());
        assert_eq!(folder.bytes(), 0);
        assert!(folder.path().join("mine.txt").exists());

        folder.switch_on().unwrap();
        folder.switch_on().unwrap();
        assert!(!folder.is_off());
    }
}
