//! The `prompt` verb. No test contacts an endpoint.

use crate::world::{World, card};

/// A world with a card and a default endpoint.
fn world() -> World {
    let world = World::without_model();
    world.json(&["import", &world.file("mira.json", card("Mira Quay"))]);
    world.json(&[
        "endpoints",
        "add",
        "--url",
        "http://127.0.0.1:1/v1",
        "--name",
        "Shut",
        "--model",
        "m",
    ]);
    world.json(&["endpoints", "default", "Shut"]);
    world
}

#[test]
fn a_character_without_a_chat_shows_the_first_turn() {
    let world = world();
    let before = world.json(&["list", "chats"]);
    let first = world.run(&["prompt", "--character", "Mira Quay", "--message", "Hello"]);
    assert_eq!(first.code, 0, "{first:?}");
    let greeting = first
        .out
        .find("You are late. The lamps are lit.")
        .expect("the greeting");
    assert!(
        first.out.find("Hello").is_some_and(|at| at > greeting),
        "{first:?}"
    );
    assert!(
        !first.out.contains("Mind the step."),
        "one greeting is sent: {first:?}"
    );
    assert_eq!(world.json(&["list", "chats"]), before, "nothing is stored");

    // The turn fails, but its words are stored, so its prompt can be shown again.
    assert_eq!(
        world
            .run(&["chat", "--character", "Mira Quay", "--message", "Hello"])
            .code,
        1
    );
    let real = world.run(&["prompt", "--character", "Mira Quay"]);
    assert_eq!(first.out, real.out);
}

#[test]
fn a_version_of_a_reply_needs_a_chat() {
    let world = world();
    world
        .run(&[
            "prompt",
            "--character",
            "Mira Quay",
            "--regenerate",
            "--json",
        ])
        .assert_failed("notFound");
    world
        .run(&["prompt", "--character", "Nobody", "--json"])
        .assert_failed("notFound");
}
