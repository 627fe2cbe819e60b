//! A second place that a protected folder shares with a plain one.

use std::path::Path;

use domain::Timestamp;

use super::{fill, open_plain, open_protected, picture, picture_hash};
use crate::tests::{fixed_keys, write_key_file};
use crate::{BackupChoices, BackupKind, BackupPlace, Store};

/// A plain folder with a backup here and in `second`.
async fn plain_folder(dir: &Path, second: &Path) {
    let store = open_plain(dir).store;
    let choices = BackupChoices {
        second: Some(second.to_owned()),
        ..BackupChoices::default()
    };
    Store::choose_backups(dir, &choices).unwrap();
    fill(&store).await;
}

#[tokio::test]
async fn files_of_the_other_folder_stay() {
    let [dir, other, second] = std::array::from_fn(|_| tempfile::tempdir().unwrap());
    plain_folder(dir.path(), second.path()).await;
    plain_folder(other.path(), second.path()).await;
    let keys = fixed_keys();
    write_key_file(dir.path());
    let done = Store::protect(dir.path(), &keys).unwrap();
    // Both folders have the same picture.
    let [(shared, _)] = done.failed.as_slice() else {
        panic!("{:?}", done.failed)
    };
    assert!(shared.starts_with(second.path()));
    assert_eq!(
        Store::plain_leftovers(dir.path(), &keys),
        std::slice::from_ref(shared)
    );
    let store = open_protected(dir.path()).store;
    assert_eq!(store.read_asset_file(picture_hash()), Some(picture()));
    store
        .backup(Timestamp(5_000_000), BackupKind::ByHand)
        .await
        .unwrap();
    for backup in Store::backups(dir.path(), Some(&keys)).unwrap() {
        Store::check_backup(&backup.path, Some(&keys)).unwrap();
    }
    let store = open_plain(other.path()).store;
    store
        .backup(Timestamp(5_000_000), BackupKind::ByHand)
        .await
        .unwrap();
    let plain = Store::backups(other.path(), None).unwrap().into_iter();
    let plain: Vec<_> = plain.filter(|backup| backup.own).collect();
    assert_eq!(plain.len(), 4);
    for backup in plain {
        Store::check_backup(&backup.path, None).unwrap();
    }
}

#[tokio::test]
async fn both_folders_have_their_backups_in_the_end() {
    let [dir, other, second] = std::array::from_fn(|_| tempfile::tempdir().unwrap());
    plain_folder(dir.path(), second.path()).await;
    plain_folder(other.path(), second.path()).await;
    let keys = fixed_keys();
    write_key_file(dir.path());
    Store::protect(dir.path(), &keys).unwrap();
    Store::unprotect(dir.path(), &keys).unwrap();
    for folder in [dir.path(), other.path()] {
        let backups = Store::backups(folder, None).unwrap().into_iter();
        let second = backups.filter(|backup| backup.place == BackupPlace::Second);
        let second: Vec<_> = second.collect();
        assert_eq!(second.len(), 2);
        for backup in second {
            Store::check_backup(&backup.path, None).unwrap();
        }
    }
}
