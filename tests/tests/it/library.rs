//! The library: lists, search, and bulk actions on characters.

use std::fs;

use domain::CharacterId;
use engine::api::{ApiError, CharacterSummary, ChatFileFormat};
use serde_json::{Value, json};
use tests::headless::Headless;

fn card(name: &str, data: Value) -> Vec<u8> {
    let mut all = json!({ "name": name, "description": "", "personality": "", "scenario": "", "first_mes": "Hello.",
        "mes_example": "", "tags": [], "extensions": {} });
    all.as_object_mut()
        .unwrap()
        .extend(data.as_object().unwrap().clone());
    json!({ "spec": "chara_card_v2", "spec_version": "2.0", "data": all })
        .to_string()
        .into_bytes()
}

/// A library without the sample characters.
struct Shelf {
    app: Headless,
}

impl Shelf {
    async fn with(cards: &[(&str, Value)]) -> Self {
        let shelf = Self {
            app: Headless::new().await,
        };
        let sample = shelf.all().await.into_iter().map(|one| one.id).collect();
        shelf.app.engine.delete_characters(sample).await.unwrap();
        for (name, data) in cards {
            let report = shelf
                .app
                .engine
                .import_bytes(format!("{name}.json"), card(name, data.clone()))
                .await
                .unwrap();
            assert_eq!(report.imported.len(), 1, "{report:?}");
        }
        shelf
    }

    async fn all(&self) -> Vec<CharacterSummary> {
        self.app.engine.list_characters().await.unwrap()
    }

    async fn one(&self, name: &str) -> CharacterSummary {
        self.all()
            .await
            .into_iter()
            .find(|one| one.name == name)
            .unwrap()
    }

    async fn ids(&self) -> Vec<CharacterId> {
        self.all().await.into_iter().map(|one| one.id).collect()
    }

    async fn found(&self, query: &str) -> Vec<String> {
        let ids = self.app.engine.find_characters(query.into()).await.unwrap();
        let mut names: Vec<_> = self
            .all()
            .await
            .into_iter()
            .filter(|one| ids.contains(&one.id))
            .map(|one| one.name)
            .collect();
        names.sort();
        names
    }
}

#[tokio::test]
async fn search_finds_the_current_text_of_cards() {
    let shelf = Shelf::with(&[
        ("Ada", json!({ "description": "She keeps the lighthouse at Évora.", "creator": "Kit", "tags": ["Sea"] })),
        ("Bea", json!({ "description": "她住在灯塔里", "creator_notes": "For a calm evening." })),
    ])
    .await;
    for (query, names) in [
        ("lightho", vec!["Ada"]),
        ("evora KEEPS", vec!["Ada"]),
        ("kit", vec!["Ada"]),
        ("sea ada", vec!["Ada"]),
        ("calm", vec!["Bea"]),
        ("住在灯", vec!["Bea"]),
        ("lighthouse bea", vec![]),
        ("  ", vec![]),
    ] {
        assert_eq!(shelf.found(query).await, names, "{query}");
    }

    let ada = shelf.one("Ada").await.id;
    let mut fields = shelf.app.engine.get_character(ada).await.unwrap().fields;
    fields.description = "She has moved to the mill.".into();
    shelf
        .app
        .engine
        .update_character(ada, fields)
        .await
        .unwrap();
    assert_eq!(
        (shelf.found("mill").await, shelf.found("lighthouse").await),
        (vec!["Ada".to_owned()], vec![])
    );
    assert_eq!(shelf.one("Ada").await.tagline, "She has moved to the mill.");
}

