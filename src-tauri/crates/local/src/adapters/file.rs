//! The file of combined adapters, which exists until the model is loaded.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Start of the names of these files.
const NAME: &str = "combined-adapters-";
/// Age from which a file belongs to no running app.
const OLD: Duration = Duration::from_secs(3_600);

static NUMBER: AtomicU64 = AtomicU64::new(0);

/// Deletes its file when it is dropped.
#[derive(Debug)]
pub(crate) struct CombinedFile(PathBuf);

impl CombinedFile {
    /// Creates an empty file in `folder`, and deletes those of killed apps.
    pub(super) fn create(folder: &Path) -> io::Result<(Self, File)> {
        fs::create_dir_all(folder)?;
        delete_old(folder);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!("{NAME}{}-{number}.gguf", std::process::id()));
        // Left by a killed app with the same process id.
        let _ = fs::remove_file(&path);
        let file = File::options().write(true).create_new(true).open(&path)?;
        Ok((Self(path), file))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for CombinedFile {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_file(&self.0) {
            tracing::warn!(%error, "a file of combined adapters could not be deleted");
        }
    }
}

fn delete_old(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_old = || {
            entry
                .metadata()
                .ok()?
                .modified()
                .ok()?
                .elapsed()
                .ok()
                .map(|age| age > OLD)
        };
        if entry.file_name().to_string_lossy().starts_with(NAME) && is_old() == Some(true) {
            // Another app may be faster.
            let _ = fs::remove_file(entry.path());
        }
    }
}
