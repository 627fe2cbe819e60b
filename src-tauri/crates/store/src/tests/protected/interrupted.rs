//! Databases whose last write was interrupted: their journal or log must be applied before they are
//! read, and only with the right key.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use domain::Timestamp;
use rusqlite::Connection;

use super::{copy_files, database, files_below, open_as, open_plain, open_protected};
use crate::encryption::cipher;
use crate::search;
use crate::tests::{create_library, fixed_keys, other_keys, say, shown, write_key_file};
use crate::{BackupKind, FolderKeys, Store, StoreError};

const MESSAGES: usize = 40;
/// Characters that have a meaning in the address of a database, as far as a folder may have them.
const FOLDER: &str = if cfg!(windows) {
    "50% of a b#c é"
} else {
    "50% of a?b#c é"
};

/// A backup with the same messages.
const BACKUP: &str = "before.db";

/// Copies a protected folder in the middle of a write, as a kill would leave it.
async fn interrupted_folder(to: &Path, journal_mode: &str) {
    let from = tempfile::tempdir().unwrap();
    write_key_file(from.path());
    let store = open_protected(from.path()).store;
    create_library(&store).await;
    for number in 1..=MESSAGES {
        let text = format!("word {number} ").repeat(200);
        say(&store, number.try_into().unwrap(), &text).await;
    }
    let taken = store.backup(Timestamp(9), BackupKind::Automatic).await;
    let backup = taken.unwrap().path;
    drop(store);
    let conn = Connection::open(database(from.path())).unwrap();
    cipher::unlock(&conn, Some(&fixed_keys())).unwrap();
    search::register(&conn).unwrap();
    conn.pragma_update(None, "journal_mode", journal_mode)
        .unwrap();
    // With so small a cache, changed pages reach the files before the commit.
    conn.pragma_update(None, "cache_size", 5).unwrap();
    conn.execute_batch("BEGIN IMMEDIATE; PRAGMA user_version = 77; UPDATE swipe SET text = 'lost'")
        .unwrap();
    std::fs::create_dir_all(to).unwrap();
    copy_files(from.path(), to);
    // The shared memory of a log ends with the last process.
    let _ = std::fs::remove_file(to.join("inglenook.db-shm"));
    std::fs::copy(backup, to.join(BACKUP)).unwrap();
}

fn files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let is_content = |path: &PathBuf| !path.to_string_lossy().ends_with("-shm");
    files_below(dir)
        .into_iter()
        .filter(is_content)
        .filter(|path| {
            path.file_name()
                .is_some_and(|name| name != "inglenook.lock")
        })
        .map(|path| (path.clone(), std::fs::read(path).unwrap()))
        .collect()
}

#[tokio::test]
async fn an_interrupted_write_does_not_make_the_key_wrong() {
    for (journal_mode, ending) in [("DELETE", "-journal"), ("WAL", "-wal")] {
        let parent = tempfile::tempdir().unwrap();
        let dir = parent.path().join(FOLDER);
        interrupted_folder(&dir, journal_mode).await;
        let log = dir.join(format!("inglenook.db{ending}"));
        assert!(
            std::fs::metadata(log).unwrap().len() > 4096,
            "{journal_mode}"
        );
        assert!(
            cipher::opens(&database(&dir), &fixed_keys()),
            "{journal_mode}"
        );
        Store::unprotect(&dir, &fixed_keys()).unwrap();
        std::fs::remove_file(dir.join(protection::KEY_FILE_NAME)).unwrap();
        let store = open_plain(&dir).store;
        store.check().await.unwrap();
        let texts = shown(&store).await;
        assert_eq!(texts.len(), MESSAGES, "{journal_mode}");
        assert!(
            texts.iter().all(|text| text.starts_with("word")),
            "{journal_mode}"
        );
    }
}

#[tokio::test]
async fn a_wrong_key_applies_no_interrupted_write() {
    for journal_mode in ["DELETE", "WAL"] {
        let parent = tempfile::tempdir().unwrap();
        let dir = parent.path().join(FOLDER);
        interrupted_folder(&dir, journal_mode).await;
        let before = files(&dir);
        let wrong: std::sync::Arc<FolderKeys> = other_keys();
        let refused = [
            Store::unprotect(&dir, &wrong).err(),
            Store::protect(&dir, &wrong).err(),
            open_as(&dir, Some(wrong)).err(),
        ];
        for error in refused {
            assert!(
                matches!(error, Some(StoreError::WrongKey { .. })),
                "{journal_mode}: {error:?}"
            );
        }
        assert_eq!(files(&dir), before, "{journal_mode}");
        let opened = open_protected(&dir);
        assert_eq!(shown(&opened.store).await.len(), MESSAGES, "{journal_mode}");
    }
}

#[tokio::test]
async fn a_journal_is_set_aside_with_its_database() {
    for journal_mode in ["DELETE", "WAL"] {
        let parent = tempfile::tempdir().unwrap();
        let dir = parent.path().join(FOLDER);
        interrupted_folder(&dir, journal_mode).await;
        let keys = fixed_keys();
        let restored = Store::restore(&dir, &dir.join(BACKUP), Timestamp(0), Some(&keys)).unwrap();
        assert!(!dir.join("inglenook.db-journal").exists());
        let opened = open_protected(&dir);
        opened.store.check().await.unwrap();
        assert_eq!(shown(&opened.store).await.len(), MESSAGES, "{journal_mode}");
        drop(opened);
        let aside = restored.aside.unwrap().join("inglenook.db");
        Store::restore(&dir, &aside, Timestamp(1), Some(&keys)).unwrap();
        let opened = open_protected(&dir);
        opened.store.check().await.unwrap();
        assert_eq!(shown(&opened.store).await.len(), MESSAGES, "{journal_mode}");
    }
}
