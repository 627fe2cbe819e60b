//! The verbs that bring models from outside into the library. The hub's address leads to a closed
//! port of this machine.

use crate::world::World;

fn world() -> World {
    let world = World::without_model();
    assert_eq!(
        world
            .run(&["models", "hub", "--address", "http://127.0.0.1:9"])
            .code,
        0
    );
    world
}

#[test]
fn lists_suggestions_with_licence_and_fit() {
    let world = world();
    let listed = world.json(&["models", "suggest"]);
    let models = listed["items"].as_array().unwrap();
    assert!(models.len() >= 12);
    assert!(models.iter().all(|model| {
        model["licence"]
            .as_str()
            .is_some_and(|licence| !licence.is_empty())
    }));
    assert!(models.iter().all(|model| {
        model["tokens_per_second"].is_number() && model["words_per_minute"].is_number()
    }));
    let text = world.run(&["models", "suggest"]).out;
    assert!(
        text.contains("Apache-2.0") && text.contains(" words a minute, fits"),
        "{text}"
    );
}

#[test]
fn unreachable_hub_is_named() {
    let world = world();
    for arguments in [
        &["models", "search", "qwen"][..],
        &["models", "files", "Qwen/Qwen3-4B-GGUF"],
        &["models", "fit", "Qwen/Qwen3-4B-GGUF", "Q4_K_M"],
        &["models", "download", "Qwen/Qwen3-4B-GGUF"],
        &["models", "download", "qwen3-4b"],
    ] {
        let failed = world.run(arguments);
        assert_eq!(failed.code, 1, "{failed:?}");
        assert!(
            failed.err.contains("127.0.0.1 cannot be reached"),
            "{failed:?}"
        );
    }
    assert_eq!(world.run(&["models", "downloads"]).out, "");
    assert_eq!(world.run(&["models", "download", "no such model"]).code, 1);
}

#[test]
fn hub_settings_are_checked_and_hide_the_token() {
    let world = world();
    assert_eq!(
        world
            .run(&["models", "hub", "--address", "http://hub.example"])
            .code,
        1
    );
    let shown = world.run(&["models", "hub"]).out;
    assert!(
        shown.contains("hub http://127.0.0.1:9 (no access token)"),
        "{shown}"
    );
    assert!(
        world
            .run(&["models", "hub", "--address", ""])
            .out
            .contains("https://huggingface.co")
    );
}

#[test]
#[cfg_attr(windows, ignore = "Windows always has a credential store")]
fn token_without_a_keychain_is_said_and_given_again() {
    let world = world();
    let token = world.file("token", "hf_secret\n");
    let stored = world.run(&["models", "hub", "--token-from", &token]);
    assert!(
        stored.out.contains("an access token for this command"),
        "{stored:?}"
    );
    assert!(
        stored.err.contains("no keychain") && stored.err.contains("INGLENOOK_HUB_TOKEN"),
        "{stored:?}"
    );
    assert!(!format!("{stored:?}").contains("hf_secret"), "{stored:?}");
    assert!(
        world
            .run(&["models", "hub"])
            .out
            .contains("no access token")
    );
    let given = world
        .command(&["models", "hub"])
        .env("INGLENOOK_HUB_TOKEN", "hf_secret")
        .output()
        .unwrap();
    assert!(
        String::from_utf8_lossy(&given.stdout).contains("an access token for this command"),
        "{given:?}"
    );
}

#[test]
fn model_folders_are_added_and_forgotten() {
    let world = world();
    let folder = world.path("ggufs");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("page.gguf"), "<!DOCTYPE html>").unwrap();
    let name = folder.display().to_string();
    let added = world.run(&["models", "folders", "--add", &name]);
    assert!(
        added.code == 0 && added.out.contains("skipped") && added.out.contains("web page"),
        "{added:?}"
    );
    assert!(world.run(&["models", "folders"]).out.contains(&name));
    assert!(
        !world
            .run(&["models", "folders", "--forget", &name])
            .out
            .contains(&name)
    );
    assert_eq!(
        world
            .run(&["models", "folders", "--add", "/no/such/folder"])
            .code,
        1
    );
}
