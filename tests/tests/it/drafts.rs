//! Drafts survive a kill, are deleted with their items, and never replace the text of another
//! window.

use engine::api::{
    Draft, DraftKind, DraftPlace, EndpointDraft, MemoryDraft, Mode, PersonaDraft, Picture,
    TrashKind, TrashRef,
};
use serde_json::json;
use tests::headless::{Headless, fact};

fn place(kind: DraftKind, owner: impl ToString, target: impl ToString) -> DraftPlace {
    DraftPlace {
        kind,
        owner: owner.to_string(),
        target: target.to_string(),
    }
}

async fn write(app: &Headless, place: &DraftPlace, text: &str) -> String {
    app.engine
        .write_draft(place.clone(), text.into(), "base".into(), None)
        .await
        .unwrap()
        .id
}

async fn texts(app: &Headless, kind: DraftKind, owner: impl ToString) -> Vec<String> {
    app.engine
        .drafts(kind, owner.to_string())
        .await
        .unwrap()
        .into_iter()
        .map(|draft| draft.text)
        .collect()
}

#[tokio::test]
async fn draft_survives_restart_and_keeps_its_base() {
    let app = Headless::new().await;
    let chat = app.first_chat().await;
    let message = chat.page.messages[0].id;
    let edit = place(DraftKind::MessageEdit, chat.id, message);
    write(&app, &edit, "half an edit").await;
    write(
        &app,
        &place(DraftKind::Template, "", "new 1"),
        "{ half a template",
    )
    .await;
    let app = app.restart().await;
    let found = app
        .engine
        .drafts(DraftKind::MessageEdit, chat.id.to_string())
        .await
        .unwrap();
    let [
        Draft {
            place, text, base, ..
        },
    ] = &found[..]
    else {
        panic!("{found:?}")
    };
    assert_eq!(
        (place, text.as_str(), base.as_str()),
        (&edit, "half an edit", "base")
    );
    assert_eq!(
        texts(&app, DraftKind::Template, "").await,
        ["{ half a template"]
    );
    assert_eq!(texts(&app, DraftKind::Script, "").await, [""; 0]);
}

#[tokio::test]
async fn each_window_replaces_only_its_own_draft() {
    let app = Headless::new().await;
    let chat = app.first_chat().await;
    let edit = place(DraftKind::MessageEdit, chat.id, chat.page.messages[0].id);
    let save = |text: &str, before: Option<String>| {
        app.engine
            .write_draft(edit.clone(), text.into(), String::new(), before)
    };
    let shared = save("Once", None).await.unwrap();
    // Both windows have read the first draft and type on.
    let one = save("Once upon", Some(shared.id.clone())).await.unwrap();
    assert_eq!(one.others, []);
    let two = save("Once more", Some(shared.id)).await.unwrap();
    assert_eq!(
        two.others
            .iter()
            .map(|other| other.text.as_str())
            .collect::<Vec<_>>(),
        ["Once upon"]
    );
    let one = save("Once upon a time", Some(one.id)).await.unwrap();
    assert_eq!(
        one.others
            .iter()
            .map(|other| other.text.as_str())
            .collect::<Vec<_>>(),
        ["Once more"]
    );
    app.engine.discard_draft(one.id.clone()).await.unwrap();
    app.engine.discard_draft(one.id).await.unwrap();
    assert_eq!(
        texts(&app, DraftKind::MessageEdit, chat.id).await,
        ["Once more"]
    );
}

