//! Tests of turns without a model.

use crate::world::{World, card};

/// Writes a card as a PNG file.
pub(crate) fn png(world: &World) -> String {
    let maker = World::without_model();
    maker.json(&["import", &maker.file("mira.json", card("Mira Quay"))]);
    let out = world.path("mira.png").to_str().unwrap().to_owned();
    maker.json(&[
        "export",
        "character",
        "Mira Quay",
        "--as",
        "png",
        "--out",
        &out,
    ]);
    out
}

#[test]
fn sends_a_picture_with_the_first_message() {
    let world = World::without_model();
    let (file, picture) = (world.file("mira.json", card("Mira Quay")), png(&world));
    let args = [
        "--json",
        "chat",
        "--character",
        &file,
        "--message",
        "Look.",
        "--image",
    ];
    world
        .run(&[&args[..], &[world.path("gone.png").to_str().unwrap()]].concat())
        .assert_failed("badInput");
    world
        .run(&[&args[..], &[&world.file("words.png", "no picture")]].concat())
        .assert_failed("badInput");
    let done = world.run(&[&args[..], &[&picture, "--image", &picture]].concat());
    assert_eq!(done.ends()[0]["error"]["kind"], "noModel", "{done:?}");
    let shown = world.json(&["show", "chat", "Mira Quay"]);
    let messages = shown["page"]["messages"].as_array().unwrap();
    let names: Vec<_> = messages[1]["pictures"]
        .as_array()
        .unwrap()
        .iter()
        .map(|picture| picture["name"].as_str().unwrap())
        .collect();
    assert_eq!((messages.len(), names), (2, vec!["mira.png", "mira.png"]));
}

#[test]
fn keeps_the_message_without_a_model() {
    let world = World::without_model();
    let file = world.file("mira.json", card("Mira Quay"));
    let done = world.run(&["chat", "--character", &file, "--message", "Hello", "--json"]);
    assert_eq!(done.code, 1, "{done:?}");
    let end = done.ends().remove(0);
    assert_eq!(
        (&end["reason"], &end["error"]["kind"]),
        (&"failed".into(), &"noModel".into()),
        "{end}"
    );
    let shown = world.json(&["show", "chat", end["chat"].as_str().unwrap()]);
    assert_eq!(shown["page"]["messages"][1]["swipes"][0]["text"], "Hello");
}

#[test]
fn unknown_name_creates_no_chat() {
    let world = World::without_model();
    let file = world.file("mira.json", card("Mira Quay"));
    let before = world.json(&["list", "chats"]);
    for (args, kind) in [
        (
            vec!["--character", &file, "--persona", "Nobody"],
            "notFound",
        ),
        (vec!["--character", &file, "--model", "none"], "notFound"),
        (vec!["--character", &file, "--endpoint", "none"], "notFound"),
        (vec!["--character", "Nobody"], "notFound"),
        (vec!["--chat", "none"], "notFound"),
    ] {
        world
            .run(&[&["chat", "--message", "Hello", "--json"], &args[..]].concat())
            .assert_failed(kind);
    }
    assert_eq!(world.json(&["list", "chats"]), before);
    world
        .run(&["models", "tokenizer", "none", &file, "--json"])
        .assert_failed("notFound");
}
