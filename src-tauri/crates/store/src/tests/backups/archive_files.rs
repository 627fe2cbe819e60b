//! Archives of everything: export and import.

use std::io::Write;
use std::path::Path;

use domain::Timestamp;

use crate::tests::backups::copies::{HOUR, with_picture};
use crate::tests::{CHAT, keys, open, open_database, shown};
use crate::{AssetHash, BackupKind, Store, StoreError};

#[tokio::test]
async fn an_archive_moves_everything_to_another_folder() {
    let dir = tempfile::tempdir().unwrap();
    let other = tempfile::tempdir().unwrap();
    let (store, face) = with_picture(dir.path()).await;
    let archive = dir.path().join("all.zip");
    store.export_archive(archive.clone()).await.unwrap();
    let elsewhere = open(other.path()).store;
    let backup = elsewhere
        .import_archive(archive, Timestamp(HOUR))
        .await
        .unwrap();
    Store::check_backup(&backup, keys()).unwrap();
    assert_eq!(
        Store::backups(other.path(), keys()).unwrap()[0].kind,
        BackupKind::Imported
    );
    drop(elsewhere);
    Store::restore(other.path(), &backup, Timestamp(0), keys()).unwrap();
    let elsewhere = open(other.path()).store;
    assert_eq!(shown(&elsewhere).await, ["then"]);
    assert_eq!(elsewhere.read_asset_file(face).unwrap(), b"a face");
}

type ArchiveMembers<'m> = Vec<(String, &'m [u8])>;

/// The database in an archive.
fn database_in(archive: &Path) -> Vec<u8> {
    let mut zip = zip::ZipArchive::new(std::fs::File::open(archive).unwrap()).unwrap();
    let mut bytes = Vec::new();
    std::io::copy(&mut zip.by_name("inglenook.db").unwrap(), &mut bytes).unwrap();
    bytes
}

/// The same database with a trigger that deletes chats.
fn with_trigger(database: &[u8], dir: &Path) -> Vec<u8> {
    let path = dir.join("trigger.db");
    std::fs::write(&path, database).unwrap();
    let conn = open_database(&path);
    conn.execute_batch("CREATE TRIGGER x AFTER INSERT ON swipe BEGIN DELETE FROM chat; END")
        .unwrap();
    std::fs::read(path).unwrap()
}

fn zipped(members: ArchiveMembers<'_>) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (member, bytes) in members {
        zip.start_file(member, zip::write::SimpleFileOptions::default())
            .unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// A path traversal, a database with its own triggers, a picture with a wrong name, and a file that
/// is no archive, among others; each with its name.
fn hostile_archives(good: &Path) -> Vec<(&'static str, Vec<u8>)> {
    let database = database_in(good);
    let with_trigger = with_trigger(&database, good.parent().unwrap());
    let face = format!("assets/{}", AssetHash::of(b"a face"));
    let own = || ("inglenook.db".to_owned(), database.as_slice());
    let deep = face.replace("assets/", "assets/../");
    let second = ("INGLENOOK.DB".to_owned(), database.as_slice());
    let half = &database[..database.len() / 2];
    let cases: [(&str, ArchiveMembers<'_>); 7] = [
        ("traversal", vec![own(), ("../evil".into(), b"x")]),
        ("deep", vec![own(), (deep, b"x")]),
        ("two", vec![own(), second]),
        (
            "wrong picture",
            vec![own(), (face.clone(), b"another face")],
        ),
        ("trigger", vec![("inglenook.db".into(), &with_trigger)]),
        ("no database", vec![(face, b"a face")]),
        ("torn", vec![("inglenook.db".into(), half)]),
    ];
    let mut archives: Vec<_> = cases
        .into_iter()
        .map(|(name, members)| (name, zipped(members)))
        .collect();
    archives.push(("cut", std::fs::read(good).unwrap()[..5_000].to_vec()));
    archives.push(("no archive", b"hello".to_vec()));
    archives
}

#[tokio::test]
async fn hostile_archives_are_refused_and_leave_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (store, _) = with_picture(dir.path()).await;
    let good = dir.path().join("good.zip");
    store.export_archive(good.clone()).await.unwrap();
    for (name, bytes) in hostile_archives(&good) {
        let path = dir.path().join("hostile.zip");
        std::fs::write(&path, bytes).unwrap();
        let refused = store.import_archive(path, Timestamp(HOUR)).await;
        assert!(
            matches!(refused, Err(StoreError::BadBackup { .. })),
            "{name}: {refused:?}"
        );
        assert!(
            Store::backups(dir.path(), keys()).unwrap().is_empty(),
            "{name}"
        );
        let left: Vec<_> = std::fs::read_dir(dir.path().join("backups"))
            .unwrap()
            .flatten()
            .collect();
        assert!(
            left.iter()
                .all(|at| at.file_name() == "assets" || at.file_name() == "choices.json"),
            "{name}: {left:?}"
        );
    }
    assert!(!dir.path().parent().unwrap().join("evil").exists());
    assert_eq!(
        store
            .read(|r| r.chats().get(CHAT))
            .await
            .unwrap()
            .unwrap()
            .id,
        CHAT
    );
}
