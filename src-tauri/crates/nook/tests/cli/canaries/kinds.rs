//! Stores a text of each kind of content, by the ways that users have.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::aviary::Aviary;
use super::cards;
use super::readable::canary;
use crate::scripted_endpoint;

/// Kinds that no file may have at any time: values of the keychain, and texts that were purged.
pub(super) const NEVER: [&str; 3] = ["headervalue", "toolvalue", "purged"];

/// Settings with a text, each with its kind.
const SETTINGS: [(&str, &str); 10] = [
    ("author_note", "authornote"),
    ("character_note", "characternote"),
    ("extra_instructions", "extrainstructions"),
    ("reminder", "reminder"),
    ("stop_strings", "stop"),
    ("scene", "scene"),
    ("setting", "setting"),
    ("session_goal", "goal"),
    ("details", "details"),
    ("random_tables", "tables"),
];

/// Scopes of memories, each with its kind.
const SCOPES: [(&str, &str); 3] = [
    ("profile", "profilememory"),
    ("character", "charactermemory"),
    ("pair", "memory"),
];

/// Stores a text of each kind. Returns the chat.
pub(super) fn fill(aviary: &Aviary) -> String {
    purge_a_card(aviary);
    let imported = aviary.import("card.json", cards::card().to_string());
    let character = imported["imported"][0]["id"].as_str().unwrap().to_owned();
    let chat = aviary.call("new_chat", &json!({ "character": character }));
    let chat = chat["id"].as_str().unwrap().to_owned();
    fill_chat(aviary, &chat);
    for (operation, arguments) in calls(&chat, &character) {
        aviary.call(operation, &arguments);
    }
    import_files(aviary);
    fill_library(aviary, &character);
    fill_servers(aviary);
    for (key, kind) in SETTINGS {
        let value = format!("lamp: {}; oil", canary(kind));
        aviary.json(&["set", key, &value]);
    }
    chat
}

/// The text of a card that is deleted for good.
fn purge_a_card(aviary: &Aviary) {
    aviary.import("gone.json", cards::small_card("Gone", &canary("purged")));
    aviary.json(&["delete", "character", "Gone"]);
    aviary.json(&["trash", "--empty", "--backups"]);
}

fn fill_chat(aviary: &Aviary, chat: &str) {
    let message = canary("message");
    // No model answers, and the message stays.
    aviary.run(&["chat", "--chat", chat, "--message", &message]);
    let shown = aviary.json(&["show", "chat", chat]);
    let sent = &shown["page"]["messages"][1]["id"];
    for kind in ["edited", "editedagain"] {
        let edit = json!({ "message": sent, "text": canary(kind) });
        aviary.call("edit_message", &edit);
    }
    let file = format!("imports/{}.png", canary("picturename"));
    let file = aviary.world.file(&file, cards::picture("attachment"));
    let looking = canary("looking");
    aviary.run(&[
        "chat",
        "--chat",
        chat,
        "--message",
        &looking,
        "--image",
        &file,
    ]);
    aviary.json(&["story", "checkpoint", chat, &canary("checkpoint")]);
    aviary.json(&["story", "branch", chat, "--title", &canary("branch")]);
}

/// Operations that store a text.
fn calls(chat: &str, character: &str) -> Vec<(&'static str, Value)> {
    [
        chat_calls(chat),
        character_calls(character),
        library_calls(),
    ]
    .concat()
}

fn chat_calls(chat: &str) -> Vec<(&'static str, Value)> {
    let place = json!({ "kind": "hint", "owner": chat, "target": "" });
    vec![
        (
            "rename_chat",
            json!({ "id": chat, "title": canary("title") }),
        ),
        (
            "save_draft",
            json!({ "chat": chat, "text": canary("composer") }),
        ),
        (
            "write_draft",
            json!({ "place": place, "text": canary("draft"), "base": "", "before": null }),
        ),
        (
            "set_chat_text",
            json!({ "chat": chat, "field": "scenario", "text": canary("chattext") }),
        ),
        (
            "attach_document",
            document("chat", chat, "documentname", "document"),
        ),
    ]
}

fn character_calls(character: &str) -> Vec<(&'static str, Value)> {
    let file = canary("assetname") + ".txt";
    let sprite = canary("expressionname") + ".png";
    vec![
        (
            "attach_document",
            document("character", character, "carddocumentname", "carddocument"),
        ),
        (
            "add_card_asset",
            json!({
                "character": character, "kind": "other", "file": file,
                "data": STANDARD.encode(canary("assetbytes")),
            }),
        ),
        (
            "add_card_asset",
            json!({
                "character": character, "kind": "emotion", "file": sprite,
                "data": STANDARD.encode(cards::picture("expression")),
            }),
        ),
    ]
}

