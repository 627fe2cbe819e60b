//! Tests of `protect`, and of the other verbs on a protected data folder.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::scripted_endpoint;
use crate::world::{Done, World, card};

const REPLY: &str = "The lamps are lit.";

/// A world with a chat, and a file with a passphrase.
struct Locked {
    world: World,
    passphrase: String,
    code: String,
    chat: String,
}

impl Locked {
    /// Protects a folder with a card, a chat and a backup.
    fn new() -> Self {
        let world = World::without_model();
        let mira = world.file("mira.json", card("Mira Quay"));
        let said = world.run(&["chat", "--character", &mira, "--message", "Hello", "--json"]);
        let chat = said.ends()[0]["chat"].as_str().unwrap().to_owned();
        world.json(&["backup"]);
        let passphrase = world.file("passphrase", "whale oil\n");
        let code = world.path("code").to_str().unwrap().to_owned();
        let done = world.json(&[
            "protect",
            "on",
            "--passphrase-from",
            &passphrase,
            "--code-to",
            &code,
        ]);
        assert_eq!(done["protected"], true, "{done}");
        assert!(done["databases"].as_u64().unwrap() >= 2, "{done}");
        assert_eq!(
            (&done["failed"], &done["plain_leftovers"]),
            (&json!([]), &json!([]))
        );
        Self {
            world,
            passphrase,
            code,
            chat,
        }
    }

    /// Runs a verb with the passphrase, and returns its JSON.
    fn json(&self, args: &[&str]) -> Value {
        let unlock = ["--passphrase-from", self.passphrase.as_str()];
        self.world.json(&[args, &unlock].concat())
    }

    fn run(&self, args: &[&str]) -> Done {
        let unlock = ["--passphrase-from", self.passphrase.as_str(), "--json"];
        self.world.run(&[args, &unlock].concat())
    }
}

fn texts(shown: &Value) -> Vec<String> {
    let messages = shown["page"]["messages"].as_array().unwrap();
    let text = |message: &Value| message["swipes"][0]["text"].as_str().unwrap().to_owned();
    messages.iter().map(text).collect()
}

fn private(path: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{}", path.display());
    }
    #[cfg(not(unix))]
    let _ = path;
}

#[test]
fn protected_folder_opens_only_with_its_secrets() {
    let locked = Locked::new();
    let world = &locked.world;
    private(&world.path("code"));
    private(&world.data_dir().join("protection.json"));
    for verb in [&["list", "chats", "--json"][..], &["backup", "--json"]] {
        let refused = world.run(verb);
        refused.assert_failed("protected");
        assert!(refused.err.contains("--passphrase-from"), "{refused:?}");
    }
    let wrong = world.file("wrong", "sperm oil");
    world
        .run(&["list", "chats", "--passphrase-from", &wrong, "--json"])
        .assert_failed("wrongPassphrase");
    world
        .run(&[
            "list",
            "chats",
            "--passphrase-from",
            &world.file("none", " \n"),
            "--json",
        ])
        .assert_failed("badInput");
    let listed = locked.json(&["list", "chats"]);
    assert!(!listed["items"].as_array().unwrap().is_empty());
    assert_eq!(
        world.json(&["list", "chats", "--code-from", &locked.code]),
        listed
    );
    let by_variable = world
        .command(&["list", "chats", "--json"])
        .env("INGLENOOK_PASSPHRASE_FILE", &locked.passphrase)
        .output()
        .unwrap();
    assert_eq!(Done::from(by_variable).json(), listed);
    assert_eq!(
        world
            .run_with_stdin(
                &["list", "chats", "--passphrase-from", "-", "--json"],
                "whale oil\n",
            )
            .json(),
        listed
    );
}

#[test]
fn status_needs_no_passphrase() {
    let plain = World::without_model();
    assert_eq!(plain.json(&["protect", "status"])["protected"], false);
    let locked = Locked::new();
    let status = locked.world.json(&["protect", "status"]);
    assert_eq!(status["protected"], true);
    assert_eq!(status["kdf"]["algorithm"], "argon2id");
    assert!(status["swap"].is_string(), "{status}");
    assert!(
        status["kdf"]["memory_kib"].as_u64().unwrap() >= 65_536,
        "{status}"
    );
    assert!(
        status["since"].is_string() && status["unfinished"].is_null(),
        "{status}"
    );
    let shown = locked.world.run(&["protect", "status"]);
    assert!(shown.out.starts_with("protected since"), "{shown:?}");
}

