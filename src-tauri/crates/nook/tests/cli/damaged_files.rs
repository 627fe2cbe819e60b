//! A flipped bit in any encrypted file of a protected folder is damage: the program never says that
//! the secret is wrong, never panics, and never shows other content.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::talking::png;
use crate::world::{Done, World};

/// A protected folder with a chat with a picture, and a backup in two places.
struct Locked {
    world: World,
    code: String,
    chat: String,
    /// The texts of its messages.
    texts: Vec<String>,
}

impl Locked {
    fn new() -> Self {
        let world = World::without_model();
        let mira = png(&world);
        let said = world.run(&["chat", "--character", &mira, "--message", "Hello", "--json"]);
        let chat = said.ends()[0]["chat"].as_str().unwrap().to_owned();
        let second = world.path("second");
        fs::create_dir(&second).unwrap();
        world.json(&["backup", "--second-place", second.to_str().unwrap()]);
        world.json(&["backup"]);
        let passphrase = world.file("passphrase", "whale oil");
        let code = world.path("code").to_str().unwrap().to_owned();
        let unlock = ["--passphrase-from", &passphrase, "--code-to", &code];
        world.json(&[&["protect", "on"][..], &unlock].concat());
        let mut locked = Self {
            world,
            code,
            chat,
            texts: Vec::new(),
        };
        locked.texts = texts(&locked.show());
        locked
    }

    fn show(&self) -> Done {
        let unlock = ["--code-from", self.code.as_str(), "--json"];
        self.world
            .run(&[&["show", "chat", &self.chat][..], &unlock].concat())
    }

    /// Databases, key files and sealed files.
    fn encrypted_files(&self) -> Vec<PathBuf> {
        let folders = [self.world.data_dir(), self.world.path("second")];
        let files = folders.iter().flat_map(|folder| below(folder));
        files.filter(|path| is_encrypted(path)).collect()
    }
}

fn texts(shown: &Done) -> Vec<String> {
    let shown = shown.json();
    let messages = shown["page"]["messages"].as_array().unwrap();
    let text = |message: &Value| message["swipes"][0]["text"].as_str().unwrap().to_owned();
    messages.iter().map(text).collect()
}

fn below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    entries
        .flat_map(|entry| {
            if entry.path().is_dir() {
                below(&entry.path())
            } else {
                vec![entry.path()]
            }
        })
        .collect()
}

fn is_encrypted(path: &Path) -> bool {
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let is_sealed = || fs::read(path).unwrap().starts_with(b"NOOKSEAL");
    name.ends_with(".db") || name.starts_with("protection") || is_sealed()
}

#[test]
fn flipped_bit_is_never_a_wrong_passphrase() {
    let locked = Locked::new();
    let files = locked.encrypted_files();
    // The database, its backups with manifests, key files, and the picture with its copies.
    assert!(files.len() >= 8, "{files:?}");
    for path in files {
        let whole = fs::read(&path).unwrap();
        for place in [0, whole.len() / 2, whole.len() - 1] {
            let mut changed = whole.clone();
            changed[place] ^= 1;
            fs::write(&path, changed).unwrap();
            let what = format!("{}, byte {place}", path.display());
            let done = locked.show();
            assert!(!done.err.contains("panicked"), "{what}: {done:?}");
            match done.code {
                0 => assert_eq!(texts(&done), locked.texts, "{what}"),
                1 => {
                    let kind = done.json()["error"]["kind"].clone();
                    let is_damage = kind == "damaged" || kind == "keyFileDamaged";
                    assert!(is_damage, "{what}: {done:?}");
                }
                _ => panic!("{what}: {done:?}"),
            }
            fs::write(&path, &whole).unwrap();
        }
    }
    assert_eq!(texts(&locked.show()), locked.texts);
}
