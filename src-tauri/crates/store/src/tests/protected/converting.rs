//! Protecting a plain folder, and the way back.

use std::path::Path;

use domain::Timestamp;
use protection::KEY_FILE_NAME;

use super::{
    SECRET, assert_no_plain_text, copy_files, database, files_below, files_with, fill, open_as,
    open_plain, open_protected, picture, picture_hash,
};
use crate::encryption::cipher::FileForm;
use crate::tests::{fixed_keys, say, shown, write_key_file};
use crate::{BackupChoices, BackupKind, FolderKeys, Notice, Store, StoreError};

/// A plain folder with three messages, two backups in two places, and a database set aside.
async fn plain_folder(dir: &Path, second: &Path) {
    let store = open_plain(dir).store;
    let choices = BackupChoices {
        second: Some(second.to_owned()),
        ..BackupChoices::default()
    };
    Store::choose_backups(dir, &choices).unwrap();
    let first = fill(&store).await;
    say(&store, 2, SECRET).await;
    store
        .backup(Timestamp(2000), BackupKind::Automatic)
        .await
        .unwrap();
    drop(store);
    Store::restore(dir, &first, Timestamp(0), None).unwrap();
    let store = open_plain(dir).store;
    say(&store, 3, SECRET).await;
    say(&store, 4, "after the restore").await;
}

fn forms(dir: &Path) -> Vec<FileForm> {
    let is_database = |path: &std::path::PathBuf| path.extension().is_some_and(|end| end == "db");
    let databases = files_below(dir).into_iter().filter(is_database);
    databases.map(|path| FileForm::of(&path).unwrap()).collect()
}

fn check_backups(dir: &Path, keys: Option<&FolderKeys>) -> usize {
    let backups = Store::backups(dir, keys).unwrap();
    for backup in &backups {
        if backup.kind != BackupKind::SetAside {
            Store::check_backup(&backup.path, keys).unwrap();
        }
    }
    backups.len()
}

#[tokio::test]
async fn protecting_a_folder_keeps_all_and_hides_all() {
    let dir = tempfile::tempdir().unwrap();
    let second = tempfile::tempdir().unwrap();
    plain_folder(dir.path(), second.path()).await;
    assert!(!files_with(dir.path(), SECRET).is_empty());
    let keys = fixed_keys();
    write_key_file(dir.path());
    assert!(!Store::plain_leftovers(dir.path(), &keys).is_empty());
    let done = Store::protect(dir.path(), &keys).unwrap();
    // The current one, one set aside, and two backups in two places; the picture is in three.
    assert_eq!(
        (done.databases, done.files, done.failed),
        (6, 3, Vec::new())
    );
    assert!(Store::plain_leftovers(dir.path(), &keys).is_empty());
    for folder in [dir.path(), second.path()] {
        assert_no_plain_text(folder);
        assert!(
            forms(folder)
                .iter()
                .all(|form| *form == FileForm::Encrypted)
        );
    }
    assert_eq!(check_backups(dir.path(), Some(&keys)), 5);
    let opened = open_protected(dir.path());
    assert_eq!(opened.notices, [], "the conversion has checked everything");
    assert_eq!(shown(&opened.store).await.len(), 3);
    opened.store.check().await.unwrap();
    assert_eq!(
        opened.store.read_asset_file(picture_hash()),
        Some(picture())
    );
    assert_eq!(opened.store.read_thumbnail(picture_hash()), None);
    drop(opened);
    let again = Store::protect(dir.path(), &keys).unwrap();
    assert_eq!((again.databases, again.files), (0, 0));
}

