//! Runs this test binary as a separate process, which tests can kill or restrict.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use domain::Timestamp;
use domain::chat::{Role, SwipeState};

use crate::tests::{CHAT, create_library, fixed_keys, keys, message, swipe_id, try_open};
use crate::{Store, StoreError};

const TASK: &str = "STORE_TEST_TASK";
const DIR: &str = "STORE_TEST_DIR";

/// Builds a process that runs `task` (a function below) on `dir` and reports its progress on
/// standard output.
pub(crate) fn command(program: &Path, task: &str, dir: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .args([
            "--exact",
            "tests::data_folder::child::run_task",
            "--ignored",
            "--nocapture",
        ])
        .env(TASK, task)
        .env(DIR, dir)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command
}

#[test]
#[ignore = "only does something as the child of another test"]
fn run_task() {
    let (Ok(task), Some(dir)) = (
        std::env::var(TASK),
        std::env::var_os(DIR).map(PathBuf::from),
    ) else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        match task.as_str() {
            "open" => tell("opened", try_open(&dir).map(|_| "well")),
            "back up" => back_up(&dir).await,
            "restore" => restore(&dir),
            "purge" => purge(&dir).await,
            "convert" => convert(&dir),
            "protect" => tell(
                "protect",
                Store::protect(&dir, &fixed_keys()).map(|_| "not"),
            ),
            "talk" => talk(&dir, 40).await,
            "talk at length" => talk(&dir, 20_000).await,
            other => panic!("no task {other}"),
        }
    });
}

/// Repeatedly adds a message with a picture and backs up, one day later each time.
async fn back_up(dir: &Path) {
    let store = try_open(dir).unwrap().store;
    create_library(&store).await;
    let from = u128::from(store.read(|r| r.messages().count(CHAT)).await.unwrap());
    for number in from.. {
        let new = message(number, Role::User, &format!("word {number}"));
        let picture = format!("picture {number}").repeat(2_000);
        store
            .write(move |w| {
                let hash = w.assets_mut().put(
                    picture.as_bytes(),
                    "image/png",
                    Timestamp(number as i64),
                )?;
                w.messages_mut().append(&new)?;
                let created = Timestamp(number as i64);
                w.backgrounds_mut().add(&crate::Background {
                    asset: hash,
                    name: format!("b{number}"),
                    created,
                    luminance: None,
                    scene_words: String::new(),
                })
            })
            .await
            .unwrap();
        say("begin");
        let taken = store
            .backup(
                Timestamp(number as i64 * 86_400_000),
                crate::BackupKind::Automatic,
            )
            .await
            .unwrap();
        say(&format!("made {}", taken.path.display()));
    }
}

/// Repeatedly restores the newest backup.
fn restore(dir: &Path) {
    for time in 0.. {
        say("begin");
        let restored = Store::restore_newest(dir, Timestamp(time), keys()).unwrap();
        say(&format!("made {}", restored.backup.display()));
        // Removes the set-aside copies, because the test checks only the current database.
        std::fs::remove_dir_all(restored.aside.unwrap()).unwrap();
    }
}

/// Repeatedly protects and unprotects the folder.
fn convert(dir: &Path) {
    loop {
        say("begin");
        Store::protect(dir, &fixed_keys()).unwrap();
        Store::unprotect(dir, &fixed_keys()).unwrap();
    }
}

/// Repeatedly deletes and purges a message, with backups in between.
async fn purge(dir: &Path) {
    let store = try_open(dir).unwrap().store;
    create_library(&store).await;
    // These ids must not repeat those of an earlier process.
    let from = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap()
        .as_nanos();
    for number in from.. {
        let new = message(number, Role::User, &format!("word {number}"));
        store
            .write(move |w| w.messages_mut().append(&new))
            .await
            .unwrap();
        store
            .write(move |w| {
                w.messages_mut()
                    .soft_delete(crate::tests::message_id(number), Timestamp(1))
            })
            .await
            .unwrap();
        say("begin");
        store
            .purge(crate::Before::all(Timestamp(1)), crate::tests::emptied)
            .await
            .unwrap();
        let day = (number - from) as i64 * 86_400_000;
        let taken = store
            .backup(Timestamp(day), crate::BackupKind::Automatic)
            .await
            .unwrap();
        say(&format!("made {}", taken.path.display()));
    }
}

/// Appends messages until it is killed or an append fails. Acknowledges each message after the
/// store has written it.
async fn talk(dir: &Path, length: usize) {
    let store = try_open(dir).unwrap().store;
    create_library(&store).await;
    let from = u128::from(store.read(|r| r.messages().count(CHAT)).await.unwrap());
    for number in from.. {
        let text = format!("{number} {}", "x".repeat(length));
        let mut new = message(number, Role::User, &text);
        new.swipes[0].state = SwipeState::Streaming;
        match store.write(move |w| w.messages_mut().append(&new)).await {
            Ok(_) => say(&format!("kept {number}")),
            Err(error) => return tell("refused", Err(error)),
        }
        let finished = store
            .checkpoint(move |w| {
                w.swipes_mut()
                    .set_text(swipe_id(number), &text, SwipeState::Finished)
            })
            .await;
        if let Err(error) = finished {
            return tell("refused", Err(error));
        }
    }
}

fn tell(what: &str, result: Result<&'static str, StoreError>) {
    let how = match &result {
        Ok(how) => how,
        Err(StoreError::ReadOnly { .. }) => "read-only",
        Err(StoreError::Full { .. }) => "full",
        Err(StoreError::Io { .. }) => "io",
        Err(_) => "otherwise",
    };
    let detail = result
        .err()
        .map(|error| error.to_string())
        .unwrap_or_default();
    say(&format!("{what} {how}: {detail}"));
}

fn say(line: &str) {
    // The test harness may have written an incomplete line.
    let mut out = std::io::stdout().lock();
    writeln!(out, "\n{line}")
        .and_then(|()| out.flush())
        .unwrap();
}