#[tokio::test]
async fn composer_keeps_text_of_another_window() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    let keep = |text: &str, known: &str| app.engine.keep_draft(chat, text.into(), known.into());
    let stored = || async { app.engine.open_chat(chat).await.unwrap().draft };
    assert_eq!(keep("I will", "").await.unwrap(), []);
    // Another window read "I will" and typed on; then this one does.
    assert_eq!(keep("I will go", "I will").await.unwrap(), []);
    let others = keep("I will stay", "I will").await.unwrap();
    assert_eq!(
        others
            .iter()
            .map(|other| other.text.as_str())
            .collect::<Vec<_>>(),
        ["I will go"]
    );
    assert_eq!(stored().await, "I will stay");
    // Each window goes on: there are never more texts than windows.
    let others = keep("I will go now", "I will go").await.unwrap();
    assert_eq!(
        others
            .iter()
            .map(|other| other.text.as_str())
            .collect::<Vec<_>>(),
        ["I will stay"]
    );
    let others = keep("I will stay here", "I will stay").await.unwrap();
    assert_eq!(
        others
            .iter()
            .map(|other| other.text.as_str())
            .collect::<Vec<_>>(),
        ["I will go now"]
    );
    // Taking over the other text, and an empty box, leave nothing behind.
    assert_eq!(keep("I will go now", "I will stay here").await.unwrap(), []);
    assert_eq!(keep("", "I will go now").await.unwrap(), []);
}

#[tokio::test]
async fn sent_text_does_not_come_back_as_another_windows_text() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    app.engine
        .keep_draft(chat, "Hello there".into(), String::new())
        .await
        .unwrap();
    app.model.reply("Hello.");
    app.send(chat, "Hello there").await;
    assert_eq!(
        app.engine
            .keep_draft(chat, String::new(), "Hello there".into())
            .await
            .unwrap(),
        []
    );
    assert_eq!(app.engine.open_chat(chat).await.unwrap().draft, "");
}

#[tokio::test]
async fn drafts_go_with_their_items() {
    let app = Headless::new().await;
    let chat = app.first_chat().await;
    let (engine, character) = (&app.engine, chat.character);
    let book = engine
        .create_lorebook("Ports".into())
        .await
        .unwrap()
        .about
        .id;
    let memory = engine.save_memory(MemoryDraft {
        text: "Ada likes tea.".into(),
        ..fact(character, "", 5)
    });
    let memory = memory.await.unwrap().id;
    let persona = PersonaDraft {
        id: None,
        name: "Wren".into(),
        ..engine.list_personas().await.unwrap()[0].clone().into()
    };
    let persona = engine.save_persona(persona).await.unwrap().id;
    let places = [
        place(DraftKind::Pictures, chat.id, ""),
        place(DraftKind::Setting, chat.id, "author_note"),
        place(DraftKind::Card, character, ""),
        place(DraftKind::Memory, character, memory),
        place(DraftKind::LoreEntry, book, "new 1"),
        place(DraftKind::Persona, "", persona),
    ];
    for place in &places {
        write(&app, place, "typed").await;
    }
    engine.delete_persona(persona).await.unwrap();
    assert_eq!(texts(&app, DraftKind::Persona, "").await, [""; 0]);
    engine.delete_lorebook(book).await.unwrap();
    engine.delete_chat(chat.id).await.unwrap();
    // Items that can still be restored keep their drafts.
    assert_eq!(texts(&app, DraftKind::LoreEntry, book).await, ["typed"]);
    assert_eq!(texts(&app, DraftKind::Setting, chat.id).await, ["typed"]);
    let gone = |kind, id: String| TrashRef { kind, id };
    engine
        .delete_from_trash(
            vec![
                gone(TrashKind::Chat, chat.id.to_string()),
                gone(TrashKind::Lorebook, book.to_string()),
            ],
            false,
        )
        .await
        .unwrap();
    assert_eq!(texts(&app, DraftKind::LoreEntry, book).await, [""; 0]);
    assert_eq!(texts(&app, DraftKind::Pictures, chat.id).await, [""; 0]);
    engine.delete_character(character).await.unwrap();
    engine
        .delete_from_trash(
            vec![gone(TrashKind::Character, character.to_string())],
            false,
        )
        .await
        .unwrap();
    assert_eq!(texts(&app, DraftKind::Card, character).await, [""; 0]);
    assert_eq!(texts(&app, DraftKind::Memory, character).await, [""; 0]);
    // A window that still types into a deleted item is refused.
    engine
        .write_draft(places[2].clone(), "late".into(), String::new(), None)
        .await
        .unwrap_err();
}

