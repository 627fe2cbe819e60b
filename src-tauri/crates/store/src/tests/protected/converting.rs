//! Protecting a plain folder, and the way back.

use std::path::Path;

use domain::Timestamp;
use protection::KEY_FILE_NAME;

use super::{
    SECRET, assert_no_plain_text, database, files_below, files_with, fill, open_as, open_plain,
    open_protected,
};
use crate::cipher::FileForm;
use crate::tests::{fixed_key, say, shown, write_key_file};
use crate::{BackupChoices, BackupKind, Notice, Store, StoreError};

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

fn check_backups(dir: &Path, key: Option<&protection::DatabaseKey>) -> usize {
    let backups = Store::backups(dir).unwrap();
    for backup in &backups {
        if backup.kind != BackupKind::SetAside {
            Store::check_backup(&backup.path, key).unwrap();
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
    let key = fixed_key();
    write_key_file(dir.path());
    let done = Store::protect(dir.path(), &key).unwrap();
    // The current one, one set aside, and two backups in two places.
    assert_eq!((done.databases, done.failed), (6, Vec::new()));
    for folder in [dir.path(), second.path()] {
        assert_no_plain_text(folder);
        assert!(
            forms(folder)
                .iter()
                .all(|form| *form == FileForm::Encrypted)
        );
    }
    assert_eq!(check_backups(dir.path(), Some(&key)), 5);
    let opened = open_protected(dir.path());
    assert_eq!(opened.notices, [], "the conversion has checked everything");
    assert_eq!(shown(&opened.store).await.len(), 3);
    opened.store.check().await.unwrap();
    drop(opened);
    assert_eq!(Store::protect(dir.path(), &key).unwrap().databases, 0);
}

#[tokio::test]
async fn the_way_back_gives_a_plain_folder() {
    let dir = tempfile::tempdir().unwrap();
    let second = tempfile::tempdir().unwrap();
    plain_folder(dir.path(), second.path()).await;
    let key = fixed_key();
    write_key_file(dir.path());
    Store::protect(dir.path(), &key).unwrap();
    let done = Store::unprotect(dir.path(), &key).unwrap();
    assert_eq!((done.databases, done.failed), (6, Vec::new()));
    std::fs::remove_file(dir.path().join(KEY_FILE_NAME)).unwrap();
    for folder in [dir.path(), second.path()] {
        assert!(forms(folder).iter().all(|form| *form == FileForm::Plain));
    }
    assert_eq!(check_backups(dir.path(), None), 5);
    let opened = open_plain(dir.path());
    assert_eq!(shown(&opened.store).await.len(), 3);
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
    let refused = Store::protect(dir.path(), &fixed_key());
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
    let refused = Store::protect(dir.path(), &fixed_key());
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
    for file in files_below(dir.path()) {
        if file.parent() == Some(dir.path()) {
            std::fs::copy(&file, killed.path().join(file.file_name().unwrap())).unwrap();
        }
    }
    write_key_file(killed.path());
    Store::protect(killed.path(), &fixed_key()).unwrap();
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
    let done = Store::protect(dir.path(), &fixed_key()).unwrap();
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
    let refused = Store::protect(dir.path(), &fixed_key());
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
    let plain: Vec<_> = Store::backups(dir.path())
        .unwrap()
        .into_iter()
        .filter(|backup| backup.path.starts_with(&backups))
        .flat_map(|backup| [backup.path.clone(), backup.path.with_extension("json")])
        .map(|path| (path.clone(), std::fs::read(path).unwrap()))
        .collect();
    let key = fixed_key();
    write_key_file(dir.path());
    Store::protect(dir.path(), &key).unwrap();
    // Copies that were converted, but whose originals were not removed, and half of a copy.
    for (path, bytes) in plain {
        std::fs::write(path, bytes).unwrap();
    }
    for folder in [dir.path(), &backups] {
        std::fs::write(folder.join(".partial-abc"), SECRET).unwrap();
    }
    let done = Store::protect(dir.path(), &key).unwrap();
    assert_eq!((done.databases, done.failed), (2, Vec::new()));
    assert_eq!(check_backups(dir.path(), Some(&key)), 5);
    drop(open_protected(dir.path()));
    assert_no_plain_text(dir.path());
}

#[tokio::test]
async fn a_planned_restore_comes_before_a_conversion() {
    let dir = tempfile::tempdir().unwrap();
    let backup = fill(&open_plain(dir.path()).store).await;
    Store::restore_at_next_start(dir.path(), &backup).unwrap();
    write_key_file(dir.path());
    let refused = Store::protect(dir.path(), &fixed_key());
    assert!(
        matches!(refused, Err(StoreError::Conflict { .. })),
        "{refused:?}"
    );
    assert!(open_as(dir.path(), None).is_err());
}
