//! Access to a protected folder: with its key, with another one, and without.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use domain::Timestamp;
use protection::KEY_FILE_NAME;

use super::{
    assert_no_plain_text, copy_files, database, files_below, fill, open_as, open_plain,
    open_protected, protected_folder,
};
use crate::tests::{fixed_keys, other_keys, purge, say, shown, write_key_file};
use crate::{BackupKind, Store, StoreError};

const PAGE: usize = 4096;

/// The content of the databases and backups of a folder.
fn content(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    files_below(dir)
        .into_iter()
        .filter(|path| {
            path.extension()
                .is_some_and(|end| end == "db" || end == "json")
        })
        .map(|path| (path.clone(), std::fs::read(path).unwrap()))
        .collect()
}

fn damage(path: &Path, page: usize) {
    let mut bytes = std::fs::read(path).unwrap();
    bytes[page * PAGE..][..PAGE].fill(0xA5);
    std::fs::write(path, bytes).unwrap();
}

#[tokio::test]
async fn a_protected_folder_opens_with_its_key() {
    let dir = tempfile::tempdir().unwrap();
    protected_folder(dir.path()).await;
    let opened = open_protected(dir.path());
    assert_eq!(opened.notices, [], "a tidy end needs no check");
    assert_eq!(shown(&opened.store).await, [super::SECRET]);
    opened.store.check().await.unwrap();
}

#[tokio::test]
async fn no_file_of_a_protected_folder_has_plain_text() {
    let dir = tempfile::tempdir().unwrap();
    write_key_file(dir.path());
    let store = open_protected(dir.path()).store;
    fill(&store).await;
    assert!(dir.path().join("inglenook.db-wal").exists());
    assert_no_plain_text(dir.path());
    say(&store, 2, "gone").await;
    store
        .write(|w| {
            w.messages_mut()
                .soft_delete(crate::tests::message_id(2), Timestamp(1))
        })
        .await
        .unwrap();
    purge(&store, 9).await;
    let elsewhere = tempfile::tempdir().unwrap();
    let archive = elsewhere.path().join("all.zip");
    store.export_archive(archive).await.unwrap();
    assert_no_plain_text(dir.path());
    drop(store);
    assert_no_plain_text(dir.path());
}

#[tokio::test]
async fn a_wrong_key_is_no_damage_and_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let backup = protected_folder(dir.path()).await;
    let before = content(dir.path());
    let wrong = other_keys();
    let refused = [
        open_as(dir.path(), Some(wrong.clone())).err(),
        Store::set_aside(dir.path(), Timestamp(0), Some(&wrong)).err(),
        Store::restore(dir.path(), &backup, Timestamp(0), Some(&wrong)).err(),
        Store::restore_newest(dir.path(), Timestamp(0), Some(&wrong)).err(),
        Store::protect(dir.path(), &wrong).err(),
        Store::unprotect(dir.path(), &wrong).err(),
    ];
    for error in refused {
        assert!(
            matches!(error, Some(StoreError::WrongKey { .. })),
            "{error:?}"
        );
    }
    assert_eq!(content(dir.path()), before);
    assert_eq!(shown(&open_protected(dir.path()).store).await.len(), 1);
}

/// The state that a folder may be in after an attempt to open it without the passphrase.
#[tokio::test]
async fn a_folder_without_its_key_is_never_set_aside() {
    type Change = fn(&Path);
    let changes: [(&str, Change); 5] = [
        ("whole", |_| {}),
        ("no key file", |dir| {
            std::fs::remove_file(dir.join(KEY_FILE_NAME)).unwrap();
        }),
        ("no database", |dir| {
            std::fs::remove_file(database(dir)).unwrap();
        }),
        ("damaged", |dir| damage(&database(dir), 0)),
        ("empty key file", |dir| {
            std::fs::write(dir.join(KEY_FILE_NAME), "").unwrap();
        }),
    ];
    for (name, change) in changes {
        let dir = tempfile::tempdir().unwrap();
        let backup = protected_folder(dir.path()).await;
        change(dir.path());
        Store::restore_at_next_start(dir.path(), &backup).unwrap();
        let before = content(dir.path());
        let refused = [
            open_as(dir.path(), None).err(),
            Store::set_aside(dir.path(), Timestamp(0), None).err(),
            Store::restore(dir.path(), &backup, Timestamp(0), None).err(),
            Store::restore_newest(dir.path(), Timestamp(0), None).err(),
        ];
        for error in refused {
            assert!(
                matches!(error, Some(StoreError::Protected { .. })),
                "{name}: {error:?}"
            );
        }
        assert_eq!(content(dir.path()), before, "{name}");
        assert!(Store::restore_is_pending(dir.path()), "{name}");
    }
}

