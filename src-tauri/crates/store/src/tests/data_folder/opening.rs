//! Closing and reopening: data that is kept, migrations, and errors.

use std::path::Path;

use domain::Timestamp;
use domain::chat::SwipeState;

use crate::tests::{
    CHAT, create_library, empty_store, keys, message_id, open, open_database, say, shown, swipe_id,
    try_open, try_open_with, was_checked,
};
use crate::{Notice, Opened, Store, StoreError, migrate};

/// The current format.
pub(super) const NOW: u32 = migrate::MIGRATIONS.len() as u32;

const NEXT: &str = "ALTER TABLE persona ADD COLUMN pronouns TEXT NOT NULL DEFAULT ''";

pub(crate) fn open_with(dir: &Path, migrations: &[&str]) -> Result<Opened, StoreError> {
    try_open_with(dir, migrations)
}

/// The migrations of the next version of the app.
fn newer(last: &'static str) -> Vec<&'static str> {
    migrate::MIGRATIONS.iter().copied().chain([last]).collect()
}

async fn some_chat(dir: &Path) {
    let store = open(dir).store;
    create_library(&store).await;
    say(&store, 1, "hello").await;
}

#[tokio::test]
async fn data_persists_after_reopening() {
    let dir = tempfile::tempdir().unwrap();
    some_chat(dir.path()).await;
    let names: Vec<_> = std::fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert!(
        !names
            .iter()
            .any(|name| name.to_string_lossy().ends_with("-wal")),
        "closing removes the WAL file"
    );

    let opened = open(dir.path());
    assert_eq!(opened.notices, [], "a tidy end needs no check");
    assert_eq!(shown(&opened.store).await, ["hello"]);
}

#[test]
fn a_new_folder_gives_a_notice() {
    let dir = tempfile::tempdir().unwrap();
    let opened = open(&dir.path().join("deep").join("down"));
    assert_eq!(opened.notices, [Notice::Created]);
}

#[cfg(unix)]
#[test]
fn a_new_folder_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;

    let parent = tempfile::tempdir().unwrap();
    let new = parent.path().join("new");
    let shared = parent.path().join("shared");
    std::fs::create_dir(&shared).unwrap();
    std::fs::set_permissions(&shared, PermissionsExt::from_mode(0o750)).unwrap();
    for dir in [&new, &shared] {
        drop(open(dir));
        for inner in ["assets", "backups"] {
            assert_eq!(mode(&dir.join(inner)), 0o700);
        }
    }
    assert_eq!((mode(&new), mode(&shared)), (0o700, 0o750));
}

/// All files in a folder and its subfolders.
fn all_files(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| {
            if path.is_dir() {
                all_files(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}

#[cfg(unix)]
#[tokio::test]
async fn files_in_a_folder_that_others_can_read_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o755)).unwrap();
    // Simulates the permissions that an older version left.
    std::fs::write(dir.path().join("inglenook.db"), "").unwrap();
    std::fs::set_permissions(
        dir.path().join("inglenook.db"),
        PermissionsExt::from_mode(0o644),
    )
    .unwrap();
    let store = open(dir.path()).store;
    create_library(&store).await;
    store.keep_file(b"a card").unwrap();
    store
        .keep_thumbnail(crate::AssetHash::of(b"a card"), b"small")
        .unwrap();
    store
        .backup(domain::Timestamp(5), crate::BackupKind::ByHand)
        .await
        .unwrap();
    let files = all_files(dir.path());
    assert!(files.len() >= 6, "{files:?}");
    for file in files {
        assert_eq!(
            std::fs::metadata(&file).unwrap().permissions().mode() & 0o777,
            0o600,
            "{}",
            file.display()
        );
    }
}

#[tokio::test]
async fn a_second_open_is_refused_without_harm() {
    let dir = tempfile::tempdir().unwrap();
    let first = open(dir.path()).store;
    create_library(&first).await;
    let second = try_open(dir.path());
    assert!(matches!(second, Err(StoreError::InUse { dir: named }) if named == dir.path()));
    let aside = Store::set_aside(dir.path(), Timestamp(0), keys());
    assert!(matches!(aside, Err(StoreError::InUse { .. })));
    say(&first, 1, "still here").await;
    drop(first);
    assert_eq!(shown(&open(dir.path()).store).await, ["still here"]);
}

