//! Choices of the window's page, such as the text size.

use engine::Engine;
use engine::api::{ApiError, PageValue};
use tests::headless::Headless;

async fn save(engine: &Engine, key: &str, value: &str) -> Result<(), ApiError> {
    engine
        .save_page_value(key.to_owned(), Some(value.to_owned()))
        .await
}

async fn stored(engine: &Engine) -> Vec<(String, String)> {
    let all = engine.page_values().await.unwrap();
    all.into_iter()
        .map(|PageValue { key, value }| (key, value))
        .collect()
}

fn assert_refused(result: Result<(), ApiError>, expected: &str) {
    match result {
        Err(ApiError::BadInput { message, .. }) => {
            assert!(message.contains(expected), "{message}");
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn choices_of_the_page_survive_a_restart() {
    let app = Headless::new().await;
    assert!(stored(&app.engine).await.is_empty());
    save(&app.engine, "look", "small").await.unwrap();
    save(&app.engine, "look", "large").await.unwrap();
    save(&app.engine, "zoom", "1.1").await.unwrap();
    save(&app.engine, "gone", "1").await.unwrap();
    for key in ["gone", "never"] {
        let removed = app.engine.save_page_value(key.to_owned(), None).await;
        removed.unwrap();
    }
    let app = app.restart().await;
    let expected = [("look", "large"), ("zoom", "1.1")];
    assert_eq!(
        stored(&app.engine).await,
        expected.map(|(key, value)| (key.to_owned(), value.to_owned()))
    );
}

#[tokio::test]
async fn long_choices_of_the_page_are_refused() {
    let app = Headless::new().await;
    let largest = "v".repeat(64 << 10);
    save(&app.engine, &"ü".repeat(100), &largest).await.unwrap();
    save(&app.engine, "look", "small").await.unwrap();
    for key in [String::new(), "k".repeat(101), "a\0b".to_owned()] {
        assert_refused(save(&app.engine, &key, "1").await, "1 to 100 characters");
    }
    let longer = save(&app.engine, "look", &(largest + "v")).await;
    assert_refused(longer, "`look` was not saved");
    let all = stored(&app.engine).await;
    assert_eq!(all.len(), 2);
    assert!(all.contains(&("look".to_owned(), "small".to_owned())));
}

#[tokio::test]
async fn page_keeps_a_limited_number_of_choices() {
    let app = Headless::new().await;
    for number in 0..500 {
        let key = format!("key {number}");
        save(&app.engine, &key, "1").await.unwrap();
    }
    assert_refused(save(&app.engine, "one more", "1").await, "500 choices");
    save(&app.engine, "key 7", "2").await.unwrap();
    assert_eq!(stored(&app.engine).await.len(), 500);
    let removed = app.engine.save_page_value("key 7".to_owned(), None).await;
    removed.unwrap();
    save(&app.engine, "one more", "1").await.unwrap();
}
