//! Backups: their contents, restores from them, and data folders that must never start fresh.

use std::io::Write;
use std::path::{Path, PathBuf};

use domain::Timestamp;

use crate::tests::{
    CHARACTER, create_library, is_keyed, keys, message_id, open, purge, say, shown, try_open,
};
use crate::{AssetHash, BackupChoices, BackupKind, Notice, Store, StoreError};

pub(super) const HOUR: i64 = 3_600_000;

pub(super) async fn with_picture(dir: &Path) -> (Store, AssetHash) {
    let store = open(dir).store;
    create_library(&store).await;
    say(&store, 1, "then").await;
    let hash = store
        .write(|w| {
            let hash = w.assets_mut().put(b"a face", "image/png", Timestamp(1))?;
            let mut ada = w.characters().get(CHARACTER)?.unwrap();
            ada.picture = Some(hash);
            w.characters_mut().update(&ada)?;
            Ok(hash)
        })
        .await
        .unwrap();
    (store, hash)
}

pub(super) async fn back_up(store: &Store, hour: i64) -> PathBuf {
    store
        .backup(Timestamp(hour * HOUR), BackupKind::Automatic)
        .await
        .unwrap()
        .path
}

pub(super) fn spoil(path: &Path) {
    let mut file = std::fs::OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(b"x").unwrap();
}

#[tokio::test]
async fn a_purged_picture_comes_back_from_a_backup() {
    let dir = tempfile::tempdir().unwrap();
    let (store, face) = with_picture(dir.path()).await;
    back_up(&store, 1).await;
    store
        .write(|w| w.characters_mut().soft_delete(CHARACTER, Timestamp(5)))
        .await
        .unwrap();
    purge(&store, 9).await;
    assert!(!store.assets().file(face).exists());
    drop(store);
    let restored = Store::restore_newest(dir.path(), Timestamp(0), keys()).unwrap();
    assert_eq!(restored.missing, 0);
    let store = open(dir.path()).store;
    assert_eq!(store.read_asset_file(face).unwrap(), b"a face");
    assert_eq!(shown(&store).await, ["then"]);
}

#[tokio::test]
async fn a_picture_that_changed_on_the_disk_comes_back() {
    let dir = tempfile::tempdir().unwrap();
    let (store, face) = with_picture(dir.path()).await;
    back_up(&store, 1).await;
    let path = store.assets().file(face);
    drop(store);
    spoil(&path);
    Store::restore_newest(dir.path(), Timestamp(0), keys()).unwrap();
    let store = open(dir.path()).store;
    assert_eq!(store.read_asset_file(face).unwrap(), b"a face");
}

#[tokio::test]
async fn a_second_backup_stores_no_picture_twice() {
    let dir = tempfile::tempdir().unwrap();
    let (store, _) = with_picture(dir.path()).await;
    let first = back_up(&store, 1).await;
    let size = Store::backup_size(dir.path());
    back_up(&store, 2).await;
    assert_eq!(
        Store::backup_size(dir.path()) - size,
        std::fs::metadata(&first).unwrap().len()
    );
}

#[tokio::test]
async fn damaged_backups_are_skipped_for_an_older_one() {
    let dir = tempfile::tempdir().unwrap();
    let (store, _) = with_picture(dir.path()).await;
    let oldest = back_up(&store, 1).await;
    say(&store, 2, "later").await;
    let newer = [
        back_up(&store, 2).await,
        back_up(&store, 3).await,
        back_up(&store, 4).await,
    ];
    drop(store);
    spoil(&newer[2]);
    std::fs::write(&newer[1], "").unwrap();
    std::fs::write(&newer[0], "not a database at all").unwrap();
    assert_eq!(
        Store::newest_good_backup(dir.path(), keys()).unwrap().path,
        oldest
    );
    let restored = Store::restore_newest(dir.path(), Timestamp(0), keys()).unwrap();
    assert_eq!((restored.backup, restored.skipped.len()), (oldest, 3));
    assert_eq!(shown(&open(dir.path()).store).await, ["then"]);
}

#[tokio::test]
async fn without_an_intact_backup_nothing_changes() {
    let dir = tempfile::tempdir().unwrap();
    let (store, _) = with_picture(dir.path()).await;
    let only = back_up(&store, 1).await;
    drop(store);
    spoil(&only);
    assert!(matches!(
        Store::restore_newest(dir.path(), Timestamp(0), keys()),
        Err(StoreError::BadBackup { .. })
    ));
    assert_eq!(shown(&open(dir.path()).store).await, ["then"]);
}

