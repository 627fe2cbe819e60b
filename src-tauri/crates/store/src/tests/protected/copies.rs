//! Backups and archives of protected folders.

use domain::Timestamp;

use super::{
    SECRET, assert_no_plain_text, database, files_below, fill, open_plain, open_protected, picture,
    picture_hash, protected_folder,
};
use crate::encryption::cipher::FileForm;
use crate::tests::{fixed_keys, say, shown, write_key_file};
use crate::{Notice, Store, StoreError};

#[tokio::test]
async fn a_backup_has_the_key_of_its_folder() {
    let dir = tempfile::tempdir().unwrap();
    let backup = protected_folder(dir.path()).await;
    let keys = fixed_keys();
    assert_eq!(FileForm::of(&backup).unwrap(), FileForm::Encrypted);
    Store::check_backup(&backup, Some(&keys)).unwrap();
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
    let keys = fixed_keys();
    Store::restore(dir.path(), &aside, Timestamp(9), Some(&keys)).unwrap();
    assert_eq!(shown(&open_protected(dir.path()).store).await.len(), 2);
}

#[tokio::test]
async fn a_plain_backup_is_encrypted_by_its_restore() {
    let plain = tempfile::tempdir().unwrap();
    let backup = fill(&open_plain(plain.path()).store).await;
    let dir = tempfile::tempdir().unwrap();
    protected_folder(dir.path()).await;
    let keys = fixed_keys();
    Store::restore(dir.path(), &backup, Timestamp(0), Some(&keys)).unwrap();
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
    let keys = fixed_keys();
    Store::check_backup(&backup, Some(&keys)).unwrap();
    assert_no_plain_text(dir.path());
}

#[tokio::test]
async fn an_archive_of_a_protected_folder_is_plain() {
    let dir = tempfile::tempdir().unwrap();
    protected_folder(dir.path()).await;
    let elsewhere = tempfile::tempdir().unwrap();
    let archive = elsewhere.path().join("all.zip");
    let store = open_protected(dir.path()).store;
    store.export_archive(archive.clone()).await.unwrap();
    assert_eq!(
        files_below(elsewhere.path()),
        std::slice::from_ref(&archive)
    );
    assert_no_plain_text(dir.path());
    store
        .import_archive(archive.clone(), Timestamp(5))
        .await
        .unwrap();
    assert_no_plain_text(dir.path());
    let plain = tempfile::tempdir().unwrap();
    let other = open_plain(plain.path()).store;
    let backup = other.import_archive(archive, Timestamp(5)).await.unwrap();
    drop(other);
    Store::check_backup(&backup, None).unwrap();
    Store::restore(plain.path(), &backup, Timestamp(6), None).unwrap();
    let other = open_plain(plain.path()).store;
    assert_eq!(shown(&other).await, [SECRET]);
    assert_eq!(other.read_asset_file(picture_hash()), Some(picture()));
}

#[tokio::test]
async fn a_backup_is_restored_in_another_folder() {
    let dir = tempfile::tempdir().unwrap();
    let backup = protected_folder(dir.path()).await;
    let other = tempfile::tempdir().unwrap();
    write_key_file(other.path());
    let keys = fixed_keys();
    let restored = Store::restore(other.path(), &backup, Timestamp(0), Some(&keys)).unwrap();
    assert_eq!(restored.missing, 0);
    let store = open_protected(other.path()).store;
    assert_eq!(shown(&store).await, [SECRET]);
    assert_eq!(store.read_asset_file(picture_hash()), Some(picture()));
    drop(store);
    assert_no_plain_text(other.path());
}
