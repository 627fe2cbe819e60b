//! A second place for backups, which several data folders may share.

use domain::Timestamp;

use crate::tests::backups::copies::{HOUR, back_up, with_picture};
use crate::tests::{keys, open, say, try_open};
use crate::{BackupChoices, BackupKind, Notice, Store, StoreError};

#[tokio::test]
async fn a_second_place_restores_what_the_folder_lost() {
    let dir = tempfile::tempdir().unwrap();
    let other = tempfile::tempdir().unwrap();
    let (store, face) = with_picture(dir.path()).await;
    let second = Some(other.path().to_owned());
    Store::choose_backups(
        dir.path(),
        &BackupChoices {
            second,
            ..BackupChoices::default()
        },
    )
    .unwrap();
    assert_eq!(
        store
            .backup(Timestamp(HOUR), BackupKind::ByHand)
            .await
            .unwrap()
            .second_failed,
        None
    );
    drop(store);
    for backup in Store::backups(dir.path(), keys()).unwrap() {
        Store::check_backup(&backup.path, keys()).unwrap();
        if backup.path.starts_with(dir.path()) {
            std::fs::remove_file(backup.path).unwrap();
        }
    }
    for gone in ["assets", "backups/assets"] {
        std::fs::remove_dir_all(dir.path().join(gone)).unwrap();
    }
    std::fs::remove_file(dir.path().join("inglenook.db")).unwrap();
    assert!(matches!(
        try_open(dir.path()),
        Err(StoreError::Damaged { .. })
    ));
    let restored = Store::restore_newest(dir.path(), Timestamp(0), keys()).unwrap();
    assert!(restored.backup.starts_with(other.path()));
    let store = open(dir.path()).store;
    assert_eq!(store.read_asset_file(face).unwrap(), b"a face");
}

/// Two machines may use the same synchronised folder.
#[tokio::test]
async fn a_shared_second_place_keeps_all_backups() {
    let dirs = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let shared = tempfile::tempdir().unwrap();
    let mut stores = Vec::new();
    for (number, dir) in (2..).zip(&dirs) {
        let (store, _) = with_picture(dir.path()).await;
        say(&store, number, "more").await;
        let choices = BackupChoices {
            second: Some(shared.path().to_owned()),
            ..BackupChoices::default()
        };
        Store::choose_backups(dir.path(), &choices).unwrap();
        stores.push(store);
    }
    for hour in 0..26 {
        for store in &stores {
            back_up(store, hour).await;
        }
    }
    drop(stores);
    for dir in &dirs {
        let all = Store::backups(dir.path(), keys()).unwrap();
        let count = |wanted: fn(&crate::BackupFile) -> bool| {
            all.iter().filter(|backup| wanted(backup)).count()
        };
        let here = count(|backup| backup.place == crate::BackupPlace::Place);
        assert_eq!(
            count(|backup| backup.place == crate::BackupPlace::Second && backup.own),
            here
        );
        assert_eq!(count(|backup| !backup.own), here);
        for backup in &all {
            Store::check_backup(&backup.path, keys()).unwrap();
        }
        assert!(Store::newest_good_backup(dir.path(), keys()).unwrap().own);
    }
}

#[tokio::test]
async fn a_missing_second_place_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let other = tempfile::tempdir().unwrap();
    let (store, _) = with_picture(dir.path()).await;
    let folder = other.path().to_owned();
    let choices = BackupChoices {
        second: Some(folder.clone()),
        ..BackupChoices::default()
    };
    Store::choose_backups(dir.path(), &choices).unwrap();
    // Simulates a removed disk, whose mount point stays as an empty folder.
    std::fs::remove_dir_all(other.path().join("Inglenook backups")).unwrap();
    let taken = store
        .backup(Timestamp(HOUR), BackupKind::ByHand)
        .await
        .unwrap();
    assert!(taken.second_failed.unwrap().contains("is missing"));
    assert!(taken.path.exists());
    drop(store);
    let opened = open(dir.path());
    assert!(
        opened
            .notices
            .contains(&Notice::SecondPlaceMissing { folder })
    );
}