/// The newest backup is the one made last, even if the clock jumps.
#[tokio::test]
async fn a_clock_set_back_keeps_the_copy_just_made() {
    let dir = tempfile::tempdir().unwrap();
    let (store, _) = with_picture(dir.path()).await;
    for hour in 1_000..1_060 {
        back_up(&store, hour).await;
    }
    say(&store, 2, "after the clock went back").await;
    let last = back_up(&store, 3).await;
    back_up(&store, 3).await;
    drop(store);
    assert!(Store::backups(dir.path(), keys()).unwrap().len() < 40);
    let restored = Store::restore_newest(dir.path(), Timestamp(0), keys()).unwrap();
    assert!(
        restored.backup >= last,
        "two in one millisecond have two names"
    );
    assert_eq!(shown(&open(dir.path()).store).await.len(), 2);
}

#[cfg(unix)]
#[tokio::test]
async fn a_backup_that_vanishes_is_left_out_of_the_list() {
    let dir = tempfile::tempdir().unwrap();
    let store = with_picture(dir.path()).await.0;
    let path = back_up(&store, 1).await;
    let gone = path.with_file_name("inglenook-20300101T000000.000Z-00000000.db");
    std::os::unix::fs::symlink("nowhere", gone).unwrap();
    let listed = Store::backups(dir.path(), keys()).unwrap();
    assert_eq!(
        listed
            .into_iter()
            .map(|backup| backup.path)
            .collect::<Vec<_>>(),
        [path]
    );
}

#[tokio::test]
async fn a_budget_leaves_the_newest_alone() {
    let dir = tempfile::tempdir().unwrap();
    let (store, _) = with_picture(dir.path()).await;
    Store::choose_backups(
        dir.path(),
        &BackupChoices {
            budget: 1,
            ..BackupChoices::default()
        },
    )
    .unwrap();
    back_up(&store, 1).await;
    let last = back_up(&store, 2).await;
    let left: Vec<_> = Store::backups(dir.path(), keys())
        .unwrap()
        .into_iter()
        .map(|backup| backup.path)
        .collect();
    assert_eq!(left, [last]);
}

/// Covers each way to lose the database while backups or pictures exist.
#[tokio::test]
async fn a_lost_database_is_damage() {
    type Loss = fn(&Path);
    let losses: [(&str, Loss); 5] = [
        ("missing", |db| std::fs::remove_file(db).unwrap()),
        ("empty", |db| std::fs::write(db, "").unwrap()),
        ("zeros", |db| std::fs::write(db, [0; 8192]).unwrap()),
        ("text", |db| {
            std::fs::write(db, "hello ".repeat(900)).unwrap()
        }),
        ("foreign", |db| {
            std::fs::remove_file(db).unwrap();
            let foreign = rusqlite::Connection::open(db).unwrap();
            foreign
                .execute_batch("CREATE TABLE moz_places (id); PRAGMA user_version = 7")
                .unwrap();
        }),
    ];
    for (name, lose) in losses {
        for only_assets in [false, true] {
            let dir = tempfile::tempdir().unwrap();
            let (store, _) = with_picture(dir.path()).await;
            if !only_assets {
                back_up(&store, 1).await;
            }
            drop(store);
            let database = dir.path().join("inglenook.db");
            lose(&database);
            let before = std::fs::read(&database).ok();
            let refused = try_open(dir.path()).err();
            assert!(
                matches!(refused, Some(StoreError::Damaged { .. })),
                "{name}: {refused:?}"
            );
            assert_eq!(
                std::fs::read(&database).ok(),
                before,
                "{name} is left as it was"
            );
            if only_assets {
                Store::set_aside(dir.path(), Timestamp(0), keys()).unwrap();
                assert!(
                    open(dir.path()).notices.contains(&Notice::Created),
                    "{name}: a new start that was asked for"
                );
            } else {
                Store::restore_newest(dir.path(), Timestamp(0), keys()).unwrap();
                assert_eq!(shown(&open(dir.path()).store).await, ["then"], "{name}");
            }
        }
    }
}

#[test]
fn a_foreign_database_is_refused_unchanged() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("inglenook.db");
    rusqlite::Connection::open(&path)
        .unwrap()
        .execute_batch("CREATE TABLE notes (text)")
        .unwrap();
    let before = std::fs::read(&path).unwrap();
    assert!(matches!(
        try_open(dir.path()),
        Err(StoreError::Damaged { .. })
    ));
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[tokio::test]
async fn a_scheduled_restore_runs_at_the_next_start() {
    let dir = tempfile::tempdir().unwrap();
    let (store, _) = with_picture(dir.path()).await;
    let backup = back_up(&store, 1).await;
    say(&store, 2, "later").await;
    Store::restore_at_next_start(dir.path(), &backup).unwrap();
    drop(store);
    let opened = open(dir.path());
    assert!(matches!(&opened.notices[0], Notice::Restored(restored) if restored.backup == backup));
    assert_eq!(shown(&opened.store).await, ["then"]);
    drop(opened);
    assert_eq!(open(dir.path()).notices, [], "it happens once");
    let aside = Store::backups(dir.path(), keys()).unwrap().pop().unwrap();
    assert_eq!(aside.kind, BackupKind::SetAside);
    Store::restore(dir.path(), &aside.path, Timestamp(9), keys()).unwrap();
    assert_eq!(
        shown(&open(dir.path()).store).await.len(),
        2,
        "and can be undone"
    );
}

