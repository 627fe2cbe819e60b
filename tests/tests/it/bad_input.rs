//! Bad input: clear errors that name the item and the remedy, and no lost data.

use std::fs;
use std::path::PathBuf;

use domain::EndpointId;
use engine::api::{ApiError, CardFormat, CharacterFields, EndReason, EndpointDraft, ProviderClass};
use engine::{Engine, OpenError, Options};
use tests::headless::Headless;
use tests::scripted_hub::small_model;

fn options(dir: &tempfile::TempDir) -> Options {
    Options {
        data_dir: dir.path().to_owned(),
        without_keychain: true,
        ..Options::default()
    }
}

/// Imports one file and returns the message and the hint of its refusal.
async fn refusal(app: &Headless, name: &str, content: &[u8]) -> (String, String) {
    let path = app.dir.path().join(name);
    fs::write(&path, content).unwrap();
    let report = app.engine.import_paths(vec![path]).await.unwrap();
    let [refused] = &report.refused[..] else {
        panic!("{report:?}")
    };
    assert_eq!(refused.file, name);
    (refused.kind.clone(), refused.reason.clone())
}

#[tokio::test]
async fn refuses_other_files_with_a_reason() {
    let app = Headless::new().await;
    let before = app.engine.list_characters().await.unwrap().len();
    let png = app
        .engine
        .export_character(app.first_chat().await.character, CardFormat::Png)
        .await
        .unwrap()
        .bytes;
    let cases: [(&str, &[u8], &str); 7] = [
        ("half.png", &png[..png.len() / 2], "damaged"),
        ("text.json", b"{\"name\": ", "malformed"),
        (
            "nameless.json",
            br#"{"spec":"chara_card_v2","spec_version":"2.0","data":{}}"#,
            "noName",
        ),
        ("list.json", b"[1, 2]", "unknownFormat"),
        ("movie.png", b"\x00\x00\x00\x18ftypmp42", "unknownFormat"),
        ("empty.png", b"", "unknownFormat"),
        ("model.gguf", b"GGUF\x03\x00", "model"),
    ];
    for (name, content, kind) in cases {
        let (found, reason) = refusal(&app, name, content).await;
        assert_eq!(found, kind, "{name}: {reason}");
        assert!(reason.len() > 20, "{name}: {reason}");
    }
    assert_eq!(app.engine.list_characters().await.unwrap().len(), before);
}

#[tokio::test]
async fn refuses_a_large_file_unread() {
    let app = Headless::new().await;
    let path = app.dir.path().join("huge.png");
    fs::File::create(&path).unwrap().set_len(100 << 20).unwrap();
    let report = app
        .engine
        .import_paths(vec![path, PathBuf::from("/nowhere/at-all.png")])
        .await
        .unwrap();
    let kinds: Vec<_> = report
        .refused
        .iter()
        .map(|refused| refused.kind.as_str())
        .collect();
    assert_eq!(kinds, ["tooLarge", "unreadable"]);
    assert!(
        report.refused[0].reason.contains("100 MiB"),
        "{:?}",
        report.refused[0]
    );
}

#[tokio::test]
async fn bad_file_does_not_block_others() {
    let app = Headless::new().await;
    let card = CharacterFields {
        name: "Wren".into(),
        description: "A bird.".into(),
        ..CharacterFields::default()
    };
    let id = app.engine.create_character(card).await.unwrap().id;
    let folder = app.dir.path().join("cards");
    fs::create_dir(&folder).unwrap();
    for (name, format) in [
        ("a.png", CardFormat::Png),
        ("b.json", CardFormat::JsonV2),
        ("c.json", CardFormat::JsonV3),
    ] {
        fs::write(
            folder.join(name),
            app.engine.export_character(id, format).await.unwrap().bytes,
        )
        .unwrap();
    }
    fs::write(folder.join("d.json"), "not json").unwrap();
    fs::write(folder.join("notes.txt"), "passed over").unwrap();
    let report = app.engine.import_paths(vec![folder.clone()]).await.unwrap();
    assert_eq!(
        (report.imported.len(), report.refused.len()),
        (3, 1),
        "{report:?}"
    );
    assert!(
        report
            .imported
            .iter()
            .all(|imported| imported.name == "Wren")
    );
    let again = app.engine.import_paths(vec![folder]).await.unwrap();
    assert_eq!(
        (again.imported.len(), again.skipped.len()),
        (0, 3),
        "{again:?}"
    );
}