#[test]
fn export_says_that_the_archive_is_not_encrypted() {
    let warning = "The archive is not encrypted. Anybody who has the file can read it.";
    let locked = Locked::new();
    let archive = locked.world.path("all.zip");
    let exported = locked.run(&["backup", "--export", archive.to_str().unwrap()]);
    assert_eq!(exported.code, 0, "{exported:?}");
    assert!(exported.err.contains(warning), "{exported:?}");
    let plain = World::without_model();
    let archive = plain.path("all.zip");
    let exported = plain.run(&["backup", "--export", archive.to_str().unwrap()]);
    assert_eq!(exported.code, 0, "{exported:?}");
    assert!(!exported.err.contains(warning), "{exported:?}");
}

#[test]
fn protecting_needs_a_place_for_the_code() {
    let world = World::without_model();
    let passphrase = world.file("passphrase", "whale oil");
    let on = ["protect", "on", "--passphrase-from", &passphrase, "--json"];
    world.run(&on).assert_failed("badInput");
    let taken = world.file("taken", "mine");
    world
        .run(&[&on[..], &["--code-to", &taken]].concat())
        .assert_failed("io");
    assert_eq!(fs::read_to_string(&taken).unwrap(), "mine");
    let code = world.path("code");
    world
        .run(&[
            "protect",
            "on",
            "--code-to",
            code.to_str().unwrap(),
            "--json",
        ])
        .assert_failed("badInput");
    assert!(!code.exists(), "a code that opens nothing is removed");
    assert_eq!(world.json(&["protect", "status"])["protected"], false);
}

#[test]
fn protected_folder_is_not_protected_again() {
    let locked = Locked::new();
    let other = locked.world.path("other");
    locked
        .run(&["protect", "on", "--code-to", other.to_str().unwrap()])
        .assert_failed("alreadyProtected");
    assert!(!other.exists());
}

