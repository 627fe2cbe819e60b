//! Imports of chats from other apps lose nothing, and exports write them back unchanged.

use std::fs;
use std::path::Path;

use domain::{CharacterId, ChatId};
use engine::api::{
    ChatFileFormat, ImportReport, Imported, Message, SettingOwner, SettingValue, WhatIf,
};
use serde_json::{Value, json};
use tests::headless::{Headless, selected_text};

const DATE: &str = "2025-03-01T10:00:00.000Z";

struct Library {
    app: Headless,
    character: CharacterId,
}

impl Library {
    async fn with(name: &str) -> Self {
        let app = Headless::new().await;
        let character = app.character(name).await;
        Self { app, character }
    }

    async fn import(&self, file: &str, bytes: impl Into<Vec<u8>>) -> ImportReport {
        self.app
            .engine
            .import_chat_with(self.character, file.to_owned(), bytes.into())
            .await
            .unwrap()
    }

    async fn chat(&self, lines: &[Value]) -> Imported {
        let mut report = self.import("chat.jsonl", file(lines)).await;
        assert_eq!(
            (report.imported.len(), report.refused.len()),
            (1, 0),
            "{report:?}"
        );
        report.imported.remove(0)
    }

    async fn messages(&self, chat: &Imported) -> Vec<Message> {
        self.app
            .engine
            .whole_chat(id(chat))
            .await
            .unwrap()
            .page
            .messages
    }

    async fn export(&self, chat: &Imported, format: ChatFileFormat) -> String {
        String::from_utf8(
            self.app
                .engine
                .export_chat(id(chat), format)
                .await
                .unwrap()
                .bytes,
        )
        .unwrap()
    }

