//! Import of a whole SillyTavern folder: progress, cancellation, kills, and resumption.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use domain::{CharacterId, ChatId, LorebookId};
use engine::api::{ApiError, Event, ImportReport, ImportStage};
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;
use tempfile::TempDir;
use tests::headless::Headless;
use tests::tavern::{Tavern, name};

const SMALL: Tavern = Tavern::SMALL;

fn made() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    SMALL.write(folder.path());
    folder
}

fn kinds(report: &ImportReport, kind: &str) -> usize {
    report
        .imported
        .iter()
        .filter(|one| one.kind == kind)
        .count()
}

/// Reads a data folder like another process; empty while there is no database.
struct Shelf(Connection);

impl Shelf {
    fn open(data: &Path) -> Option<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        Connection::open_with_flags(data.join("inglenook.db"), flags)
            .ok()
            .map(Self)
    }

    fn count(&self, of: &str) -> usize {
        self.so_far(of).unwrap()
    }

    /// Counts rows; during creation the tables may be missing.
    fn so_far(&self, of: &str) -> rusqlite::Result<usize> {
        let count: i64 = self
            .0
            .query_row(&format!("SELECT count(*) FROM {of}"), [], |row| row.get(0))?;
        Ok(count as usize)
    }

    /// Checks that everything of the folder is stored completely and once.
    #[track_caller]
    fn assert_complete(&self) {
        let keepers = "character WHERE name LIKE 'Keeper %'";
        let mut names = self
            .0
            .prepare(&format!("SELECT name FROM {keepers} ORDER BY name"))
            .unwrap();
        let names: Vec<String> = names
            .query_map([], |row| row.get(0))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        assert_eq!(names, (0..SMALL.cards).map(name).collect::<Vec<_>>());
        let alone = "chat WHERE title LIKE 'Evening %'";
        assert_eq!(self.count(alone), SMALL.chats);
        let short = "(SELECT count(*) AS messages FROM message JOIN chat ON chat.id = message.chat
                      WHERE title LIKE 'Evening %' GROUP BY chat)";
        assert_eq!(
            self.count(&format!("{short} WHERE messages <> {}", SMALL.messages)),
            0
        );
        let together = "chat WHERE title LIKE 'Harbour table %'";
        assert_eq!(self.count(together), SMALL.groups);
        assert_eq!(self.count("chat_member"), SMALL.groups * 2);
        assert_eq!(self.count("message_speaker WHERE character IS NULL"), 0);
        // Each chat has six messages: the group wrote the second, third and sixth, and the user
        // wrote the fourth.
        assert_eq!(self.count("message_speaker"), SMALL.groups * 3);
        assert_eq!(
            self.count("character WHERE card_json LIKE '%\"shelf\"%'"),
            SMALL.cards.div_ceil(5)
        );
        assert_eq!(
            self.count("lorebook WHERE name LIKE 'Reefs %'"),
            SMALL.worlds
        );
        assert_eq!(
            self.count("persona WHERE name LIKE 'Tom%' AND picture IS NOT NULL"),
            SMALL.personas
        );
        assert_eq!(
            self.count("persona WHERE position = 'inChat' AND depth = 3 AND role = 'user'"),
            SMALL.personas
        );
        assert_eq!(self.count("bound_persona"), SMALL.personas.min(SMALL.cards));
        assert_eq!((self.count("card_file"), self.count("background")), (2, 1));
        let linked = |scope: &str| self.count(&format!("lorebook_binding WHERE scope = '{scope}'"));
        let every = |step: usize, of: usize| of.div_ceil(step);
        assert_eq!(linked("character"), every(4, SMALL.cards));
        assert_eq!(linked("chat"), every(6, SMALL.chats));
        assert_eq!((linked("persona"), linked("global")), (SMALL.personas, 1));
        assert_eq!(self.count("favourite"), every(7, SMALL.cards));
        let verdict: String = self
            .0
            .query_row("PRAGMA integrity_check", [], |row| row.get(0))
            .unwrap();
        assert_eq!(verdict, "ok");
        assert_eq!(self.count("pragma_foreign_key_check"), 0);
    }
}

