//! Files of other programs: each is recognised by its content, and the report describes the result.

use std::fs;
use std::io::{Cursor, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::CharacterId;
use engine::api::{CharacterFields, ImportReport, LayeredSetting, SettingLayer, SettingOwner};
use serde_json::{Value, json};
use tests::headless::Headless;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

async fn import(app: &Headless, file: &str, bytes: &[u8]) -> ImportReport {
    let path = app.dir.path().join("in").join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, bytes).unwrap();
    app.engine.import_paths(vec![path]).await.unwrap()
}

/// Returns the kinds and names of the imported items.
fn kinds(report: &ImportReport) -> Vec<String> {
    report
        .imported
        .iter()
        .map(|one| format!("{} {}", one.kind, one.name))
        .collect()
}

async fn wren(app: &Headless) -> CharacterId {
    let fields = CharacterFields {
        name: "Wren".into(),
        first_message: "Ahoy, {{user}}.".into(),
        alternate_greetings: vec!["Evening, {{user}}.".into()],
        ..CharacterFields::default()
    };
    app.engine.create_character(fields).await.unwrap().id
}

fn risuai_chat() -> Value {
    json!({"type": "risuChat", "ver": 2, "data": {
        "name": "On the pier", "note": "Keep it slow.", "fmIndex": 0,
        "localLore": [{"key": "oil", "content": "Whale.", "insertorder": 1, "comment": "Oil", "mode": "normal"}],
        "message": [{"role": "user", "data": "Hello."}, {"role": "char", "data": "Sit.", "time": 1_750_000_000_000_i64}]}})
}

#[tokio::test]
async fn risuai_chat_includes_greeting_note_and_lore() {
    let app = Headless::new().await;
    wren(&app).await;
    let bytes = risuai_chat().to_string().into_bytes();
    let report = import(&app, "Wren_2025-06-17_chat.json", &bytes).await;
    assert_eq!(
        kinds(&report),
        ["chat On the pier", "lorebook On the pier"],
        "{report:?}"
    );
    let chat = report.imported[0].id.parse().unwrap();
    assert_eq!(
        app.transcript(chat).await,
        [
            "Wren: Evening, Traveller.",
            "Traveller: Hello.",
            "Wren: Sit."
        ]
    );
    let settings = app
        .engine
        .layered_settings(SettingOwner::Chat { id: chat })
        .await
        .unwrap()
        .settings;
    let note = settings
        .into_iter()
        .find(|setting: &LayeredSetting| setting.key == "author_note")
        .unwrap();
    let own = note
        .layers
        .into_iter()
        .find(|at| at.layer == SettingLayer::Chat)
        .unwrap();
    assert!(
        serde_json::to_string(&own.value)
            .unwrap()
            .contains("Keep it slow.")
    );
    let again = import(&app, "Wren_2025-06-17_chat.json", &bytes).await;
    assert_eq!(
        (again.imported.len(), again.skipped.len()),
        (0, 1),
        "{again:?}"
    );
    let whose = import(&app, "chat.json", &bytes).await;
    assert_eq!(whose.refused[0].kind, "noCharacter", "{whose:?}");
}

#[tokio::test]
async fn risuai_chats_get_unique_titles() {
    let app = Headless::new().await;
    let id = wren(&app).await;
    let chat = risuai_chat()["data"].take();
    let all = json!({"type": "risuAllChats", "ver": 2, "data": [chat, chat, {"name": "empty", "message": []}]});
    let report = app
        .engine
        .import_chat_with(id, "all.json".into(), all.to_string().into_bytes())
        .await
        .unwrap();
    let chats: Vec<_> = report
        .imported
        .iter()
        .filter(|one| one.kind == "chat")
        .map(|one| one.name.as_str())
        .collect();
    assert_eq!(chats, ["On the pier", "On the pier 2"]);
    assert!(
        report.imported[0]
            .warnings
            .iter()
            .any(|told| told.contains("1 chat of the file")),
        "{report:?}"
    );
}

