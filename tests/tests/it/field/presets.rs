//! Presets from the wild: with scripts, of any size, with unusual prompts.

use engine::api::Imported;
use serde_json::{Value, json};
use tests::headless::Headless;

async fn imported(app: &Headless, preset: Value) -> Vec<Imported> {
    let report = app
        .engine
        .import_bytes("Found.json".into(), preset.to_string().into_bytes())
        .await
        .unwrap();
    assert!(report.refused.is_empty(), "{report:?}");
    report.imported
}

fn told(imported: &[Imported]) -> String {
    imported
        .iter()
        .flat_map(|one| one.warnings.clone())
        .collect::<Vec<_>>()
        .join("\n")
}

#[tokio::test]
async fn scripts_in_a_preset_wait_for_permission() {
    let app = Headless::new().await;
    let script = json!({ "id": "1", "scriptName": "Hide", "findRegex": "/<x>.*?<\\/x>/gs", "replaceString": "",
        "trimStrings": [], "placement": [2], "disabled": false, "markdownOnly": true, "promptOnly": true });
    let imported = imported(
        &app,
        json!({ "temperature": 1, "extensions": { "regex_scripts": [script] },
            "prompts": [{ "identifier": "main", "name": "Main", "role": "system", "content": "Write." }],
            "prompt_order": [{ "character_id": 100_001, "order": [{ "identifier": "main", "enabled": true }] }] }),
    )
    .await;
    assert!(
        imported
            .iter()
            .any(|one| one.kind == "regexScript" && one.name == "Hide"),
        "{imported:?}"
    );
    assert!(
        told(&imported).contains("1 regex script comes with the preset, switched off"),
        "{}",
        told(&imported)
    );
    let scripts = app.engine.list_regex_scripts().await.unwrap();
    let json: Value = serde_json::from_str(&scripts[0].json).unwrap();
    assert_eq!(json["disabled"], true);
}

#[tokio::test]
async fn preset_size_is_limited_to_8_mebibytes() {
    let app = Headless::new().await;
    let preset = |bytes: usize| {
        json!({ "temperature": 1, "openai_max_context": 8_000,
            "prompts": [{ "identifier": "main", "name": "Main", "role": "system", "content": "x".repeat(bytes) }],
            "prompt_order": [{ "character_id": 100_001, "order": [{ "identifier": "main", "enabled": true }] }] })
    };
    let whole = imported(&app, preset(2 << 20)).await;
    let template = whole.iter().find(|one| one.kind == "template").unwrap();
    assert!(
        app.engine
            .list_templates()
            .await
            .unwrap()
            .iter()
            .any(|listed| listed.id == template.id)
    );
    let large = preset((8 << 20) + 1).to_string().into_bytes();
    let report = app
        .engine
        .import_bytes("Large.json".into(), large)
        .await
        .unwrap();
    assert!(
        report.refused[0]
            .reason
            .contains("the preset is larger than 8 MiB"),
        "{report:?}"
    );
}

#[tokio::test]
async fn reports_every_oddity_of_a_preset() {
    let app = Headless::new().await;
    let all = imported(
        &app,
        json!({ "temperature": 0.7, "logit_bias": [{ "text": "hm", "value": -5 }], "reasoning_effort": "high",
            "dry_sequence_breakers": "[\"~\"]", "sampler_order": [0, 1, 2, 3, 4, 5, 6], "negative_prompt": "no rain",
            "prompts": [
                { "identifier": "main", "name": "Main", "role": "system", "content": "You are {{char}}." },
                { "identifier": "chatHistory", "name": "Chat History", "system_prompt": true, "marker": true },
                { "identifier": "twin", "name": "First twin", "content": "FIRST", "role": "system" },
                { "identifier": "twin", "name": "Second twin", "content": "SECOND", "role": "user" },
                { "name": "Nameless", "content": "NO-ID" }, null],
            "prompt_order": [{ "character_id": 100_001, "order": [{ "identifier": "main", "enabled": true },
                { "identifier": "unknown-one", "enabled": true }, { "identifier": "twin", "enabled": true },
                { "identifier": "chatHistory", "enabled": false }] }] }),
    )
    .await;
    let told = told(&all);
    for part in [
        "prompt: Second twin: left out",
        "prompt: Nameless: it has no identifier",
        "unknown-one: there is no such prompt",
        "prompt: chatHistory: switched off",
        "prompts: 1 entries of the list",
        "reasoning_effort: ",
        "negative_prompt: ",
    ] {
        assert!(told.contains(part), "{part} in {told}");
    }

    let template = all
        .iter()
        .find(|one| one.kind == "template")
        .unwrap()
        .id
        .clone();
    let chat = app.first_chat().await.id;
    let options = engine::TurnOptions {
        template: Some(template),
        ..Default::default()
    };
    app.engine
        .send_with(chat, "WORDS OF THE USER".into(), options)
        .await
        .unwrap();
    app.engine.settle().await;
    let request = &app.model.requests()[0];
    let sent: String = request
        .prompt
        .messages
        .iter()
        .map(|message| message.text.as_str())
        .collect();
    assert!(
        sent.contains("WORDS OF THE USER") && sent.contains("FIRST") && !sent.contains("SECOND"),
        "{sent}"
    );
}

#[tokio::test]
async fn error_in_a_custom_format_does_not_blame_the_model() {
    let app = Headless::new().await;
    let format = engine::api::ChatFormat {
        id: String::new(),
        name: "Own".into(),
        jinja: "{% for m in messages %}{{ '%02d' % loop.index }}:{{ m.content }}{% endfor %}"
            .into(),
        stop: Vec::new(),
        built_in: false,
    };
    assert!(
        app.engine.save_chat_format(format.clone()).await.is_ok(),
        "printf formats are known"
    );
    let broken = engine::api::ChatFormat {
        name: "Broken".into(),
        jinja: "{% for %}".into(),
        ..format
    };
    let refused = app.engine.save_chat_format(broken).await.unwrap_err();
    let shown = format!("{refused:?}");
    assert!(
        shown.contains("Correct it") && !shown.contains("another model"),
        "{shown}"
    );
}
