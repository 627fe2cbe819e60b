//! Keeps the key file of an unlocked folder in its places.

use std::path::PathBuf;

use protection::KeyFile;

use crate::base::open_store::OpenError;
use crate::base::options::Options;
use crate::base::protection::blocking;
use crate::base::protection::error::UnlockError;
use crate::base::protection::key_files::KeyFiles;
use crate::base::protection::unlock::UnlockedFolder;

/// Gives a folder without data the key file of the encrypted backup that is about to be restored.
///
/// # Errors
/// The folder has a database without encryption, or cannot be written to.
pub(crate) async fn adopt_key_file(options: &Options) -> Result<(), OpenError> {
    let Some(unlocked) = options.keys.clone() else {
        return Ok(());
    };
    let dir = options.data_dir.clone();
    blocking(move || {
        let files = KeyFiles::of(&dir);
        if files.exists() {
            return Ok(());
        }
        if files.has_plain_database() {
            return Err(OpenError::Storage {
                message: format!(
                    "The backup is encrypted, and the data folder {} is not.",
                    dir.display()
                ),
                hint: "Restore the backup into another data folder, or protect this one with its key file."
                    .to_owned(),
            });
        }
        let mut file = unlocked.key_file().clone();
        file.set_conversion(None);
        Ok(files.write(&file)?)
    })
    .await
}

/// Puts a missing key file back, and updates its copies next to the backups.
pub(crate) async fn refresh_key_files(dir: PathBuf, unlocked: UnlockedFolder) {
    let refreshed = blocking(move || {
        let files = KeyFiles::of(&dir);
        if !files.exists() {
            files.write(&newest(&files, &unlocked))?;
        }
        Ok::<_, UnlockError>(files.write_copies(&files.main()?))
    });
    match refreshed.await {
        Ok(failed) => {
            for failure in failed {
                tracing::warn!(reason = failure.reason, "a copy of the key file is old");
            }
        }
        Err(error) => tracing::warn!(%error, "the copies of the key file are not refreshed"),
    }
}

/// A whole copy is as new as the key file was. The one that has unlocked the folder may be older.
fn newest(files: &KeyFiles, unlocked: &UnlockedFolder) -> KeyFile {
    let own = unlocked.key_file();
    let copies = files.all().into_iter().map(|found| found.file);
    let mut whole = copies.filter(|file| file.folder_id() == own.folder_id() && file.is_whole());
    whole.next().unwrap_or_else(|| own.clone())
}