fn library_calls() -> Vec<(&'static str, Value)> {
    let refused = json!({
        "file": canary("reportfile"), "kind": "unreadable", "reason": canary("reportreason"),
    });
    let jinja = canary("jinja") + "{% for m in messages %}{{ m.content }}{% endfor %}";
    vec![
        (
            "save_page_value",
            json!({ "key": "palette", "value": canary("pagevalue") }),
        ),
        ("create_lorebook", json!({ "name": canary("emptybook") })),
        (
            "save_mode",
            json!({ "mode": {
                "name": canary("mode"), "text": canary("modetext"), "builtIn": false, "changed": false,
            }}),
        ),
        (
            "save_chat_format",
            json!({ "format": {
                "id": "", "name": canary("format"), "jinja": jinja, "stop": [canary("formatstop")],
                "builtIn": false,
            }}),
        ),
        (
            "save_sampler_preset",
            json!({ "preset": {
                "id": "", "name": canary("sampler"), "builtIn": false, "values": { "temperature": 0.5 },
            }}),
        ),
        (
            "save_quick_replies",
            json!({ "form": { "id": null, "name": canary("replyset"), "replies": [{
                "from": null, "label": canary("replylabel"), "title": canary("replytitle"),
                "message": canary("replytext"), "hidden": false,
            }]}}),
        ),
        (
            "keep_import_report",
            json!({ "report": { "imported": [], "skipped": [], "refused": [refused] } }),
        ),
        (
            "add_background",
            json!({
                "name": canary("background") + ".png",
                "data": STANDARD.encode(cards::picture("backgroundpicture")),
            }),
        ),
    ]
}

/// The arguments that attach a document.
fn document(of: &str, owner: &str, name: &str, content: &str) -> Value {
    json!({
        "owner": { "of": of, "id": owner },
        "name": canary(name) + ".txt",
        "data": STANDARD.encode(canary(content)),
    })
}

fn import_files(aviary: &Aviary) {
    let preset = json!({ "temp": 0.87, "top_p": 0.99, "tfs": 0.9 });
    for (name, content) in [
        (canary("chatfile") + ".jsonl", cards::chat_file()),
        (canary("world") + ".json", cards::lorebook()),
        ("script.json".to_owned(), cards::regex_script()),
        (canary("preset") + ".json", preset.to_string()),
        ("bo.json".to_owned(), cards::small_card("Bo", "Tall.")),
        (
            "trash.json".to_owned(),
            cards::small_card("Ann", &canary("trashed")),
        ),
    ] {
        aviary.import(&name, content);
    }
    aviary.json(&["delete", "character", "Ann"]);
}

fn fill_library(aviary: &Aviary, character: &str) {
    let name = canary("cardname");
    for (scope, kind) in SCOPES {
        let text = canary(kind);
        aviary.json(&[
            "memory",
            "add",
            "--character",
            &name,
            "--scope",
            scope,
            &text,
        ]);
    }
    let tag = canary("foldertag");
    aviary.json(&["folders", "add", &canary("folder"), "--tag", &tag]);
    let title = canary("group");
    aviary.json(&["group", "create", character, "Bo", "--title", &title]);
    let persona = aviary.call(
        "save_persona",
        &json!({ "persona": {
            "id": null, "name": canary("persona"), "description": canary("personatext"),
            "instructions": canary("instructions"),
            "place": { "position": "template", "depth": 2, "role": "system" },
        }}),
    );
    aviary.call(
        "set_persona_picture",
        &json!({ "id": persona["id"], "data": STANDARD.encode(cards::picture("personapicture")) }),
    );
}

/// Servers, and a turn with one of them.
fn fill_servers(aviary: &Aviary) {
    let url = scripted_endpoint::start_thinking(&canary("thoughts"), &canary("reply"));
    add_endpoint(aviary, "endpoint", &url);
    let quiet = format!("http://127.0.0.1:1/{}/v1", canary("address"));
    aviary.call(
        "save_endpoint",
        &json!({ "draft": {
            "id": null, "name": canary("quietendpoint"), "url": quiet, "model": canary("quietmodel"),
            "context": 8_192, "key": null,
            "headers": [{ "name": "X-Lamp", "value": canary("headervalue") }],
        }}),
    );
    let url = format!("http://127.0.0.1:1/{}", canary("tooladdress"));
    aviary.json(&["tool-servers", "add", &canary("toolserver"), "--url", &url]);
    let pasted = aviary.world.file("imports/mcp.json", cards::tool_servers());
    aviary.json(&["tool-servers", "paste", &pasted]);
    aviary.json(&["api-key", "add", &canary("apikey")]);
    aviary.say(["--character", &canary("cardname")], &canary("asked"));
}

/// Adds an endpoint that is named after its kind.
pub(super) fn add_endpoint(aviary: &Aviary, kind: &str, url: &str) {
    aviary.json(&[
        "endpoints",
        "add",
        "--url",
        url,
        "--name",
        &canary(kind),
        "--model",
        &canary("model"),
    ]);
}