/// The real command line.
fn nook(data: &Path, folder: &Path) -> Command {
    let exe = std::env::current_exe().unwrap();
    let program = exe.ancestors().nth(2).unwrap().join("nook");
    assert!(
        program.is_file(),
        "{} is not built: cargo build -p nook",
        program.display()
    );
    let mut command = Command::new(program);
    command
        .arg("--data-dir")
        .arg(data)
        .args(["--json", "import", "--sillytavern"])
        .arg(folder);
    command
        .env("INGLENOOK_MODELS", data.join("no-models"))
        .env_remove("DBUS_SESSION_BUS_ADDRESS");
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command
}

/// Kills the import as soon as this many rows exist.
fn kill_at(data: &Path, folder: &Path, of: &str, count: usize) {
    let mut child: Child = nook(data, folder).spawn().unwrap();
    while Shelf::open(data)
        .and_then(|shelf| shelf.so_far(of).ok())
        .is_none_or(|found| found < count)
    {
        assert!(
            child.try_wait().unwrap().is_none(),
            "the import ended before there were {count} of {of}"
        );
        std::thread::yield_now();
    }
    // SIGKILL on Unix.
    child.kill().unwrap();
    assert!(
        !child.wait().unwrap().success(),
        "the import ended before it was killed"
    );
}

#[test]
fn killed_import_is_completed_by_the_next() {
    let (folder, data) = (made(), tempfile::tempdir().unwrap());
    let keepers = "character WHERE name LIKE 'Keeper %'";
    for (of, count) in [
        (keepers, 1),
        (keepers, 20),
        (keepers, 40),
        ("chat WHERE title LIKE 'Evening %'", 4),
    ] {
        kill_at(data.path(), folder.path(), of, count);
    }
    let before = Shelf::open(data.path()).unwrap().count(keepers);
    assert!(before >= 40, "imported items stay: {before}");
    let output = nook(data.path(), folder.path()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["cancelled"], false);
    let again = report["imported"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["kind"] == "character")
        .count();
    assert_eq!(again, SMALL.cards - before, "only the missing items");
    Shelf::open(data.path()).unwrap().assert_complete();

    let output = nook(data.path(), folder.path()).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["imported"], serde_json::json!([]));
}

#[tokio::test]
async fn cancelled_import_is_completed_by_the_next() {
    let (app, folder) = (Headless::new().await, made());
    let (mut events, place) = (app.engine.subscribe(), folder.path().to_owned());
    let engine = app.engine.clone();
    let import = tokio::spawn(async move { engine.import_sillytavern(place).await });
    loop {
        match events.next().await.unwrap() {
            Event::Importing { progress }
                if progress.stage == ImportStage::Characters && progress.done > 0 =>
            {
                break;
            }
            Event::ImportEnded { .. } => panic!("it was through before it was cancelled"),
            _ => {}
        }
    }
    let busy = app
        .engine
        .import_sillytavern(folder.path().to_owned())
        .await;
    assert!(matches!(busy, Err(ApiError::Busy { .. })), "{busy:?}");
    assert!(app.engine.import_progress().await.unwrap().is_some());
    app.engine.cancel_import().await.unwrap();
    let report = import.await.unwrap().unwrap();
    let first = kinds(&report, "character");
    assert!(
        report.cancelled && first > 0 && first < SMALL.cards,
        "{first} were imported"
    );
    assert_eq!(kinds(&report, "chat"), 0);
    let there = app.engine.list_characters().await.unwrap();
    let there = there
        .iter()
        .filter(|one| one.name.starts_with("Keeper "))
        .count();
    assert_eq!(
        (there, app.engine.import_progress().await.unwrap()),
        (first, None)
    );

    let report = app
        .engine
        .import_sillytavern(folder.path().to_owned())
        .await
        .unwrap();
    assert!(!report.cancelled);
    let chats = SMALL.chats + SMALL.groups;
    assert_eq!(
        (kinds(&report, "character"), kinds(&report, "chat")),
        (SMALL.cards - first, chats)
    );
    app.engine.shutdown().await;
    Shelf::open(app.dir.path()).unwrap().assert_complete();
}