    async fn lines(&self, chat: &Imported) -> Vec<Value> {
        let text = self.export(chat, ChatFileFormat::Jsonl).await;
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// Returns the next prompt.
    async fn sent(&self, chat: &Imported) -> String {
        let report = self
            .app
            .engine
            .preview_prompt(id(chat), "And now?".into(), WhatIf::default())
            .await
            .unwrap();
        serde_json::to_string(&report).unwrap()
    }
}

fn id(chat: &Imported) -> ChatId {
    chat.id.parse().unwrap()
}

fn file(lines: &[Value]) -> String {
    lines
        .iter()
        .map(Value::to_string)
        .collect::<Vec<_>>()
        .join("\n")
}

fn header() -> Value {
    json!({ "user_name": "Tom", "character_name": "Nora", "create_date": "2025-03-01@10h00m00s", "chat_metadata": {} })
}

fn line(name: &str, by_user: bool, text: &str, more: Value) -> Value {
    let mut line = json!({ "name": name, "is_user": by_user, "is_system": false, "send_date": DATE, "mes": text, "extra": {} });
    let more = more.as_object().unwrap().clone();
    line.as_object_mut().unwrap().extend(more);
    line
}

/// Asserts that every field of `before` is unchanged in `after`.
#[track_caller]
fn assert_kept(before: &[Value], after: &[Value]) {
    assert_eq!(before.len(), after.len());
    for (before, after) in before.iter().zip(after) {
        for (key, value) in before.as_object().unwrap() {
            assert_eq!(&after[key], value, "{key} of {before}");
        }
    }
}

fn full_chat() -> Vec<Value> {
    let extra = json!({ "image": "user/images/a.png", "display_text": "Hallo.", "bookmark_link": "B1", "memory": "Summary.",
        "token_count": 4, "reasoning": "She waits.", "model": "m", "api": "custom", "bias": "x" });
    let times = json!({ "gen_started": DATE, "gen_finished": DATE });
    let about = |extra: &Value| {
        let mut about = json!({ "send_date": DATE, "extra": extra });
        about
            .as_object_mut()
            .unwrap()
            .extend(times.as_object().unwrap().clone());
        about
    };
    let mut selected_text = line(
        "Nora",
        false,
        "Hello.",
        json!({ "extra": extra, "swipes": ["Hi.", "Hello."], "swipe_id": 1,
        "swipe_info": [about(&json!({ "gen_id": 7 })), about(&extra)], "force_avatar": "/a", "odd": [1, { "x": null }] }),
    );
    selected_text
        .as_object_mut()
        .unwrap()
        .extend(times.as_object().unwrap().clone());
    let metadata = json!({ "note_prompt": "Keep it rural.", "note_interval": 2, "note_position": 2, "note_depth": 3, "note_role": 1,
        "variables": { "a": "1", "n": 2 }, "persona": "sam.png", "timedWorldInfo": { "sticky": {} }, "tainted": true,
        "integrity": "slug", "main_chat": "Nora - old", "attachments": [{ "url": "/f" }] });
    vec![
        json!({ "user_name": "Sam", "character_name": "Nora", "create_date": "2025-03-01@10h00m00s", "chat_metadata": metadata, "new": 1 }),
        selected_text,
        line(
            "Sam",
            true,
            "A hidden line.",
            json!({ "is_system": true, "extra": { "is_small_sys": true } }),
        ),
        line("Old Sam", true, "Under an older name.", json!({})),
        line(
            "System",
            false,
            "Night falls.",
            json!({ "extra": { "type": "narrator" } }),
        ),
        line(
            "Note",
            false,
            "A comment.",
            json!({ "is_system": true, "extra": { "type": "comment" } }),
        ),
        line(
            "SillyTavern System",
            false,
            "Help.",
            json!({ "is_system": true, "extra": { "type": "help" } }),
        ),
        line(
            "Sam",
            true,
            "Last.",
            json!({ "send_date": "June 5, 2024 3:07pm" }),
        ),
    ]
}

#[tokio::test]
async fn full_chat_survives_import_and_export() {
    let (here, elsewhere) = (Library::with("Nora").await, Library::with("Nora").await);
    let chat = here.chat(&full_chat()).await;
    let once = here.lines(&chat).await;
    assert_kept(&full_chat(), &once);
    let again = elsewhere.chat(&once).await;
    assert_eq!(
        elsewhere.lines(&again).await,
        once,
        "also in another library"
    );
}

#[tokio::test]
async fn uses_the_authors_note_of_a_chat() {
    let library = Library::with("Nora").await;
    let chat = library.chat(&full_chat()).await;
    let owner = SettingOwner::Chat { id: id(&chat) };
    let settings = library
        .app
        .engine
        .layered_settings(owner.clone())
        .await
        .unwrap();
    let settings = serde_json::to_value(&settings).unwrap();
    let value = |key: &str| {
        settings["settings"]
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["key"] == key)
            .unwrap()["value"]
            .clone()
    };
    assert_eq!(value("author_note"), "Keep it rural.");
    assert_eq!(
        (
            value("author_note_depth"),
            value("author_note_every_messages")
        ),
        (json!(3), json!(2))
    );
    assert_eq!(value("author_note_role"), "user");
    assert_eq!(value("author_note_place"), "before-character");
    library
        .app
        .engine
        .set_setting(
            owner.clone(),
            "author_note".into(),
            Some(SettingValue::Text("By the sea.".into())),
        )
        .await
        .unwrap();
    assert_eq!(
        library.lines(&chat).await[0]["chat_metadata"]["note_prompt"],
        "By the sea."
    );
    library
        .app
        .engine
        .set_setting(owner, "author_note".into(), None)
        .await
        .unwrap();
    assert_eq!(
        library.lines(&chat).await[0]["chat_metadata"]["note_prompt"],
        "",
        "it was removed here"
    );
}

#[tokio::test]
async fn editing_a_message_removes_its_translation() {
    let library = Library::with("Nora").await;
    let chat = library.chat(&full_chat()).await;
    let first = library.messages(&chat).await[0].id;
    library
        .app
        .engine
        .edit_message(first, "Welcome.".into())
        .await
        .unwrap();
    let line = &library.lines(&chat).await[1];
    assert_eq!(
        (line["mes"].as_str(), line["extra"]["image"].as_str()),
        (Some("Welcome."), Some("user/images/a.png"))
    );
    assert!(
        line["extra"].get("display_text").is_none() && line["extra"].get("token_count").is_none(),
        "{line}"
    );
}