#[test]
fn only_one_of_many_concurrent_opens_succeeds() {
    let dir = tempfile::tempdir().unwrap();
    for _ in 0..10 {
        let results: Vec<_> = std::thread::scope(|scope| {
            let starts: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| try_open(dir.path())))
                .collect();
            starts
                .into_iter()
                .map(|start| start.join().unwrap())
                .collect()
        });
        let refused = results
            .iter()
            .filter(|result| matches!(result, Err(StoreError::InUse { .. })))
            .count();
        assert_eq!(
            (
                refused,
                results.iter().filter(|result| result.is_ok()).count()
            ),
            (7, 1)
        );
    }
}

#[tokio::test]
async fn streaming_reply_is_marked_interrupted_on_open() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).store;
    create_library(&store).await;
    say(&store, 1, "").await;
    store
        .checkpoint(|w| {
            w.swipes_mut()
                .set_text(swipe_id(1), "Once upon a", SwipeState::Streaming)
        })
        .await
        .unwrap();
    drop(store);

    let opened = open(dir.path());
    assert_eq!(opened.notices, [Notice::RepliesInterrupted { replies: 1 }]);
    let message = opened
        .store
        .read(|r| r.messages().get(message_id(1)))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        (message.text(), message.swipe().state),
        ("Once upon a", SwipeState::Interrupted)
    );

    opened
        .store
        .write(|w| {
            w.swipes_mut()
                .set_text(swipe_id(1), "Once", SwipeState::Stopped)
        })
        .await
        .unwrap();
    drop(opened);
    let stored = open(dir.path())
        .store
        .read(|r| r.messages().get(message_id(1)))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        stored.swipe().state,
        SwipeState::Stopped,
        "a stopped reply stays one"
    );
}

#[tokio::test]
async fn an_older_file_is_upgraded_after_a_backup() {
    let dir = tempfile::tempdir().unwrap();
    some_chat(dir.path()).await;

    let opened = open_with(dir.path(), &newer(NEXT)).unwrap();
    let [Notice::Upgraded { from, to, backup }] = opened.notices.as_slice() else {
        panic!("{:?}", opened.notices)
    };
    assert_eq!((*from, *to), (NOW, NOW + 1));
    assert_eq!(shown(&opened.store).await, ["hello"]);
    let copy = open_database(backup);
    assert_eq!(migrate::format(&copy).unwrap(), NOW);
    let text: String = copy
        .query_row("SELECT text FROM swipe", [], |row| row.get(0))
        .unwrap();
    assert_eq!(text, "hello");
    drop(opened);

    assert_eq!(open_with(dir.path(), &newer(NEXT)).unwrap().notices, []);
}

#[tokio::test]
async fn a_failed_upgrade_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    some_chat(dir.path()).await;
    let broken = newer("ALTER TABLE persona ADD COLUMN half TEXT; INSERT INTO nowhere VALUES (1)");
    let failed = open_with(dir.path(), &broken);
    assert!(matches!(
        failed,
        Err(StoreError::Migration { from: NOW, .. })
    ));
    let opened = open(dir.path());
    assert_eq!(shown(&opened.store).await, ["hello"]);
    let columns = opened
        .store
        .on_writer(|conn| {
            conn.prepare("SELECT * FROM persona")
                .unwrap()
                .column_count()
        })
        .await
        .unwrap();
    assert_eq!(columns, 8);
}

#[tokio::test]
async fn data_of_a_newer_app_is_refused_unchanged() {
    let dir = tempfile::tempdir().unwrap();
    drop(open_with(dir.path(), &newer(NEXT)).unwrap());
    let before = std::fs::read(dir.path().join("inglenook.db")).unwrap();
    let refused = try_open(dir.path()).err().unwrap();
    assert!(matches!(refused, StoreError::TooNew { found, known: NOW } if found == NOW + 1));
    assert!(refused.to_string().contains("update the app"));
    assert_eq!(
        std::fs::read(dir.path().join("inglenook.db")).unwrap(),
        before
    );
}