#[tokio::test]
async fn the_way_back_gives_a_plain_folder() {
    let dir = tempfile::tempdir().unwrap();
    let second = tempfile::tempdir().unwrap();
    plain_folder(dir.path(), second.path()).await;
    let keys = fixed_keys();
    write_key_file(dir.path());
    Store::protect(dir.path(), &keys).unwrap();
    let done = Store::unprotect(dir.path(), &keys).unwrap();
    assert_eq!(
        (done.databases, done.files, done.failed),
        (6, 3, Vec::new())
    );
    std::fs::remove_file(dir.path().join(KEY_FILE_NAME)).unwrap();
    for folder in [dir.path(), second.path()] {
        assert!(forms(folder).iter().all(|form| *form == FileForm::Plain));
    }
    assert_eq!(check_backups(dir.path(), None), 5);
    let opened = open_plain(dir.path());
    assert_eq!(shown(&opened.store).await.len(), 3);
    assert_eq!(
        opened.store.read_asset_file(picture_hash()),
        Some(picture())
    );
    let verdict = opened
        .store
        .on_writer(|conn| conn.query_row("PRAGMA integrity_check", [], |row| row.get(0)))
        .await
        .unwrap();
    assert_eq!(verdict, Ok("ok".to_owned()));
    drop(opened);
    // No page reserves space for a key any more.
    assert_eq!(std::fs::read(database(dir.path())).unwrap()[20], 0);
    Store::restore_newest(dir.path(), Timestamp(5), None).unwrap();
}

#[tokio::test]
async fn protecting_without_a_key_file_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    fill(&open_plain(dir.path()).store).await;
    let refused = Store::protect(dir.path(), &fixed_keys());
    assert!(
        matches!(refused, Err(StoreError::WrongKey { .. })),
        "{refused:?}"
    );
    assert_eq!(shown(&open_plain(dir.path()).store).await, [SECRET]);
}

#[tokio::test]
async fn an_open_folder_is_not_converted() {
    let dir = tempfile::tempdir().unwrap();
    let store = open_plain(dir.path()).store;
    fill(&store).await;
    write_key_file(dir.path());
    let refused = Store::protect(dir.path(), &fixed_keys());
    assert!(
        matches!(refused, Err(StoreError::InUse { .. })),
        "{refused:?}"
    );
}

#[tokio::test]
async fn a_crash_before_protecting_is_still_reported() {
    let dir = tempfile::tempdir().unwrap();
    let killed = tempfile::tempdir().unwrap();
    let store = open_plain(dir.path()).store;
    fill(&store).await;
    copy_files(dir.path(), killed.path());
    write_key_file(killed.path());
    Store::protect(killed.path(), &fixed_keys()).unwrap();
    let opened = open_protected(killed.path());
    assert_eq!(opened.notices, [Notice::Checked]);
    assert_eq!(shown(&opened.store).await, [SECRET]);
    assert_no_plain_text(killed.path());
}

#[tokio::test]
async fn a_damaged_copy_stays_and_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let backup = fill(&open_plain(dir.path()).store).await;
    let mut bytes = std::fs::read(&backup).unwrap();
    bytes[3 * 4096..5 * 4096].fill(0xA5);
    std::fs::write(&backup, &bytes).unwrap();
    write_key_file(dir.path());
    let done = Store::protect(dir.path(), &fixed_keys()).unwrap();
    let failed: Vec<_> = done.failed.iter().map(|(path, _)| path).collect();
    assert_eq!((done.databases, failed), (1, vec![&backup]));
    assert_eq!(std::fs::read(&backup).unwrap(), bytes);
    assert_eq!(shown(&open_protected(dir.path()).store).await, [SECRET]);
}

#[tokio::test]
async fn a_damaged_database_is_not_converted() {
    let dir = tempfile::tempdir().unwrap();
    fill(&open_plain(dir.path()).store).await;
    let path = database(dir.path());
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[3 * 4096..5 * 4096].fill(0xA5);
    std::fs::write(&path, &bytes).unwrap();
    write_key_file(dir.path());
    let refused = Store::protect(dir.path(), &fixed_keys());
    assert!(
        matches!(refused, Err(StoreError::Damaged { .. })),
        "{refused:?}"
    );
    assert_eq!(FileForm::of(&path).unwrap(), FileForm::Plain);
}

