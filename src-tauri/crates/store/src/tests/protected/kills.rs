//! Kills and full disks while a folder is converted.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::{Duration, Instant};

use domain::Timestamp;
use protection::KEY_FILE_NAME;

use super::{assert_no_plain_text, database, fill, open_plain, open_protected, picture_hash};
use crate::encryption::cipher::FileForm;
use crate::tests::data_folder::child;
use crate::tests::{fixed_keys, say, shown, write_key_file};
use crate::{AssetHash, BackupKind, Store};

const PICTURES: u32 = 25;

fn pictures() -> impl Iterator<Item = String> {
    (0..PICTURES).map(|number| format!("picture {number} ").repeat(2_000))
}

/// All pictures of the folder are there and whole.
fn has_pictures(store: &Store) -> bool {
    let hashes = pictures().map(|content| AssetHash::of(content.as_bytes()));
    let mut hashes = hashes.chain([picture_hash()]);
    hashes.all(|hash| store.read_asset_file(hash).is_some())
}

/// A plain folder with many pictures and two backups.
async fn plain_folder(dir: &Path) {
    let store = open_plain(dir).store;
    fill(&store).await;
    for content in pictures() {
        store
            .write(move |w| {
                w.assets_mut()
                    .put(content.as_bytes(), "image/png", Timestamp(1))
            })
            .await
            .unwrap();
    }
    for number in 2..=40 {
        say(&store, number, &format!("word {number} ").repeat(40)).await;
    }
    store
        .backup(Timestamp(2000), BackupKind::Automatic)
        .await
        .unwrap();
}

/// Kills the process that protects and unprotects a folder again and again, after `pause`.
fn kill_while_converting(dir: &Path, pause: Duration) {
    let mut child = child::command(&std::env::current_exe().unwrap(), "convert", dir)
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut lines = lines.map_while(Result::ok);
    let begun = lines.by_ref().any(|line| line == "begin");
    assert!(begun, "it ended by itself");
    let until = Instant::now() + pause;
    while Instant::now() < until {
        std::hint::spin_loop();
    }
    child.kill().unwrap();
    // The child must be able to write until its end.
    drop(lines);
    child.wait().unwrap();
}

/// Number of kills: 16, or that of the variable for a long run.
fn rounds() -> u64 {
    std::env::var("INGLENOOK_KILLS").map_or(16, |rounds| rounds.parse().unwrap())
}

/// One kill. If the test fails, it prints which one it was.
struct Round {
    number: u64,
    pause: Duration,
}

impl Round {
    fn new(number: u64) -> Self {
        let pause = Duration::from_micros(number.wrapping_mul(37_919) % 400_000);
        Self { number, pause }
    }
}

impl Drop for Round {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Self { number, pause } = self;
            eprintln!("failed in round {number}, which was killed after {pause:?}");
        }
    }
}

/// Kills the conversion once, and checks that all content is there after it was finished.
async fn survive(dir: &Path, round: &Round) {
    kill_while_converting(dir, round.pause);
    let keys = fixed_keys();
    let form = FileForm::of(&database(dir)).unwrap();
    assert_ne!(form, FileForm::Unknown);
    let done = Store::protect(dir, &keys).unwrap();
    assert!(done.failed.is_empty(), "{:?}", done.failed);
    let opened = open_protected(dir);
    assert_eq!(shown(&opened.store).await.len(), 40);
    opened.store.check().await.unwrap();
    assert!(has_pictures(&opened.store));
    drop(opened);
    let left = Store::plain_leftovers(dir, &keys);
    assert!(left.is_empty(), "{left:?}");
    assert_no_plain_text(dir);
    let backups = Store::backups(dir, Some(&keys)).unwrap();
    let sequences: Vec<_> = backups.iter().map(|backup| backup.sequence).collect();
    assert_eq!(sequences, [2, 1]);
    for backup in backups {
        Store::check_backup(&backup.path, Some(&keys)).unwrap();
    }
}

#[tokio::test]
async fn kills_while_converting_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    plain_folder(dir.path()).await;
    write_key_file(dir.path());
    for number in 0..rounds() {
        survive(dir.path(), &Round::new(number)).await;
    }
    Store::unprotect(dir.path(), &fixed_keys()).unwrap();
    std::fs::remove_file(dir.path().join(KEY_FILE_NAME)).unwrap();
    let store = open_plain(dir.path()).store;
    assert_eq!(shown(&store).await.len(), 40);
    assert!(has_pictures(&store));
}

/// The operating system rejects writes above a file size, as a full disk would.
#[cfg(unix)]
#[tokio::test]
async fn a_full_disk_leaves_the_folder_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    plain_folder(dir.path()).await;
    write_key_file(dir.path());
    let before = std::fs::read(database(dir.path())).unwrap();
    for blocks in [10, before.len() / 1024 - 40] {
        let task = child::command(&std::env::current_exe().unwrap(), "protect", dir.path());
        let output = std::process::Command::new("sh")
            .args([
                "-c",
                &format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\""),
            ])
            .arg(task.get_program())
            .args(task.get_args())
            .envs(
                task.get_envs()
                    .filter_map(|(name, value)| Some((name, value?))),
            )
            .stderr(std::process::Stdio::null())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains("protect "), "{blocks}: {said}");
        assert!(!said.contains("protect not"), "{blocks}: {said}");
        assert_eq!(
            FileForm::of(&database(dir.path())).unwrap(),
            FileForm::Plain,
            "{blocks}"
        );
    }
    std::fs::remove_file(dir.path().join(KEY_FILE_NAME)).unwrap();
    assert_eq!(shown(&open_plain(dir.path()).store).await.len(), 40);
}
