//! Search over messages and everything else through the engine.

use domain::ChatId;
use engine::api::{
    CardField, ItemPlace, SearchGroupKind, SearchHit, SearchPage, SearchResults, SettingOwner,
    SettingValue,
};
use tests::headless::{Headless, fact};

async fn search(app: &Headless, text: &str, chat: Option<ChatId>) -> SearchPage {
    app.engine
        .search_messages(text.to_owned(), chat, 0)
        .await
        .unwrap()
}

/// The found excerpt with its matches in brackets.
fn marked(hit: &SearchHit) -> String {
    let part = |(text, is_match): (&str, bool)| {
        if is_match {
            format!("[{text}]")
        } else {
            text.to_owned()
        }
    };
    hit.excerpt
        .iter()
        .map(|one| part((&one.text, one.is_match)))
        .collect()
}

#[tokio::test]
async fn finds_what_was_said_and_shows_where() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    app.model
        .reply("The 桜の木 blooms, Éloïse says.")
        .reply("Another lantern.");
    app.send(chat, "Where is the red lantern?").await;
    app.send(chat, "And the lanterns?").await;

    let found = search(&app, "lantern", None).await;
    assert_eq!(
        found.hits.iter().map(marked).collect::<Vec<_>>(),
        [
            "Another [lantern].",
            "And the [lanterns]?",
            "Where is the red [lantern]?",
        ]
    );
    assert_eq!(
        (
            found.hits[0].name.as_deref(),
            found.hits[1].name.as_deref(),
            found.more
        ),
        (Some("Mira"), None, false)
    );
    for (text, count) in [
        ("木", 1),
        ("桜の", 1),
        ("eloise", 1),
        ("\"red lantern\"", 1),
        ("\"lantern red\"", 0),
        ("lantern from:me", 2),
        ("lantern from:mira", 1),
        ("lantern from:nobody", 0),
        ("lantern in:mira", 3),
        ("lantern before:2020", 0),
        ("lantern has:picture", 0),
        ("from:me", 2),
        ("…", 0),
        ("", 0),
    ] {
        assert_eq!(search(&app, text, None).await.hits.len(), count, "{text}");
    }
    assert_eq!(search(&app, "lantern", Some(chat)).await.hits.len(), 3);
}

#[tokio::test]
async fn deleted_and_edited_words_are_not_found() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    app.model.reply("It is.").reply("No zanzibar.");
    app.send(chat, "Is the quixotic door open?").await;
    let hit = search(&app, "quixotic", None).await.hits.remove(0);
    app.engine
        .edit_message(hit.message, "Is the green door open?".into())
        .await
        .unwrap();
    assert_eq!(search(&app, "quixotic", None).await.hits.len(), 0);
    app.engine.delete_message(hit.message).await.unwrap();
    assert_eq!(search(&app, "green door", None).await.hits.len(), 0);
    app.engine.restore_message(hit.message).await.unwrap();
    assert_eq!(search(&app, "green door", None).await.hits.len(), 1);
    app.engine.delete_chat(chat).await.unwrap();
    assert_eq!(search(&app, "green door", None).await.hits.len(), 0);
    app.engine.restore_chat(chat).await.unwrap();
    assert_eq!(search(&app, "green door", None).await.hits.len(), 1);
}

async fn everything(app: &Headless, text: &str, meaning: bool) -> SearchResults {
    app.engine
        .search(text.to_owned(), None, meaning)
        .await
        .unwrap()
}

/// The number of hits in each group that has hits.
fn groups(results: &SearchResults) -> Vec<(SearchGroupKind, usize)> {
    results
        .groups
        .iter()
        .map(|group| (group.kind, group.items.len()))
        .collect()
}

async fn set_note(app: &Headless, chat: ChatId, text: Option<&str>) {
    let value = text.map(|text| SettingValue::Text(text.into()));
    app.engine
        .set_setting(SettingOwner::Chat { id: chat }, "author_note".into(), value)
        .await
        .unwrap();
}

