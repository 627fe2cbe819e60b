//! Verifies that a copy of the database can be restored.

use std::path::Path;

use super::content::{assets_of, read_only};
use super::manifest::{self, Manifest};
use super::pool;
use crate::asset_folder::AssetFolder;
use crate::connection::quick_check;
use crate::encryption::cipher::FileForm;
use crate::{FolderKeys, StoreError, checksum, identity, migrate};

/// Refusal of an encrypted backup without a key.
const NO_KEY: &str = "it is encrypted, and this data folder is not protected";
/// Refusal of a database whose tables, triggers or views are not those of our migrations.
pub(super) const NOT_OUR_TABLES: &str = "its tables are not those of an Inglenook database";

/// Like [`verify`], and also checks that every picture and file of the backup is next to it and
/// unchanged.
pub(crate) fn verify_with_files(path: &Path, keys: Option<&FolderKeys>) -> Result<(), StoreError> {
    verify(path, keys)?;
    let (Some(assets), Some(folder)) = (assets_of(path, keys), path.parent()) else {
        return Ok(());
    };
    // Backups of earlier versions have no files.
    let damaged = |_| pool::damaged(&AssetFolder::assets(folder, keys), &assets);
    match Manifest::read(path, keys).map_or(0, damaged) {
        0 => Ok(()),
        count => {
            let detail = format!(
                "{count} of its {} pictures and files are missing or changed",
                assets.len()
            );
            Err(StoreError::BadBackup {
                path: path.to_owned(),
                detail,
            })
        }
    }
}

/// Like [`verify_copy`]. The file must also be unchanged since it was written, or, without a
/// manifest that says so, have exactly our tables: somebody else may have written it.
pub(crate) fn verify(path: &Path, keys: Option<&FolderKeys>) -> Result<(), StoreError> {
    let bad = |detail: String| StoreError::BadBackup {
        path: path.to_owned(),
        detail,
    };
    verify_copy(path, keys)?;
    match Manifest::read(path, keys) {
        Some(manifest) if manifest::sha256(path).ok().as_ref() == Some(&manifest.sha256) => Ok(()),
        Some(_) => Err(bad("it has changed since it was made".into())),
        None => {
            let conn = read_only(path, keys).map_err(|error| bad(error.to_string()))?;
            let ours = identity::schema_is_ours(&conn).map_err(|error| bad(error.to_string()))?;
            ours.then_some(()).ok_or_else(|| bad(NOT_OUR_TABLES.into()))
        }
    }
}

/// Checks that the structure is intact, that the database is Inglenook's in a known format, that it
/// brings no code of its own, and that every text matches its checksum.
pub(crate) fn verify_copy(path: &Path, keys: Option<&FolderKeys>) -> Result<(), StoreError> {
    let bad = |detail: String| StoreError::BadBackup {
        path: path.to_owned(),
        detail,
    };
    if keys.is_none() && matches!(FileForm::of(path), Ok(FileForm::Encrypted)) {
        return Err(bad(NO_KEY.into()));
    }
    let conn = read_only(path, keys).map_err(|error| bad(error.to_string()))?;
    quick_check(&conn).map_err(bad)?;
    let format = migrate::format(&conn).map_err(|error| bad(error.to_string()))?;
    identity::ours(&conn)
        .map_err(|error| bad(error.to_string()))?
        .then_some(())
        .ok_or_else(|| bad(identity::FOREIGN.into()))?;
    migrate::refuse_newer(format, migrate::MIGRATIONS)?;
    let foreign = identity::foreign_code(&conn, migrate::MIGRATIONS)
        .map_err(|error| bad(error.to_string()))?;
    foreign.map_or(Ok(()), |detail| Err(bad(detail)))?;
    checksum::check(&conn).map_err(bad)
}
