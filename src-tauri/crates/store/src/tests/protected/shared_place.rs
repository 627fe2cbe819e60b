//! A second place that a protected folder shares with other folders.

use std::path::Path;
use std::sync::Arc;

use domain::Timestamp;
use protection::{DataKey, KEY_FILE_NAME, KeyFile, Passphrase, PassphraseCost, RecoveryCode};

use super::{fill, open_as, open_plain, open_protected, picture, picture_hash};
use crate::asset_folder::AssetFolder;
use crate::tests::{CHARACTER, fixed_keys, purge, write_key_file};
use crate::{BackupChoices, BackupKind, BackupPlace, FolderKeys, Store};

/// A plain folder with a backup here and in `second`.
async fn plain_folder(dir: &Path, second: &Path) {
    fill_twice(&open_plain(dir).store, second).await;
}

async fn fill_twice(store: &Store, second: &Path) {
    let choices = BackupChoices {
        second: Some(second.to_owned()),
        ..BackupChoices::default()
    };
    Store::choose_backups(store.dir(), &choices).unwrap();
    fill(store).await;
}

/// Makes a key file with keys of its own.
fn protect_anew(dir: &Path) -> Arc<FolderKeys> {
    let key = DataKey::generate().unwrap();
    let code = RecoveryCode::generate().unwrap();
    let passphrase = Passphrase::new("another passphrase").unwrap();
    let cost = PassphraseCost::new(16, 1).unwrap();
    let file = KeyFile::create(&key, &passphrase, cost, &code).unwrap();
    std::fs::write(dir.join(KEY_FILE_NAME), file.to_json()).unwrap();
    Arc::new(FolderKeys::of(&key))
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

/// A forgotten picture must not stay in the second place because of another passphrase there.
#[tokio::test]
async fn unused_files_go_next_to_those_of_other_keys() {
    let [dir, other, second] = std::array::from_fn(|_| tempfile::tempdir().unwrap());
    write_key_file(dir.path());
    let store = open_protected(dir.path()).store;
    fill_twice(&store, second.path()).await;
    let keys = protect_anew(other.path());
    let stranger = open_as(other.path(), Some(Arc::clone(&keys)))
        .unwrap()
        .store;
    fill_twice(&stranger, second.path()).await;
    let shared = second.path().join("Inglenook backups");
    let ours = AssetFolder::assets(&shared, Some(&fixed_keys())).file(picture_hash());
    let theirs = AssetFolder::assets(&shared, Some(&keys)).file(picture_hash());
    assert!(ours.exists() && theirs.exists());
    store
        .write(|w| w.characters_mut().soft_delete(CHARACTER, Timestamp(5)))
        .await
        .unwrap();
    purge(&store, 9).await;
    let backups = Store::backups(dir.path(), Some(&fixed_keys())).unwrap();
    let own = backups.into_iter().filter(|backup| backup.own).collect();
    store.remove_backups(own).await.unwrap();
    assert!(!ours.exists() && theirs.exists());
}