#[tokio::test]
async fn repeated_import_keeps_local_changes() {
    let (app, folder) = (Headless::new().await, made());
    let engine = &app.engine;
    let report = engine
        .import_sillytavern(folder.path().to_owned())
        .await
        .unwrap();
    let id = |kind: &str| {
        report
            .imported
            .iter()
            .find(|one| one.kind == kind)
            .unwrap()
            .id
            .clone()
    };
    let keeper: CharacterId = id("character").parse().unwrap();
    let chat: ChatId = id("chat").parse().unwrap();
    let lorebook: LorebookId = id("lorebook").parse().unwrap();
    engine
        .tag_characters(vec![keeper], vec!["mine".into()], Vec::new())
        .await
        .unwrap();
    engine
        .rename_chat(chat, "The long night".into())
        .await
        .unwrap();
    engine.bind_lorebook(lorebook, Vec::new()).await.unwrap();
    let faces = engine.card_assets(keeper).await.unwrap();
    engine
        .remove_card_asset(keeper, faces.last().unwrap().id.clone())
        .await
        .unwrap();
    // SillyTavern writes the open chat into the card.
    let card = folder.path().join(format!("characters/{}.png", name(0)));
    let bytes: Vec<u8> = std::fs::read(&card).unwrap();
    std::fs::write(&card, [&bytes[..], b"more"].concat()).unwrap();

    let again = engine
        .import_sillytavern(folder.path().to_owned())
        .await
        .unwrap();
    assert_eq!(again.imported, []);
    assert_eq!(
        engine.card_assets(keeper).await.unwrap().len(),
        faces.len() - 1,
        "the file was removed"
    );
    assert!(
        engine
            .get_character(keeper)
            .await
            .unwrap()
            .fields
            .tags
            .contains(&"mine".to_owned())
    );
    assert_eq!(
        engine.get_lorebook(lorebook).await.unwrap().about.bindings,
        []
    );
    assert_eq!(
        engine.open_chat(chat).await.unwrap().title,
        "The long night"
    );
}

/// The progress advances in the order of the work.
#[tokio::test]
async fn progress_advances_from_zero_to_all() {
    let (app, folder) = (Headless::new().await, made());
    let mut events = app.engine.subscribe();
    let told = app
        .engine
        .import_sillytavern(folder.path().to_owned())
        .await
        .unwrap();
    let mut bar = Vec::new();
    let report = loop {
        match events.next().await.unwrap() {
            Event::Importing { progress } => bar.push(progress),
            Event::ImportEnded { report } => break report,
            _ => {}
        }
    };
    assert_eq!(report, Some(told));
    assert!(bar.is_sorted_by_key(|one| one.done), "{bar:?}");
    let last = bar.last().unwrap();
    assert_eq!((bar[0].total, last.stage), (0, ImportStage::Pictures));
    assert!(
        bar[1..].iter().all(|one| one.total == last.total),
        "{bar:?}"
    );
    assert_eq!(last.done, last.total);
}

#[tokio::test]
async fn refuses_another_folder_and_allows_a_new_import() {
    let (app, folder) = (Headless::new().await, tempfile::tempdir().unwrap());
    for _ in 0..2 {
        let refused = app
            .engine
            .import_sillytavern(PathBuf::from(folder.path()))
            .await;
        assert!(
            matches!(refused, Err(ApiError::BadInput { .. })),
            "{refused:?}"
        );
    }
}