#[tokio::test]
async fn transcript_becomes_a_chat_of_its_speakers() {
    let app = Headless::new().await;
    wren(&app).await;
    let talk = "Wren: Ahoy.\n\nTom: Hello.\n\nIs there oil?\n\nWren: Whale.\n\nTom: Good.\n";
    let report = import(&app, "pier.txt", talk.as_bytes()).await;
    assert_eq!(kinds(&report), ["chat pier"], "{report:?}");
    let said = app.transcript(report.imported[0].id.parse().unwrap()).await;
    assert_eq!(
        said,
        [
            "Wren: Ahoy.",
            "Tom: Hello.\n\nIs there oil?",
            "Wren: Whale.",
            "Tom: Good."
        ]
    );
    let stranger = import(&app, "other.txt", b"Ann: Hi.\nBob: Hi.\n").await;
    assert_eq!(stranger.refused[0].kind, "noCharacter", "{stranger:?}");
    let novel = import(&app, "novel.txt", b"It was a dark night.\n").await;
    assert!(novel.refused[0].reason.contains("not a chat"), "{novel:?}");
}

#[tokio::test]
async fn recognises_risuai_and_sillytavern_presets() {
    let app = Headless::new().await;
    let risuai = json!({"name": "Lantern", "mainPrompt": "Play {{char}}.", "jailbreak": "", "globalNote": "", "temperature": 70,
        "formatingOrder": ["main", "description", "chats"]});
    let report = import(&app, "lantern.json", risuai.to_string().as_bytes()).await;
    assert_eq!(
        kinds(&report),
        ["template Lantern", "samplerPreset Lantern"],
        "{report:?}"
    );
    let bundle = json!({"instruct": {"name": "Marks", "input_sequence": "U:", "output_sequence": "A:"},
        "context": {"name": "Story", "story_string": "{{system}}\n{{description}}"},
        "sysprompt": {"name": "Terse", "content": "Play {{char}}."}, "preset": {"name": "Warm", "temp": 0.7},
        "reasoning": {"name": "Think", "prefix": "<think>", "suffix": "</think>"}});
    let report = import(&app, "all.json", bundle.to_string().as_bytes()).await;
    let mut found = kinds(&report);
    found.sort();
    assert_eq!(
        found,
        ["chatFormat Marks", "samplerPreset Warm", "template Story"],
        "{report:?}"
    );
    assert!(
        report
            .imported
            .iter()
            .any(|one| one.warnings.iter().any(|told| told.contains("reasoning"))),
        "{report:?}"
    );
}

#[tokio::test]
async fn quick_replies_are_stored_unchanged() {
    let app = Headless::new().await;
    let set = json!({"version": 2, "name": "Doors", "qrList": [{"id": 1, "label": "Knock", "message": "/send knock"}], "idIndex": 2});
    let report = import(&app, "Doors.json", set.to_string().as_bytes()).await;
    assert_eq!(kinds(&report), ["quickReplies Doors"], "{report:?}");
    let app = app.restart().await;
    assert_eq!(app.engine.list_quick_replies().await.unwrap()[0].set, set);
    let again = import(&app, "Doors.json", set.to_string().as_bytes()).await;
    assert_eq!(
        (again.imported.len(), again.skipped.len()),
        (0, 1),
        "{again:?}"
    );
}

fn chunk(kind: &str, data: &[u8]) -> Vec<u8> {
    // The importer does not check the checksums.
    [
        &(data.len() as u32).to_be_bytes()[..],
        kind.as_bytes(),
        data,
        &[0; 4],
    ]
    .concat()
}

fn png(keyword: &str, text: &str) -> Vec<u8> {
    let text = chunk("tEXt", format!("{keyword}\0{text}").as_bytes());
    [
        b"\x89PNG\r\n\x1a\n".to_vec(),
        chunk("IHDR", &[1; 13]),
        text,
        chunk("IEND", b""),
    ]
    .concat()
}