#[tokio::test]
async fn second_engine_in_the_same_folder_is_refused() {
    let app = Headless::new().await;
    let Err(error) = Engine::open(options(&app.dir)).await else {
        panic!("it opened twice")
    };
    assert!(matches!(error, OpenError::InUse { .. }), "{error}");
    assert!(error.to_string().contains("already running"), "{error}");
}

#[tokio::test]
async fn damaged_database_can_be_set_aside() {
    let app = Headless::new().await;
    let dir = app.dir;
    app.engine.shutdown().await;
    drop(app.engine);
    let database = dir.path().join("inglenook.db");
    let mut bytes = fs::read(&database).unwrap();
    let length = bytes.len();
    bytes[100..length.min(40_000)].fill(0xAA);
    fs::write(&database, bytes).unwrap();

    let Err(error) = Engine::open(options(&dir)).await else {
        panic!("it opened")
    };
    let OpenError::Damaged {
        message,
        newest_backup: Some(_),
    } = error
    else {
        panic!("{error}")
    };
    assert!(
        message.contains("inglenook.db") && message.contains("damaged"),
        "{message}"
    );
    let kept = Engine::set_aside(&options(&dir)).await.unwrap().unwrap();
    assert!(fs::read_dir(kept).unwrap().count() > 0);
    let fresh = Engine::open(options(&dir))
        .await
        .unwrap_or_else(|error| panic!("{error}"));
    assert!(!fresh.list_chats().await.unwrap().is_empty());
}

#[tokio::test]
async fn missing_model_is_an_error_and_keeps_the_message() {
    let dir = tempfile::tempdir().unwrap();
    let engine = Engine::open(options(&dir))
        .await
        .unwrap_or_else(|error| panic!("{error}"));
    let chat = engine.startup().await.unwrap().chat.unwrap();
    let mut events = engine.subscribe();
    engine.send_message(chat, "Anybody?".into()).await.unwrap();
    let (message, reason) = tests::headless::ended(&mut events, chat).await;
    assert!(message.is_none());
    let EndReason::Failed {
        error: ApiError::NoModel { hint, .. },
    } = reason
    else {
        panic!("{reason:?}")
    };
    assert!(hint.contains("Add a model file"), "{hint}");
    let kept = engine.whole_chat(chat).await.unwrap().page.messages;
    assert_eq!(kept.last().unwrap().swipes[0].text, "Anybody?");
}

/// No other model answers in its place.
#[tokio::test]
async fn default_model_without_its_file_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let engine = Engine::open(options(&dir))
        .await
        .unwrap_or_else(|error| panic!("{error}"));
    for (name, filler) in [("lost", 1_000), ("other", 2_000)] {
        let file = dir.path().join(format!("{name}.gguf"));
        fs::write(&file, small_model(name, filler)).unwrap();
        engine.add_model(file).await.unwrap();
    }
    fs::remove_file(dir.path().join("lost.gguf")).unwrap();
    let models = engine.list_models().await.unwrap();
    let state = |name: &str| {
        let model = models.iter().find(|model| model.name == name).unwrap();
        (model.default, model.missing)
    };
    assert_eq!(
        (state("lost"), state("other")),
        ((true, true), (false, false))
    );

    let chat = engine.startup().await.unwrap().chat.unwrap();
    let mut events = engine.subscribe();
    engine.send_message(chat, "Anybody?".into()).await.unwrap();
    let (_, reason) = tests::headless::ended(&mut events, chat).await;
    let EndReason::Failed {
        error:
            ApiError::Provider {
                message,
                hint,
                class: ProviderClass::Model,
            },
    } = reason
    else {
        panic!("{reason:?}")
    };
    assert!(message.contains("lost.gguf"), "{message}");
    assert!(hint.contains("choose another model"), "{hint}");
}

