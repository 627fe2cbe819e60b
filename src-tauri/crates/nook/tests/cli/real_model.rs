//! Tests of turns with the real worker and the default model.

use serde_json::{Value, json};

use crate::mcp::{Client, data, text};
use crate::talking::png;
use crate::world::{Done, World, card};

const SHORT: [&str; 5] = ["--json", "--max-tokens", "16", "--seed", "7"];

fn say(world: &World, args: &[&str]) -> Done {
    let done = world.run(&[&["chat"], args, &SHORT].concat());
    assert_eq!(done.code, 0, "{done:?}");
    done
}

fn number(value: &Value) -> u64 {
    value
        .as_u64()
        .unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn chats_with_a_card_file() {
    let world = World::with_model();
    let done = say(&world, &["--character", &png(&world), "--message", "Hello"]);
    let events = done.events();

    let tokens: Vec<_> = events
        .iter()
        .filter(|event| event["event"] == "token")
        .collect();
    assert!(tokens.len() > 1, "{done:?}");
    assert!(
        tokens
            .iter()
            .enumerate()
            .all(|(at, token)| token["seq"] == at),
        "{done:?}"
    );
    assert!(
        events.iter().any(|event| event["event"] == "prefill"),
        "{done:?}"
    );

    let end = events.last().unwrap();
    assert_eq!(end["event"], "end");
    let streamed: String = tokens
        .iter()
        .map(|token| token["text"].as_str().unwrap())
        .collect();
    assert_eq!(end["text"].as_str().unwrap(), streamed.trim_end());
    assert!(
        ["stop", "length"].contains(&end["reason"].as_str().unwrap()),
        "{end}"
    );
    let usage = &end["usage"];
    assert_eq!(
        number(&usage["prompt"]),
        number(&usage["reused"]) + number(&usage["evaluated"])
    );
    assert!(
        number(&usage["generated"]) > 0 && end["timings"]["first_text_ms"].is_number(),
        "{end}"
    );
}

#[test]
fn second_turn_evaluates_only_new_tokens() {
    let world = World::with_model();
    let file = world.file("mira.json", card("Mira Quay"));
    let args = [&["chat", "--character", &file][..], &SHORT].concat();
    let done = world.run_with_stdin(&args, "Hello\n\nAnd how are the lamps?\n");
    assert_eq!(done.code, 0, "{done:?}");
    let ends = done.ends();
    assert_eq!(ends.len(), 2, "{done:?}");
    let (first, second) = (&ends[0]["usage"], &ends[1]["usage"]);
    assert!(
        number(&second["reused"]) >= number(&first["prompt"]),
        "{second} after {first}"
    );
    // The reply's last token, its end, the new message and the next opening.
    assert!(number(&second["evaluated"]) < 40, "{second}");
    assert_eq!(ends[0]["chat"], ends[1]["chat"]);
}

#[test]
fn chat_continues_in_another_run() {
    let world = World::with_model();
    let file = world.file("mira.json", card("Mira Quay"));
    let first = say(&world, &["--character", &file, "--message", "Hello"])
        .ends()
        .remove(0);
    let chat = first["chat"].as_str().unwrap();
    let second = say(
        &world,
        &[
            "--character",
            &file,
            "--chat",
            chat,
            "--message",
            "Who are you?",
        ],
    )
    .ends()
    .remove(0);
    assert_eq!(second["chat"], chat);

    let shown = world.json(&["show", "chat", chat]);
    let messages = shown["page"]["messages"].as_array().unwrap();
    let texts: Vec<_> = messages
        .iter()
        .map(|message| message["swipes"][0]["text"].as_str().unwrap())
        .collect();
    let replies = [&first, &second].map(|end| end["text"].as_str().unwrap());
    assert_eq!(
        texts,
        [
            "You are late. The lamps are lit.",
            "Hello",
            replies[0],
            "Who are you?",
            replies[1]
        ]
    );
    let found = world.json(&["list", "characters"])["items"]
        .as_array()
        .unwrap()
        .clone();
    assert_eq!(
        found
            .iter()
            .filter(|one| one["name"] == "Mira Quay")
            .count(),
        1,
        "the same file was imported once"
    );
}

#[test]
fn another_run_evaluates_only_new_tokens() {
    let world = World::with_model();
    let file = world.file("mira.json", card("Mira Quay"));
    let first = say(&world, &["--character", &file, "--message", "Hello"])
        .ends()
        .remove(0);
    let chat = first["chat"].as_str().unwrap();
    let second = say(&world, &["--chat", chat, "--message", "Who are you?"])
        .ends()
        .remove(0);
    let (first, second) = (&first["usage"], &second["usage"]);
    assert!(
        number(&second["reused"]) >= number(&first["prompt"]),
        "{second} after {first}"
    );
    assert!(number(&second["evaluated"]) < 60, "{second}");
}

#[test]
fn preview_equals_the_sent_prompt() {
    let world = World::with_model();
    let file = world.file("mira.json", card("Mira Quay"));
    let chat = say(&world, &["--character", &file, "--message", "Hello"]).ends()[0]["chat"]
        .as_str()
        .unwrap()
        .to_owned();
    let preview = world.json(&["prompt", "--chat", &chat, "--message", "Is it cold?"]);

    let text: String = preview["segments"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["text"].as_str().unwrap())
        .collect();
    assert_eq!(preview["text"], text);
    assert!(
        text.contains("Is it cold?") && text.contains("lamplighter"),
        "{text}"
    );
    let block = &preview["blocks"][0];
    for field in [
        "id",
        "zone",
        "kind",
        "source",
        "reason",
        "tokens",
        "kept",
        "dropped_reason",
    ] {
        assert!(block.get(field).is_some(), "{field}: {block}");
    }
    assert!(
        block["source_text"]
            .as_str()
            .unwrap()
            .contains("${character.name}"),
        "{block}"
    );
    let filled = world.json(&[
        "prompt",
        "--chat",
        &chat,
        "--message",
        "Is it cold?",
        "--stage",
        "filled",
    ]);
    let removed = filled["parts"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|part| part["change"] == "removed");
    let removed: String = removed.map(|part| part["text"].as_str().unwrap()).collect();
    assert!(
        removed.contains("You are ${character.name}") && filled["before"] == "sources",
        "{filled}"
    );
    for field in ["total", "limit", "reserve", "by_zone"] {
        assert!(!preview["tokens"][field].is_null(), "{field}: {preview}");
    }
    assert_eq!(preview["tokens"]["exact"], true);
    assert_eq!(
        world.json(&["show", "chat", &chat])["page"]["messages"]
            .as_array()
            .unwrap()
            .len(),
        3,
        "nothing is stored"
    );

    let sent = say(&world, &["--chat", &chat, "--message", "Is it cold?"])
        .ends()
        .remove(0);
    assert_eq!(sent["usage"]["prompt"], preview["tokens"]["total"]);
}

#[test]
fn counts_tokens_of_a_file_and_stdin() {
    let world = World::with_model();
    let text = "Hello, lamplighter! 灯 <|im_end|>";
    let file = world.file("text.txt", text);
    let of_file = world.json(&[
        "tokens",
        "--model",
        "SmolLM2-135M-Instruct.Q4_1.gguf",
        "--ids",
        &file,
    ]);
    let of_stdin = world
        .run_with_stdin(&["tokens", "--ids", "--json"], text)
        .json();
    assert_eq!(of_file, of_stdin);
    assert_eq!(of_file["exact"], true);
    assert_eq!(
        number(&of_file["tokens"]),
        of_file["ids"].as_array().unwrap().len() as u64
    );
    let bad = world.file("latin1.txt", b"caf\xe9");
    world
        .run(&["tokens", &bad, "--json"])
        .assert_failed("badInput");
}

#[cfg(unix)]
mod signals {
    use rustix::process::Signal;

    use super::*;

    fn start(world: &World) -> crate::world::Running {
        let file = world.file("mira.json", card("Mira Quay"));
        let words = "Count from one to one hundred in words.";
        world.start(&[
            "chat",
            "--json",
            "--max-tokens",
            "2000",
            "--character",
            &file,
            "--message",
            words,
        ])
    }

    #[test]
    fn ctrl_c_stops_and_keeps_the_reply() {
        let world = World::with_model();
        let mut running = start(&world);
        running.event("token");
        running.signal(Signal::INT);
        let end = running.event("end");
        assert_eq!(end["reason"], "cancelled");
        assert_eq!(running.wait().code(), Some(1));
        let shown = world.json(&["show", "chat", end["chat"].as_str().unwrap()]);
        assert_eq!(
            shown["page"]["messages"][2]["swipes"][0]["text"],
            end["text"]
        );
        assert!(!end["text"].as_str().unwrap().is_empty());
    }

    #[test]
    fn sigterm_keeps_the_text_so_far() {
        let world = World::with_model();
        let mut running = start(&world);
        let token = running.event("token");
        running.signal(Signal::TERM);
        assert_eq!(running.wait().code(), Some(1));
        let shown = world.json(&["show", "chat", token["chat"].as_str().unwrap()]);
        let kept = shown["page"]["messages"][2]["swipes"][0]["text"]
            .as_str()
            .unwrap();
        assert!(
            kept.starts_with(token["text"].as_str().unwrap().trim_start()),
            "{kept:?} after {token}"
        );
    }

    #[test]
    fn exits_quietly_if_the_reader_closes_the_pipe() {
        let world = World::with_model();
        let mut running = start(&world);
        running.event("token");
        running.stop_reading();
        assert_eq!(running.wait().code(), Some(0));
        assert_eq!(
            world.json(&["list", "chats"])["items"][0]["message_count"],
            3,
            "the text so far is kept"
        );
    }
}

#[tokio::test]
async fn other_program_talks_to_a_character_over_mcp() {
    let world = World::with_model();
    world.json(&["import", &world.file("mira.json", card("Mira Quay"))]);
    world.json(&["set", "max_tokens", "16"]);
    let client = Client::start(&world).await;
    let first = client
        .call(
            "chat",
            json!({ "character": "Mira Quay", "message": "Hello" }),
        )
        .await;
    let chat = data(&first)["chat"].as_str().unwrap().to_owned();
    assert!(
        !data(&first)["reply"].as_str().unwrap().is_empty(),
        "{first:?}"
    );
    assert!(
        text(&first).ends_with(&format!("[To continue, pass this chat: {chat}]")),
        "{first:?}"
    );
    let next = json!({ "character": "Mira Quay", "message": "Is the lamp lit?", "chat": chat });
    assert_eq!(
        data(&client.call("chat", next).await)["chat"],
        chat.as_str()
    );
    assert_eq!(client.end().await, 0);
    let shown = world.json(&["show", "chat", &chat]);
    assert_eq!(shown["page"]["messages"].as_array().unwrap().len(), 5);
}
