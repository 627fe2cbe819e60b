//! Databases into which somebody else put triggers, views or references.

use std::path::Path;

use domain::Timestamp;

use crate::backup::{Manifest, sha256};
use crate::tests::{create_library, keys, open, open_database, say, shown, try_open};
use crate::{BackupKind, Store, StoreError};

const CODE: [&str; 4] = [
    "CREATE TRIGGER zz AFTER INSERT ON message BEGIN DELETE FROM swipe WHERE message <> new.id; END",
    "CREATE TRIGGER aa BEFORE UPDATE ON chat BEGIN DELETE FROM message; END",
    "CREATE VIEW zz AS SELECT * FROM message",
    "DROP TRIGGER swipe_search_new;
     CREATE TRIGGER swipe_search_new AFTER INSERT ON swipe BEGIN DELETE FROM swipe WHERE id <> new.id; END",
];

async fn backed_up(dir: &Path) -> std::path::PathBuf {
    let store = open(dir).store;
    create_library(&store).await;
    say(&store, 1, "then").await;
    store
        .backup(Timestamp(1000), BackupKind::ByHand)
        .await
        .unwrap()
        .path
}

fn plant(database: &Path, sql: &str) {
    let conn = open_database(database);
    crate::register_search_functions(&conn).unwrap();
    conn.execute_batch(sql).unwrap();
}

#[tokio::test]
async fn a_backup_with_code_of_a_stranger_is_refused() {
    for code in CODE {
        for has_manifest in [false, true] {
            let dir = tempfile::tempdir().unwrap();
            let backup = backed_up(dir.path()).await;
            plant(&backup, code);
            if has_manifest {
                let manifest = Manifest::read(&backup, keys()).unwrap();
                let sha256 = sha256(&backup).unwrap();
                let manifest = Manifest { sha256, ..manifest };
                manifest.write(&backup, keys()).unwrap();
            } else {
                std::fs::remove_file(backup.with_extension("json")).unwrap();
            }
            let refused = Store::restore(dir.path(), &backup, Timestamp(0), keys());
            assert!(
                matches!(refused, Err(StoreError::BadBackup { .. })),
                "{code}: {refused:?}"
            );
            let store = open(dir.path()).store;
            let compared = store.compare_backup(backup).await;
            assert!(
                matches!(compared, Err(StoreError::BadBackup { .. })),
                "{code}: {compared:?}"
            );
            assert_eq!(shown(&store).await, ["then"]);
        }
    }
}

/// Changes of tables that run no code, but could delete or refuse rows.
const TABLES: [&str; 4] = [
    "ALTER TABLE swipe ADD COLUMN zz BLOB REFERENCES setting (key) ON DELETE CASCADE",
    "ALTER TABLE swipe ADD COLUMN zz TEXT",
    "ALTER TABLE swipe ADD COLUMN zz TEXT AS (text) VIRTUAL",
    "PRAGMA writable_schema = ON;
     UPDATE sqlite_schema SET sql = replace(sql, 'PRIMARY KEY', 'PRIMARY KEY ON CONFLICT REPLACE') WHERE name = 'setting'",
];

#[tokio::test]
async fn other_tables_need_a_manifest_that_vouches_for_them() {
    for sql in TABLES {
        let dir = tempfile::tempdir().unwrap();
        let backup = backed_up(dir.path()).await;
        plant(&backup, sql);
        std::fs::remove_file(backup.with_extension("json")).unwrap();
        let refused = Store::restore(dir.path(), &backup, Timestamp(0), keys());
        assert!(
            matches!(refused, Err(StoreError::BadBackup { .. })),
            "{sql}: {refused:?}"
        );
    }
}

#[tokio::test]
async fn a_backup_without_a_manifest_is_restored() {
    let dir = tempfile::tempdir().unwrap();
    let backup = backed_up(dir.path()).await;
    std::fs::remove_file(backup.with_extension("json")).unwrap();
    Store::restore(dir.path(), &backup, Timestamp(0), keys()).unwrap();
    assert_eq!(shown(&open(dir.path()).store).await, ["then"]);
}

#[tokio::test]
async fn a_database_with_code_of_a_stranger_is_not_opened() {
    for code in CODE {
        let dir = tempfile::tempdir().unwrap();
        backed_up(dir.path()).await;
        plant(&dir.path().join("inglenook.db"), code);
        let refused = try_open(dir.path()).err();
        assert!(
            matches!(refused, Some(StoreError::Damaged { .. })),
            "{code}: {refused:?}"
        );
        Store::restore_newest(dir.path(), Timestamp(1), keys()).unwrap();
        assert_eq!(shown(&open(dir.path()).store).await, ["then"]);
    }
}