#[tokio::test]
async fn recognises_pictures_without_a_card() {
    let app = Headless::new().await;
    let book = r#"{"lorebookVersion":5,"entries":[{"displayName":"Lamps","keys":["lamp"],"text":"They burn."}]}"#;
    let report = import(&app, "lamps.png", &png("naidata", &STANDARD.encode(book))).await;
    assert_eq!(kinds(&report), ["lorebook lamps"], "{report:?}");
    let locked = import(
        &app,
        "locked.png",
        &png("chara", "rcc||rccv1||AAAA||hash||e30="),
    )
    .await;
    assert_eq!(locked.refused[0].kind, "locked");
    assert!(
        locked.refused[0].reason.contains("Open it in RisuAI"),
        "{locked:?}"
    );
}

#[tokio::test]
async fn searches_folders_recursively() {
    let app = Headless::new().await;
    let folder = app.dir.path().join("brought");
    let card = |name: &str| {
        format!(r#"{{"spec":"chara_card_v2","spec_version":"2.0","data":{{"name":"{name}"}}}}"#)
    };
    let chat = "{\"user_name\":\"Tom\",\"character_name\":\"Deep\"}\n{\"name\":\"Deep\",\"mes\":\"Hi.\"}\n";
    for (name, content) in [
        ("a chat.jsonl", chat.to_owned()),
        ("one/two/three/deep.json", card("Deep")),
        ("one/near.json", card("Near")),
        ("one/readme.txt", "passed over".to_owned()),
        (".hidden/no.json", card("Hidden")),
    ] {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    fs::write(folder.join("one/plain.png"), png("Title", "no card")).unwrap();
    let report = app.engine.import_paths(vec![folder]).await.unwrap();
    assert_eq!(
        kinds(&report),
        ["character Near", "character Deep", "chat a chat"],
        "{report:?}"
    );
    assert_eq!(
        (report.refused.len(), report.skipped[0].file.as_str()),
        (0, "plain.png"),
        "{report:?}"
    );
}

/// A Backyard archive with two scenarios, each with a message.
fn byaf() -> Vec<u8> {
    let scenario = |title: &str, text: &str| {
        let said =
            json!([{"type": "human", "createdAt": "2025-06-12T19:03:56.873Z", "text": text}]);
        json!({"schemaVersion": 1, "title": title, "firstMessages": [], "exampleMessages": [], "narrative": format!("At the {title}."),
            "temperature": 1.1, "messages": said})
        .to_string()
    };
    let character = json!({"schemaVersion": 1, "id": "c1", "name": "Wren", "displayName": "Wren", "persona": "A bird."});
    let manifest = json!({"schemaVersion": 1, "characters": ["characters/c1/character.json"],
        "scenarios": ["scenarios/1.json", "scenarios/2.json"]});
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in [
        ("manifest.json", manifest.to_string()),
        ("characters/c1/character.json", character.to_string()),
        ("scenarios/1.json", scenario("mill", "One.")),
        ("scenarios/2.json", scenario("pier", "Two.")),
    ] {
        zip.start_file(name, SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// The app may end between a card and its chats. Removing the chats again simulates that.
#[tokio::test]
async fn next_import_completes_an_interrupted_archive() {
    let app = Headless::new().await;
    let whole = import(&app, "wren.byaf", &byaf()).await;
    assert_eq!(
        kinds(&whole),
        ["character Wren", "chat mill", "chat pier"],
        "{whole:?}"
    );
    let app = app
        .restart_after(|folder| {
            let database = tests::open_database(folder);
            database
                .execute("DELETE FROM chat WHERE title = 'pier'", [])
                .unwrap();
        })
        .await;
    let rest = import(&app, "wren.byaf", &byaf()).await;
    assert_eq!(kinds(&rest), ["chat pier"], "{rest:?}");
    assert_eq!(rest.skipped[0].reason, "Wren is already in the library");
    assert_eq!(
        app.transcript(rest.imported[0].id.parse().unwrap()).await,
        ["Traveller: Two."]
    );
    let again = import(&app, "wren.byaf", &byaf()).await;
    assert_eq!(
        (again.imported.len(), again.skipped.len()),
        (0, 1),
        "{again:?}"
    );
}
