//! Folders with keys: what opens them, what never happens to them, and how they get it.

mod access;
mod converting;
mod copies;
mod files;
mod flips;
mod interrupted;
mod kills;
mod shared_place;
mod without_inglenook;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use domain::Timestamp;

use crate::tests::{CHARACTER, create_library, fixed_keys, options_with, say, write_key_file};
use crate::{AssetHash, BackupKind, FolderKeys, Opened, Store, StoreError};

/// A text that no file of a protected folder may contain.
const SECRET: &str = "Kupferlampe über Travemünde";

fn open_as(dir: &Path, keys: Option<Arc<FolderKeys>>) -> Result<Opened, StoreError> {
    Store::open(dir, options_with(keys))
}

fn open_protected(dir: &Path) -> Opened {
    open_as(dir, Some(fixed_keys())).unwrap()
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

/// The content of a picture: 200 bytes that no other file contains.
fn picture() -> Vec<u8> {
    (0..200_u8)
        .map(|place| place.wrapping_mul(37) ^ 0x5A)
        .collect()
}

fn picture_hash() -> AssetHash {
    AssetHash::of(&picture())
}

/// A message with the secret text, a picture with a thumbnail, and a backup of them.
async fn fill(store: &Store) -> PathBuf {
    create_library(store).await;
    say(store, 1, SECRET).await;
    store
        .write(|w| {
            let mut ada = w.characters().get(CHARACTER)?.unwrap();
            ada.picture = Some(w.assets_mut().put(&picture(), "image/png", Timestamp(1))?);
            w.characters_mut().update(&ada)
        })
        .await
        .unwrap();
    store.keep_thumbnail(picture_hash(), &picture()).unwrap();
    store
        .backup(Timestamp(1000), BackupKind::ByHand)
        .await
        .unwrap()
        .path
}

fn database(dir: &Path) -> PathBuf {
    dir.join("inglenook.db")
}

/// Changes one bit of a file, or changes it back.
fn flip(path: &Path, place: usize) {
    let mut bytes = std::fs::read(path).unwrap();
    bytes[place] ^= 1;
    std::fs::write(path, bytes).unwrap();
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

/// Copies the files of a data folder, without those in its folders.
fn copy_files(from: &Path, to: &Path) {
    for file in files_below(from) {
        if file.parent() == Some(from) {
            std::fs::copy(&file, to.join(file.file_name().unwrap())).unwrap();
        }
    }
}

/// No text of a message, in the letters of the message or of the index, no title, no schema, no part
/// of the picture, and no hash of it.
#[track_caller]
fn assert_no_plain_text(folder: &Path) {
    let picture = picture();
    for part in picture.chunks(50) {
        let has = |path: &PathBuf| contains(&std::fs::read(path).unwrap(), part);
        let found: Vec<_> = files_below(folder).into_iter().filter(has).collect();
        assert_eq!(found, Vec::<PathBuf>::new(), "a picture");
    }
    let hash = picture_hash().to_string();
    assert_eq!(files_with(folder, &hash), Vec::<PathBuf>::new());
    let is_named = |path: &PathBuf| path.to_string_lossy().contains(&hash);
    assert!(!files_below(folder).iter().any(is_named));
    for text in ["Kupferlampe", "kupferlamp", "An evening", "CREATE TABLE"] {
        assert_eq!(files_with(folder, text), Vec::<PathBuf>::new(), "{text}");
    }
}