#[tokio::test]
async fn unreachable_endpoint_is_named() {
    let app = Headless::new().await;
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let draft = EndpointDraft {
        id: None,
        name: "Mine".into(),
        url: format!("http://127.0.0.1:{port}/v1"),
        model: String::new(),
        context: 8_192,
        key: Some("canary-key".into()),
        ..EndpointDraft::default()
    };
    let error = app.engine.test_endpoint(draft.clone()).await.unwrap_err();
    let ApiError::Provider {
        message,
        class: ProviderClass::Unreachable,
        ..
    } = error
    else {
        panic!("{error:?}")
    };
    assert!(message.contains(&port.to_string()), "{message}");

    let saved = app.engine.save_endpoint(draft.clone()).await.unwrap();
    assert!(saved.has_key && saved.key_is_for_session);
    let wrong = EndpointDraft {
        url: "ftp://example.org".into(),
        ..draft
    };
    assert!(app.engine.save_endpoint(wrong).await.is_err());
    // The key is in no file.
    app.engine.shutdown().await;
    for entry in fs::read_dir(app.dir.path())
        .unwrap()
        .flatten()
        .filter(|entry| entry.path().is_file())
    {
        let bytes = fs::read(entry.path()).unwrap();
        assert!(
            !bytes.windows(10).any(|window| window == b"canary-key"),
            "{}",
            entry.path().display()
        );
    }
}

#[tokio::test]
async fn invalid_arguments_change_nothing() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    let bad = |result: Result<(), ApiError>| matches!(result, Err(ApiError::BadInput { .. }));
    assert!(bad(app
        .engine
        .send_message(chat, "  \n ".into())
        .await
        .map(drop)));
    assert!(bad(app
        .engine
        .call(
            "send_message",
            br#"{"chat":"../../etc/passwd","text":"hi"}"#
        )
        .await
        .map(drop)));
    assert!(bad(app.engine.rename_chat(chat, " ".into()).await));
    assert!(bad(app
        .engine
        .create_character(CharacterFields::default())
        .await
        .map(drop)));
    assert!(bad(app
        .engine
        .set_character_picture(app.first_chat().await.character, "PHN2Zz4=".into())
        .await
        .map(drop)));
    let gone = app
        .engine
        .open_chat("0190a0a0-0000-7000-8000-000000000000".parse().unwrap())
        .await;
    assert!(matches!(gone, Err(ApiError::NotFound { .. })));
    assert!(matches!(
        app.engine.asset("../inglenook.db".into()).await,
        Err(ApiError::NotFound { .. })
    ));
    assert_eq!(app.transcript(chat).await.len(), 1);
}

/// Changing an endpoint's address must not send its key to the new address.
#[tokio::test]
async fn stored_key_is_not_sent_to_another_address() {
    let app = Headless::new().await;
    let draft = |id: Option<EndpointId>, url: &str, key: Option<&str>| EndpointDraft {
        id,
        name: "Mine".into(),
        url: url.into(),
        model: String::new(),
        context: 8_192,
        key: key.map(Into::into),
        ..EndpointDraft::default()
    };
    let saved = app
        .engine
        .save_endpoint(draft(None, "https://127.0.0.1:1/v1", Some("canary")))
        .await
        .unwrap();
    let elsewhere = draft(Some(saved.id), "https://127.0.0.1:2/v1", None);
    for result in [
        app.engine.test_endpoint(elsewhere.clone()).await.map(drop),
        app.engine.save_endpoint(elsewhere).await.map(drop),
        app.engine
            .save_endpoint(draft(Some(saved.id), "http://127.0.0.1:1/v1", None))
            .await
            .map(drop),
    ] {
        let Err(ApiError::BadInput { hint, .. }) = result else {
            panic!("{result:?}")
        };
        assert_eq!(hint, "Enter the key again.");
    }
    app.engine
        .save_endpoint(draft(Some(saved.id), "https://127.0.0.1:1/v2", None))
        .await
        .unwrap();
}

#[tokio::test]
async fn next_start_completes_an_interrupted_setup() {
    let app = Headless::new().await;
    let chats = app.engine.list_chats().await.unwrap().len();
    let dir = app.dir;
    app.engine.shutdown().await;
    drop(app.engine);
    let database = tests::open_database(dir.path());
    database
        .execute_batch("DELETE FROM setting WHERE key = 'welcomed'; DELETE FROM chat; DELETE FROM character WHERE name = 'Sorrel';")
        .unwrap();
    drop(database);
    let engine = Engine::open(options(&dir))
        .await
        .unwrap_or_else(|error| panic!("{error}"));
    let names: Vec<_> = engine
        .list_characters()
        .await
        .unwrap()
        .into_iter()
        .map(|each| each.name)
        .collect();
    assert_eq!(
        (names.as_slice(), engine.list_chats().await.unwrap().len()),
        (
            ["Mira", "Otto Finch", "Sorrel"]
                .map(String::from)
                .as_slice(),
            chats
        )
    );
    assert_eq!(engine.list_personas().await.unwrap().len(), 1);
}
