//! Damage to the data and failed backups: the user learns of them wherever they are, also after a
//! restart.

use std::path::{Path, PathBuf};

use engine::api::{Changed, DataWarningKind, Event};
use engine::{Clock, Engine, Options};
use tests::headless::{Headless, NOW};

const DAY: i64 = 24 * 3_600_000;

async fn kinds(app: &Headless) -> Vec<DataWarningKind> {
    let found = app.engine.data_warnings().await.unwrap();
    found
        .warnings
        .into_iter()
        .map(|warning| warning.kind)
        .collect()
}

/// The files of pictures in a folder of assets.
fn pictures(folder: &Path) -> Vec<PathBuf> {
    let shelves = std::fs::read_dir(folder)
        .unwrap()
        .map(|shelf| shelf.unwrap().path());
    let files = shelves.flat_map(|shelf| {
        std::fs::read_dir(shelf)
            .unwrap()
            .map(|file| file.unwrap().path())
    });
    files.collect()
}

#[tokio::test]
async fn failed_backup_is_announced_and_remembered() {
    let app = Headless::new().await;
    app.engine.backup().await.unwrap();
    let mut events = app.engine.subscribe();
    let database = app.dir.path().join("inglenook.db");
    let changed = rusqlite::Connection::open(&database).unwrap();
    changed
        .execute_batch("UPDATE content_sum SET sum = sum + 1 WHERE kind = 'character'")
        .unwrap();
    drop(changed);
    app.engine.backup().await.unwrap_err();
    let announced = async {
        loop {
            if let Some(Event::Changed {
                what: Changed::DataWarnings,
                ..
            }) = events.next().await
            {
                return;
            }
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(5), announced)
        .await
        .expect("an event");
    let found = app.engine.data_warnings().await.unwrap();
    assert_eq!(found.warnings[0].kind, DataWarningKind::BackupFailed);
    assert!(
        found.warnings[0]
            .detail
            .contains("the texts of 3 characters have changed on disk"),
        "{:?}",
        found.warnings
    );
    assert!(found.newest_backup.is_some(), "the good backup is offered");
    assert!(app.engine.backups().await.unwrap().failed.is_some());
    assert!(!app.engine.health().await.unwrap().ok);

    let app = app.restart().await;
    let all = kinds(&app).await;
    assert_eq!(
        all,
        [DataWarningKind::TextsChanged, DataWarningKind::BackupFailed]
    );
    assert!(
        app.engine
            .startup()
            .await
            .unwrap()
            .notices
            .iter()
            .all(|notice| !notice.contains("no problems"))
    );
    let left = app
        .engine
        .dismiss_data_warning(DataWarningKind::TextsChanged)
        .await
        .unwrap();
    assert_eq!(left.warnings.len(), 1);
}

#[tokio::test]
async fn missing_second_folder_is_a_warning_until_it_is_back() {
    let app = Headless::new().await;
    let second = tempfile::tempdir().unwrap();
    app.engine
        .set_second_place(second.path().to_owned())
        .await
        .unwrap();
    let ours = second.path().join("Inglenook backups");
    let app = app
        .restart_after(|_| std::fs::rename(&ours, second.path().join("away")).unwrap())
        .await;
    assert_eq!(kinds(&app).await, [DataWarningKind::SecondCopyFailed]);
    std::fs::rename(second.path().join("away"), &ours).unwrap();
    app.engine.backup().await.unwrap();
    assert!(kinds(&app).await.is_empty());
}

#[tokio::test]
async fn damaged_picture_comes_back_from_the_backup() {
    let app = Headless::new().await;
    let picture = app
        .engine
        .list_characters()
        .await
        .unwrap()
        .into_iter()
        .find_map(|card| card.picture)
        .unwrap();
    let file = pictures(&app.dir.path().join("assets"))
        .into_iter()
        .find(|file| file.ends_with(&picture))
        .unwrap();
    let whole = app.engine.asset(picture.clone()).await.unwrap().bytes;
    app.engine.backup().await.unwrap();
    let damages: [fn(&Path); 3] = [
        |file| std::fs::write(file, "").unwrap(),
        |file| std::fs::remove_file(file).unwrap(),
        |file| {
            let mut bytes = std::fs::read(file).unwrap();
            bytes[100] ^= 1;
            std::fs::write(file, bytes).unwrap();
        },
    ];
    for (count, damage) in (1..).zip(damages) {
        damage(&file);
        assert_eq!(
            app.engine.asset(picture.clone()).await.unwrap().bytes,
            whole
        );
        assert_eq!(std::fs::read(&file).unwrap(), whole);
        let found = app.engine.data_warnings().await.unwrap().warnings;
        assert_eq!(
            (found[0].kind, found[0].count),
            (DataWarningKind::PicturesRestored, count)
        );
    }
}

#[tokio::test]
async fn picture_in_no_backup_is_reported_as_lost() {
    let app = Headless::new().await;
    let picture = app
        .engine
        .list_characters()
        .await
        .unwrap()
        .into_iter()
        .find_map(|card| card.picture)
        .unwrap();
    for file in pictures(&app.dir.path().join("assets")) {
        std::fs::remove_file(file).unwrap();
    }
    assert!(app.engine.asset(picture).await.is_err());
    assert_eq!(kinds(&app).await, [DataWarningKind::PicturesLost]);
}

#[tokio::test]
async fn short_session_ends_with_a_backup() {
    let app = Headless::new().await;
    assert!(app.engine.list_backups().await.unwrap().is_empty());
    let app = app.restart().await;
    assert_eq!(app.engine.list_backups().await.unwrap().len(), 1);
    let app = app.restart().await;
    assert_eq!(
        app.engine.list_backups().await.unwrap().len(),
        1,
        "it is less than an hour old"
    );
}

/// An engine in the folder at this day after the first start.
async fn on_day(dir: &Path, day: i64) -> Engine {
    let options = Options {
        data_dir: dir.to_owned(),
        without_keychain: true,
        clock: Clock::stopped(domain::Timestamp(NOW.0 + day * DAY)),
        ..Options::default()
    };
    Engine::open(options)
        .await
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Runs a session at this day, long enough for its purge. Returns the number of items in the trash
/// at its end.
async fn session(dir: &Path, day: i64) -> usize {
    let engine = on_day(dir, day).await;
    engine.purge_now().await.unwrap();
    let left = engine.trash().await.unwrap().len();
    engine.shutdown().await;
    left
}

#[tokio::test]
async fn wrong_clock_does_not_empty_the_trash() {
    let app = Headless::new().await;
    let chat = app.first_chat().await;
    app.engine.delete_chat(chat.id).await.unwrap();
    let Headless { engine, dir, .. } = app;
    engine.shutdown().await;
    drop(engine);
    assert_eq!(session(dir.path(), 0).await, 1);
    assert_eq!(
        session(dir.path(), 60).await,
        1,
        "the clock is 60 days ahead"
    );
    let engine = on_day(dir.path(), 60).await;
    let warnings = engine.data_warnings().await.unwrap().warnings;
    assert_eq!(
        warnings
            .iter()
            .map(|warning| warning.kind)
            .collect::<Vec<_>>(),
        [DataWarningKind::ClockAhead]
    );
    engine.shutdown().await;
    drop(engine);
    assert_eq!(session(dir.path(), 1).await, 1);
    assert_eq!(session(dir.path(), 31).await, 1, "a jump counts only later");
    let before = store::Store::backups(dir.path(), None).unwrap().len();
    assert_eq!(session(dir.path(), 32).await, 0, "the clock went on");
    let backups = store::Store::backups(dir.path(), None).unwrap();
    assert!(
        backups.len() > before && store::Store::check_backup(&backups[0].path, None).is_ok(),
        "a backup was made first"
    );
}
