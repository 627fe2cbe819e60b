//! Passphrases in files: which texts are the same passphrase, and which are none.

use serde_json::{Value, json};

use crate::world::World;

/// A text in the file of a new passphrase, and one that must unlock the folder afterwards.
struct Same {
    what: &'static str,
    new: String,
    typed: String,
}

fn same(what: &'static str, new: impl Into<String>, typed: impl Into<String>) -> Same {
    Same {
        what,
        new: new.into(),
        typed: typed.into(),
    }
}

fn same_passphrases() -> [Same; 8] {
    [
        same("a final newline", "whale oil\n", "whale oil"),
        same("a byte order mark", "\u{feff}whale oil", "whale oil"),
        same("blanks at both ends", " whale oil \u{a0}", "whale oil"),
        same("one letter", "x", "x"),
        same("emoji", "🔑🕯️", "🔑🕯️"),
        same("composed letters", "\u{d6}llampe", "O\u{308}llampe"),
        same("right to left", "שמן 7 מנורה\n", "שמן 7 מנורה"),
        same(
            "1,024 characters",
            "\u{f6}".repeat(1_024),
            "o\u{308}".repeat(1_024),
        ),
    ]
}

/// Texts that are no passphrase, and a part of the reason.
fn refused_texts() -> [(String, &'static str); 5] {
    [
        (" \r\n".to_owned(), "the passphrase is empty"),
        ("x".repeat(1_025), "longer than 1024 characters"),
        ("whale\noil".to_owned(), "contains a line break"),
        ("whale\0oil".to_owned(), "another control character"),
        ("whale\toil".to_owned(), "a tab"),
    ]
}

/// A folder that was protected with a file that ends like one of Windows.
fn protected_world() -> World {
    let world = World::without_model();
    world.json(&["list", "chats"]);
    let file = world.file("first", "whale oil\r\n");
    let code = world.path("code");
    world.json(&[
        "protect",
        "on",
        "--passphrase-from",
        &file,
        "--code-to",
        code.to_str().unwrap(),
    ]);
    world
}

#[test]
fn same_text_in_other_forms_unlocks() {
    let world = protected_world();
    let typed = world.file("typed", "whale oil");
    world.json(&["list", "chats", "--passphrase-from", &typed]);
    let code = world.path("code");
    for same in same_passphrases() {
        let new = world.file("new", &same.new);
        let changed = world.run(&[
            "protect",
            "passphrase",
            "--code-from",
            code.to_str().unwrap(),
            "--new-from",
            &new,
        ]);
        assert_eq!(changed.code, 0, "{}: {changed:?}", same.what);
        let typed = world.file("typed", &same.typed);
        let listed = world.run(&["list", "chats", "--passphrase-from", &typed]);
        assert_eq!(listed.code, 0, "{}: {listed:?}", same.what);
    }
}

#[test]
fn text_that_is_no_passphrase_is_refused() {
    let world = World::without_model();
    world.json(&["list", "chats"]);
    let code = world.path("code");
    for (text, reason) in refused_texts() {
        let file = world.file("passphrase", &text);
        let refused = world.run(&[
            "protect",
            "on",
            "--passphrase-from",
            &file,
            "--code-to",
            code.to_str().unwrap(),
            "--json",
        ]);
        refused.assert_failed("badInput");
        assert!(refused.err.contains(reason), "{reason}: {refused:?}");
        assert!(!code.exists(), "{reason}: a code that opens nothing");
    }
    assert_eq!(world.json(&["protect", "status"])["protected"], false);
}

#[test]
fn private_characters_are_listed_only_when_asked() {
    let world = protected_world();
    let typed = world.file("typed", "whale oil");
    let call = |arguments: &[&str]| {
        let all = [&["call"], arguments, &["--passphrase-from", &typed]].concat();
        let called = world.run(&all);
        assert_eq!(called.code, 0, "{called:?}");
        serde_json::from_str::<Value>(&called.out).unwrap()
    };
    let count = |listed: &Value| listed.as_array().unwrap().len();
    let before = call(&["list_characters"]);
    let arguments = json!({ "character": before[0]["id"], "on": true }).to_string();
    call(&["set_character_private", &arguments]);
    assert_eq!(count(&call(&["list_characters"])), count(&before) - 1);
    let all = call(&["list_characters", "--with-private"]);
    assert_eq!(count(&all), count(&before));
}
