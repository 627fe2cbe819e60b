//! A database is decrypted by a short Python program.

use std::path::{Path, PathBuf};
use std::process::Command;

use rusqlite::Connection;

use super::{SECRET, database, protected_folder};
use crate::search;
use crate::tests::fixed_keys;

#[tokio::test]
async fn python_decrypts_the_database_and_a_backup() {
    let dir = tempfile::tempdir().unwrap();
    let backup = protected_folder(dir.path()).await;
    let out = tempfile::tempdir().unwrap();
    let key = out.path().join("database.key");
    std::fs::write(&key, hex::encode(fixed_keys().database().expose())).unwrap();
    for encrypted in [database(dir.path()), backup] {
        let plain = out.path().join("plain.db");
        decrypt(&key, &encrypted, &plain);
        let conn = Connection::open(&plain).unwrap();
        search::register(&conn).unwrap();
        let check: String = conn
            .query_row("PRAGMA integrity_check", [], |row| row.get(0))
            .unwrap();
        let text: String = conn
            .query_row("SELECT text FROM swipe", [], |row| row.get(0))
            .unwrap();
        assert_eq!((check.as_str(), text.as_str()), ("ok", SECRET));
    }
}

fn decrypt(key: &Path, database: &Path, out: &Path) {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../protection/tests");
    let status = Command::new(python())
        .arg(tests.join("decrypt_database.py"))
        .args([key, database, out])
        .status()
        .unwrap();
    assert!(status.success());
}

/// The Python that `cargo xtask setup` installs, or that of the variable.
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
