//! A protected folder keeps no text readable: each kind of content has a text of its own, and no
//! file contains it.

mod aviary;
mod cards;
mod kinds;
mod readable;

use std::io::{Cursor, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use self::aviary::Aviary;
use self::kinds::NEVER;
use self::readable::{PREFIX, canary};
use crate::scripted_endpoint;

/// Kinds of content whose text must be found before the folder is protected. A text at the border of
/// two pages of the database is not found.
const MIN_KINDS: usize = 60;

/// A plain folder shows the texts, except those that no file may have.
#[track_caller]
fn assert_plain(aviary: &Aviary) {
    let kinds = aviary.readable_kinds();
    let count = kinds.len();
    assert!(count >= MIN_KINDS, "{count} kinds: {kinds:?}");
    for kind in NEVER {
        assert!(!kinds.contains(kind), "{kind}");
    }
}

#[track_caller]
fn assert_hidden(aviary: &Aviary, when: &str) {
    assert_eq!(aviary.readable_files(), [""; 0], "{when}");
}

fn protect(aviary: &Aviary, code: &str) {
    let code = aviary.world.path(code);
    aviary.json(&["protect", "on", "--code-to", code.to_str().unwrap()]);
}

/// A turn, a prompt, a search, an import and a backup.
fn use_folder(aviary: &Aviary, chat: &str) {
    aviary.say(["--chat", chat], &canary("later"));
    aviary.json(&["endpoints", "default", &canary("endpoint")]);
    aviary.json(&["prompt", "--chat", chat, "--message", &canary("preview")]);
    aviary.json(&["search", &canary("later")]);
    aviary.import("again.json", cards::card().to_string());
    aviary.json(&["backup"]);
}

/// Kills the program in the middle of a reply, whose message is only in the log.
fn kill(aviary: &Aviary, chat: &str) {
    let beginning = format!("{} goes on and on. ", canary("unfinished")).repeat(20);
    let url = scripted_endpoint::start_endless(&beginning);
    kinds::add_endpoint(aviary, "endless", &url);
    let message = canary("killed");
    aviary.kill_in_a_reply(&[
        "chat",
        "--chat",
        chat,
        "--endpoint",
        &canary("endless"),
        "--message",
        &message,
    ]);
}

#[test]
fn no_file_of_a_protected_folder_is_readable() {
    let mut aviary = Aviary::new();
    let second = aviary.world.path("second");
    let chat = kinds::fill(&aviary);
    aviary.json(&["backup", "--second-place", second.to_str().unwrap()]);
    aviary.json(&["backup"]);
    assert_plain(&aviary);
    assert!(!aviary.readable_files().is_empty());

    let passphrase = aviary.world.file("passphrase", "whale oil");
    aviary.unlock = vec!["--passphrase-from".to_owned(), passphrase];
    protect(&aviary, "code");
    assert_hidden(&aviary, "after protecting");
    use_folder(&aviary, &chat);
    assert_hidden(&aviary, "after a turn and a backup");
    aviary.json(&["restore"]);
    aviary.json(&["list", "chats"]);
    assert_hidden(&aviary, "after a restore");
    kill(&aviary, &chat);
    assert_hidden(&aviary, "after a kill");
    aviary.json(&["list", "chats"]);
    assert_hidden(&aviary, "after the start that follows a kill");

    aviary.json(&["protect", "off"]);
    assert_plain(&aviary);
    protect(&aviary, "other-code");
    assert_hidden(&aviary, "after protecting again");
}

/// A text in a ZIP archive.
fn archive(text: &str) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    zip.start_file("card.json", SimpleFileOptions::default())
        .unwrap();
    zip.write_all(text.as_bytes()).unwrap();
    zip.finish().unwrap().into_inner()
}

/// A text compressed as in a PNG file.
fn packed(text: &str) -> Vec<u8> {
    let mut packer = ZlibEncoder::new(b"zTXtComment\0\0".to_vec(), Compression::fast());
    packer.write_all(text.as_bytes()).unwrap();
    packer.finish().unwrap()
}

#[test]
fn every_encoding_of_a_text_is_found() {
    let aviary = Aviary::new();
    let text = format!("lamp {PREFIX} lamp ").repeat(50);
    let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let files = [
        ("tmp/plain", format!("x{PREFIX}").into_bytes()),
        (
            "second/base64-0",
            STANDARD.encode(format!("{PREFIX}b")).into_bytes(),
        ),
        (
            "second/base64-1",
            STANDARD.encode(format!("a{PREFIX}b")).into_bytes(),
        ),
        (
            "second/base64-2",
            STANDARD.encode(format!("ab{PREFIX}b")).into_bytes(),
        ),
        ("data/utf16", utf16),
        ("data/picture.png", packed(&text)),
        ("data/card.charx", archive(&text)),
    ];
    let count = files.len();
    for (name, bytes) in files {
        aviary.world.file(name, bytes);
    }
    aviary.world.file("data/other", "canary");
    assert_eq!(aviary.readable_files().len(), count);
}