#[tokio::test]
async fn backups_are_whole_and_newest_first() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).store;
    create_library(&store).await;
    for number in 1..=5 {
        say(&store, number, "m").await;
        store
            .backup(
                Timestamp(number as i64 * 1000 + 7),
                crate::BackupKind::ByHand,
            )
            .await
            .unwrap();
    }
    let backups = Store::backups(dir.path(), keys()).unwrap();
    assert_eq!(
        backups
            .iter()
            .map(|backup| backup.taken.0)
            .collect::<Vec<_>>(),
        [5007, 4007, 3007, 2007, 1007]
    );
    let count = |path: &Path| -> u32 {
        let copy = open_database(path);
        copy.query_row("SELECT count(*) FROM message", [], |row| row.get(0))
            .unwrap()
    };
    assert_eq!(
        backups
            .iter()
            .map(|backup| count(&backup.path))
            .collect::<Vec<_>>(),
        [5, 4, 3, 2, 1]
    );
}

#[tokio::test]
async fn a_restore_sets_the_old_database_aside() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).store;
    create_library(&store).await;
    say(&store, 1, "then").await;
    store
        .backup(Timestamp(1000), crate::BackupKind::ByHand)
        .await
        .unwrap();
    say(&store, 2, "later").await;
    drop(store);

    let backup = Store::backups(dir.path(), keys()).unwrap().remove(0);
    let aside = Store::restore(dir.path(), &backup.path, Timestamp(0), keys())
        .unwrap()
        .aside
        .unwrap();
    assert!(aside.ends_with("replaced-19700101T000000.000Z"));
    let opened = open(dir.path());
    assert!(was_checked(&opened.notices));
    assert_eq!(shown(&opened.store).await, ["then"]);
    let kept = open_database(&aside.join("inglenook.db"));
    let count: u32 = kept
        .query_row("SELECT count(*) FROM message", [], |row| row.get(0))
        .unwrap();
    assert_eq!(count, 2);
}

#[tokio::test]
async fn partial_files_of_a_killed_process_are_removed() {
    let dir = tempfile::tempdir().unwrap();
    some_chat(dir.path()).await;
    let inside = ["", "backups", "assets", "assets/ab", "thumbnails/cd"]
        .map(|folder| dir.path().join(folder));
    let left = inside.map(|folder| {
        std::fs::create_dir_all(&folder).unwrap();
        folder.join(".partial-xyz")
    });
    left.iter()
        .for_each(|file| std::fs::write(file, "half").unwrap());
    drop(open(dir.path()));
    assert!(left.iter().all(|file| !file.exists()), "{left:?}");
}

/// All connections have the settings that the guarantees depend on.
#[tokio::test]
async fn connections_are_guarded() {
    let store = empty_store();
    let text = |conn: &rusqlite::Connection, name: &str| -> String {
        conn.pragma_query_value(None, name, |row| row.get::<_, rusqlite::types::Value>(0))
            .map(|value| format!("{value:?}"))
            .unwrap()
    };
    let names = [
        "journal_mode",
        "foreign_keys",
        "secure_delete",
        "synchronous",
        "trusted_schema",
        "cell_size_check",
    ];
    let found = store
        .on_writer(move |conn| names.map(|name| text(conn, name)))
        .await
        .unwrap();
    let one = "Integer(1)";
    assert_eq!(
        found,
        [r#"Text("wal")"#, one, one, "Integer(2)", "Integer(0)", one]
    );
    let foreign = store
        .read(|r| Ok(r.conn.execute("DELETE FROM chat", []).is_err()))
        .await
        .unwrap();
    assert!(foreign, "readers cannot write");
    let stray: Result<_, _> = store
        .write(|w| {
            w.messages_mut()
                .append(&crate::tests::message(1, domain::chat::Role::User, "x"))
        })
        .await;
    assert!(
        matches!(stray, Err(StoreError::Conflict { .. })),
        "no message without a chat {CHAT}"
    );
}
