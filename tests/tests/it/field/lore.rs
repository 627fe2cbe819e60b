//! Lorebooks: entries that exceed the budget, word stems, and entries of wrong types.

use domain::ChatId;
use engine::api::{SettingOwner, SettingValue, WhatIf};
use serde_json::{Value, json};
use tests::headless::Headless;

fn entry(keys: &[&str], content: &str, order: i64) -> Value {
    json!({ "keys": keys, "content": content, "enabled": true, "constant": keys.is_empty(), "insertion_order": order,
        "extensions": {} })
}

async fn chat_with(app: &Headless, entries: Value) -> (ChatId, Vec<String>) {
    let card = json!({ "spec": "chara_card_v2", "spec_version": "2.0", "data": {
        "name": "Miller", "description": "A miller.", "first_mes": "Hello.", "extensions": {},
        "character_book": { "extensions": {}, "entries": entries } } });
    let report = app
        .engine
        .import_bytes("miller.json".into(), card.to_string().into_bytes())
        .await
        .unwrap();
    let miller = &report.imported[0];
    (
        app.engine
            .new_chat(miller.id.parse().unwrap())
            .await
            .unwrap()
            .id,
        miller.warnings.clone(),
    )
}

fn sent(app: &Headless) -> String {
    let request = app.model.last_request().unwrap();
    request
        .prompt
        .messages
        .iter()
        .map(|message| message.text.as_str())
        .collect::<Vec<_>>()
        .join("\n")
}

#[tokio::test]
async fn entry_without_room_is_reported() {
    let app = Headless::new().await;
    let big = format!("BIG {}", "mill and flour. ".repeat(900));
    let entries = json!([
        entry(&[], &big, 100),
        entry(&[], "SMALL-CONST", 50),
        entry(&["flour"], "SMALL-KEY", 10)
    ]);
    let (chat, _) = chat_with(&app, entries).await;
    app.send(chat, "Is there flour?").await;
    let sent = sent(&app);
    assert!(
        sent.contains("SMALL-CONST") && sent.contains("SMALL-KEY") && !sent.contains("BIG"),
        "{sent}"
    );

    let report = app
        .engine
        .preview_prompt(chat, "More flour!".into(), WhatIf::default())
        .await
        .unwrap();
    assert!(
        report
            .notices
            .iter()
            .any(|notice| notice.contains("over the token limit")),
        "{:?}",
        report.notices
    );
    let row = report
        .blocks
        .iter()
        .find(|block| block.text.starts_with("BIG"))
        .unwrap();
    assert!(
        !row.kept && row.dropped_reason.is_some() && row.tokens > 1_000,
        "{row:?}"
    );

    let trial = app
        .engine
        .try_lore(None, "Flour!".into(), Some(chat))
        .await
        .unwrap();
    assert!(
        trial.overflowed
            && trial
                .notices
                .iter()
                .any(|notice| notice.contains("over the token limit")),
        "{trial:?}"
    );
    assert_eq!(
        trial
            .silent
            .iter()
            .map(|entry| entry.rule.as_str())
            .collect::<Vec<_>>(),
        ["budget"]
    );
}

#[tokio::test]
async fn word_stems_match_if_enabled() {
    let app = Headless::new().await;
    let (chat, _) = chat_with(
        &app,
        json!([
            entry(&["мельниц"], "STEMHIT", 1),
            entry(&["мельница"], "FULLHIT", 1)
        ]),
    )
    .await;
    let hits = async |key: &str, value: SettingValue| {
        let owner = SettingOwner::Chat { id: chat };
        app.engine
            .set_setting(owner.clone(), key.into(), Some(value))
            .await
            .unwrap();
        let trial = app
            .engine
            .try_lore(None, "Где мельница?".into(), Some(chat))
            .await
            .unwrap();
        app.engine
            .set_setting(owner, key.into(), None)
            .await
            .unwrap();
        let mut told: Vec<String> = trial.told.into_iter().map(|entry| entry.text).collect();
        told.sort();
        told.join(" ")
    };
    assert_eq!(
        hits("lore_profile", SettingValue::Text("corrected".into())).await,
        "FULLHIT"
    );
    assert_eq!(
        hits("lore_profile", SettingValue::Text("compatible".into())).await,
        "FULLHIT STEMHIT"
    );
    assert_eq!(
        hits("lore_whole_words", SettingValue::Switch(false)).await,
        "FULLHIT STEMHIT"
    );
    assert_eq!(hits("lore_scan_depth", SettingValue::Whole(0)).await, "");
}

#[tokio::test]
async fn entries_of_wrong_types_are_reported() {
    let app = Headless::new().await;
    let entries = json!([entry(&["oil"], "OIL", 1), "not an object", null, { "keys": [1984, null, "lamp"],
        "content": "LAMP", "enabled": true, "insertion_order": "10", "extensions": null }]);
    let (chat, warnings) = chat_with(&app, entries).await;
    assert_eq!(
        warnings
            .iter()
            .filter(|warning| warning.starts_with("its lorebook: entry"))
            .count(),
        2,
        "{warnings:?}"
    );
    app.send(chat, "Oil for the lamp of 1984.").await;
    assert!(
        sent(&app).contains("OIL") && sent(&app).contains("LAMP"),
        "{}",
        sent(&app)
    );
}
