//! Assets, thumbnails, pools and manifests of protected folders.

use std::path::{Path, PathBuf};

use domain::Timestamp;
use protection::SEALED_MAGIC;

use super::{
    assert_no_plain_text, files_below, flip, open_protected, picture, picture_hash,
    protected_folder,
};
use crate::asset_folder::AssetFolder;
use crate::tests::{fixed_keys, purge, write_key_file};
use crate::{AssetHash, BackupChoices, BackupKind, Store, StoreError};

/// The picture in the pool of the backups.
fn pooled(dir: &Path) -> PathBuf {
    AssetFolder::assets(&dir.join("backups"), Some(&fixed_keys())).file(picture_hash())
}

#[tokio::test]
async fn every_kind_of_file_is_sealed() {
    let dir = tempfile::tempdir().unwrap();
    let second = tempfile::tempdir().unwrap();
    write_key_file(dir.path());
    let store = open_protected(dir.path()).store;
    let choices = BackupChoices {
        second: Some(second.path().to_owned()),
        ..BackupChoices::default()
    };
    Store::choose_backups(dir.path(), &choices).unwrap();
    let backup = super::fill(&store).await;
    assert_eq!(store.read_asset_file(picture_hash()), Some(picture()));
    assert_eq!(store.read_thumbnail(picture_hash()), Some(picture()));
    let copy = second.path().join("Inglenook backups");
    let sealed = [
        store.assets().file(picture_hash()),
        store.thumbnails().file(picture_hash()),
        pooled(dir.path()),
        AssetFolder::assets(&copy, Some(&fixed_keys())).file(picture_hash()),
        backup.with_extension("json"),
        copy.join(backup.file_name().unwrap())
            .with_extension("json"),
    ];
    for path in sealed {
        let bytes = std::fs::read(&path).unwrap();
        assert!(bytes.starts_with(SEALED_MAGIC), "{}", path.display());
    }
    for folder in [dir.path(), second.path()] {
        assert_no_plain_text(folder);
    }
    assert!(Store::plain_leftovers(dir.path(), &fixed_keys()).is_empty());
}

#[tokio::test]
async fn a_changed_picture_comes_back_from_the_pool() {
    let dir = tempfile::tempdir().unwrap();
    protected_folder(dir.path()).await;
    let store = open_protected(dir.path()).store;
    let path = store.assets().file(picture_hash());
    for place in [0, 20, 30, 229] {
        flip(&path, place);
        assert_eq!(store.read_asset_file(picture_hash()), None, "{place}");
        assert_eq!(store.read_asset(picture_hash()).unwrap(), Some(picture()));
        assert_eq!(store.read_asset_file(picture_hash()), Some(picture()));
    }
    std::fs::remove_file(&path).unwrap();
    assert_eq!(store.repair_assets().await.unwrap().healed, 1);
    assert_no_plain_text(dir.path());
}

#[tokio::test]
async fn a_changed_picture_in_the_pool_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let backup = protected_folder(dir.path()).await;
    let keys = fixed_keys();
    flip(&pooled(dir.path()), 100);
    let refused = Store::check_backup(&backup, Some(&keys));
    assert!(
        matches!(refused, Err(StoreError::BadBackup { .. })),
        "{refused:?}"
    );
    let store = open_protected(dir.path()).store;
    std::fs::remove_file(store.assets().file(picture_hash())).unwrap();
    assert_eq!(store.read_asset(picture_hash()).unwrap(), None);
    drop(store);
    let restored = Store::restore_newest(dir.path(), Timestamp(0), Some(&keys)).unwrap();
    assert_eq!(restored.missing, 1);
}

#[tokio::test]
async fn a_picture_is_not_read_under_another_name() {
    let dir = tempfile::tempdir().unwrap();
    protected_folder(dir.path()).await;
    let store = open_protected(dir.path()).store;
    let other = store.keep_file(b"another picture").unwrap();
    std::fs::copy(
        store.assets().file(picture_hash()),
        store.assets().file(other),
    )
    .unwrap();
    assert_eq!(store.read_asset_file(other), None);
}

#[tokio::test]
async fn stored_sizes_are_those_of_the_content() {
    let dir = tempfile::tempdir().unwrap();
    write_key_file(dir.path());
    let store = open_protected(dir.path()).store;
    for length in [0, 1, 65_535, 65_536, 65_537, 200_000] {
        let content = vec![7_u8; length];
        let hash = store.keep_file(&content).unwrap();
        store
            .write(move |w| w.assets_mut().put_kept(hash, "image/png", Timestamp(1)))
            .await
            .unwrap();
        let row = store.read(move |r| r.assets().get(hash)).await.unwrap();
        assert_eq!(row.unwrap().bytes, length as u64);
        assert!(store.read_asset_file(hash) == Some(content), "{length}");
    }
    assert_eq!(store.repair_assets().await.unwrap().healed, 0);
}

#[tokio::test]
async fn unused_sealed_files_are_removed() {
    let dir = tempfile::tempdir().unwrap();
    protected_folder(dir.path()).await;
    let store = open_protected(dir.path()).store;
    let old = store.keep_file(b"left by a kill").unwrap();
    let path = store.assets().file(old);
    drop(store);
    let aged = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    let all = files_below(&dir.path().join("assets"));
    for file in &all {
        let file = std::fs::File::options().append(true).open(file).unwrap();
        file.set_modified(aged).unwrap();
    }
    assert_eq!(all.len(), 2);
    let store = open_protected(dir.path()).store;
    assert_eq!(store.sweep_assets().await.unwrap(), 1);
    assert!(!path.exists());
    assert_eq!(store.read_asset_file(picture_hash()), Some(picture()));
}

#[tokio::test]
async fn a_purged_picture_leaves_no_file() {
    let dir = tempfile::tempdir().unwrap();
    protected_folder(dir.path()).await;
    let store = open_protected(dir.path()).store;
    store
        .write(|w| {
            w.characters_mut()
                .soft_delete(crate::tests::CHARACTER, Timestamp(5))
        })
        .await
        .unwrap();
    assert_eq!(purge(&store, 9).await.assets, 1);
    for folder in ["assets", "thumbnails"] {
        assert_eq!(files_below(&dir.path().join(folder)), Vec::<PathBuf>::new());
    }
}

/// Manifests say the order of backups, and which are our own.
#[tokio::test]
async fn manifests_need_the_keys() {
    let dir = tempfile::tempdir().unwrap();
    protected_folder(dir.path()).await;
    let keys = fixed_keys();
    let known = Store::backups(dir.path(), Some(&keys)).unwrap();
    assert_eq!(
        (known[0].kind, known[0].pictures, known[0].checked),
        (BackupKind::ByHand, Some(1), true)
    );
    let unknown = Store::backups(dir.path(), None).unwrap();
    assert_eq!((unknown[0].pictures, unknown[0].checked), (None, false));
}

/// A sealed file may be all that is left after the protection was ended on another computer.
#[tokio::test]
async fn a_plain_folder_keeps_sealed_files() {
    let dir = tempfile::tempdir().unwrap();
    let store = super::open_plain(dir.path()).store;
    let shelf = dir.path().join("assets").join("ab");
    std::fs::create_dir_all(&shelf).unwrap();
    let sealed = shelf.join(AssetHash::of(b"a sealed name").to_string());
    std::fs::write(&sealed, SEALED_MAGIC).unwrap();
    let aged = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    let file = std::fs::File::options().append(true).open(&sealed).unwrap();
    file.set_modified(aged).unwrap();
    assert_eq!(store.sweep_assets().await.unwrap(), 0);
    assert!(sealed.exists());
}
