//! Tests of exporting lorebooks and chats.

use serde_json::{Value, json};

use crate::world::{World, card};

fn with_book(name: &str) -> String {
    let mut card: Value = serde_json::from_str(&card(name)).unwrap();
    card["data"]["character_book"] = json!({
        "name": "Harbour", "extensions": {"own": 7},
        "entries": [
            {"keys": ["lamp"], "content": "The lamps burn whale oil.", "enabled": true, "insertion_order": 10, "extensions": {}, "id": 3},
            {"keys": ["fog"], "content": "Fog comes at four.", "enabled": false, "insertion_order": 20, "extensions": {}, "id": 4},
        ],
    });
    card.to_string()
}

fn export(world: &World, args: [&str; 2], form: &str) -> String {
    let out = world.path("out").to_str().unwrap().to_owned();
    let written = world.json(&["export", args[0], args[1], "--as", form, "--out", &out]);
    assert_eq!(
        (&written["file"], &written["bytes"]),
        (&json!(out), &json!(std::fs::metadata(&out).unwrap().len()))
    );
    std::fs::read_to_string(out).unwrap()
}

#[test]
fn lists_shows_and_exports_the_lorebook_of_a_card() {
    let world = World::without_model();
    world.json(&["import", &world.file("mira.json", with_book("Mira Quay"))]);
    world.json(&["import", &world.file("bo.json", card("Bo"))]);
    let books = world.json(&["list", "lorebooks"])["items"]
        .as_array()
        .unwrap()
        .clone();
    let book = books.iter().find(|book| book["name"] == "Harbour").unwrap();
    assert_eq!(
        (&book["character_name"], &book["entry_count"]),
        (&json!("Mira Quay"), &json!(2))
    );
    assert!(books.iter().all(|book| book["character_name"] != "Bo"));
    for name in ["harbour", "Mira Quay", book["id"].as_str().unwrap()] {
        let shown = world.json(&["show", "lorebook", name]);
        assert_eq!(
            shown["entries"][0]["content"], "The lamps burn whale oil.",
            "{name}"
        );
    }
    world
        .run(&["show", "lorebook", "Bo", "--json"])
        .assert_failed("notFound");

    let native: Value =
        serde_json::from_str(&export(&world, ["lorebook", "Harbour"], "native")).unwrap();
    let entries = native["entries"].as_object().unwrap();
    let keys: Vec<_> = entries
        .values()
        .map(|entry| (&entry["key"][0], entry["disable"] == true))
        .collect();
    assert_eq!(keys, [(&json!("lamp"), false), (&json!("fog"), true)]);
    let v3: Value = serde_json::from_str(&export(&world, ["lorebook", "Harbour"], "v3")).unwrap();
    assert_eq!(
        (&v3["spec"], &v3["data"]["extensions"]["own"]),
        (&json!("lorebook_v3"), &json!(7))
    );
    world
        .run(&[
            "export", "lorebook", "Harbour", "--as", "png", "--out", "x", "--json",
        ])
        .assert_failed("usage");
}

#[test]
fn exports_a_chat_in_every_format() {
    let world = World::without_model();
    let chat = world.json(&["list", "chats"])["items"][0].clone();
    let id = chat["id"].as_str().unwrap();
    let shown = world.json(&["show", "chat", id]);
    let greeting = &shown["page"]["messages"][0];
    let words = greeting["swipes"][0]["text"].as_str().unwrap();

    let lines = export(&world, ["chat", id], "jsonl");
    let lines: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(
        (&lines[0]["character_name"], &lines[0]["user_name"]),
        (&chat["character_name"], &json!("Traveller"))
    );
    let message = &lines[1];
    assert_eq!(
        (&message["mes"], &message["is_user"], &message["is_system"]),
        (&json!(words), &json!(false), &json!(false))
    );
    assert_eq!(
        message["swipes"].as_array().unwrap().len(),
        greeting["swipes"].as_array().unwrap().len()
    );
    assert_eq!(lines.len(), 2);

    let name = greeting["name"].as_str().unwrap();
    assert_eq!(
        export(&world, ["chat", id], "text"),
        format!("{name}: {}\n", words.trim_end())
    );
    let marked = export(&world, ["chat", id], "markdown");
    assert!(
        marked.starts_with("# ") && marked.contains(&format!("**{name}**\n\n")),
        "{marked}"
    );
    world
        .run(&[
            "export",
            "chat",
            "no such chat",
            "--as",
            "text",
            "--out",
            "x",
            "--json",
        ])
        .assert_failed("notFound");
}

/// Imports the file, exports what it became, imports that in another data folder, and exports it
/// again.
fn twice_exported(file: &str, kind: &str, name: &str, form: &str) -> (Value, Value) {
    let once = |file: &str| {
        let world = World::without_model();
        world.json(&["import", &world.file("file.json", file)]);
        export(&world, [kind, name], form)
    };
    let (first, second) = (once(file), once(&once(file)));
    let read = |text: &str| {
        let mut value: Value = serde_json::from_str(text).unwrap();
        value.as_object_mut().unwrap().remove("id");
        value
    };
    (read(&first), read(&second))
}

#[test]
fn scripts_replies_and_templates_come_back_the_same() {
    let script = json!({
        "id": "a", "scriptName": "Stars", "findRegex": "/\\*(.+?)\\*/g", "replaceString": "<i>$1</i>", "trimStrings": ["*"],
        "placement": [1, 2], "disabled": false, "markdownOnly": true, "promptOnly": false, "runOnEdit": true,
        "substituteRegex": 0, "minDepth": null, "maxDepth": 4,
    });
    let (first, second) = twice_exported(&script.to_string(), "script", "Stars", "sillytavern");
    assert_eq!(first, second);
    for (key, value) in script
        .as_object()
        .unwrap()
        .iter()
        .filter(|(key, _)| *key != "id")
    {
        assert_eq!(&first[key], value, "{key}");
    }

    let replies = json!({
        "version": 2, "name": "Quick", "qrList": [{"id": 1, "label": "Go on", "message": "/continue", "own": [1]}], "idIndex": 2,
    });
    let (first, second) = twice_exported(
        &replies.to_string(),
        "quick-replies",
        "Quick",
        "sillytavern",
    );
    assert_eq!((&first, &second), (&replies, &replies));

    let world = World::without_model();
    let built_in: Value =
        serde_json::from_str(&export(&world, ["template", "base-roleplay"], "json")).unwrap();
    let (first, second) = twice_exported(
        &built_in.to_string(),
        "template",
        built_in["name"].as_str().unwrap(),
        "json",
    );
    assert_eq!(first, second);
    world
        .run(&[
            "export", "template", "nothing", "--as", "json", "--out", "x", "--json",
        ])
        .assert_failed("notFound");
    world
        .run(&[
            "export", "script", "nothing", "--as", "json", "--out", "x", "--json",
        ])
        .assert_failed("usage");
}
