//! Tests of `story`, and of exports for people.

use serde_json::{Value, json};

use crate::world::World;

/// The id of the first chat, which has one message.
fn first_chat(world: &World) -> String {
    world.json(&["list", "chats"])["items"][0]["id"]
        .as_str()
        .unwrap()
        .to_owned()
}

fn texts(world: &World, chat: &str) -> Vec<Value> {
    let shown = world.json(&["show", "chat", chat]);
    shown["page"]["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["swipes"][0]["text"].clone())
        .collect()
}

/// The first chat with its greeting three times.
fn story(world: &World) -> String {
    let chat = first_chat(world);
    for copy in ["Copy 1", "Copy 2"] {
        world.json(&["story", "branch", &chat, "--title", copy]);
        let joined = world.json(&["story", "join", &chat, copy]);
        assert_eq!(
            joined["added"].as_array().unwrap().len(),
            1 + usize::from(copy == "Copy 2")
        );
    }
    chat
}

#[test]
fn branches_marks_and_shows_the_tree() {
    let world = World::without_model();
    let chat = first_chat(&world);
    let branch = world.json(&[
        "story",
        "branch",
        &chat,
        "--at",
        "1",
        "--title",
        "Elsewhere",
    ]);
    assert_eq!(branch["title"], "Elsewhere");
    let marks = world.json(&["story", "checkpoint", "Elsewhere", "The door"]);
    assert_eq!(
        (&marks["checkpoints"][0]["name"], &marks["origin"]["chat"]),
        (&json!("The door"), &json!(chat))
    );
    let tree = world.run(&["story", "tree", &chat]);
    assert!(
        tree.out.contains("#The door") && tree.out.contains("[Elsewhere]"),
        "{tree:?}"
    );
    let bare = world.json(&["story", "checkpoint", "Elsewhere", "--remove"]);
    assert_eq!(bare["checkpoints"], json!([]));
    world
        .run(&["story", "branch", &chat, "--at", "9", "--json"])
        .assert_failed("badInput");
    world
        .run(&["story", "branch", &chat, "--at", "0", "--json"])
        .assert_failed("badInput");
}

#[test]
fn splits_and_joins_a_chat() {
    let world = World::without_model();
    let chat = story(&world);
    let whole = texts(&world, &chat);
    assert!(whole.len() > 2);
    let split = world.json(&["story", "split", &chat, "--at", "2"]);
    let new = split["chat"]["id"].as_str().unwrap().to_owned();
    assert_eq!(
        (texts(&world, &chat).len(), texts(&world, &new).len()),
        (1, whole.len() - 1)
    );
    world.json(&["story", "join", &chat, &new]);
    assert_eq!(texts(&world, &chat), whole);
    world
        .run(&["story", "join", &chat, &chat, "--json"])
        .assert_failed("badInput");
}

#[test]
fn exports_a_chat_for_people() {
    let world = World::without_model();
    let chat = first_chat(&world);
    let out = world.path("chat.html").to_str().unwrap().to_owned();
    world.json(&[
        "export", "chat", &chat, "--as", "html", "--out", &out, "--times",
    ]);
    let page = std::fs::read_to_string(&out).unwrap();
    assert!(
        page.starts_with("<!doctype html>") && page.contains("<b dir=\"auto\">Mira</b>"),
        "{page}"
    );
    assert!(
        page.contains("<time>") && !page.contains("<script"),
        "{page}"
    );
    world.json(&[
        "export",
        "chat",
        &chat,
        "--as",
        "html",
        "--out",
        &out,
        "--no-names",
    ]);
    let bare = std::fs::read_to_string(&out).unwrap();
    assert!(
        !bare.contains("<b dir") && !bare.contains("<time>"),
        "{bare}"
    );
}

#[test]
fn chats_are_deleted_and_scenes_begun() {
    let world = World::without_model();
    let chat = first_chat(&world);
    world.json(&["story", "branch", &chat, "--title", "Elsewhere"]);
    assert_eq!(
        world.json(&["story", "scene", "Elsewhere", "The next day."])["chat"]
            .as_str()
            .unwrap()
            .len(),
        chat.len()
    );
    assert_eq!(texts(&world, "Elsewhere").last().unwrap(), "The next day.");
    world
        .run(&["story", "delete-version", "Elsewhere", "--json"])
        .assert_failed("badInput");
    let gone = world.json(&["delete", "chat", "Elsewhere"]);
    assert_eq!(gone["name"], "Elsewhere");
    assert_eq!(
        world.json(&["list", "chats"])["items"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    world.run(&["trash", "--restore", gone["id"].as_str().unwrap()]);
    assert_eq!(
        world.json(&["list", "chats"])["items"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    world
        .run(&["delete", "chat", "Nowhere", "--json"])
        .assert_failed("notFound");
}

#[test]
fn copies_have_names_that_can_be_used() {
    let world = World::without_model();
    let name = world.json(&["list", "characters"])["items"][0]["name"]
        .as_str()
        .unwrap()
        .to_owned();
    let copy = world.json(&["character", "duplicate", &name]);
    assert_eq!(copy["name"], format!("{name} (2)"));
    world.json(&["character", "versions", &name]);
    world.json(&["character", "versions", copy["name"].as_str().unwrap()]);
}
