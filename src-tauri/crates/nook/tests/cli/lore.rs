//! Tests of `lore test`.

use serde_json::json;

use crate::world::World;

const BOOK: &str = r#"{"entries": {
    "0": {"uid": 0, "key": ["lamp"], "content": "Whale oil burns.", "position": 0, "order": 100, "sticky": 3},
    "1": {"uid": 1, "key": ["whale"], "content": "They sing.", "position": 1},
    "2": {"uid": 2, "key": ["moon"], "content": "Far.", "position": 0},
    "x": "no entry"
}}"#;

const CHAT: &str = r#"{"user_name": "Tom", "character_name": "Mira", "chat_metadata": {}}
{"name": "Mira", "is_user": false, "mes": "Light the lamp."}
{"name": "Tom", "is_user": true, "mes": "Why?"}
{"name": "Mira", "is_user": false, "mes": "It is dark."}
"#;

#[test]
fn lore_test_reports_activations_and_reasons() {
    let world = World::without_model();
    let (book, chat) = (
        world.file("World.json", BOOK),
        world.file("chat.jsonl", CHAT),
    );
    let report = world.json(&[
        "lore", "test", "--book", &book, "--chat", &chat, "--at", "2",
    ]);
    assert_eq!(
        report["activated"][0],
        json!({
            "book": "World", "uid": 0, "pass": 0, "reason": "sticky", "key": null, "message": null,
            "position": "before_char", "depth": null, "outlet": null, "role": "system", "order": 100,
            "content": "Whale oil burns.", "tokens": 4, "sticky": true,
        })
    );
    assert_eq!(
        (
            &report["activated"][1]["uid"],
            &report["activated"][1]["pass"]
        ),
        (&json!(1), &json!(1))
    );
    assert_eq!(
        report["rejected"],
        json!([{ "book": "World", "uid": 2, "rule": "key_not_found" }])
    );
    assert_eq!(
        (
            &report["tokens"],
            &report["overflowed"],
            &report["counting"]
        ),
        (&json!(7), &json!(false), &json!("estimate"))
    );
    assert_eq!(report["skipped"].as_array().unwrap().len(), 1);
    assert!(!world.data_dir().exists());
}

#[test]
fn uses_the_lorebook_and_texts_of_a_card() {
    let world = World::without_model();
    let card = json!({"spec": "chara_card_v3", "spec_version": "3.0", "data": {
        "name": "Mira", "description": "", "first_mes": "Light the lamp.",
        "character_book": {"extensions": {}, "entries": [
            {"keys": ["{{user}}"], "content": "@@is_greeting 0\n{{char}} knows {{user}}.", "enabled": true,
             "insertion_order": 1, "extensions": {}, "use_regex": false},
        ]},
    }});
    let (card, chat) = (
        world.file("mira.json", card.to_string()),
        world.file("chat.jsonl", CHAT),
    );
    let settings = world.file(
        "settings.json",
        r#"{"world_info_settings": {"world_info_depth": 3}}"#,
    );
    let report = world.json(&[
        "lore",
        "test",
        "--card",
        &card,
        "--chat",
        &chat,
        "--settings",
        &settings,
    ]);
    assert_eq!(report["activated"][0]["content"], "Mira knows Tom.");
    assert_eq!(report["activated"][0]["message"], 1);
    let compatible = world.json(&[
        "lore",
        "test",
        "--card",
        &card,
        "--chat",
        &chat,
        "--profile",
        "compatible",
        "--seed",
        "3",
    ]);
    assert_eq!(compatible["activated"][0]["position"], "after_char");
}

#[test]
fn runs_recorded_cases_and_writes_results() {
    let world = World::without_model();
    let header = json!({"header": "cases", "entry_defaults": {"position": 0, "order": 100, "selective": true},
        "settings_defaults": {"depth": 2, "budget": 25}, "case_defaults": {"context": 400, "tokens": "words", "random": 0.5,
        "character": {"file": "m", "tags": []}, "texts": {}, "note": {"text": "", "interval": 1, "scan": false}, "injections": []}});
    let case = |id: &str, active: serde_json::Value| {
        json!({"id": id, "settings": {}, "active": {"global": ["A"]},
            "books": {"A": {"entries": {"0": {"uid": 0, "key": ["lamp"], "content": "oil"}}}},
            "chat": [{"name": "T", "is_user": true, "mes": "a lamp"}], "at": [{"n": 1}], "budget_tokens": 100,
            "expect": [{"active": active, "before": active, "note_inserted": true}]})
    };
    let lines = [header, case("a", json!(["A.0"])), case("b", json!([]))]
        .map(|line| line.to_string())
        .join("\n");
    let (vectors, out) = (world.file("cases.jsonl", lines), world.path("out.jsonl"));
    let done = world.run(&[
        "lore",
        "test",
        "--vectors",
        &vectors,
        "--out",
        out.to_str().unwrap(),
    ]);
    assert_eq!(
        (done.code, done.out.as_str()),
        (0, "1 of 2 cases agree; these differ: b\n")
    );
    let written = std::fs::read_to_string(out).unwrap();
    let first: serde_json::Value = serde_json::from_str(written.lines().next().unwrap()).unwrap();
    assert_eq!(
        (
            &first["id"],
            &first["budget_tokens"],
            &first["expect"][0]["active"]
        ),
        (&json!("a"), &json!(100), &json!(["A.0"]))
    );
}

#[test]
fn names_unreadable_files() {
    let world = World::without_model();
    let (book, chat) = (
        world.file("bad.json", "{ invalid"),
        world.file("chat.jsonl", CHAT),
    );
    let done = world.run(&["lore", "test", "--book", &book, "--chat", &chat]);
    assert_eq!(done.code, 1);
    assert!(
        done.err.contains("bad.json") && done.err.contains("not valid JSON, line 1"),
        "{done:?}"
    );
    let chat = world.file("chat.jsonl", "{\"mes\":\"x\"}\nnonsense\n");
    let book = world.file("World.json", BOOK);
    let done = world.run(&["lore", "test", "--book", &book, "--chat", &chat]);
    assert!(done.err.contains("line 2"), "{done:?}");
}
