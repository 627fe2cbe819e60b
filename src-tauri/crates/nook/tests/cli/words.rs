//! Tests of usage errors, help, version, completions and manual pages.

use crate::world::World;

#[test]
fn usage_errors_exit_2_and_write_nothing() {
    let world = World::without_model();
    for words in [
        &[][..],
        &["frobnicate"],
        &["import"],
        &["export", "character", "Mira", "--out", "a.png"],
        &[
            "export",
            "character",
            "Mira",
            "--as",
            "byaf",
            "--out",
            "a.byaf",
        ],
        &["list", "dragons"],
        &["show", "character"],
        &["show", "settings", "--chat", "a", "--model", "b"],
        &["set", "history_cap"],
        &["set", "history_cap", "3000", "--reset"],
        &["chat"],
        &["chat", "--character", "Mira", "--temperature", "9"],
        &["chat", "--character", "Mira", "--max-tokens", "0"],
        &["chat", "--character", "Mira", "--seed", "-1"],
        &[
            "chat",
            "--character",
            "Mira",
            "--model",
            "a",
            "--endpoint",
            "b",
        ],
        &["prompt"],
        &["lore"],
        &["lore", "test"],
        &["lore", "test", "--book", "a.json"],
        &["lore", "test", "--vectors", "a.jsonl"],
        &[
            "lore",
            "test",
            "--book",
            "a.json",
            "--chat",
            "a.jsonl",
            "--profile",
            "moon",
        ],
        &["models", "get"],
        &["memory"],
        &["memory", "list"],
        &["memory", "add", "--character", "Mira"],
        &["memory", "forget"],
        &["memory", "search", "nuts"],
        &[
            "memory",
            "search",
            "--character",
            "Mira",
            "--chat",
            "An evening",
            "nuts",
        ],
        &["memory", "export", "--character", "Mira"],
        &["memory", "rank", "--messages", "a.jsonl"],
        &["serve", "--port", "99999"],
        &["update", "--check", "--back"],
        &["completions", "cmd"],
    ] {
        let done = world.run(words);
        assert_eq!(
            (done.code, done.out.as_str()),
            (2, ""),
            "{words:?}: {done:?}"
        );
        assert!(!done.err.is_empty(), "{words:?}");
    }
    assert!(!world.data_dir().exists());
}

#[test]
fn usage_errors_are_json_in_json_mode() {
    let done = World::without_model().run(&["list", "dragons", "--json"]);
    assert_eq!(done.code, 2);
    assert_eq!(done.json()["error"]["kind"], "usage");
    assert!(
        done.json()["error"]["message"]
            .as_str()
            .unwrap()
            .contains("dragons"),
        "{done:?}"
    );
}

#[test]
fn help_and_version_succeed() {
    let world = World::without_model();
    let help = world.run(&["--help"]);
    assert_eq!(help.code, 0);
    for verb in [
        "import",
        "export",
        "list",
        "show",
        "set",
        "chat",
        "prompt",
        "tokens",
        "models",
        "endpoints",
        "memory",
        "serve",
        "lore",
        "doctor",
        "lock",
        "update",
    ] {
        assert!(help.out.contains(verb), "{verb}");
    }
    assert_eq!(
        world.run(&["--version"]).out,
        format!("nook {}\n", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn completions_of_each_shell_name_the_verbs() {
    let world = World::without_model();
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let done = world.run(&["completions", shell]);
        assert_eq!(done.code, 0, "{shell}: {done:?}");
        for verb in ["import", "tool-servers", "doctor"] {
            assert!(done.out.contains(verb), "{shell} misses {verb}");
        }
    }
    assert!(!world.data_dir().exists());
}

#[test]
fn manual_has_a_page_for_each_verb() {
    let world = World::without_model();
    let folder = world.path("share/man1");
    let done = world.run(&["man", "--into", folder.to_str().unwrap()]);
    assert_eq!(done.code, 0, "{done:?}");
    for page in ["nook.1", "nook-chat.1", "nook-models-download.1"] {
        let text = std::fs::read_to_string(folder.join(page)).unwrap();
        assert!(text.contains(".SH NAME"), "{page}: {text}");
    }
    assert!(!folder.join("nook-man.1").exists(), "it is hidden");
    let printed = world.run(&["man"]);
    assert_eq!(printed.code, 0, "{printed:?}");
    assert_eq!(
        printed.out,
        std::fs::read_to_string(folder.join("nook.1")).unwrap()
    );
    assert!(!world.data_dir().exists());
}
