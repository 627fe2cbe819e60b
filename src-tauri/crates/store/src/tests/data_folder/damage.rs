//! Databases that were damaged from outside.

use std::path::Path;

use domain::Timestamp;

use crate::tests::{create_library, keys, open, say, shown, try_open};
use crate::{Notice, Store, StoreError};

const PAGE: usize = 4096;

async fn long_chat(dir: &Path) {
    let store = open(dir).store;
    create_library(&store).await;
    for number in 1..=120 {
        say(&store, number, &"word ".repeat(60)).await;
    }
    store
        .backup(Timestamp(5000), crate::BackupKind::ByHand)
        .await
        .unwrap();
}

fn damage(database: &Path, whole: &[u8], page: usize) {
    let mut bytes = whole.to_vec();
    bytes[page * PAGE..][..PAGE].fill(0xA5);
    std::fs::write(database, bytes).unwrap();
}

#[tokio::test]
async fn every_broken_page_is_noticed_at_the_next_start() {
    let dir = tempfile::tempdir().unwrap();
    long_chat(dir.path()).await;
    let database = dir.path().join("inglenook.db");
    let whole = std::fs::read(&database).unwrap();
    assert!(whole.len() > 20 * PAGE);
    for page in 0..whole.len() / PAGE {
        damage(&database, &whole, page);
        let refused = try_open(dir.path()).err();
        assert!(
            matches!(&refused, Some(StoreError::Damaged { path, .. }) if *path == database),
            "page {page}: {refused:?}"
        );
    }
}

#[tokio::test]
async fn a_backup_replaces_a_damaged_database() {
    let dir = tempfile::tempdir().unwrap();
    long_chat(dir.path()).await;
    let database = dir.path().join("inglenook.db");
    let whole = std::fs::read(&database).unwrap();
    damage(&database, &whole, 3);
    let broken = std::fs::read(&database).unwrap();

    let aside = Store::set_aside(dir.path(), Timestamp(0), keys())
        .unwrap()
        .unwrap();
    assert_eq!(std::fs::read(aside.join("inglenook.db")).unwrap(), broken);
    let fresh = open(dir.path());
    assert_eq!(fresh.notices, [Notice::Created]);
    drop(fresh);

    let backup = Store::backups(dir.path(), keys()).unwrap().remove(0);
    Store::restore(dir.path(), &backup.path, Timestamp(1), keys()).unwrap();
    assert_eq!(shown(&open(dir.path()).store).await.len(), 120);
    assert!(aside.exists());
}

#[tokio::test]
async fn a_broken_backup_is_refused_without_changes() {
    let dir = tempfile::tempdir().unwrap();
    long_chat(dir.path()).await;
    let backup = Store::backups(dir.path(), keys()).unwrap().remove(0);
    let whole = std::fs::read(&backup.path).unwrap();
    damage(&backup.path, &whole, 2);
    let refused = Store::restore(dir.path(), &backup.path, Timestamp(0), keys());
    assert!(matches!(refused, Err(StoreError::BadBackup { .. })));
    assert!(matches!(
        Store::check_backup(&backup.path, keys()),
        Err(StoreError::BadBackup { .. })
    ));
    std::fs::write(&backup.path, "").unwrap();
    let refused = Store::restore(dir.path(), &backup.path, Timestamp(0), keys());
    assert!(matches!(refused, Err(StoreError::BadBackup { .. })));
    assert_eq!(shown(&open(dir.path()).store).await.len(), 120);
}

#[tokio::test]
async fn damage_found_while_open_triggers_a_check() {
    let dir = tempfile::tempdir().unwrap();
    long_chat(dir.path()).await;
    let database = dir.path().join("inglenook.db");
    let whole = std::fs::read(&database).unwrap();
    let store = open(dir.path()).store;
    for page in 1..whole.len() / PAGE {
        std::fs::OpenOptions::new()
            .write(true)
            .open(&database)
            .and_then(|mut file| {
                use std::io::{Seek, SeekFrom, Write};
                file.seek(SeekFrom::Start((page * PAGE) as u64))?;
                file.write_all(&[0xA5; PAGE])
            })
            .unwrap();
    }
    let refused = store.check().await;
    assert!(matches!(refused, Err(StoreError::Damaged { .. })));
    drop(store);
    assert!(matches!(
        try_open(dir.path()),
        Err(StoreError::Damaged { .. })
    ));
}