#[tokio::test]
async fn sillytavern_favourite_is_imported_once() {
    let shelf = Shelf::with(&[
        ("Ada", json!({ "extensions": { "fav": true } })),
        ("Bea", json!({})),
    ])
    .await;
    assert_eq!(
        (
            shelf.one("Ada").await.favourite,
            shelf.one("Bea").await.favourite
        ),
        (true, false)
    );

    let card = shelf
        .app
        .engine
        .get_character(shelf.one("Bea").await.id)
        .await
        .unwrap();
    shelf
        .app
        .engine
        .set_favourites(shelf.ids().await, true)
        .await
        .unwrap();
    shelf
        .app
        .engine
        .set_favourites(vec![shelf.one("Ada").await.id], false)
        .await
        .unwrap();
    assert_eq!(
        (
            shelf.one("Ada").await.favourite,
            shelf.one("Bea").await.favourite
        ),
        (false, true)
    );
    let same = shelf.app.engine.get_character(card.id).await.unwrap();
    assert_eq!(same, card, "the card is unchanged");
}

#[tokio::test]
async fn bulk_tag_change_edits_only_tags() {
    let odd = json!({ "tags": ["Sea", "quiet"], "extensions": { "mine": { "x": [1, null] } } });
    let shelf = Shelf::with(&[
        ("Ada", odd),
        ("Bea", json!({ "tags": ["cozy"] })),
        ("Cleo", json!({})),
    ])
    .await;
    let (add, remove) = (
        vec![" Cozy ".to_owned(), String::new()],
        vec!["sea".to_owned()],
    );
    let former = shelf
        .app
        .engine
        .tag_characters(shelf.ids().await, add, remove)
        .await
        .unwrap();
    assert_eq!(former.len(), 2, "Bea has the tag already");
    assert_eq!(shelf.one("Ada").await.tags, ["quiet", "Cozy"]);
    assert_eq!(
        shelf.one("Bea").await.tags,
        ["cozy"],
        "the existing spelling stays"
    );
    assert_eq!(shelf.one("Cleo").await.tags, ["Cozy"]);

    let id = shelf.one("Ada").await.id;
    let exported = shelf
        .app
        .engine
        .export_character(id, engine::api::CardFormat::JsonV2)
        .await
        .unwrap();
    let exported: Value = serde_json::from_slice(&exported.bytes).unwrap();
    assert_eq!(
        exported["data"]["extensions"]["mine"],
        json!({ "x": [1, null] })
    );
    assert_eq!(exported["data"]["tags"], json!(["quiet", "Cozy"]));

    let long = vec!["x".repeat(101)];
    let refused = shelf
        .app
        .engine
        .tag_characters(shelf.ids().await, long, Vec::new())
        .await;
    assert!(matches!(refused, Err(ApiError::BadInput { .. })));

    shelf.app.engine.restore_tags(former).await.unwrap();
    assert_eq!(shelf.one("Ada").await.tags, ["Sea", "quiet"]);
    assert_eq!(shelf.one("Cleo").await.tags, [] as [&str; 0]);
}

#[tokio::test]
async fn bulk_delete_is_atomic_and_can_be_undone() {
    let shelf = Shelf::with(&[("Ada", json!({})), ("Bea", json!({})), ("Cleo", json!({}))]).await;
    let two = vec![shelf.one("Ada").await.id, shelf.one("Bea").await.id];
    shelf
        .app
        .engine
        .delete_characters(two.clone())
        .await
        .unwrap();
    assert_eq!(shelf.all().await.len(), 1);

    let gone_and_there = vec![shelf.one("Cleo").await.id, two[0]];
    let refused = shelf.app.engine.delete_characters(gone_and_there).await;
    assert!(
        matches!(refused, Err(ApiError::NotFound { .. })),
        "{refused:?}"
    );
    assert_eq!(
        shelf.all().await.len(),
        1,
        "a missing character prevents the deletion"
    );

    shelf.app.engine.restore_characters(two).await.unwrap();
    assert_eq!(shelf.all().await.len(), 3);
}

