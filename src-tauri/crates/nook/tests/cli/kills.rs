//! Tests of a program that is killed during a reply.

use crate::world::{World, card};

/// Number of kills. Other tests kill the program on Linux more often.
const KILLS: usize = if cfg!(windows) { 30 } else { 3 };

#[test]
fn no_acknowledged_message_is_lost() {
    let world = World::with_model();
    let file = world.file("mira.json", card("Mira Quay"));
    let mut chat = String::new();
    let mut said = Vec::new();
    for kill in 0..KILLS {
        let words = format!("Message {kill}: count from one to one hundred in words.");
        let mut arguments = vec![
            "chat",
            "--json",
            "--max-tokens",
            "2000",
            "--character",
            &file,
        ];
        if !chat.is_empty() {
            arguments.extend(["--chat", &chat]);
        }
        arguments.extend(["--message", &words]);
        let mut running = world.start(&arguments);
        // The first text of a reply comes after the message was stored. The kills come at several
        // places of the reply, some after its end.
        let token = running.event("token");
        for _ in 0..kill % 7 {
            running.line();
        }
        drop(running);
        chat = token["chat"].as_str().unwrap().to_owned();
        said.push(words);
    }
    let shown = world.json(&["show", "chat", &chat]);
    let messages = shown["page"]["messages"].as_array().unwrap();
    let of_user: Vec<_> = messages
        .iter()
        .filter(|message| message["role"] == "user")
        .map(|message| message["swipes"][0]["text"].as_str().unwrap())
        .collect();
    assert_eq!(of_user, said);
    assert_eq!(world.json(&["check"])["ok"], true);
}
