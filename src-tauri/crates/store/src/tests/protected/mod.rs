//! Folders with a key: what opens them, what never happens to them, and how they get it.

mod access;
mod converting;
mod copies;
mod kills;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use domain::Timestamp;
use protection::DatabaseKey;

use crate::tests::{create_library, fixed_key, options_with, say, write_key_file};
use crate::{BackupKind, Opened, Store, StoreError};

/// A text that no file of a protected folder may contain.
const SECRET: &str = "Kupferlampe über Travemünde";

fn open_as(dir: &Path, key: Option<Arc<DatabaseKey>>) -> Result<Opened, StoreError> {
    Store::open(dir, options_with(key))
}

fn open_protected(dir: &Path) -> Opened {
    open_as(dir, Some(fixed_key())).unwrap()
}

/// Opens a plain folder, whatever the other tests do.
fn open_plain(dir: &Path) -> Opened {
    open_as(dir, None).unwrap()
}

/// A closed protected folder with one message and one backup.
async fn protected_folder(dir: &Path) -> PathBuf {
    write_key_file(dir);
    fill(&open_protected(dir).store).await
}

/// A message with the secret text, and a backup of it.
async fn fill(store: &Store) -> PathBuf {
    create_library(store).await;
    say(store, 1, SECRET).await;
    store
        .backup(Timestamp(1000), BackupKind::ByHand)
        .await
        .unwrap()
        .path
}

fn database(dir: &Path) -> PathBuf {
    dir.join("inglenook.db")
}

/// Every file below a folder.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    entries
        .flat_map(|entry| {
            if entry.file_type().unwrap().is_dir() {
                files_below(&entry.path())
            } else {
                vec![entry.path()]
            }
        })
        .collect()
}

/// The files below a folder that contain a text in UTF-8 or UTF-16.
fn files_with(folder: &Path, text: &str) -> Vec<PathBuf> {
    let wide: Vec<u16> = text.encode_utf16().collect();
    let needles = [
        text.as_bytes().to_vec(),
        wide.iter().flat_map(|unit| unit.to_le_bytes()).collect(),
        wide.iter().flat_map(|unit| unit.to_be_bytes()).collect(),
    ];
    let has = |path: &PathBuf| {
        let bytes = std::fs::read(path).unwrap();
        needles.iter().any(|needle| contains(&bytes, needle))
    };
    files_below(folder).into_iter().filter(has).collect()
}

/// Compares only where the second byte fits: the first is zero in half of the needles.
fn contains(bytes: &[u8], needle: &[u8]) -> bool {
    let places = bytes.iter().enumerate().skip(1);
    places
        .filter(|(_, byte)| **byte == needle[1])
        .any(|(at, _)| bytes[at - 1..].starts_with(needle))
}

/// No text of a message, in the letters of the message or of the index, no title and no schema.
#[track_caller]
fn assert_no_plain_text(folder: &Path) {
    for text in ["Kupferlampe", "kupferlamp", "An evening", "CREATE TABLE"] {
        assert_eq!(files_with(folder, text), Vec::<PathBuf>::new(), "{text}");
    }
}
