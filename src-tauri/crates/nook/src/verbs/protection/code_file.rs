//! A new file for a recovery code, which only its owner can read.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use engine::api::SecretText;

use crate::failure::CommandError;

/// A file that did not exist. It is removed when it is dropped, except after [`Self::keep`].
pub(super) struct CodeFile {
    path: PathBuf,
    is_kept: bool,
}

impl CodeFile {
    /// Creates the file before anything else is done, so that the code has a place.
    pub(super) fn create(path: PathBuf) -> Result<Self, CommandError> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options
            .open(&path)
            .map_err(|error| unwritable(&path, &error))?;
        Ok(Self {
            path,
            is_kept: false,
        })
    }

    /// Writes the code to the disk.
    pub(super) fn write(&self, code: &SecretText) -> Result<(), CommandError> {
        Self::rewrite(&self.path, code)
    }

    /// Keeps the file, and returns its path.
    pub(super) fn keep(mut self) -> PathBuf {
        self.is_kept = true;
        std::mem::take(&mut self.path)
    }

    /// Writes the code into a kept file.
    pub(super) fn rewrite(path: &Path, code: &SecretText) -> Result<(), CommandError> {
        write(path, code).map_err(|error| unwritable(path, &error))
    }
}

impl Drop for CodeFile {
    fn drop(&mut self) {
        if !self.is_kept {
            // The command fails for another reason, which it reports.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn write(path: &Path, code: &SecretText) -> io::Result<()> {
    let mut file = File::options().write(true).truncate(true).open(path)?;
    file.write_all(code.expose().as_bytes())?;
    file.write_all(b"\n")?;
    file.sync_all()
}

fn unwritable(path: &Path, error: &io::Error) -> CommandError {
    let message = format!(
        "the recovery code cannot be written to {}: {error}; name a new file",
        path.display()
    );
    CommandError::because("io", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code() -> SecretText {
        SecretText::new("CODE".to_owned())
    }

    #[test]
    fn existing_file_is_never_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("code.txt");
        fs::write(&path, "mine").unwrap();
        assert!(CodeFile::create(path.clone()).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
    }

    #[test]
    fn file_stays_only_if_it_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("code.txt");
        let file = CodeFile::create(path.clone()).unwrap();
        file.write(&code()).unwrap();
        drop(file);
        assert!(!path.exists());
        let file = CodeFile::create(path.clone()).unwrap();
        file.write(&code()).unwrap();
        file.keep();
        assert_eq!(fs::read_to_string(&path).unwrap(), "CODE\n");
    }

    #[cfg(unix)]
    #[test]
    fn only_its_owner_can_read_the_file() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("code.txt");
        CodeFile::create(path.clone()).unwrap().keep();
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
