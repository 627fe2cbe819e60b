//! Full disks, read-only folders, and kills.

use std::io::{BufRead, BufReader};
use std::path::Path;

use crate::StoreError;
use crate::tests::data_folder::child;
use crate::tests::{CHAT, create_library, empty_store, message, open, say, shown, was_checked};

fn this_program() -> std::path::PathBuf {
    std::env::current_exe().unwrap()
}

/// Number of messages that the child process acknowledged.
fn kept(line: &str) -> Option<usize> {
    line.strip_prefix("kept ")
        .map(|number| number.parse::<usize>().unwrap() + 1)
}

async fn all_there(dir: &Path, kept: usize) -> Vec<crate::Notice> {
    let opened = open(dir);
    let texts = shown(&opened.store).await;
    assert!(texts.len() >= kept, "{} of {kept}", texts.len());
    for (number, text) in texts.iter().enumerate() {
        assert!(
            text.starts_with(&format!("{number} xxx")),
            "{text:?} at {number}"
        );
    }
    opened.store.check().await.unwrap();
    opened.notices
}

#[tokio::test]
async fn twenty_kills_lose_no_acknowledged_message() {
    let dir = tempfile::tempdir().unwrap();
    let mut total = 0;
    for round in 0..20 {
        let mut child = child::command(&this_program(), "talk", dir.path())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap())
            .lines()
            .map_while(Result::ok);
        let until = total + 1 + (round * 7) % 23;
        total = lines
            .by_ref()
            .find_map(|line| kept(&line).filter(|kept| *kept >= until))
            .unwrap();
        child.kill().unwrap();
        // Includes acknowledgements from before its end.
        total = lines.filter_map(|line| kept(&line)).last().unwrap_or(total);
        child.wait().unwrap();
        assert!(was_checked(&all_there(dir.path(), total).await));
    }
    assert!(total > 100);
}

#[tokio::test]
async fn a_full_disk_fails_whole_writes_until_space_is_free() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).store;
    create_library(&store).await;
    let limit = |pages: &'static str| {
        store.on_writer(move |conn| {
            let now: i64 = conn
                .pragma_query_value(None, "page_count", |row| row.get(0))
                .unwrap();
            let pages = if pages == "few" { now + 12 } else { 1 << 30 };
            conn.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(()))
                .unwrap();
        })
    };
    limit("few").await.unwrap();
    let mut kept = 0;
    let refused = loop {
        let new = message(kept, domain::chat::Role::User, &"much ".repeat(500));
        match store.write(move |w| w.messages_mut().append(&new)).await {
            Ok(_) => kept += 1,
            Err(error) => break error,
        }
    };
    assert!(
        matches!(&refused, StoreError::Full { dir: named } if named == dir.path()),
        "{refused:?}"
    );
    assert!(
        refused
            .to_string()
            .contains(&dir.path().display().to_string())
    );
    assert!(kept > 1);
    assert_eq!(shown(&store).await.len() as u128, kept);

    limit("plenty").await.unwrap();
    say(&store, kept, "again").await;
    drop(store);
    let store = open(dir.path()).store;
    assert_eq!(
        store.read(|r| r.messages().count(CHAT)).await.unwrap(),
        kept as u32 + 1
    );
    store.check().await.unwrap();
}

/// The operating system rejects a write at any point of SQLite's work.
#[cfg(unix)]
#[tokio::test]
async fn a_failed_file_system_write_loses_nothing() {
    // More blocks than the migrations of a new store write at once.
    for blocks in [3_000, 3_300, 5_100] {
        let dir = tempfile::tempdir().unwrap();
        let mut command = std::process::Command::new("sh");
        let talk = child::command(&this_program(), "talk at length", dir.path());
        command
            .args([
                "-c",
                &format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\""),
            ])
            .arg(talk.get_program())
            .args(talk.get_args())
            .envs(
                talk.get_envs()
                    .filter_map(|(name, value)| Some((name, value?))),
            )
            .stderr(std::process::Stdio::null());
        let output = command.output().unwrap();
        let output = String::from_utf8_lossy(&output.stdout);
        let total = output.lines().rev().find_map(kept).unwrap();
        let refused = output
            .lines()
            .find(|line| line.starts_with("refused "))
            .unwrap();
        assert!(
            refused.starts_with("refused io") || refused.starts_with("refused full"),
            "{refused}"
        );
        assert!(
            refused.contains(&dir.path().display().to_string()),
            "{refused}"
        );

        all_there(dir.path(), total).await;
        let store = open(dir.path()).store;
        say(&store, 1 << 40, "room again").await;
        assert_eq!(shown(&store).await.last().unwrap(), "room again");
    }
}

#[cfg(unix)]
#[test]
fn a_read_only_folder_is_reported() {
    use std::os::unix::fs::PermissionsExt;
    let allow = |path: &Path, mode| {
        std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap()
    };

    let parent = tempfile::tempdir().unwrap();
    allow(parent.path(), 0o755);
    let new = parent.path().join("new");
    let used = parent.path().join("used");
    std::fs::create_dir(&new).unwrap();
    drop(open(&used));
    for path in [
        &new,
        &used,
        &used.join("inglenook.db"),
        &used.join("inglenook.lock"),
    ] {
        allow(path, 0o555);
    }
    for dir in [&new, &used] {
        let said = open_without_privileges(parent.path(), dir);
        assert!(said.contains("opened read-only"), "{said}");
        assert!(said.contains(&dir.display().to_string()), "{said}");
    }
    for path in [&new, &used] {
        allow(path, 0o755);
    }
}

/// Permissions do not restrict root, so root runs the test as another user.
#[cfg(unix)]
fn open_without_privileges(shared: &Path, dir: &Path) -> String {
    use std::os::unix::fs::MetadataExt;
    use std::os::unix::process::CommandExt;
    const NOBODY: u32 = 65_534;

    let root = std::fs::metadata(dir).unwrap().uid() == 0;
    let program = if root {
        shared.join("test-program")
    } else {
        this_program()
    };
    if root && !program.exists() {
        // Copies in another process: a file written by this one stays busy while any of its tests
        // starts a child.
        let copied = std::process::Command::new("cp")
            .arg(this_program())
            .arg(&program)
            .status()
            .unwrap();
        assert!(copied.success());
    }
    let mut command = child::command(&program, "open", dir);
    if root {
        command.uid(NOBODY).gid(NOBODY);
    }
    String::from_utf8_lossy(&command.current_dir(shared).output().unwrap().stdout).into_owned()
}

/// A mistake of the caller must not be reported as damage.
#[tokio::test]
async fn a_duplicate_id_is_a_conflict() {
    let store = empty_store();
    create_library(&store).await;
    say(&store, 1, "one").await;
    let new = message(1, domain::chat::Role::User, "two");
    let refused = store.write(move |w| w.messages_mut().append(&new)).await;
    assert!(matches!(refused, Err(StoreError::Conflict { .. })));
    assert_eq!(shown(&store).await, ["one"]);
}