#[test]
fn character_answers_in_a_protected_folder() {
    let locked = Locked::new();
    let url = scripted_endpoint::start(REPLY);
    locked.json(&[
        "endpoints",
        "add",
        "--url",
        &url,
        "--name",
        "Lamp",
        "--model",
        "lamp",
    ]);
    let said = locked.run(&[
        "chat",
        "--chat",
        &locked.chat,
        "--endpoint",
        "Lamp",
        "--message",
        "Good evening, xylograph.",
    ]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(said.ends()[0]["text"], REPLY, "{said:?}");
    let shown = texts(&locked.json(&["show", "chat", &locked.chat]));
    let end = ["Good evening, xylograph.", REPLY].map(str::to_owned);
    assert!(shown.ends_with(&end), "{shown:?}");
    let found = locked.json(&["search", "xylograph"]);
    let hits = found["messages"]["hits"].as_array().unwrap();
    assert_eq!(hits.len(), 1, "{found}");
    assert_eq!(locked.json(&["check"])["ok"], true);
}

#[test]
fn backup_is_restored_elsewhere_with_its_key_file() {
    let locked = Locked::new();
    let second = locked.world.path("second");
    fs::create_dir(&second).unwrap();
    locked.json(&["backup", "--second-place", second.to_str().unwrap()]);
    locked.json(&["backup"]);
    let folder = second.join("Inglenook backups");
    let files = || {
        fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
    };
    let backup = files().find(|path| path.extension().is_some_and(|end| end == "db"));
    let backup = backup.unwrap().to_str().unwrap().to_owned();
    for unlock in [
        ["--passphrase-from", locked.passphrase.as_str()],
        ["--code-from", locked.code.as_str()],
    ] {
        let elsewhere = World::without_model();
        elsewhere.json(&[&["restore", &backup][..], &unlock].concat());
        elsewhere
            .run(&["list", "chats", "--json"])
            .assert_failed("protected");
        let shown = elsewhere.json(&[&["show", "chat", &locked.chat][..], &unlock].concat());
        assert!(texts(&shown).contains(&"Hello".to_owned()), "{shown}");
    }
    let plain = World::without_model();
    plain.json(&["list", "chats"]);
    plain
        .run(&[
            "restore",
            &backup,
            "--passphrase-from",
            &locked.passphrase,
            "--json",
        ])
        .assert_failed("storage");
    plain.json(&["list", "chats"]);
}

#[test]
fn new_passphrase_and_code_replace_the_old_ones() {
    let locked = Locked::new();
    let world = &locked.world;
    let new = world.file("new", "lamp black");
    locked.json(&["protect", "passphrase", "--new-from", &new]);
    locked
        .run(&["list", "chats"])
        .assert_failed("wrongPassphrase");
    world.json(&["list", "chats", "--passphrase-from", &new]);

    let newest = world.file("newest", "tallow");
    world.json(&[
        "protect",
        "passphrase",
        "--code-from",
        &locked.code,
        "--new-from",
        &newest,
    ]);
    world.json(&["list", "chats", "--passphrase-from", &newest]);

    let code = world.path("code-2");
    let code = code.to_str().unwrap();
    world.json(&[
        "protect",
        "code",
        "--passphrase-from",
        &newest,
        "--code-to",
        code,
    ]);
    world
        .run(&["list", "chats", "--code-from", &locked.code, "--json"])
        .assert_failed("wrongPassphrase");
    world.json(&["list", "chats", "--code-from", code]);
}

#[test]
fn unprotected_folder_opens_without_a_passphrase() {
    let locked = Locked::new();
    locked
        .world
        .run(&["protect", "off", "--json"])
        .assert_failed("protected");
    let done = locked.json(&["protect", "off"]);
    assert_eq!(
        (&done["protected"], &done["failed"]),
        (&json!(false), &json!([]))
    );
    let shown = locked.world.json(&["show", "chat", &locked.chat]);
    assert!(texts(&shown).contains(&"Hello".to_owned()));
    assert_eq!(locked.world.json(&["check"])["ok"], true);
    locked
        .run(&["protect", "off"])
        .assert_failed("notProtected");
    let key_files = fs::read_dir(locked.world.data_dir().join("backups")).unwrap();
    let left = key_files.filter(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        name.to_string_lossy().starts_with("protection")
    });
    assert_eq!(left.count(), 0);
}

#[test]
fn damaged_key_file_has_a_copy_next_to_the_backups() {
    let locked = Locked::new();
    fs::write(locked.world.data_dir().join("protection.json"), "{").unwrap();
    let status = locked.world.json(&["protect", "status"]);
    assert!(status["key_file_problem"].is_string(), "{status}");
    locked.json(&["show", "chat", &locked.chat]);
    fs::remove_file(locked.world.data_dir().join("protection.json")).unwrap();
    locked.json(&["show", "chat", &locked.chat]);
    let status = locked.world.json(&["protect", "status"]);
    assert!(
        status["key_file_problem"].is_null(),
        "it was put back: {status}"
    );
}

#[test]
fn lock_needs_a_protected_folder() {
    let world = World::without_model();
    world.run(&["lock", "--json"]).assert_failed("notProtected");
    assert!(!world.data_dir().exists());
}

#[test]
fn serving_and_doctor_need_the_passphrase() {
    let locked = Locked::new();
    let args = ["serve", "--json"];
    locked.world.run(&args).assert_failed("protected");
    let mut running = locked
        .world
        .start(&[&args[..], &["--passphrase-from", &locked.passphrase]].concat());
    let started: Value = serde_json::from_str(&running.line()).unwrap();
    assert!(started["url"].is_string(), "{started}");
    drop(running);
    let unhealthy = locked.world.run(&["doctor", "--json"]);
    assert_eq!(unhealthy.code, 1, "{unhealthy:?}");
    let reason = unhealthy.json()["checks"][0]["reason"].to_string();
    assert!(reason.contains("is protected"), "{reason}");
    locked
        .world
        .run(&["mcp", "--passphrase-from", "-", "--json"])
        .assert_failed("badInput");
    locked
        .world
        .run(&["mcp", "--json"])
        .assert_failed("protected");
}
