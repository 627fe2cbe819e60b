//! Backups lose what was forgotten, also in a second place that was away.

use domain::Timestamp;

use crate::tests::{CHARACTER, CHAT, chat, create_library, keys, open, say};
use crate::{BackupChoices, BackupKind, ForgetTarget, Store};

const ALL: ForgetTarget = ForgetTarget::Character {
    id: CHARACTER,
    unreferred_since: Timestamp(i64::MAX),
};

/// Makes a backup in a folder with a second place. Returns the two folders.
async fn with_second_place() -> (tempfile::TempDir, tempfile::TempDir, Store) {
    let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = open(dir.path()).store;
    create_library(&store).await;
    let choices = BackupChoices {
        second: Some(other.path().to_owned()),
        ..BackupChoices::default()
    };
    Store::choose_backups(dir.path(), &choices).unwrap();
    store
        .backup(Timestamp(10), BackupKind::ByHand)
        .await
        .unwrap();
    (dir, other, store)
}

#[tokio::test]
async fn the_next_backup_replaces_those_that_hold_it() {
    let (dir, _other, store) = with_second_place().await;
    assert_eq!(store.backups_about(ALL).await.unwrap().len(), 2);
    store.forget(ALL, Some(Timestamp(20))).await.unwrap();
    let made = store
        .backup(Timestamp(20), BackupKind::ByHand)
        .await
        .unwrap();
    assert_eq!((made.settled.removed, made.settled.failed.len()), (1, 0));
    let left = Store::backups(dir.path(), keys()).unwrap();
    assert_eq!(left.len(), 2, "the new one and its copy");
    assert!(
        left.iter()
            .all(|backup| backup.path.file_name() == made.path.file_name())
    );
    assert_eq!(Store::backup_choices(dir.path()).owed_in_second(), 0);
}

#[tokio::test]
async fn a_second_place_is_cleaned_when_it_is_back() {
    let (dir, other, store) = with_second_place().await;
    let (place, away) = (
        other.path().join("Inglenook backups"),
        other.path().join("away"),
    );
    std::fs::rename(&place, &away).unwrap();
    store.forget(ALL, Some(Timestamp(20))).await.unwrap();
    let made = store
        .backup(Timestamp(20), BackupKind::ByHand)
        .await
        .unwrap();
    assert_eq!(made.settled.removed, 1);
    assert_eq!(Store::backup_choices(dir.path()).owed_in_second(), 1);
    assert!(!Store::can_remove_owed(dir.path()));

    std::fs::rename(&away, &place).unwrap();
    assert!(Store::can_remove_owed(dir.path()));
    let made = store
        .backup(Timestamp(30), BackupKind::ByHand)
        .await
        .unwrap();
    assert_eq!(made.settled.removed, 1);
    assert!(store.backups_about(ALL).await.unwrap().is_empty());
    assert_eq!(Store::backup_choices(dir.path()).owed_in_second(), 0);
}

#[tokio::test]
async fn a_new_message_of_the_same_day_stays_in_backups() {
    let (dir, _other, store) = with_second_place().await;
    say(&store, 5, "then").await;
    store
        .backup(Timestamp(11), BackupKind::ByHand)
        .await
        .unwrap();
    let day = ForgetTarget::Span {
        from: Timestamp(0),
        until: Timestamp(100),
    };
    store.forget(day, Some(Timestamp(20))).await.unwrap();
    store
        .write(|w| w.chats_mut().insert(&chat(CHAT, CHARACTER, 1)))
        .await
        .unwrap();
    say(&store, 25, "now").await;
    store
        .backup(Timestamp(26), BackupKind::ByHand)
        .await
        .unwrap();
    let left = Store::backups(dir.path(), keys()).unwrap();
    assert!(left.iter().any(|backup| backup.taken == Timestamp(26)));
    assert!(left.iter().all(|backup| backup.taken != Timestamp(11)));
}