#[tokio::test]
async fn hidden_messages_and_notes_are_never_sent() {
    let library = Library::with("Nora").await;
    let chat = library.chat(&full_chat()).await;
    let messages = library.messages(&chat).await;
    let hidden: Vec<&str> = messages
        .iter()
        .filter(|message| message.hidden)
        .map(selected_text)
        .collect();
    assert_eq!(hidden, ["A hidden line.", "A comment.", "Help."]);
    let sent = library.sent(&chat).await;
    assert!(
        sent.contains("Night falls.") && sent.contains("Under an older name."),
        "{sent}"
    );
    assert!(!hidden.iter().any(|text| sent.contains(text)), "{sent}");
    for format in [ChatFileFormat::Text, ChatFileFormat::Markdown] {
        let text = library.export(&chat, format).await;
        assert!(!hidden.iter().any(|words| text.contains(words)), "{text}");
    }

    let (first, secret) = (messages[0].id, messages[1].id);
    let engine = &library.app.engine;
    assert!(engine.hide_message(first, true).await.unwrap().hidden);
    assert!(!engine.hide_message(secret, false).await.unwrap().hidden);
    let sent = library.sent(&chat).await;
    assert!(
        sent.contains("A hidden line.") && !sent.contains("Hello."),
        "{sent}"
    );
    let lines = library.lines(&chat).await;
    assert_eq!(
        (&lines[1]["is_system"], &lines[2]["is_system"]),
        (&json!(true), &json!(false))
    );
}

#[tokio::test]
async fn reply_to_a_hidden_message_is_a_new_message() {
    let library = Library::with("Nora").await;
    let lines = [
        header(),
        line("Tom", true, "Hi.", json!({})),
        line("Nora", false, "Secret.", json!({ "is_system": true })),
    ];
    let chat = library.chat(&lines).await;
    library.app.model.reply("Hello, Tom.");
    let mut events = library.app.engine.subscribe();
    library.app.engine.regenerate(id(&chat)).await.unwrap();
    tests::headless::ended(&mut events, id(&chat)).await;
    let messages = library.messages(&chat).await;
    let texts: Vec<(&str, usize)> = messages
        .iter()
        .map(|message| (selected_text(message), message.swipes.len()))
        .collect();
    assert_eq!(texts, [("Hi.", 1), ("Secret.", 1), ("Hello, Tom.", 1)]);
}

#[tokio::test]
async fn unknown_dates_stay_unknown() {
    let library = Library::with("Nora").await;
    let dates = [
        json!("June 19, 2023 2:20pm"),
        json!(1_705_321_815),
        json!(""),
        Value::Null,
        json!({ "a": 1 }),
        json!("19.06.2023 14:20"),
    ];
    let mut lines = vec![header()];
    let said = |(number, date): (usize, &Value)| {
        line(
            "Tom",
            true,
            &format!("line {number}"),
            json!({ "send_date": date }),
        )
    };
    lines.extend(dates.iter().enumerate().map(said));
    let chat = library.chat(&lines).await;
    let messages = library.messages(&chat).await;
    let created: Vec<&str> = messages
        .iter()
        .map(|message| message.created.as_str())
        .collect();
    assert_eq!(created[1], "2024-01-15T12:30:15Z");
    assert_eq!(
        created
            .iter()
            .map(|date| date.is_empty())
            .collect::<Vec<_>>(),
        [false, false, true, true, true, false]
    );
    let texts: Vec<String> = (0..dates.len())
        .map(|number| format!("line {number}"))
        .collect();
    assert_eq!(
        messages.iter().map(selected_text).collect::<Vec<_>>(),
        texts,
        "the order of the file stays"
    );
    let written = library.lines(&chat).await;
    let again: Vec<&Value> = written[1..].iter().map(|line| &line["send_date"]).collect();
    assert_eq!(
        again,
        [
            &dates[0],
            &dates[1],
            &json!(""),
            &json!(""),
            &dates[4],
            &dates[5]
        ]
    );
}

