//! Earlier versions of cards, and copies of characters.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use domain::CharacterId;
use engine::api::{Change, CharacterFields, DocumentOwner, LorebookBinding};
use tests::headless::Headless;

async fn edit(app: &Headless, id: CharacterId, change: impl FnOnce(&mut CharacterFields)) {
    let mut fields = app.engine.get_character(id).await.unwrap().fields;
    change(&mut fields);
    app.engine.update_character(id, fields).await.unwrap();
}

#[tokio::test]
async fn every_save_keeps_the_earlier_card() {
    let app = Headless::new().await;
    let id = app.first_chat().await.character;
    edit(&app, id, |fields| {
        fields.description = "She keeps the red lamp.".into()
    })
    .await;
    // A save without a change keeps nothing.
    edit(&app, id, |_| {}).await;
    edit(&app, id, |fields| {
        fields.description = "She keeps the old lamp.".into();
        fields.tags = vec!["sea".into(), "night".into()];
    })
    .await;
    let versions = app.engine.card_versions(id).await.unwrap();
    assert_eq!(versions.len(), 2);
    assert_eq!(versions[0].changed, ["description", "tags"]);

    let changes = app
        .engine
        .card_version_changes(id, versions[0].id.clone())
        .await
        .unwrap();
    let description = &changes[0];
    assert_eq!(description.field, "description");
    let removed = description
        .parts
        .iter()
        .filter(|part| part.change == Change::Removed);
    assert_eq!(
        removed.map(|part| part.text.as_str()).collect::<Vec<_>>(),
        ["red"]
    );
}

#[tokio::test]
async fn restoring_a_version_can_be_undone() {
    let app = Headless::new().await;
    let id = app.first_chat().await.character;
    let original = app.engine.get_character(id).await.unwrap().fields;
    edit(&app, id, |fields| {
        (fields.name, fields.scenario) = ("Mira Quay".into(), "A storm.".into())
    })
    .await;
    let changed = app.engine.get_character(id).await.unwrap().fields;

    let version = app.engine.card_versions(id).await.unwrap().remove(0);
    let restored = app
        .engine
        .restore_card_version(id, version.id)
        .await
        .unwrap();
    assert_eq!(restored.fields, original);
    let undo = app.engine.card_versions(id).await.unwrap().remove(0);
    assert_eq!(
        app.engine
            .restore_card_version(id, undo.id)
            .await
            .unwrap()
            .fields,
        changed
    );
    assert!(
        app.engine
            .restore_card_version(id, "999999".into())
            .await
            .is_err()
    );
    assert!(
        app.engine
            .restore_card_version(id, "first".into())
            .await
            .is_err()
    );
}

#[tokio::test]
async fn versions_are_bounded_and_deletable() {
    let app = Headless::new().await;
    let id = app.first_chat().await.character;
    for number in 0..55 {
        edit(&app, id, |fields| {
            fields.scenario = format!("Night {number}.")
        })
        .await;
    }
    assert_eq!(app.engine.card_versions(id).await.unwrap().len(), 50);
    app.engine.forget_card_versions(id).await.unwrap();
    assert!(app.engine.card_versions(id).await.unwrap().is_empty());
}

#[tokio::test]
async fn copy_has_everything_but_chats() {
    let app = Headless::new().await;
    let id = app.first_chat().await.character;
    let engine = &app.engine;
    let book = engine.create_lorebook("Sea".into()).await.unwrap().about.id;
    engine
        .bind_lorebook(book, vec![LorebookBinding::Character { id }])
        .await
        .unwrap();
    let data = BASE64_STANDARD.encode("The reef took the boat in 1911.");
    let owner = DocumentOwner::Character { id };
    engine
        .attach_document(owner, "reef.txt".into(), data)
        .await
        .unwrap();
    let persona = engine.list_personas().await.unwrap().remove(0).id;
    engine.bind_persona(id, Some(persona)).await.unwrap();

    let copy = engine.duplicate_character(id).await.unwrap();
    let original = engine.get_character(id).await.unwrap();
    assert_ne!(copy.id, id);
    let renamed = CharacterFields {
        name: format!("{} (2)", original.fields.name),
        nickname: original.fields.name.clone(),
        ..original.fields.clone()
    };
    assert_eq!((&copy.fields, copy.picture), (&renamed, original.picture));
    let second = engine.duplicate_character(copy.id).await.unwrap();
    assert_eq!(second.fields.name, format!("{} (3)", original.fields.name));
    assert_eq!(
        second.fields.nickname, original.fields.name,
        "prompts keep the name"
    );
    engine.delete_character(second.id).await.unwrap();
    assert!(
        engine
            .list_chats()
            .await
            .unwrap()
            .iter()
            .all(|chat| chat.character != copy.id)
    );
    let bound = engine.get_lorebook(book).await.unwrap().about.bindings;
    assert!(
        bound.contains(&LorebookBinding::Character { id: copy.id }),
        "{bound:?}"
    );
    let documents = engine
        .list_documents(DocumentOwner::Character { id: copy.id })
        .await
        .unwrap();
    assert_eq!(documents[0].name, "reef.txt");
    assert_eq!(engine.list_personas().await.unwrap()[0].characters.len(), 2);
    // The copy is independent.
    edit(&app, copy.id, |fields| fields.name = "Other".into()).await;
    assert_ne!(engine.get_character(id).await.unwrap().fields.name, "Other");
    assert!(engine.card_versions(copy.id).await.unwrap().len() == 1);
}
