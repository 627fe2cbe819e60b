//! The keys with which the store encrypts a data folder.

use protection::{DataKey, DatabaseKey, FileKey, NameKey, SealedName};

/// Keys of the database, of files, and of their names. They overwrite themselves when they are
/// dropped, and are not printed.
#[derive(Debug)]
pub struct FolderKeys {
    database: DatabaseKey,
    files: FileKey,
    names: NameKey,
}

impl FolderKeys {
    #[must_use]
    pub fn of(key: &DataKey) -> Self {
        Self {
            database: key.database_key(),
            files: key.file_key(),
            names: key.name_key(),
        }
    }

    pub(crate) fn database(&self) -> &DatabaseKey {
        &self.database
    }

    pub(crate) fn files(&self) -> &FileKey {
        &self.files
    }

    /// The name on the disk of a file that is called `plain` in a folder without keys.
    pub(crate) fn sealed_name(&self, plain: &str) -> SealedName {
        self.names.sealed_name(plain)
    }
}