#[tokio::test]
async fn the_error_without_a_key_asks_for_the_passphrase() {
    let dir = tempfile::tempdir().unwrap();
    protected_folder(dir.path()).await;
    let said = open_as(dir.path(), None).err().unwrap().to_string();
    assert!(
        said.contains("is protected; the passphrase is needed"),
        "{said}"
    );
}

#[tokio::test]
async fn damage_is_damage_if_the_key_file_confirms_the_key() {
    for page in [0, 1, 3] {
        let dir = tempfile::tempdir().unwrap();
        protected_folder(dir.path()).await;
        damage(&database(dir.path()), page);
        let refused = open_as(dir.path(), Some(fixed_keys())).err();
        assert!(
            matches!(refused, Some(StoreError::Damaged { .. })),
            "page {page}: {refused:?}"
        );
        let keys = fixed_keys();
        Store::restore_newest(dir.path(), Timestamp(0), Some(&keys)).unwrap();
        assert_eq!(shown(&open_protected(dir.path()).store).await.len(), 1);
    }
}

#[tokio::test]
async fn nothing_is_set_aside_with_an_unconfirmed_key() {
    let dir = tempfile::tempdir().unwrap();
    protected_folder(dir.path()).await;
    std::fs::remove_file(dir.path().join(KEY_FILE_NAME)).unwrap();
    damage(&database(dir.path()), 0);
    let keys = fixed_keys();
    let refused = [
        open_as(dir.path(), Some(fixed_keys())).err(),
        Store::set_aside(dir.path(), Timestamp(0), Some(&keys)).err(),
    ];
    for error in refused {
        assert!(
            matches!(error, Some(StoreError::WrongKey { .. })),
            "{error:?}"
        );
    }
}

#[tokio::test]
async fn a_damaged_check_locks_nobody_out() {
    let dir = tempfile::tempdir().unwrap();
    protected_folder(dir.path()).await;
    let path = dir.path().join(KEY_FILE_NAME);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("\"check\": \"b7", "\"check\": \"00")).unwrap();
    let keys = fixed_keys();
    let opened = open_protected(dir.path());
    assert_eq!(shown(&opened.store).await.len(), 1);
    drop(opened);
    Store::restore_newest(dir.path(), Timestamp(0), Some(&keys)).unwrap();
    assert_eq!(shown(&open_protected(dir.path()).store).await.len(), 1);
}

#[test]
fn no_database_is_created_without_a_key_file() {
    let dir = tempfile::tempdir().unwrap();
    let refused = open_as(dir.path(), Some(fixed_keys())).err();
    assert!(
        matches!(refused, Some(StoreError::WrongKey { .. })),
        "{refused:?}"
    );
    assert!(!database(dir.path()).exists());
}

#[tokio::test]
async fn a_plain_database_is_not_used_with_a_key() {
    let dir = tempfile::tempdir().unwrap();
    fill(&open_plain(dir.path()).store).await;
    write_key_file(dir.path());
    let before = content(dir.path());
    let refused = open_as(dir.path(), Some(fixed_keys())).err();
    assert!(
        matches!(refused, Some(StoreError::Unprotected { .. })),
        "{refused:?}"
    );
    assert_eq!(content(dir.path()), before);
}

#[tokio::test]
async fn a_log_needs_the_key_too() {
    let dir = tempfile::tempdir().unwrap();
    let copy = tempfile::tempdir().unwrap();
    write_key_file(dir.path());
    let store = open_protected(dir.path()).store;
    fill(&store).await;
    say(&store, 2, "only in the log").await;
    copy_files(dir.path(), copy.path());
    let log = copy.path().join("inglenook.db-wal");
    let before = std::fs::read(&log).unwrap();
    assert!(open_as(copy.path(), None).is_err());
    assert!(open_as(copy.path(), Some(other_keys())).is_err());
    assert_eq!(std::fs::read(&log).unwrap(), before);
    let opened = open_protected(copy.path());
    assert_eq!(
        shown(&opened.store).await,
        [super::SECRET, "only in the log"]
    );
    opened
        .store
        .backup(Timestamp(5), BackupKind::ByHand)
        .await
        .unwrap();
}
