//! Chats: persona, draft, model, window, texts of their own, and the chat of the local API.

use domain::chat::{Role, WindowState};
use domain::model::ModelChoice;
use domain::overrides::CardText;
use domain::persona::{Persona, PersonaPlace, PersonaPosition};
use domain::prompt::PromptRole;
use domain::{ChatId, EndpointId, PersonaId, Timestamp};

use crate::StoreError;
use crate::tests::{CHARACTER, CHAT, chat, furnished, message, message_id, purge, say, uuid};

#[tokio::test]
async fn a_chat_survives_the_deletion_of_its_persona() {
    let store = furnished().await;
    let id = PersonaId(uuid(1));
    let mut persona = Persona {
        id,
        name: "Kit".into(),
        description: "a smith".into(),
        instructions: String::new(),
        place: Default::default(),
    };
    let first = persona.clone();
    store
        .write(move |w| {
            w.personas_mut().insert(&first)?;
            w.chats_mut().set_persona(CHAT, Some(id))
        })
        .await
        .unwrap();
    persona.description = "a retired smith".into();
    persona.instructions = "Speak slowly.".into();
    persona.place = PersonaPlace {
        position: PersonaPosition::InChat,
        depth: 7,
        role: PromptRole::User,
    };
    let second = persona.clone();
    store
        .write(move |w| w.personas_mut().update(&second))
        .await
        .unwrap();
    let (list, one) = store
        .read(move |r| Ok((r.personas().list()?, r.personas().get(id)?)))
        .await
        .unwrap();
    assert_eq!((list, one), (vec![persona.clone()], Some(persona)));

    store
        .write(move |w| w.personas_mut().delete(id))
        .await
        .unwrap();
    assert_eq!(
        store
            .read(|r| r.chats().get(CHAT))
            .await
            .unwrap()
            .unwrap()
            .persona,
        None
    );
}

#[tokio::test]
async fn a_chat_stores_draft_model_title_and_window() {
    let store = furnished().await;
    let choice = ModelChoice::Remote(EndpointId(uuid(3)));
    let window = WindowState {
        epoch: 4,
        anchor: Some(message_id(2)),
        fingerprint: "f".into(),
        frozen: "[]".into(),
    };
    let set = window.clone();
    store
        .write(move |w| {
            w.chats_mut().set_draft(CHAT, "I was about to")?;
            w.chats_mut().set_title(CHAT, "The inn")?;
            w.chats_mut().set_model(CHAT, Some(choice))?;
            w.chats_mut().set_window(CHAT, &set)?;
            w.chats_mut().touch(CHAT, Timestamp(50))?;
            w.chats_mut().touch(CHAT, Timestamp(40))
        })
        .await
        .unwrap();
    let found = store.read(|r| r.chats().get(CHAT)).await.unwrap().unwrap();
    assert_eq!(
        (found.draft.as_str(), found.title.as_str()),
        ("I was about to", "The inn")
    );
    assert_eq!(
        (found.model, found.window, found.updated),
        (Some(choice), window, Timestamp(50))
    );

    let gone = store
        .write(|w| w.chats_mut().set_draft(ChatId(uuid(99)), "x"))
        .await;
    assert!(matches!(gone, Err(StoreError::NotFound { what: "chat" })));
}

#[tokio::test]
async fn chat_list_shows_selected_swipe_of_last_message() {
    let store = furnished().await;
    say(&store, 1, "first").await;
    let long = "é".repeat(300);
    let mut reply = message(2, Role::Character, "shown no more");
    reply.swipes.push(crate::tests::swipe(3, &long));
    reply.selected = 1;
    store
        .write(move |w| w.messages_mut().append(&reply))
        .await
        .unwrap();
    let older = ChatId(uuid(70));
    store
        .write(move |w| w.chats_mut().insert(&chat(older, CHARACTER, 0)))
        .await
        .unwrap();

    let list = store.read(|r| r.chats().list()).await.unwrap();
    assert_eq!(
        list.iter().map(|chat| chat.id).collect::<Vec<_>>(),
        [CHAT, older]
    );
    assert_eq!(list[0].last_line.as_deref(), Some("é".repeat(200).as_str()));
    assert_eq!(
        (list[0].message_count, list[0].character_name.as_str()),
        (2, "Ada")
    );
    assert_eq!((list[1].message_count, &list[1].last_line), (0, &None));
    let latest = store
        .read(|r| r.chats().latest_of_character(CHARACTER))
        .await
        .unwrap();
    assert_eq!(latest.unwrap().id, CHAT);

    store
        .write(|w| w.chats_mut().soft_delete(CHAT, Timestamp(9)))
        .await
        .unwrap();
    assert_eq!(store.read(|r| r.chats().list()).await.unwrap().len(), 1);
    store.write(|w| w.chats_mut().restore(CHAT)).await.unwrap();
    assert_eq!(store.read(|r| r.chats().list()).await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_chat_keeps_its_texts_until_reset_or_purged() {
    let store = furnished().await;
    let of = async |chat| store.read(move |r| r.chat_texts().of(chat)).await.unwrap();
    let set = async |field, text: Option<&'static str>| {
        store
            .write(move |w| w.chat_texts_mut().set(CHAT, field, text))
            .await
            .unwrap();
    };
    set(CardText::Scenario, Some("an inn")).await;
    set(CardText::Scenario, Some("a ship")).await;
    set(CardText::Examples, Some("")).await;
    let texts = of(CHAT).await;
    assert_eq!(
        (texts.get(CardText::Scenario), texts.get(CardText::Examples)),
        (Some("a ship"), Some(""))
    );
    assert!(of(ChatId(uuid(70))).await.is_empty());
    set(CardText::Scenario, None).await;
    assert_eq!(of(CHAT).await.get(CardText::Scenario), None);

    store
        .write(|w| w.chats_mut().soft_delete(CHAT, Timestamp(9)))
        .await
        .unwrap();
    assert!(
        !of(CHAT).await.is_empty(),
        "a deletion that can be undone keeps them"
    );
    purge(&store, 9).await;
    assert!(of(CHAT).await.is_empty());
}

#[tokio::test]
async fn deleted_api_chat_is_not_continued() {
    let store = furnished().await;
    store
        .write(|w| w.api_chats_mut().set(CHARACTER, CHAT))
        .await
        .unwrap();
    assert_eq!(
        store.read(|r| r.api_chats().of(CHARACTER)).await.unwrap(),
        Some(CHAT)
    );
    store
        .write(|w| w.chats_mut().soft_delete(CHAT, Timestamp(9)))
        .await
        .unwrap();
    assert_eq!(
        store.read(|r| r.api_chats().of(CHARACTER)).await.unwrap(),
        None
    );
    let stray = store
        .write(|w| w.api_chats_mut().set(CHARACTER, ChatId(uuid(99))))
        .await;
    assert!(
        matches!(stray, Err(StoreError::Conflict { .. })),
        "{stray:?}"
    );
}
