//! A folder that libsodium sealed, and one of ours that a short Python program decrypts.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use protection::{FileKey, KEY_FILE_NAME, KeyFile, RecoveryCode};

use crate::world::{CHUNK, Folder, bytes, content, passphrase, seal, unseal};

const PASSPHRASE: &str = "Lampenanzünder öffnet 🔑";
const RECOVERY_CODE: &str =
    "CNK6C-ET399-D9NPR-RVBEE-DXR7S-2WKKX-EHTQC-CXVRK-F5X7T-PZ3XR-FSZRG-10C2D-GE20Q";

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// `tests/make_folder.py` wrote it.
#[test]
fn folder_sealed_by_libsodium_is_read() {
    let folder = tests().join("folder");
    let file = KeyFile::parse(&fs::read(folder.join(KEY_FILE_NAME)).unwrap()).unwrap();
    let decomposed = " Lampenanzu\u{308}nder o\u{308}ffnet\u{a0}🔑\n";
    let key = file
        .unlock_with_passphrase(&passphrase(decomposed))
        .unwrap();
    let code = RecoveryCode::parse(RECOVERY_CODE).unwrap();
    let recovered = file.unlock_with_recovery_code(&code).unwrap();
    assert_eq!(bytes(&key), bytes(&recovered));
    assert!(file.belongs_to(&key));
    let name = key.name_key().sealed_name("assets/lamp.txt");
    let sealed = fs::read(folder.join(name.to_string())).unwrap();
    let opened = unseal(&sealed, &key.file_key(), &name).unwrap();
    assert_eq!(opened, b"The lamps burn whale oil.\n");
}

#[test]
fn libsodium_writes_the_same_folder_again() {
    let written = tempfile::tempdir().unwrap();
    let script = tests().join("make_folder.py");
    let status = Command::new(python())
        .args([script.as_path(), written.path()])
        .status()
        .unwrap();
    assert!(status.success());
    assert_eq!(entries(written.path()), entries(&tests().join("folder")));
}

/// The files of a folder, with their contents.
fn entries(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    entries
        .map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            (name, fs::read(entry.path()).unwrap())
        })
        .collect()
}

#[test]
fn sixty_lines_of_python_decrypt_a_folder() {
    let script = tests().join("decrypt.py");
    let lines = fs::read_to_string(&script).unwrap().lines().count();
    assert!(lines <= 60, "{lines} lines");
    let folder = Folder::with_passphrase(PASSPHRASE);
    let root = tempfile::tempdir().unwrap();
    let [sealed, out] = ["sealed", "out"].map(|name| root.path().join(name));
    fs::create_dir(&sealed).unwrap();
    fs::write(sealed.join(KEY_FILE_NAME), folder.file.to_json()).unwrap();
    let files = write_files(&folder, &sealed);
    decrypt(&script, &sealed, &out, PASSPHRASE);
    for (name, content) in files {
        assert!(fs::read(out.join(&name)).unwrap() == content, "{name}");
    }
    let database = fs::read_to_string(out.join("database.key")).unwrap();
    assert_eq!(database, hex::encode(bytes(&folder.key)));
}

/// Seals a file with each key of the folder, and a manifest of a backup. Returns their names on the
/// disk, with their contents.
fn write_files(folder: &Folder, into: &Path) -> Vec<(String, Vec<u8>)> {
    let private = folder.key.private_folder_key();
    let keys = [
        folder.key.file_key(),
        folder.key.cache_key(),
        private.file_key(),
        private.cache_key(),
    ];
    let lengths = [2 * CHUNK + 5, CHUNK, 1, 0];
    let write = |(key, length): (FileKey, usize)| {
        let name = folder.key.name_key().sealed_name(&format!("file {length}"));
        let content = content(length);
        fs::write(into.join(name.to_string()), seal(&content, &key, &name)).unwrap();
        (name.to_string(), content)
    };
    let mut files: Vec<_> = keys.into_iter().zip(lengths).map(write).collect();
    files.push(write_manifest(folder, into));
    files
}

/// A manifest keeps its name, and is bound to the sealed one.
fn write_manifest(folder: &Folder, into: &Path) -> (String, Vec<u8>) {
    let name = "inglenook-20260101T000000.000Z-0b5e55ed.json";
    let sealed_name = folder
        .key
        .name_key()
        .sealed_name(&format!("backups/{name}"));
    let content = content(300);
    let sealed = seal(&content, &folder.key.file_key(), &sealed_name);
    fs::write(into.join(name), sealed).unwrap();
    (name.to_owned(), content)
}

fn decrypt(script: &Path, folder: &Path, out: &Path, typed: &str) {
    let mut child = Command::new(python())
        .args([script, folder, out])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(typed.as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "{errors}");
}

/// A Python with PyNaCl: the one that `cargo xtask setup` installs, or that of the variable.
fn python() -> PathBuf {
    let program = if cfg!(windows) {
        "Scripts/python.exe"
    } else {
        "bin/python"
    };
    let python = match std::env::var_os("INGLENOOK_PYNACL") {
        Some(path) => path.into(),
        None => std::env::home_dir()
            .unwrap()
            .join(".cache/inglenook/pynacl-venv")
            .join(program),
    };
    assert!(
        python.is_file(),
        "{} is missing: run `cargo xtask setup`",
        python.display()
    );
    python
}