#[tokio::test]
async fn user_name_is_kept_as_a_persona() {
    let library = Library::with("Nora").await;
    let lines = [
        header(),
        line("Nora", false, "Hello.", json!({})),
        line("Tom", true, "Hi.", json!({})),
    ];
    let chat = library.chat(&lines).await;
    let engine = &library.app.engine;
    assert!(
        chat.warnings
            .iter()
            .any(|warning| warning.contains("no persona named \"Tom\"")),
        "{:?}",
        chat.warnings
    );
    let chat = id(&chat);
    assert_eq!(
        library.app.transcript(chat).await,
        ["Nora: Hello.", "Tom: Hi."]
    );
    let open = engine.open_chat(chat).await.unwrap();
    assert_eq!(
        (open.persona.name.as_str(), open.name_kept.as_deref()),
        ("Tom", Some("Tom"))
    );
    assert!(open.asks_name);
    engine.keep_chat_name(chat).await.unwrap();
    let kept = engine.open_chat(chat).await.unwrap();
    assert_eq!(
        (kept.asks_name, kept.name_kept.as_deref()),
        (false, Some("Tom"))
    );
    let persona = engine.persona_from_chat(chat).await.unwrap();
    let open = engine.open_chat(chat).await.unwrap();
    assert_eq!((open.persona.id, open.name_kept), (persona.id, None));
    assert!(engine.persona_from_chat(chat).await.is_err());
    assert_eq!(
        engine
            .list_personas()
            .await
            .unwrap()
            .iter()
            .filter(|one| one.name == "Tom")
            .count(),
        1
    );
}

#[tokio::test]
async fn reports_truncated_and_changed_data() {
    let library = Library::with("Nora").await;
    let versions: Vec<String> = (0..600).map(|number| format!("v{number}")).collect();
    let swiped = line(
        "Nora",
        false,
        "v599",
        json!({ "swipes": versions, "swipe_id": 3 }),
    );
    let text = format!(
        "{}\n{swiped}\n{}\nhalf a li",
        header(),
        r#"{"name":"Tom","is_user":true,"mes":"Look \ud83d"}"#
    );
    let report = library.import("chat.jsonl", text).await;
    let chat = &report.imported[0];
    for told in [
        "100 versions",
        "1 line had invalid characters",
        "1 line contains no message",
    ] {
        assert!(
            chat.warnings
                .iter()
                .any(|warning| warning.starts_with(told)),
            "{told}: {:?}",
            chat.warnings
        );
    }
    let messages = library.messages(chat).await;
    assert_eq!(
        (
            messages[0].swipes.len(),
            selected_text(&messages[0]),
            selected_text(&messages[1])
        ),
        (500, "v599", "Look \u{fffd}")
    );
}

#[tokio::test]
async fn imports_or_names_chats_of_other_apps() {
    let library = Library::with("Miller").await;
    let engine = &library.app.engine;
    let webui = json!({ "internal": [["<|BEGIN-VISIBLE-CHAT|>", "Hello."], ["Hi.", "Bread?"]], "visible": [["", "Hello."], ["Hi.", "Bread?"]] });
    let agnai = json!({ "name": "Chat", "greeting": "Hello", "messages": [
        { "handle": "Miller", "characterId": "1", "msg": "Hello" }, { "handle": "Sam", "userId": "anon", "msg": "Hi" }] });
    let array = json!([header(), line("Miller", false, "Hello.", json!({}))]);
    for (name, chat, messages) in [("Miller_1.json", &webui, 3), ("agnai.json", &agnai, 2)] {
        let report = engine
            .import_bytes(name.into(), chat.to_string().into_bytes())
            .await
            .unwrap();
        assert_eq!(
            (report.imported.len(), report.imported[0].kind.as_str()),
            (1, "chat"),
            "{report:?}"
        );
        assert_eq!(library.messages(&report.imported[0]).await.len(), messages);
    }
    assert_eq!(
        library
            .import("array.json", array.to_string())
            .await
            .imported
            .len(),
        1
    );
    let nobody = engine
        .import_bytes("chat.json".into(), webui.to_string().into_bytes())
        .await
        .unwrap();
    assert!(
        nobody.refused[0].reason.contains("text-generation-webui"),
        "{nobody:?}"
    );
    let log = json!({ "messages": [{ "role": "user", "content": "x" }] });
    let named = engine
        .import_bytes("log.json".into(), log.to_string().into_bytes())
        .await
        .unwrap();
    assert!(
        named.refused[0].reason.contains("not supported"),
        "{named:?}"
    );
    let empty = library
        .import(
            "empty.jsonl",
            r#"{"chat_metadata":{},"user_name":"unused","character_name":"unused"}"#,
        )
        .await;
    assert!(empty.refused[0].reason.contains("empty"), "{empty:?}");
}

