//! Choices of the window's page.

use crate::tests::data_folder::opening::open_with;
use crate::tests::{empty_store, open};
use crate::{Store, StoreError, migrate};

async fn all(store: &Store) -> Vec<(String, String)> {
    let values = store.read(|r| r.page_values().all()).await.unwrap();
    values.into_iter().collect()
}

#[tokio::test]
async fn page_values_are_replaced_and_removed() {
    let store = empty_store();
    store
        .write(|w| {
            w.page_values_mut().set("look", "small")?;
            w.page_values_mut().set("look", "large")?;
            w.page_values_mut().set("zoom", "")?;
            w.page_values_mut().set("gone", "1")?;
            w.page_values_mut().remove("gone")?;
            w.page_values_mut().remove("never")?;
            assert_eq!(w.page_values().count_others("look")?, 1);
            Ok(())
        })
        .await
        .unwrap();
    let expected = [("look", "large"), ("zoom", "")];
    assert_eq!(
        all(&store).await,
        expected.map(|(key, value)| (key.to_owned(), value.to_owned()))
    );
}

#[tokio::test]
async fn long_page_values_are_refused() {
    let store = empty_store();
    let set =
        |key: String, value: String| store.write(move |w| w.page_values_mut().set(&key, &value));
    set("ü".repeat(100), "v".repeat(65_536)).await.unwrap();
    for (key, value) in [
        (String::new(), String::new()),
        ("k".repeat(101), String::new()),
        ("k".to_owned(), "v".repeat(65_537)),
        ("k".to_owned(), "ü".repeat(32_769)),
    ] {
        let refused = set(key, value).await;
        assert!(matches!(refused, Err(StoreError::Conflict { .. })));
    }
    assert_eq!(all(&store).await.len(), 1);
}

#[tokio::test]
async fn upgraded_folder_has_no_page_values() {
    let dir = tempfile::tempdir().unwrap();
    let before = migrate::MIGRATIONS
        .iter()
        .position(|sql| sql.contains("page_value"))
        .unwrap();
    let old = open_with(dir.path(), &migrate::MIGRATIONS[..before]).unwrap();
    old.store
        .write(|w| w.settings_mut().set("theme", "\"dark\""))
        .await
        .unwrap();
    drop(old);
    let store = open(dir.path()).store;
    assert!(all(&store).await.is_empty());
    store
        .write(|w| w.page_values_mut().set("zoom", "1.1"))
        .await
        .unwrap();
    let theme = store.read(|r| r.settings().get("theme")).await.unwrap();
    assert_eq!(
        (theme.as_deref(), all(&store).await.len()),
        (Some("\"dark\""), 1)
    );
}
