//! Keys of test folders. With `INGLENOOK_TEST_KEYED=1`, all tests run on protected folders.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use protection::{DataKey, KEY_FILE_NAME, KeyFile, RecoveryCode};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::encryption::cipher;
use crate::tests::NOW;
use crate::{FolderKeys, Opened, Options, Store, StoreError, files, migrate, open};

const SWITCH: &str = "INGLENOOK_TEST_KEYED";

/// A key file, and the recovery code that unlocks it.
const KEY_FILE: &str = include_str!("../../../protection/tests/folder/protection.json");
const RECOVERY_CODE: &str =
    "CNK6C-ET399-D9NPR-RVBEE-DXR7S-2WKKX-EHTQC-CXVRK-F5X7T-PZ3XR-FSZRG-10C2D-GE20Q";

static FIXED: LazyLock<Arc<FolderKeys>> = LazyLock::new(|| {
    let file = KeyFile::parse(KEY_FILE.as_bytes()).unwrap();
    let code = RecoveryCode::parse(RECOVERY_CODE).unwrap();
    let key = file.unlock_with_recovery_code(&code).unwrap();
    Arc::new(FolderKeys::of(&key))
});

/// The keys that [`write_key_file`] belongs to.
pub(crate) fn fixed_keys() -> Arc<FolderKeys> {
    Arc::clone(&FIXED)
}

/// The keys of another folder.
pub(crate) fn other_keys() -> Arc<FolderKeys> {
    Arc::new(FolderKeys::of(&DataKey::generate().unwrap()))
}

/// Whether all test folders are protected.
pub(crate) fn is_keyed() -> bool {
    std::env::var_os(SWITCH).is_some_and(|value| value == "1")
}

/// The keys of all test folders.
pub(crate) fn keys() -> Option<&'static FolderKeys> {
    is_keyed().then(|| &**FIXED)
}

fn options() -> Options {
    options_with(is_keyed().then(fixed_keys))
}

pub(crate) fn options_with(keys: Option<Arc<FolderKeys>>) -> Options {
    Options { now: NOW, keys }
}

/// Opens a folder, and makes a new one protected if all are.
pub(crate) fn try_open(dir: &Path) -> Result<Opened, StoreError> {
    try_open_with(dir, migrate::MIGRATIONS)
}

/// Like [`try_open`], as an earlier or later version of the app.
pub(crate) fn try_open_with(dir: &Path, migrations: &[&str]) -> Result<Opened, StoreError> {
    if is_keyed() && !dir.join(KEY_FILE_NAME).exists() {
        // Some tests open a folder that cannot be written to.
        let _ = files::write(&dir.join(KEY_FILE_NAME), KEY_FILE.as_bytes());
    }
    open::open(dir, options(), migrations)
}

/// A store in a temporary folder, which is removed with it.
pub(crate) fn empty_store() -> Store {
    let dir = TempDir::new().unwrap();
    let mut store = try_open(dir.path()).unwrap().store;
    store.keep_folder(dir);
    store
}

pub(crate) fn write_key_file(dir: &Path) {
    std::fs::write(dir.join(KEY_FILE_NAME), KEY_FILE).unwrap();
}

/// A database as another program with the key would open it.
pub(crate) fn open_database(path: &Path) -> Connection {
    let needed = cipher::key_of(path, keys());
    let conn = Connection::open(path).unwrap();
    cipher::unlock(&conn, needed).unwrap();
    conn
}
