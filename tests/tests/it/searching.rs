//! Search over messages through the engine.

use engine::api::{SearchHit, SearchPage};
use tests::headless::Headless;

async fn search(app: &Headless, text: &str, chat: Option<&str>) -> SearchPage {
    app.engine.search_messages(text.to_owned(), chat.map(str::to_owned), 0).await.unwrap()
}

/// The found excerpt with its matches in brackets.
fn marked(hit: &SearchHit) -> String {
    let part = |(text, is_match): (&str, bool)| if is_match { format!("[{text}]") } else { text.to_owned() };
    hit.excerpt.iter().map(|one| part((&one.text, one.is_match))).collect()
}

#[tokio::test]
async fn finds_what_was_said_and_shows_where() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    app.model.reply("The 桜の木 blooms, Éloïse says.").reply("Another lantern.");
    app.send(&chat, "Where is the red lantern?").await;
    app.send(&chat, "And the lanterns?").await;

    let found = search(&app, "lantern", None).await;
    assert_eq!(
        found.hits.iter().map(marked).collect::<Vec<_>>(),
        ["Another [lantern].", "And the [lanterns]?", "Where is the red [lantern]?",]
    );
    assert_eq!((found.hits[0].name.as_deref(), found.hits[1].name.as_deref(), found.more), (Some("Mira"), None, false));
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
    assert_eq!(search(&app, "lantern", Some(&chat)).await.hits.len(), 3);
}

#[tokio::test]
async fn deleted_and_edited_words_are_not_found() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    app.model.reply("It is.").reply("No zanzibar.");
    app.send(&chat, "Is the quixotic door open?").await;
    let hit = search(&app, "quixotic", None).await.hits.remove(0);
    app.engine.edit_message(hit.message.clone(), "Is the green door open?".into()).await.unwrap();
    assert_eq!(search(&app, "quixotic", None).await.hits.len(), 0);
    app.engine.delete_message(hit.message.clone()).await.unwrap();
    assert_eq!(search(&app, "green door", None).await.hits.len(), 0);
    app.engine.restore_message(hit.message).await.unwrap();
    assert_eq!(search(&app, "green door", None).await.hits.len(), 1);
    app.engine.delete_chat(chat.clone()).await.unwrap();
    assert_eq!(search(&app, "green door", None).await.hits.len(), 0);
    app.engine.restore_chat(chat).await.unwrap();
    assert_eq!(search(&app, "green door", None).await.hits.len(), 1);
}
