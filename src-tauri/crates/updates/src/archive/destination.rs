//! The folder into which an archive is unpacked, with limits on names, number and sizes.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};

use super::{InstallError, damaged, failed};
use crate::folders::{COMPLETE, InstallStep};

/// Maximum number of files and folders. A version has about 100.
pub(super) const MAX_ENTRIES: usize = 20_000;
/// Maximum unpacked bytes of an archive.
const MAX_TOTAL: u64 = 8 << 30;
/// Maximum length of a name in bytes.
const MAX_NAME: usize = 1_024;
/// Maximum length of a name in an error, in characters.
const MAX_SHOWN: usize = 80;
/// Bytes that are copied at a time.
const BLOCK: usize = 256 << 10;

/// Creates files and folders below a folder that was empty at the beginning.
pub(super) struct Destination<'a> {
    folder: &'a Path,
    observe: &'a mut dyn FnMut(InstallStep),
    entries: usize,
    bytes: u64,
}

impl<'a> Destination<'a> {
    pub(super) fn new(folder: &'a Path, observe: &'a mut dyn FnMut(InstallStep)) -> Self {
        Self {
            folder,
            observe,
            entries: 0,
            bytes: 0,
        }
    }

    /// # Errors
    /// The name is not allowed, there are too many entries, or the folder cannot be written.
    pub(super) fn add_folder(&mut self, name: &str) -> Result<(), InstallError> {
        let path = self.path(name)?;
        fs::create_dir_all(&path).map_err(|source| failed(&path, source))?;
        self.count(name)
    }

    /// # Errors
    /// The name is not allowed or exists, a limit is reached, `content` is damaged, or the file
    /// cannot be written.
    pub(super) fn add_file(
        &mut self,
        name: &str,
        executable: bool,
        content: &mut dyn Read,
    ) -> Result<(), InstallError> {
        let path = self.path(name)?;
        if path == self.folder || path == self.folder.join(COMPLETE) {
            return Err(entry(name, "the installation itself makes it"));
        }
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(|source| failed(parent, source))?;
        }
        let mut file = create(&path, executable).map_err(|source| failed(&path, source))?;
        self.copy(content, &mut file, &path)?;
        file.sync_all().map_err(|source| failed(&path, source))?;
        self.count(name)
    }

    fn copy(
        &mut self,
        content: &mut dyn Read,
        file: &mut File,
        path: &Path,
    ) -> Result<(), InstallError> {
        let mut block = vec![0; BLOCK];
        loop {
            let length = match content.read(&mut block).map_err(damaged)? {
                0 => return Ok(()),
                length => length,
            };
            self.bytes += length as u64;
            if self.bytes > MAX_TOTAL {
                return Err(damaged(format!(
                    "it unpacks to more than {MAX_TOTAL} bytes"
                )));
            }
            file.write_all(&block[..length])
                .map_err(|source| failed(path, source))?;
        }
    }

    fn count(&mut self, name: &str) -> Result<(), InstallError> {
        self.entries += 1;
        if self.entries > MAX_ENTRIES {
            return Err(entry(name, "the archive has too many entries"));
        }
        (self.observe)(InstallStep::Unpacked {
            entries: self.entries,
        });
        Ok(())
    }

    /// The path of an entry. Names are relative, stay below the folder, and mean the same on every
    /// system.
    fn path(&self, name: &str) -> Result<PathBuf, InstallError> {
        if name.len() > MAX_NAME {
            return Err(entry(name, "its name is too long"));
        }
        if name.starts_with('/') {
            return Err(entry(name, "its name is absolute"));
        }
        let mut path = self.folder.to_owned();
        for part in name.split('/').filter(|part| !matches!(*part, "" | ".")) {
            if !is_plain(part) {
                return Err(entry(name, "its name is not plain"));
            }
            path.push(part);
        }
        Ok(path)
    }
}

/// Rejects names that lead elsewhere, here or on Windows: `..`, drives, streams, other separators.
fn is_plain(part: &str) -> bool {
    part != ".."
        && !part.ends_with(['.', ' '])
        && !part.contains(|letter: char| letter.is_control() || r#"\:*?"<>|"#.contains(letter))
}

pub(super) fn entry(name: &str, why: &'static str) -> InstallError {
    InstallError::Entry {
        name: name.chars().take(MAX_SHOWN).collect(),
        why,
    }
}

/// Creates a new file; an existing one is an error.
fn create(path: &Path, executable: bool) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(if executable { 0o755 } else { 0o644 });
    }
    #[cfg(not(unix))]
    let _ = executable;
    options.open(path)
}
