//! One flipped bit at the beginning, in the middle and at the end of each kind of file: it is damage,
//! never a wrong key and never other content, and it is healed where a copy has the content.

use std::path::{Path, PathBuf};

use domain::Timestamp;
use protection::KEY_FILE_NAME;
use tempfile::TempDir;

use super::{
    SECRET, copy_files, database, fill, flip, open_as, open_protected, picture, picture_hash,
    protected_folder,
};
use crate::asset_folder::AssetFolder;
use crate::tests::{create_library, fixed_keys, say, shown, write_key_file};
use crate::{BackupChoices, BackupKind, Notice, Store, StoreError};

/// The first, the middle and the last byte of a file.
fn places(path: &Path) -> [usize; 3] {
    let length = usize::try_from(std::fs::metadata(path).unwrap().len()).unwrap();
    [0, length / 2, length - 1]
}

/// A protected folder with a second place, each with the same backup.
struct TwoPlaces {
    dir: TempDir,
    _second: TempDir,
    backups: [PathBuf; 2],
    pools: [PathBuf; 2],
}

impl TwoPlaces {
    async fn new() -> Self {
        let [dir, second] = std::array::from_fn(|_| tempfile::tempdir().unwrap());
        write_key_file(dir.path());
        let store = open_protected(dir.path()).store;
        let choices = BackupChoices {
            second: Some(second.path().to_owned()),
            ..BackupChoices::default()
        };
        Store::choose_backups(dir.path(), &choices).unwrap();
        let first = fill(&store).await;
        drop(store);
        let copies = second.path().join("Inglenook backups");
        let keys = fixed_keys();
        let pool = |folder: &Path| AssetFolder::assets(folder, Some(&keys)).file(picture_hash());
        Self {
            pools: [pool(&dir.path().join("backups")), pool(&copies)],
            backups: [first.clone(), copies.join(first.file_name().unwrap())],
            dir,
            _second: second,
        }
    }
}

#[track_caller]
fn assert_bad(refused: Result<(), StoreError>, what: &str) {
    assert!(
        matches!(refused, Err(StoreError::BadBackup { .. })),
        "{what}: {refused:?}"
    );
}

#[tokio::test]
async fn a_flipped_bit_in_the_database_is_damage() {
    let dir = tempfile::tempdir().unwrap();
    write_key_file(dir.path());
    let store = open_protected(dir.path()).store;
    create_library(&store).await;
    for number in 1..=120 {
        say(&store, number, &"word ".repeat(60)).await;
    }
    store
        .backup(Timestamp(5000), BackupKind::ByHand)
        .await
        .unwrap();
    drop(store);
    let database = database(dir.path());
    let [first, middle, last] = places(&database);
    // Page 1 begins with 24 bytes that are not encrypted, and ends with a nonce and a tag.
    for place in [first, 16, 20, 24, 4_064, 4_080, middle, last] {
        flip(&database, place);
        let refused = open_as(dir.path(), Some(fixed_keys())).err();
        assert!(
            matches!(refused, Some(StoreError::Damaged { .. })),
            "byte {place}: {refused:?}"
        );
        let locked = open_as(dir.path(), None).err();
        assert!(
            matches!(locked, Some(StoreError::Protected { .. })),
            "byte {place}: {locked:?}"
        );
        flip(&database, place);
    }
    flip(&database, middle);
    let keys = fixed_keys();
    Store::restore_newest(dir.path(), Timestamp(0), Some(&keys)).unwrap();
    assert_eq!(shown(&open_protected(dir.path()).store).await.len(), 120);
}

const SAID: [&str; 3] = ["one lamp", "two lamps", "three lamps"];

fn log(dir: &Path) -> PathBuf {
    dir.join("inglenook.db-wal")
}

/// A folder whose process was killed. Only the log has the messages.
async fn killed_folder(to: &Path) {
    let dir = tempfile::tempdir().unwrap();
    write_key_file(dir.path());
    let store = open_protected(dir.path()).store;
    create_library(&store).await;
    store
        .on_writer(|conn| {
            conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
                .unwrap()
        })
        .await
        .unwrap();
    for (number, text) in (1..).zip(SAID) {
        say(&store, number, text).await;
    }
    copy_files(dir.path(), to);
}

#[tokio::test]
async fn a_flipped_bit_in_the_log_costs_its_end() {
    let killed = tempfile::tempdir().unwrap();
    killed_folder(killed.path()).await;
    for place in places(&log(killed.path())) {
        let dir = tempfile::tempdir().unwrap();
        copy_files(killed.path(), dir.path());
        flip(&log(dir.path()), place);
        let opened = open_protected(dir.path());
        let left = shown(&opened.store).await;
        assert!(left.len() < SAID.len(), "byte {place}: {left:?}");
        assert_eq!(left, SAID[..left.len()], "byte {place}");
        let changes = (SAID.len() - left.len()) as u64;
        assert_eq!(
            opened.notices,
            [Notice::LogLost { changes }],
            "byte {place}"
        );
    }
}

