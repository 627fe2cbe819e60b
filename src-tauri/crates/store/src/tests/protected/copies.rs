//! Backups and archives of protected folders.

use domain::Timestamp;

use super::{
    SECRET, assert_no_plain_text, database, fill, open_plain, open_protected, protected_folder,
};
use crate::cipher::FileForm;
use crate::tests::{fixed_key, say, shown, write_key_file};
use crate::{Notice, Store, StoreError};

#[tokio::test]
async fn a_backup_has_the_key_of_its_folder() {
    let dir = tempfile::tempdir().unwrap();
    let backup = protected_folder(dir.path()).await;
    let key = fixed_key();
    assert_eq!(FileForm::of(&backup).unwrap(), FileForm::Encrypted);
    Store::check_backup(&backup, Some(&key)).unwrap();
    let refused = Store::check_backup(&backup, None);
    assert!(
        matches!(refused, Err(StoreError::BadBackup { .. })),
        "{refused:?}"
    );
}

#[tokio::test]
async fn a_restore_can_be_undone_in_a_protected_folder() {
    let dir = tempfile::tempdir().unwrap();
    let backup = protected_folder(dir.path()).await;
    let store = open_protected(dir.path()).store;
    say(&store, 2, "later").await;
    Store::restore_at_next_start(dir.path(), &backup).unwrap();
    drop(store);
    let opened = open_protected(dir.path());
    let [Notice::Restored(restored), ..] = opened.notices.as_slice() else {
        panic!("{:?}", opened.notices)
    };
    let aside = restored.aside.clone().unwrap().join("inglenook.db");
    assert_eq!(shown(&opened.store).await, [SECRET]);
    drop(opened);
    assert_no_plain_text(dir.path());
    let key = fixed_key();
    Store::restore(dir.path(), &aside, Timestamp(9), Some(&key)).unwrap();
    assert_eq!(shown(&open_protected(dir.path()).store).await.len(), 2);
}

#[tokio::test]
async fn a_plain_backup_is_encrypted_by_its_restore() {
    let plain = tempfile::tempdir().unwrap();
    let backup = fill(&open_plain(plain.path()).store).await;
    let dir = tempfile::tempdir().unwrap();
    protected_folder(dir.path()).await;
    let key = fixed_key();
    Store::restore(dir.path(), &backup, Timestamp(0), Some(&key)).unwrap();
    assert_eq!(shown(&open_protected(dir.path()).store).await, [SECRET]);
    assert_no_plain_text(dir.path());
}

#[tokio::test]
async fn an_encrypted_backup_is_refused_in_a_plain_folder() {
    let dir = tempfile::tempdir().unwrap();
    let backup = protected_folder(dir.path()).await;
    let plain = tempfile::tempdir().unwrap();
    fill(&open_plain(plain.path()).store).await;
    let before = std::fs::read(database(plain.path())).unwrap();
    let refused = Store::restore(plain.path(), &backup, Timestamp(0), None);
    let said = refused.unwrap_err().to_string();
    assert!(said.contains("it is encrypted"), "{said}");
    assert_eq!(std::fs::read(database(plain.path())).unwrap(), before);
}

#[tokio::test]
async fn an_imported_archive_is_encrypted() {
    let plain = tempfile::tempdir().unwrap();
    let archive = plain.path().join("all.zip");
    let store = open_plain(plain.path()).store;
    fill(&store).await;
    store.export_archive(archive.clone()).await.unwrap();
    let dir = tempfile::tempdir().unwrap();
    write_key_file(dir.path());
    let store = open_protected(dir.path()).store;
    let backup = store.import_archive(archive, Timestamp(5)).await.unwrap();
    let key = fixed_key();
    Store::check_backup(&backup, Some(&key)).unwrap();
    assert_no_plain_text(dir.path());
}

#[tokio::test]
async fn an_archive_of_a_protected_folder_needs_its_key() {
    let dir = tempfile::tempdir().unwrap();
    protected_folder(dir.path()).await;
    let archive = dir.path().join("all.zip");
    let store = open_protected(dir.path()).store;
    store.export_archive(archive.clone()).await.unwrap();
    let plain = tempfile::tempdir().unwrap();
    let other = open_plain(plain.path()).store;
    let refused = other.import_archive(archive.clone(), Timestamp(5)).await;
    assert!(
        matches!(refused, Err(StoreError::BadBackup { .. })),
        "{refused:?}"
    );
    store.import_archive(archive, Timestamp(5)).await.unwrap();
}