#[tokio::test]
async fn drafts_of_named_items_go_with_them() {
    let app = Headless::new().await;
    let (name, text) = ("pirate".into(), "Talk like a pirate.".into());
    app.engine
        .save_mode(Mode {
            name,
            text,
            built_in: false,
            changed: false,
        })
        .await
        .unwrap();
    write(&app, &place(DraftKind::Mode, "", "pirate"), "Talk like").await;
    write(&app, &place(DraftKind::Mode, "", "study"), "Ask").await;
    app.engine.delete_mode("pirate".into()).await.unwrap();
    assert_eq!(texts(&app, DraftKind::Mode, "").await, ["Ask"]);
}

#[tokio::test]
async fn drafts_of_endpoints_and_tool_servers_go_with_them() {
    let app = Headless::new().await;
    let draft = EndpointDraft {
        name: "Attic".into(),
        url: "http://127.0.0.1:9/v1".into(),
        model: "m".into(),
        context: 4_096,
        ..EndpointDraft::default()
    };
    let endpoint = app.engine.save_endpoint(draft).await.unwrap().id;
    let servers = json!({"mcpServers": {"files": {"url": "http://127.0.0.1:9/mcp"}}}).to_string();
    let server = app
        .engine
        .add_tool_servers(servers)
        .await
        .unwrap()
        .added
        .remove(0)
        .id;
    for (kind, id) in [
        (DraftKind::Endpoint, endpoint.to_string()),
        (DraftKind::ToolServer, server.to_string()),
    ] {
        write(&app, &place(kind, "", id), "typed").await;
        write(&app, &place(kind, "", "new"), "a new one").await;
    }
    app.engine.delete_endpoint(endpoint).await.unwrap();
    app.engine.delete_tool_server(server).await.unwrap();
    assert_eq!(texts(&app, DraftKind::Endpoint, "").await, ["a new one"]);
    assert_eq!(texts(&app, DraftKind::ToolServer, "").await, ["a new one"]);
}

#[tokio::test]
async fn attached_pictures_of_a_draft_stay_until_it_goes() {
    const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    let picture: Picture = app
        .engine
        .add_picture("a.png".into(), PIXEL.into())
        .await
        .unwrap();
    let draft = write(
        &app,
        &place(DraftKind::Pictures, chat, ""),
        &json!([picture]).to_string(),
    )
    .await;
    // Emptying the trash removes pictures that lost their last reference.
    app.engine.empty_trash(false).await.unwrap();
    let app = app.restart().await;
    assert!(app.engine.asset(picture.hash.clone()).await.is_ok());
    assert_eq!(
        texts(&app, DraftKind::Pictures, chat).await,
        [json!([picture]).to_string()]
    );
    app.engine.discard_draft(draft).await.unwrap();
    assert_eq!(texts(&app, DraftKind::Pictures, chat).await, [""; 0]);
}

#[tokio::test]
async fn edit_of_a_text_that_changed_meanwhile_changes_nothing() {
    let app = Headless::new().await;
    let chat = app.first_chat().await;
    let (id, was) = (
        chat.page.messages[0].id,
        chat.page.messages[0].swipes[0].text.clone(),
    );
    let edit = |was: &str, text: &str| app.engine.edit_message_from(id, was.into(), text.into());
    let edited = edit(&was, "First window.").await.unwrap().unwrap();
    assert_eq!(edited.swipes[0].text, "First window.");
    assert_eq!(edit(&was, "Second window.").await.unwrap(), None);
    let stored = app.engine.open_chat(chat.id).await.unwrap().page.messages[0].swipes[0]
        .text
        .clone();
    assert_eq!(stored, "First window.");
    assert!(
        edit("First window.", "Second window.")
            .await
            .unwrap()
            .is_some()
    );
}

#[tokio::test]
async fn backups_have_drafts() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    write(&app, &place(DraftKind::Hint, chat, ""), "softer").await;
    let backup = app.engine.backup().await.unwrap();
    let mine = app
        .engine
        .drafts(DraftKind::Hint, chat.to_string())
        .await
        .unwrap();
    app.engine.discard_draft(mine[0].id.clone()).await.unwrap();
    app.engine.restore_at_next_start(backup.file).await.unwrap();
    let app = app.restart().await;
    assert_eq!(texts(&app, DraftKind::Hint, chat).await, ["softer"]);
}