/// The selected greeting decides the route, regardless of earlier selections.
#[tokio::test]
async fn only_the_selected_greeting_sets_variables() {
    let app = Headless::new().await;
    let card = json!({ "spec": "chara_card_v2", "spec_version": "2.0", "data": {
        "name": "Router", "description": "The route is [{{getvar::route}}]. [{{getvar::only}}]", "first_mes": "{{setvar::route::A}}Greeting A.",
        "alternate_greetings": ["{{setvar::route::B}}Greeting B.", "{{setvar::only::C}}Greeting C."], "personality": "", "scenario": "",
        "mes_example": "", "creator_notes": "", "system_prompt": "", "post_history_instructions": "", "tags": [], "creator": "",
        "character_version": "", "extensions": {} } });
    let report = app
        .engine
        .import_bytes("router.json".into(), card.to_string().into_bytes())
        .await
        .unwrap();
    let chat = app
        .engine
        .new_chat(report.imported[0].id.parse().unwrap())
        .await
        .unwrap();
    let greeting = chat.page.messages[0].id;
    let sent = async || {
        let report = app
            .engine
            .preview_prompt(chat.id, "Go.".into(), WhatIf::default())
            .await
            .unwrap();
        serde_json::to_string(&report).unwrap()
    };
    for (selected_text, expected) in [
        (0, "[A]. []"),
        (1, "[B]. []"),
        (2, "[]. [C]"),
        (0, "[A]. []"),
        (1, "[B]. []"),
    ] {
        app.engine
            .select_swipe(greeting, selected_text)
            .await
            .unwrap();
        let sent = sent().await;
        assert!(
            sent.contains(&format!("The route is {expected}")),
            "greeting {selected_text}: {sent}"
        );
    }
    app.model.reply("Gone.");
    app.send(chat.id, "Go.").await;
    assert!(
        app.model.last_request().unwrap().prompt.messages[0]
            .text
            .contains("The route is [B].")
    );
}

fn write(folder: &Path, name: &str, content: impl ToString) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content.to_string()).unwrap();
}

fn card(name: &str) -> Value {
    json!({ "spec": "chara_card_v2", "spec_version": "2.0", "data": { "name": name, "description": "x", "first_mes": "Hi." } })
}

fn tavern_folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    write(root, "characters/Nora.json", card("Nora"));
    // The name is decomposed (NFD) in the file name and composed (NFC) elsewhere.
    write(root, "characters/Zoe\u{301}.json", card("Zoé"));
    for leftover in [
        "characters/.DS_Store",
        "characters/Thumbs.db",
        "characters/._Nora.png",
    ] {
        write(root, leftover, "x");
    }
    write(root, "chats/Nora/empty.jsonl", "");
    write(
        root,
        "chats/Zo\u{e9}/evening.jsonl",
        file(&[header(), line("Zoé", false, "Evening.", json!({}))]),
    );
    write(
        root,
        "groups/1.json",
        json!({ "name": "Table", "members": ["Nora.png", "Zo\u{e9}.png"], "chats": ["first", "missing"] }),
    );
    let said = [
        json!({ "user_name": "unused", "chat_metadata": {} }),
        line(
            "Zoé",
            false,
            "Second talk.",
            json!({ "original_avatar": "Zoé.png" }),
        ),
    ];
    write(root, "group chats/first.jsonl", file(&said));
    let settings = json!({
        "world_info_settings": { "world_info_character_strategy": 2, "world_info_depth": 2 },
        "power_user": { "custom_stopping_strings": "[\"\\n{{user}}:\"]" },
        "extension_settings": { "note": { "default": "Rural.", "defaultDepth": 2, "chara": [
            { "name": "Nora", "prompt": "She limps.", "useChara": true, "position": 0 }, { "name": "Zoé", "prompt": "no", "useChara": false }] } },
    });
    write(root, "settings.json", settings);
    folder
}