/// The states that a kill between two steps leaves.
#[tokio::test]
async fn a_repeated_call_finishes_the_work() {
    let dir = tempfile::tempdir().unwrap();
    let second = tempfile::tempdir().unwrap();
    plain_folder(dir.path(), second.path()).await;
    let backups = dir.path().join("backups");
    let plain: Vec<_> = Store::backups(dir.path(), None)
        .unwrap()
        .into_iter()
        .filter(|backup| backup.path.starts_with(&backups))
        .flat_map(|backup| [backup.path.clone(), backup.path.with_extension("json")])
        .map(|path| (path.clone(), std::fs::read(path).unwrap()))
        .collect();
    let keys = fixed_keys();
    write_key_file(dir.path());
    Store::protect(dir.path(), &keys).unwrap();
    // Copies that were converted, but whose originals were not removed, and half of a copy.
    for (path, bytes) in plain {
        std::fs::write(path, bytes).unwrap();
    }
    for folder in [dir.path(), &backups] {
        std::fs::write(folder.join(".partial-abc"), SECRET).unwrap();
    }
    let done = Store::protect(dir.path(), &keys).unwrap();
    assert_eq!((done.databases, done.failed), (2, Vec::new()));
    assert_eq!(check_backups(dir.path(), Some(&keys)), 5);
    drop(open_protected(dir.path()));
    assert_no_plain_text(dir.path());
}

#[tokio::test]
async fn a_planned_restore_comes_before_a_conversion() {
    let dir = tempfile::tempdir().unwrap();
    let backup = fill(&open_plain(dir.path()).store).await;
    Store::restore_at_next_start(dir.path(), &backup).unwrap();
    write_key_file(dir.path());
    let refused = Store::protect(dir.path(), &fixed_keys());
    assert!(
        matches!(refused, Err(StoreError::Conflict { .. })),
        "{refused:?}"
    );
    assert!(open_as(dir.path(), None).is_err());
}

/// The database is the last file to be encrypted, so that nobody works with half of a conversion.
#[tokio::test]
async fn a_folder_of_two_forms_does_not_open() {
    let dir = tempfile::tempdir().unwrap();
    fill(&open_plain(dir.path()).store).await;
    let plain = std::fs::read(database(dir.path())).unwrap();
    let keys = fixed_keys();
    write_key_file(dir.path());
    Store::protect(dir.path(), &keys).unwrap();
    std::fs::write(database(dir.path()), plain).unwrap();
    let refused = open_as(dir.path(), Some(fixed_keys())).err();
    assert!(
        matches!(refused, Some(StoreError::Unprotected { .. })),
        "{refused:?}"
    );
    let refused = open_as(dir.path(), None).err();
    assert!(
        matches!(refused, Some(StoreError::Protected { .. })),
        "{refused:?}"
    );
    assert_eq!(
        Store::plain_leftovers(dir.path(), &keys),
        [database(dir.path())]
    );
    let done = Store::unprotect(dir.path(), &keys).unwrap();
    assert_eq!((done.databases, done.files), (1, 2));
    std::fs::remove_file(dir.path().join(KEY_FILE_NAME)).unwrap();
    let store = open_plain(dir.path()).store;
    assert_eq!(store.read_asset_file(picture_hash()), Some(picture()));
}

#[tokio::test]
async fn a_damaged_picture_is_reported_and_heals() {
    let dir = tempfile::tempdir().unwrap();
    let store = open_plain(dir.path()).store;
    fill(&store).await;
    let path = store.assets().file(picture_hash());
    drop(store);
    std::fs::write(&path, "another picture").unwrap();
    let keys = fixed_keys();
    write_key_file(dir.path());
    let done = Store::protect(dir.path(), &keys).unwrap();
    let failed: Vec<_> = done.failed.iter().map(|(path, _)| path).collect();
    assert_eq!((done.files, failed), (1, vec![&path]));
    assert_eq!(
        Store::plain_leftovers(dir.path(), &keys),
        std::slice::from_ref(&path)
    );
    let store = open_protected(dir.path()).store;
    assert_eq!(store.read_asset(picture_hash()).unwrap(), Some(picture()));
    assert!(!path.exists());
}
