//! Tests of `search`: groups of hits, in text and in JSON.

use serde_json::json;

use crate::world::{World, card};

#[test]
fn search_shows_its_groups() {
    let world = World::without_model();
    let file = world.file("Runa.json", card("Runa"));
    world.json(&["import", &file]);
    world.json(&[
        "memory",
        "add",
        "--character",
        "Runa",
        "Owns an obsidian mirror.",
    ]);
    let book = r#"{"name":"Coast","entries":{"7":{"uid":7,"comment":"The pit","content":"Obsidian is cut here."}}}"#;
    let file = world.file("coast.json", book);
    world.json(&["import", &file]);

    let found = world.json(&["search", "obsidian"]);
    let groups: Vec<_> = found["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| &group["kind"])
        .collect();
    assert_eq!(groups, [&json!("memories"), &json!("entries")]);
    assert_eq!(found["groups"][1]["items"][0]["place"]["entry"], "7");
    assert_eq!(found["messages"]["hits"], json!([]));

    let text = world.run(&["search", "obsidian"]).out;
    for line in [
        "Memories\n",
        "Lorebook entries\n",
        "The pit · Coast: Obsidian is cut here.",
    ] {
        assert!(text.contains(line), "{text}");
    }
    assert!(world.run(&["search", "zzzz"]).out.trim().is_empty());
}

#[test]
fn search_by_meaning_says_if_nothing_is_embedded() {
    let world = World::without_model();
    let done = world.run(&["search", "--meaning", "a warm evening"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.out.starts_with("Nothing is embedded"), "{done:?}");
}
