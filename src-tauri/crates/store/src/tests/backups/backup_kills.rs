//! Kills the process during backups, restores and purges. No verified backup is lost, and pictures
//! are restored.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use domain::Timestamp;

use crate::tests::data_folder::child;
use crate::tests::{keys, open};
use crate::{BackupKind, Store};

/// Number of kills of each kind. An environment variable sets a longer run.
fn kills() -> u64 {
    std::env::var("STORE_BACKUP_KILLS")
        .ok()
        .and_then(|count| count.parse().ok())
        .unwrap_or(7)
}

/// Runs `task`, kills it during its work, and returns the last backup that it reported.
fn killed_at_work(task: &str, dir: &Path, round: u64) -> Option<PathBuf> {
    let mut child = child::command(&std::env::current_exe().unwrap(), task, dir)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap())
        .lines()
        .map_while(Result::ok);
    let mut made = None;
    let mut note = |line: &str| {
        made = line
            .strip_prefix("made ")
            .map(PathBuf::from)
            .or(made.take())
    };
    let begun = lines
        .by_ref()
        .inspect(|line| note(line))
        .filter(|line| line == "begin")
        .nth((round % 3) as usize);
    assert!(begun.is_some(), "{task} ended by itself");
    // Spreads the kills over the duration of the work.
    let until = Instant::now() + Duration::from_micros(round.wrapping_mul(7_919) % 25_000);
    while Instant::now() < until {
        std::hint::spin_loop();
    }
    child.kill().unwrap();
    lines.for_each(|line| note(&line));
    child.wait().unwrap();
    made
}

/// Asserts that every backup verifies with its pictures, and that `made` is one of them.
fn backups_are_whole(dir: &Path, made: Option<&Path>) {
    let backups = Store::backups(dir, keys()).unwrap();
    let own: Vec<_> = backups
        .iter()
        .filter(|backup| backup.kind != BackupKind::SetAside)
        .collect();
    for backup in &own {
        Store::check_backup(&backup.path, keys()).unwrap();
    }
    if let Some(made) = made {
        assert!(
            own.iter().any(|backup| backup.path == made),
            "{} is lost",
            made.display()
        );
    }
}

/// Deletes the pictures and asserts that the newest backup restores everything.
async fn pictures_come_back(dir: &Path) {
    std::fs::remove_dir_all(dir.join("assets")).unwrap();
    let restored = Store::restore_newest(dir, Timestamp(0), keys()).unwrap();
    assert_eq!((restored.missing, restored.skipped.len()), (0, 0));
    let store = open(dir).store;
    store.check().await.unwrap();
    let named = store.read(|r| r.assets().all()).await.unwrap();
    for asset in named {
        assert!(store.read_asset_file(asset.hash).is_some());
    }
    drop(store);
    if let Some(aside) = restored.aside {
        std::fs::remove_dir_all(aside).unwrap();
    }
}

#[tokio::test]
async fn kills_lose_no_backup_and_no_picture() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).store;
    crate::tests::create_library(&store).await;
    store
        .backup(Timestamp(0), BackupKind::ByHand)
        .await
        .unwrap();
    drop(store);
    for round in 0..kills() {
        for task in ["back up", "restore", "purge"] {
            let made = killed_at_work(task, dir.path(), round);
            backups_are_whole(dir.path(), made.as_deref());
            pictures_come_back(dir.path()).await;
        }
    }
}
