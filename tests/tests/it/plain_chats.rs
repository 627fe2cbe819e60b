//! A chat without any optional feature: its prompt and its stored data.

use std::collections::HashSet;

use domain::ChatId;
use domain::prompt::PromptRole;
use engine::api::{SettingOwner, SettingValue, WhatIf};
use rusqlite::Connection;
use rusqlite::types::ValueRef;
use serde_json::{Value, json};
use tests::headless::Headless;

/// A character with two lines of text, and a chat without optional features.
async fn plain() -> (Headless, ChatId) {
    knowing(&[]).await
}

/// Like [`plain`], with a lorebook of these entries: key and text.
async fn knowing(things: &[(&str, &str)]) -> (Headless, ChatId) {
    let app = Headless::new().await;
    let entry = |(keyword, text): &(&str, &str)| json!({ "keys": [keyword], "content": text, "enabled": true, "insertion_order": 1, "extensions": {} });
    let entries: Vec<Value> = things.iter().map(entry).collect();
    let card = json!({
        "spec": "chara_card_v2", "spec_version": "2.0",
        "data": {
            "name": "Ada", "description": "Ada keeps the lighthouse.", "personality": "", "scenario": "",
            "first_mes": "Evening.", "mes_example": "", "creator_notes": "", "system_prompt": "",
            "post_history_instructions": "", "alternate_greetings": [], "tags": [], "creator": "",
            "character_version": "", "extensions": {},
            "character_book": { "extensions": {}, "entries": entries }
        }
    });
    let report = app
        .engine
        .import_bytes("ada.json".into(), card.to_string().into_bytes())
        .await
        .unwrap();
    let chat = app
        .engine
        .new_chat(report.imported[0].id.parse().unwrap())
        .await
        .unwrap()
        .id;
    for optional in ["memory", "tell_time"] {
        let owner = SettingOwner::Chat { id: chat };
        app.engine
            .set_setting(owner, optional.into(), Some(SettingValue::Switch(false)))
            .await
            .unwrap();
    }
    (app, chat)
}

/// The prompt consists of rules, history and the message only.
#[tokio::test]
async fn minimal_prompt_is_rules_history_and_message() {
    let (app, chat) = plain().await;
    app.model.reply("Warm enough.");
    app.send(chat, "Is it warm up here?").await;
    app.model.reply("Always.");
    app.send(chat, "And bright?").await;
    let prompt = app.model.last_request().unwrap().prompt;
    let [rules, said @ ..] = &prompt.messages[..] else {
        panic!("an empty prompt")
    };
    assert_eq!(rules.role, PromptRole::System);
    assert!(
        rules.text.contains("Ada keeps the lighthouse."),
        "{}",
        rules.text
    );
    let said: Vec<_> = said
        .iter()
        .map(|message| (message.role, message.text.as_str()))
        .collect();
    assert_eq!(
        said,
        [
            (PromptRole::Character, "Evening."),
            (PromptRole::User, "Is it warm up here?"),
            (PromptRole::Character, "Warm enough."),
            (PromptRole::User, "And bright?"),
        ]
    );
}

/// Each block of the prompt (system, lore, history, message) has a kind, source, priority and token
/// count.
#[tokio::test]
async fn blocks_have_kind_source_priority_and_tokens() {
    let (app, chat) = knowing(&[("lamp", "The lamp burns whale oil.")]).await;
    let report = app
        .engine
        .preview_prompt(chat, "Is the lamp lit?".into(), WhatIf::default())
        .await
        .unwrap();
    let report = serde_json::to_value(&report).unwrap();
    let blocks = report["blocks"].as_array().unwrap();
    let part = |block: &Value| {
        assert!(
            block["tokens"].as_u64().is_some_and(|tokens| tokens > 0),
            "{block}"
        );
        let text = |field: &str| block[field].as_str().unwrap_or_default().to_owned();
        [text("zone"), text("kind"), text("source"), text("priority")].join(" | ")
    };
    assert_eq!(
        blocks.iter().map(part).collect::<Vec<_>>(),
        [
            "head | rules | section identity of base-roleplay | must",
            "head | rules | section rules of base-roleplay | must",
            "head | description | card of Ada | must",
            "head | section | section perspective of base-roleplay | must",
            "window | message | said by Ada | trimmable",
            "input | lore | lorebook Ada: 0 | trimmable",
            "input | message | said by Traveller | must",
        ]
    );
    let ids: HashSet<&str> = blocks
        .iter()
        .filter_map(|block| block["id"].as_str())
        .collect();
    assert_eq!(ids.len(), blocks.len(), "each block has a unique key");
}

/// Role names of providers are not stored.
#[tokio::test]
async fn stored_data_never_says_assistant() {
    let (app, chat) = plain().await;
    for turn in 0..5 {
        app.model.reply("The lamp turns.");
        app.send(chat, &format!("Turn {turn}.")).await;
    }
    let folder = app.dir.path().to_owned();
    app.restart_after(|_| {
        let database = Connection::open(folder.join("inglenook.db")).unwrap();
        let roles: Vec<String> =
            texts(&database, "SELECT DISTINCT role FROM message ORDER BY role");
        assert_eq!(roles, ["character", "user"]);
        for table in texts(
            &database,
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '%fts%'",
        ) {
            let kept = texts(&database, &format!("SELECT * FROM \"{table}\""));
            let foreign = kept
                .iter()
                .find(|text| *text == "assistant" || text.contains("\"assistant\""));
            assert_eq!(foreign, None, "in {table}");
        }
    })
    .await;
}

/// Returns the texts of all columns of the rows.
fn texts(database: &Connection, query: &str) -> Vec<String> {
    let mut statement = database.prepare(query).unwrap();
    let columns = statement.column_count();
    let mut rows = statement.query([]).unwrap();
    let mut found = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        for column in 0..columns {
            if let ValueRef::Text(text) = row.get_ref(column).unwrap() {
                found.push(String::from_utf8_lossy(text).into_owned());
            }
        }
    }
    found
}