#[tokio::test]
async fn restoring_a_bad_backup_fails_without_changes() {
    let dir = tempfile::tempdir().unwrap();
    let (store, _) = with_picture(dir.path()).await;
    let backup = back_up(&store, 1).await;
    spoil(&backup);
    Store::restore_at_next_start(dir.path(), &backup).unwrap();
    drop(store);
    let opened = open(dir.path());
    assert!(matches!(&opened.notices[0], Notice::NotRestored { .. }));
    assert_eq!(shown(&opened.store).await, ["then"]);
}

#[tokio::test]
async fn a_preview_counts_gains_and_losses() {
    let dir = tempfile::tempdir().unwrap();
    let (store, _) = with_picture(dir.path()).await;
    say(&store, 2, "second").await;
    let backup = back_up(&store, 1).await;
    say(&store, 3, "third").await;
    store
        .write(|w| {
            w.messages_mut().edit(message_id(2), "other words")?;
            w.messages_mut().soft_delete(message_id(1), Timestamp(9))?;
            w.chats_mut().insert(&crate::tests::chat(
                domain::ChatId(uuid::Uuid::from_u128(90)),
                CHARACTER,
                2,
            ))
        })
        .await
        .unwrap();
    let differences = store.compare_backup(backup).await.unwrap();
    assert_eq!(
        (
            differences.messages.gained,
            differences.messages.lost,
            differences.reworded
        ),
        (1, 1, 1)
    );
    assert_eq!((differences.chats.gained, differences.chats.lost), (0, 1));
    assert_eq!(differences.chats.names_lost, ["An evening"]);
    assert_eq!(differences.characters, crate::Difference::default());
}

#[tokio::test]
async fn a_text_that_changed_on_the_disk_is_found() {
    if is_keyed() {
        return; // No text can be found in the file.
    }
    let dir = tempfile::tempdir().unwrap();
    let (store, _) = with_picture(dir.path()).await;
    store.check().await.unwrap();
    drop(store);
    let database = dir.path().join("inglenook.db");
    let mut bytes = std::fs::read(&database).unwrap();
    let places: Vec<_> = bytes
        .windows(4)
        .enumerate()
        .filter(|(_, word)| word == b"then")
        .map(|(at, _)| at)
        .collect();
    for at in places {
        bytes[at] = b'T';
    }
    std::fs::write(&database, bytes).unwrap();
    let refused = open(dir.path()).store.check().await;
    assert!(
        matches!(refused, Err(StoreError::Damaged { detail, .. }) if detail.contains("1 message"))
    );
}

#[tokio::test]
async fn texts_from_before_checksums_get_one() {
    let dir = tempfile::tempdir().unwrap();
    let (store, _) = with_picture(dir.path()).await;
    store
        .on_writer(|conn| {
            conn.execute("UPDATE swipe SET checksum = NULL", [])
                .unwrap()
        })
        .await
        .unwrap();
    drop(store);
    let store = open(dir.path()).store;
    let lacking: u32 = store
        .on_writer(|conn| {
            conn.query_row(
                "SELECT count(*) FROM swipe WHERE checksum IS NULL",
                [],
                |row| row.get(0),
            )
            .unwrap()
        })
        .await
        .unwrap();
    assert_eq!(lacking, 0);
    store.check().await.unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn backup_files_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let other = tempfile::tempdir().unwrap();
    let (store, _) = with_picture(dir.path()).await;
    let second = Some(other.path().to_owned());
    Store::choose_backups(
        dir.path(),
        &BackupChoices {
            second,
            ..BackupChoices::default()
        },
    )
    .unwrap();
    back_up(&store, 1).await;
    store
        .export_archive(dir.path().join("all.zip"))
        .await
        .unwrap();
    let mut folders = vec![dir.path().to_owned(), other.path().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else {
                let mode = entry.metadata().unwrap().permissions().mode();
                assert_eq!(mode & 0o077, 0, "{:?}", entry.path());
            }
        }
    }
}