#[tokio::test]
async fn thumbnail_is_created_once() {
    let app = Headless::new().await;
    let picture = app
        .engine
        .get_character(app.first_chat().await.character)
        .await
        .unwrap()
        .picture
        .unwrap();
    let (whole, small) = (
        app.engine.asset(picture.clone()).await.unwrap(),
        app.engine.thumbnail(picture.clone()).await.unwrap(),
    );
    assert!(small.bytes.len() <= whole.bytes.len());
    assert_eq!(
        app.engine.thumbnail(picture.clone()).await.unwrap().bytes,
        small.bytes
    );
    let kept = app
        .dir
        .path()
        .join("thumbnails")
        .join(&picture[..2])
        .join(&picture);
    assert_eq!(kept.exists(), small.bytes != whole.bytes);
    for no in ["", "../../etc/passwd", &"0".repeat(64)] {
        assert!(app.engine.thumbnail(no.to_owned()).await.is_err(), "{no}");
    }
}

#[tokio::test]
async fn exported_chat_can_be_imported_for_a_character() {
    let shelf = Shelf::with(&[("Ada", json!({})), ("Bea", json!({}))]).await;
    let engine = &shelf.app.engine;
    let (ada, bea) = (shelf.one("Ada").await.id, shelf.one("Bea").await.id);
    let chat = engine.new_chat(ada).await.unwrap();
    let exported = engine
        .export_chat(chat.id, ChatFileFormat::Jsonl)
        .await
        .unwrap();
    let path = shelf.app.dir.path().join("An evening.jsonl");
    fs::write(&path, exported.bytes).unwrap();
    let report = engine
        .import_chats_with(bea, vec![path.clone()])
        .await
        .unwrap();
    assert_eq!(
        (
            report.imported[0].kind.as_str(),
            report.imported[0].name.as_str()
        ),
        ("chat", "An evening")
    );
    let back = engine
        .open_chat(report.imported[0].id.parse().unwrap())
        .await
        .unwrap();
    assert_eq!((back.character, back.page.messages.len()), (bea, 1));

    let again = engine.import_chats_with(bea, vec![path]).await.unwrap();
    assert_eq!(
        (again.imported.len(), again.skipped.len()),
        (0, 1),
        "the same file is imported once"
    );
    let nobody = engine
        .import_chats_with(CharacterId(uuid::Uuid::nil()), Vec::new())
        .await;
    assert!(matches!(nobody, Err(ApiError::NotFound { .. })));
}

#[tokio::test]
async fn counts_texts_or_estimates_without_a_model() {
    let app = Headless::new().await;
    let counts = app
        .engine
        .count_fields(vec![String::new(), "one two three".into(), "one".into()])
        .await
        .unwrap();
    let [none, three, one] = counts.tokens[..] else {
        panic!("{counts:?}")
    };
    assert!(none == 0 && one > 0 && three > one, "{counts:?}");
    let many = vec![String::new(); 257];
    assert!(matches!(
        app.engine.count_fields(many).await,
        Err(ApiError::BadInput { .. })
    ));
}

/// The first page has about 3,000 tokens, however short the messages are.
#[tokio::test]
async fn page_of_short_messages_is_measured_in_tokens() {
    let app = Headless::new().await;
    let first = app.first_chat().await;
    let lines: Vec<String> = (0..120)
        .map(|number| {
            let name = if number % 2 == 0 {
                "Sam"
            } else {
                first.character_name.as_str()
            };
            json!({ "name": name, "is_user": number % 2 == 0, "mes": format!("s{number}") })
                .to_string()
        })
        .collect();
    let header =
        json!({ "user_name": "Sam", "character_name": first.character_name, "chat_metadata": {} });
    let file = format!("{header}\n{}\n", lines.join("\n"));
    let report = app
        .engine
        .import_bytes("Short.jsonl".into(), file.into_bytes())
        .await
        .unwrap();
    let page = app
        .engine
        .open_chat(report.imported[0].id.parse().unwrap())
        .await
        .unwrap()
        .page;
    assert_eq!((page.messages.len(), page.more), (120, false));
}