#[tokio::test]
async fn one_search_finds_every_kind_of_text() {
    let app = Headless::new().await;
    let chat = app.first_chat().await;
    app.model.reply("No.");
    app.send(chat.id, "Where is the obsidian key?").await;
    let hit = search(&app, "obsidian", None).await.hits.remove(0);
    app.engine
        .edit_message(hit.message, "Where is the key?".into())
        .await
        .unwrap();
    let memory = app
        .engine
        .save_memory(fact(chat.character, "Owns an obsidian mirror.", 5))
        .await
        .unwrap();
    set_note(&app, chat.id, Some("Mention the obsidian.")).await;
    let scenario = Some("An obsidian hall.".to_owned());
    app.engine
        .set_chat_text(chat.id, CardField::Scenario, scenario)
        .await
        .unwrap();
    let world = r#"{"name":"World","entries":{"7":{"uid":7,"key":["pit"],"content":"Obsidian is cut here."}}}"#;
    let report = app
        .engine
        .import_bytes("world.json".into(), world.into())
        .await
        .unwrap();
    let book = report.imported[0].id.parse().unwrap();
    let character = app.character("Obsidian").await;

    let found = everything(&app, "obsidian", true).await;
    assert_eq!(
        (found.messages.hits.len(), found.can_find_meaning),
        (0, false)
    );
    assert_eq!(
        (found.earlier.hits.len(), &found.earlier.hits[0].message),
        (1, &hit.message)
    );
    use SearchGroupKind::{Characters, Entries, Memories, Notes};
    assert_eq!(
        groups(&found),
        [(Notes, 2), (Memories, 1), (Entries, 1), (Characters, 1)]
    );
    let place = |group: usize, item: usize| found.groups[group].items[item].place.clone();
    assert_eq!(
        place(0, 0),
        ItemPlace::ChatText {
            chat: chat.id,
            field: CardField::Scenario
        }
    );
    assert_eq!(place(0, 1), ItemPlace::ChatNote { chat: chat.id });
    let ItemPlace::Memory {
        memory: id,
        chat: shown_in,
        ..
    } = place(1, 0)
    else {
        panic!("{found:?}")
    };
    assert_eq!((id, shown_in), (memory.id, Some(chat.id)));
    assert_eq!(
        place(2, 0),
        ItemPlace::Entry {
            book,
            entry: "7".into()
        }
    );
    assert_eq!(
        place(3, 0),
        ItemPlace::Character {
            character,
            field: String::new()
        }
    );
    // Filters for messages leave the other groups out.
    assert_eq!(
        groups(&everything(&app, "obsidian from:me", false).await),
        []
    );

    app.engine.delete_memory(memory.id).await.unwrap();
    app.engine.delete_character(character).await.unwrap();
    set_note(&app, chat.id, None).await;
    assert_eq!(
        groups(&everything(&app, "obsidian", false).await),
        [(Notes, 1), (Entries, 1)]
    );
    app.engine.restore_memory(memory.id).await.unwrap();
    assert_eq!(
        groups(&everything(&app, "obsidian", false).await),
        [(Notes, 1), (Memories, 1), (Entries, 1)]
    );
    app.engine.delete_chat(chat.id).await.unwrap();
    app.engine.empty_trash(false).await.unwrap();
    let left = everything(&app, "obsidian", false).await;
    assert_eq!(
        (left.earlier.hits.len(), groups(&left)),
        (0, vec![(Memories, 1), (Entries, 1)])
    );
}

#[tokio::test]
async fn hits_in_a_chat_are_in_order_with_their_words() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    app.model.reply("Two lamps.").reply("Dark.");
    app.send(chat, "A lamp?").await;
    app.send(chat, "The other LAMP").await;
    let found = app.engine.find_in_chat(chat, "lamp".into()).await.unwrap();
    let open = app.engine.open_chat(chat).await.unwrap().page.messages;
    let texts = |text: &str| {
        open.iter()
            .find(|one| tests::headless::selected_text(one) == text)
            .unwrap()
            .id
    };
    assert_eq!(
        found.messages,
        ["A lamp?", "Two lamps.", "The other LAMP"].map(texts)
    );
    assert_eq!(
        found
            .terms
            .iter()
            .map(|term| (term.text.as_str(), term.unfinished))
            .collect::<Vec<_>>(),
        [("lamp", true)]
    );
    let phrase = app
        .engine
        .find_in_chat(chat, "\"other lamp\"".into())
        .await
        .unwrap();
    assert_eq!(
        (phrase.messages.len(), phrase.terms[0].unfinished),
        (1, false)
    );
    assert_eq!(
        app.engine
            .find_in_chat(chat, " ".into())
            .await
            .unwrap()
            .messages
            .len(),
        0
    );
}