#[tokio::test]
async fn folder_import_handles_settings_and_unicode_names() {
    let (app, folder) = (Headless::new().await, tavern_folder());
    let report = app
        .engine
        .import_sillytavern(folder.path().to_owned())
        .await
        .unwrap();
    let names: Vec<&str> = report
        .imported
        .iter()
        .filter(|one| one.kind == "chat")
        .map(|one| one.name.as_str())
        .collect();
    assert_eq!(names, ["evening", "Table, first"], "{report:?}");
    let table = report
        .imported
        .iter()
        .find(|one| one.name == "Table, first")
        .unwrap();
    assert_eq!(app.transcript(id(table)).await, ["Zoé: Second talk."]);
    let zoe = app
        .engine
        .whole_chat(id(table))
        .await
        .unwrap()
        .page
        .messages[0]
        .speaker
        .clone()
        .unwrap();
    assert!(!zoe.is_empty(), "the library has this character");
    let skipped: Vec<String> = report
        .skipped
        .iter()
        .map(|one| format!("{}: {}", one.file, one.reason))
        .collect();
    assert!(
        skipped
            .iter()
            .any(|line| line.starts_with("Table: 1 chat that") && line.contains("missing.jsonl")),
        "{skipped:?}"
    );
    assert!(
        skipped
            .iter()
            .any(|line| line.starts_with("empty.jsonl: the file is empty")
                || line.contains("chat is empty")),
        "{skipped:?}"
    );
    assert!(
        !skipped
            .iter()
            .any(|line| line.contains("Thumbs") || line.contains("._Nora")),
        "{skipped:?}"
    );
    assert!(report.refused.is_empty(), "{:?}", report.refused);

    let value = async |owner: SettingOwner, key: &str| {
        let settings =
            serde_json::to_value(app.engine.layered_settings(owner).await.unwrap()).unwrap();
        settings["settings"]
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["key"] == key)
            .unwrap()["value"]
            .clone()
    };
    assert_eq!(
        value(SettingOwner::Global, "lore_strategy").await,
        "global-first"
    );
    assert_eq!(value(SettingOwner::Global, "author_note").await, "Rural.");
    assert_eq!(value(SettingOwner::Global, "author_note_depth").await, 2);
    assert_eq!(
        value(SettingOwner::Global, "stop_strings").await,
        "\\n{{user}}:"
    );
    let nora = report
        .imported
        .iter()
        .find(|one| one.kind == "character" && one.name == "Nora")
        .unwrap();
    let owner = SettingOwner::Character {
        id: nora.id.parse().unwrap(),
    };
    assert_eq!(value(owner.clone(), "character_note").await, "She limps.");
    assert_eq!(value(owner, "character_note_place").await, "replace");

    let again = app
        .engine
        .import_sillytavern(folder.path().to_owned())
        .await
        .unwrap();
    assert_eq!(again.imported.len(), 0, "{again:?}");
}

#[tokio::test]
async fn user_stop_texts_end_a_reply() {
    let app = Headless::new().await;
    let chat = app.first_chat().await;
    let lines = SettingValue::Text("\\n{{user}}:\n\n\\\\end".into());
    app.engine
        .set_setting(SettingOwner::Global, "stop_strings".into(), Some(lines))
        .await
        .unwrap();
    app.model.reply("Yes.");
    app.send(chat.id, "Well?").await;
    let stop = app.model.last_request().unwrap().prompt.stop;
    let user = format!("\n{}:", chat.persona.name);
    assert!(
        stop.contains(&user) && stop.contains(&"\\end".to_owned()),
        "{stop:?}"
    );
}

/// A main chat with a checkpoint at its first message and a branch at its second one.
fn main_chat() -> Vec<Value> {
    vec![
        header(),
        line(
            "Nora",
            false,
            "Hello.",
            json!({ "extra": { "bookmark_link": "The door" } }),
        ),
        line(
            "Tom",
            true,
            "Hi.",
            json!({ "extra": { "branches": ["Evening - Branch #1"] } }),
        ),
        line("Nora", false, "Sit down.", json!({})),
    ]
}

fn linked_chat(last: &str, messages: usize) -> Vec<Value> {
    let mut lines = main_chat();
    lines[0]["chat_metadata"] = json!({ "main_chat": "Evening" });
    lines.truncate(1 + messages);
    lines.push(line("Nora", false, last, json!({})));
    lines
}

