//! Tests of carriage returns, and of macros in the head of the prompt.

use engine::api::{EndReason, SettingOwner, SettingValue, WhatIf};
use serde_json::json;
use tests::headless::Headless;

/// All texts of the last request to the model.
fn sent(app: &Headless) -> String {
    let request = app.model.last_request().unwrap();
    let texts = request
        .prompt
        .messages
        .iter()
        .map(|message| message.text.as_str());
    texts
        .chain(request.prompt.stop.iter().map(String::as_str))
        .collect::<Vec<_>>()
        .join("\n")
}

#[tokio::test]
async fn carriage_returns_never_reach_a_model() {
    let app = Headless::new().await;
    let lines = |name: &str| format!("{name} one\r\n{name} two\r{name} three\r\n\r\n{name} four");
    let card = json!({ "spec": "chara_card_v3", "spec_version": "3.0", "data": {
        "name": "Ada", "description": lines("DESCRIPTION"), "personality": lines("PERSONALITY"),
        "scenario": lines("SCENARIO"), "first_mes": lines("GREETING"),
        "mes_example": "<START>\r\n{{user}}: Hi\r\n<START>\r\n{{char}}: Bye", "creator_notes": "",
        "system_prompt": lines("SYSTEM"), "post_history_instructions": lines("AFTER"),
        "alternate_greetings": [], "tags": [], "creator": "", "character_version": "1", "group_only_greetings": [],
        "extensions": { "depth_prompt": { "prompt": lines("DEPTH"), "depth": 1, "role": "system" } },
        "character_book": { "extensions": {}, "entries": [
            { "keys": ["lamp\r\n"], "content": lines("LORE"), "extensions": {}, "enabled": true, "insertion_order": 1 },
            { "keys": [], "content": lines("ALWAYS"), "constant": true, "extensions": {}, "enabled": true,
              "insertion_order": 2 },
        ] } } });
    let report = app
        .engine
        .import_bytes("ada.json".into(), card.to_string().into_bytes())
        .await
        .unwrap();
    let ada = report.imported[0].id.parse().unwrap();
    let chat = app.engine.new_chat(ada).await.unwrap().id;
    let owner = SettingOwner::Chat { id: chat };
    for key in ["author_note", "extra_instructions", "reminder"] {
        let value = Some(SettingValue::Text(lines(key)));
        app.engine
            .set_setting(owner.clone(), key.into(), value)
            .await
            .unwrap();
    }
    app.model
        .reply("A reply\r\nof two lines.")
        .reply("Another.");
    app.send(chat, "The lamp\r\nburns.").await;
    let planned = app
        .engine
        .preview_prompt(chat, "More\rwords.".into(), WhatIf::default())
        .await
        .unwrap();
    assert!(!planned.text.contains('\r'), "{:?}", planned.text);
    let (_, reason) = app.send(chat, "More\rwords.").await;
    assert_eq!(reason, EndReason::Stop);
    let sent = sent(&app);
    assert!(!sent.contains('\r'), "{sent:?}");
    for name in [
        "DESCRIPTION",
        "PERSONALITY",
        "SCENARIO",
        "GREETING",
        "SYSTEM",
        "AFTER",
        "DEPTH",
        "ALWAYS",
    ] {
        assert!(
            sent.contains(&format!("{name} one\n{name} two\n{name} three")),
            "{name} in {sent:?}"
        );
    }

    assert!(
        sent.contains("- LORE one\n  LORE two\n  LORE three"),
        "{sent:?}"
    );

    let kept = app.engine.get_character(ada).await.unwrap();
    assert_eq!(
        kept.fields.description,
        lines("DESCRIPTION"),
        "the stored card keeps them"
    );
}

#[tokio::test]
async fn examples_stay_apart() {
    let app = Headless::new().await;
    let card = json!({ "spec": "chara_card_v2", "spec_version": "2.0", "data": {
        "name": "Ada", "description": "Keeps lamps.", "first_mes": "Hello.",
        "mes_example": "<START>\nAda: Mind the step.\n<START>\nAda: Oil is dear." } });
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
    app.send(chat, "Hi.").await;
    assert!(
        sent(&app).contains("Ada: Mind the step.\n\nAda: Oil is dear."),
        "{}",
        sent(&app)
    );
}

/// The head stays unchanged until the epoch ends. Its macros show the last message at the start of
/// the epoch.
#[tokio::test]
async fn head_macros_are_fixed_for_the_epoch() {
    let app = Headless::new().await;
    let card = json!({ "spec": "chara_card_v2", "spec_version": "2.0", "data": {
        "name": "Ada", "description": "Last said: [{{lastMessage}}]", "first_mes": "Hello.", "mes_example": "" } });
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
    app.send(chat, "Good evening.").await;
    let first = sent(&app);
    assert!(
        first.contains("Last said: [Hello.]") || first.contains("Last said: [Good evening.]"),
        "{first}"
    );
}
