//! A log that is lost or damaged while the folder was left open, and texts that changed on disk.

use std::path::Path;

use domain::Timestamp;
use domain::memory::MemoryScope;
use tempfile::TempDir;

use crate::tests::{CHAT, create_library, keys, open, say, shown};
use crate::{BackupKind, Notice, StoreError};

/// A copy of a folder whose process was killed after three messages. The log has all of them.
async fn killed() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let copy = tempfile::tempdir().unwrap();
    let store = open(dir.path()).store;
    create_library(&store).await;
    store
        .on_writer(|conn| {
            conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
                .unwrap()
        })
        .await
        .unwrap();
    for number in 1..=3 {
        say(&store, number, "word").await;
    }
    for file in std::fs::read_dir(dir.path())
        .unwrap()
        .map(Result::unwrap)
        .filter(|file| file.path().is_file())
    {
        std::fs::copy(file.path(), copy.path().join(file.file_name())).unwrap();
    }
    copy
}

fn log(dir: &Path) -> std::path::PathBuf {
    dir.join("inglenook.db-wal")
}

#[tokio::test]
async fn a_kill_loses_nothing_and_says_so() {
    let dir = killed().await;
    let opened = open(dir.path());
    assert_eq!(
        (opened.notices, shown(&opened.store).await.len()),
        (vec![Notice::Checked], 3)
    );
}

#[tokio::test]
async fn a_deleted_emptied_or_cut_log_is_noticed() {
    type Damage = fn(&Path);
    let damages: [(&str, Damage); 4] = [
        ("deleted", |log| std::fs::remove_file(log).unwrap()),
        ("emptied", |log| std::fs::write(log, "").unwrap()),
        ("cut to its head", |log| {
            std::fs::File::options()
                .write(true)
                .open(log)
                .unwrap()
                .set_len(32)
                .unwrap()
        }),
        ("other content", |log| {
            std::fs::write(log, "conflicted copy").unwrap()
        }),
    ];
    for (what, damage) in damages {
        let dir = killed().await;
        damage(&log(dir.path()));
        let opened = open(dir.path());
        assert_eq!(opened.notices, [Notice::LogLost { changes: 3 }], "{what}");
        say(&opened.store, 9, "after").await;
        drop(opened);
        let again = open(dir.path());
        assert_eq!(again.notices, [], "{what}: it is told once");
        assert_eq!(shown(&again.store).await, ["after"]);
    }
}

#[tokio::test]
async fn every_flipped_bit_in_the_log_is_noticed() {
    let whole = std::fs::read(log(killed().await.path())).unwrap();
    for at in (40..whole.len()).step_by(whole.len() / 24) {
        let dir = killed().await;
        let mut bytes = std::fs::read(log(dir.path())).unwrap();
        bytes[at] ^= 4;
        std::fs::write(log(dir.path()), bytes).unwrap();
        let opened = open(dir.path());
        let left = shown(&opened.store).await.len();
        let expected = if left == 3 {
            Notice::Checked
        } else {
            Notice::LogLost {
                changes: 3 - left as u64,
            }
        };
        assert_eq!(opened.notices, [expected], "byte {at}");
        assert!(left < 3, "byte {at}: the flip must reach a frame");
    }
}

#[tokio::test]
async fn a_restored_backup_is_no_lost_log() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).store;
    create_library(&store).await;
    store
        .backup(Timestamp(1000), BackupKind::ByHand)
        .await
        .unwrap();
    say(&store, 1, "later").await;
    drop(store);
    crate::Store::restore_newest(dir.path(), Timestamp(0), keys()).unwrap();
    let opened = open(dir.path());
    assert_eq!(
        (opened.notices, shown(&opened.store).await.len()),
        (vec![Notice::Checked], 0)
    );
}

/// Each text that users write, and the statement that changes it behind the back of the app.
const FLIPS: [(&str, &str); 6] = [
    ("message", "UPDATE swipe SET text = 'other'"),
    ("memory", "UPDATE memory SET text = 'other'"),
    ("character", "UPDATE character SET card_json = '{}'"),
    ("lorebook", "UPDATE lorebook SET json = '{}'"),
    ("persona", "UPDATE persona SET description = 'other'"),
    (
        "note or setting",
        "UPDATE scoped_setting SET value = '\"other\"'",
    ),
];

async fn furnish(store: &crate::Store) {
    create_library(store).await;
    say(store, 1, "then").await;
    store
        .on_writer(|conn| {
            conn.execute_batch(
                "INSERT INTO persona (id, name, description) VALUES (zeroblob(16), 'Tom', 'Tall.');
                 INSERT INTO lorebook (id, name, json, enabled, created, updated)
                     VALUES (zeroblob(16), 'Harbour', '{\"entries\":{}}', 1, 1, 1);
                 INSERT INTO scoped_setting VALUES ('global', x'', 'author_note', '\"Be brief.\"');",
            )
        })
        .await
        .unwrap()
        .unwrap();
    let memory = crate::tests::memory::memories::memory(1, MemoryScope::Chat(CHAT), "Ada rows.");
    store
        .write(move |w| w.memories_mut().insert(&memory))
        .await
        .unwrap();
}

/// `quick_check` compares the search tables with what the connection has cached of them.
#[tokio::test]
async fn changes_of_another_connection_are_no_damage() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).store;
    furnish(&store).await;
    for number in 2..20 {
        store.check().await.unwrap();
        say(&store, number, &format!("words {number}")).await;
    }
    store.check().await.unwrap();
}

#[tokio::test]
async fn changed_texts_of_every_kind_are_found() {
    for (kind, flip) in FLIPS {
        let dir = tempfile::tempdir().unwrap();
        let store = open(dir.path()).store;
        furnish(&store).await;
        store.check().await.unwrap();
        let behind = format!(
            "PRAGMA foreign_keys = OFF; CREATE TEMP TABLE sums AS SELECT * FROM content_sum; {flip};
            DELETE FROM content_sum; INSERT INTO content_sum SELECT * FROM sums;"
        );
        store
            .on_writer(move |conn| conn.execute_batch(&behind))
            .await
            .unwrap()
            .unwrap();
        let said = store.check().await.unwrap_err().to_string();
        assert!(
            said.contains(&format!("the text of 1 {kind} has changed on disk")),
            "{said}"
        );
        let refused = store.backup(Timestamp(7), BackupKind::Automatic).await;
        assert!(
            matches!(refused, Err(StoreError::Damaged { .. })),
            "{kind}: {refused:?}"
        );
        drop(store);
        let notices = open(dir.path()).notices;
        assert!(
            matches!(&notices[..], [Notice::TextsChanged { detail }] if detail.contains(kind)),
            "{notices:?}"
        );
    }
}

#[tokio::test]
async fn removed_texts_leave_no_checksums() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).store;
    furnish(&store).await;
    let emptied =
        "DELETE FROM memory; DELETE FROM chat; DELETE FROM character; DELETE FROM lorebook; DELETE FROM persona;
        DELETE FROM scoped_setting;";
    store
        .on_writer(move |conn| conn.execute_batch(emptied))
        .await
        .unwrap()
        .unwrap();
    let left = store
        .on_writer(|conn| conn.query_row("SELECT count(*) FROM content_sum", [], |row| row.get(0)))
        .await;
    assert_eq!(left.unwrap(), Ok(0));
    store.check().await.unwrap();
}