#[tokio::test]
async fn linked_chat_files_are_branches_in_any_order() {
    for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
        let library = Library::with("Nora").await;
        let files = [
            ("Evening.jsonl", main_chat()),
            ("The door.jsonl", linked_chat("Come in.", 1)),
            ("Evening - Branch #1.jsonl", linked_chat("Go away.", 2)),
        ];
        let mut ids = vec![ChatId(uuid::Uuid::nil()); files.len()];
        for at in order {
            let report = library.import(files[at].0, file(&files[at].1)).await;
            ids[at] = id(&report.imported[0]);
        }
        let engine = &library.app.engine;
        let marks = engine.chat_marks(ids[0]).await.unwrap();
        let messages = engine.whole_chat(ids[0]).await.unwrap().page.messages;
        assert_eq!(
            (marks.checkpoints.len(), marks.checkpoints[0].name.as_str()),
            (1, "The door"),
            "{order:?}"
        );
        assert_eq!(marks.checkpoints[0].message, messages[0].id);
        let mut branches: Vec<_> = marks
            .branches
            .into_iter()
            .map(|one| (one.title, one.message))
            .collect();
        branches.sort();
        let at = |index: usize| Some(messages[index].id);
        assert_eq!(
            branches,
            [
                ("Evening - Branch #1".to_owned(), at(1)),
                ("The door".to_owned(), at(0))
            ],
            "{order:?}"
        );
        let tree = engine.story_tree(ids[1]).await.unwrap();
        assert_eq!(tree.chats, 3, "{order:?}");
    }
}

#[tokio::test]
async fn branches_are_exported_as_linked_files() {
    let library = Library::with("Nora").await;
    let main = library
        .import("Evening.jsonl", file(&main_chat()))
        .await
        .imported
        .remove(0);
    let engine = &library.app.engine;
    let last = library.messages(&main).await.pop().unwrap().id;
    engine
        .set_checkpoint(last, Some("At the fire".into()))
        .await
        .unwrap();
    let branch = engine
        .branch_chat(last, None, Some("Night".into()))
        .await
        .unwrap();
    let lines = library.lines(&main).await;
    assert_eq!(
        (
            &lines[1]["extra"]["bookmark_link"],
            &lines[2]["extra"]["branches"]
        ),
        (&json!("The door"), &json!(["Evening - Branch #1"]))
    );
    assert_eq!(
        (
            &lines[3]["extra"]["bookmark_link"],
            &lines[3]["extra"]["branches"]
        ),
        (&json!("At the fire"), &json!(["Night"]))
    );
    let exported = engine
        .export_chat(branch.id, ChatFileFormat::Jsonl)
        .await
        .unwrap();
    let text = String::from_utf8(exported.bytes).unwrap();
    let head: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(
        (
            exported.file_name.as_str(),
            &head["chat_metadata"]["main_chat"]
        ),
        ("Night.jsonl", &json!("Evening"))
    );
}

#[tokio::test]
async fn hostile_links_make_no_circle() {
    let library = Library::with("Nora").await;
    let mut own = main_chat();
    own[0]["chat_metadata"] = json!({ "main_chat": "chat" });
    own[1]["extra"] = json!({ "bookmark_link": 7, "branches": { "a": 1 } });
    let alone = library.chat(&own).await;
    assert_eq!(
        library
            .app
            .engine
            .chat_marks(id(&alone))
            .await
            .unwrap()
            .origin,
        None
    );
    let mut first = main_chat();
    first[0]["chat_metadata"] = json!({ "main_chat": "B" });
    let mut second = main_chat();
    second[0]["chat_metadata"] = json!({ "main_chat": "A" });
    let first = library
        .import("A.jsonl", file(&first))
        .await
        .imported
        .remove(0);
    let second = library
        .import("B.jsonl", file(&second))
        .await
        .imported
        .remove(0);
    let origins = [id(&first), id(&second)];
    let mut linked = 0;
    for id in origins {
        linked += usize::from(
            library
                .app
                .engine
                .chat_marks(id)
                .await
                .unwrap()
                .origin
                .is_some(),
        );
    }
    assert!(linked <= 1, "at most one of two chats begins in the other");
}