#[tokio::test]
async fn a_flipped_bit_in_a_picture_is_healed() {
    let dir = tempfile::tempdir().unwrap();
    protected_folder(dir.path()).await;
    let store = open_protected(dir.path()).store;
    let path = store.assets().file(picture_hash());
    for place in places(&path) {
        flip(&path, place);
        assert_eq!(store.read_asset_file(picture_hash()), None, "byte {place}");
        assert_eq!(store.read_asset(picture_hash()).unwrap(), Some(picture()));
        assert_eq!(store.read_asset_file(picture_hash()), Some(picture()));
    }
}

/// It is made again from its picture.
#[tokio::test]
async fn a_flipped_bit_in_a_thumbnail_removes_it() {
    let dir = tempfile::tempdir().unwrap();
    protected_folder(dir.path()).await;
    let store = open_protected(dir.path()).store;
    let path = store.thumbnails().file(picture_hash());
    for place in places(&path) {
        flip(&path, place);
        assert_eq!(store.read_thumbnail(picture_hash()), None, "byte {place}");
        store.keep_thumbnail(picture_hash(), &picture()).unwrap();
        assert_eq!(store.read_thumbnail(picture_hash()), Some(picture()));
    }
}

#[tokio::test]
async fn a_flipped_bit_in_a_pool_is_reported() {
    let folder = TwoPlaces::new().await;
    let keys = fixed_keys();
    let store = open_protected(folder.dir.path()).store;
    let live = store.assets().file(picture_hash());
    for (changed, other) in [(0, 1), (1, 0)] {
        let pool = &folder.pools[changed];
        for place in places(pool) {
            let what = format!("pool {changed}, byte {place}");
            flip(pool, place);
            let refused = Store::check_backup(&folder.backups[changed], Some(&keys));
            assert_bad(refused, &what);
            Store::check_backup(&folder.backups[other], Some(&keys)).unwrap();
            std::fs::remove_file(&live).unwrap();
            let healed = store.read_asset(picture_hash()).unwrap();
            assert_eq!(healed, Some(picture()), "{what}: from the other place");
            flip(pool, place);
        }
    }
}

#[tokio::test]
async fn a_flipped_bit_in_a_backup_makes_it_unusable() {
    let folder = TwoPlaces::new().await;
    let dir = folder.dir.path();
    let keys = fixed_keys();
    for (changed, other) in [(0, 1), (1, 0)] {
        let backup = &folder.backups[changed];
        for place in places(backup) {
            let what = format!("backup {changed}, byte {place}");
            flip(backup, place);
            assert_bad(Store::check_backup(backup, Some(&keys)), &what);
            let refused = Store::restore(dir, backup, Timestamp(0), Some(&keys));
            assert_bad(refused.map(drop), &what);
            let restored = Store::restore_newest(dir, Timestamp(0), Some(&keys)).unwrap();
            assert_eq!(restored.backup, folder.backups[other], "{what}");
            assert_eq!(shown(&open_protected(dir).store).await, [SECRET], "{what}");
            flip(backup, place);
        }
    }
}

/// The backup itself is whole, so it stays usable.
#[tokio::test]
async fn a_flipped_bit_in_a_manifest_unmarks_its_backup() {
    let folder = TwoPlaces::new().await;
    let dir = folder.dir.path();
    let keys = fixed_keys();
    for backup in &folder.backups {
        let manifest = backup.with_extension("json");
        for place in places(&manifest) {
            let what = format!("{}, byte {place}", manifest.display());
            flip(&manifest, place);
            let listed = Store::backups(dir, Some(&keys)).unwrap();
            let found = listed.iter().find(|one| one.path == *backup).unwrap();
            assert_eq!((found.checked, found.pictures), (false, None), "{what}");
            let restored = Store::restore(dir, backup, Timestamp(0), Some(&keys)).unwrap();
            assert_eq!(restored.missing, 0, "{what}");
            let store = open_protected(dir).store;
            assert_eq!(shown(&store).await, [SECRET], "{what}");
            assert_eq!(store.read_asset_file(picture_hash()), Some(picture()));
            drop(store);
            flip(&manifest, place);
        }
    }
}

#[tokio::test]
async fn a_flipped_bit_in_the_key_file_keeps_the_lock() {
    let dir = tempfile::tempdir().unwrap();
    protected_folder(dir.path()).await;
    let path = dir.path().join(KEY_FILE_NAME);
    for place in places(&path) {
        flip(&path, place);
        let locked = open_as(dir.path(), None).err();
        assert!(
            matches!(locked, Some(StoreError::Protected { .. })),
            "byte {place}: {locked:?}"
        );
        let opened = open_protected(dir.path());
        assert_eq!(shown(&opened.store).await, [SECRET], "byte {place}");
        drop(opened);
        flip(&path, place);
    }
}
