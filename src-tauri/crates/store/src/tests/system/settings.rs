//! App settings and layered settings.

use domain::Timestamp;
use domain::settings::Owner;

use crate::StoreError;
use crate::tests::{CHARACTER, CHAT, empty_store, furnished, purge};

#[tokio::test]
async fn settings_hold_json_only() {
    let store = empty_store();
    store
        .write(|w| {
            w.settings_mut().set("theme", "\"dark\"")?;
            w.settings_mut().set("theme", "\"light\"")?;
            w.settings_mut().set("zoom", "1.25")?;
            w.settings_mut().set("gone", "1")?;
            w.settings_mut().remove("gone")
        })
        .await
        .unwrap();
    let (theme, all) = store
        .read(|r| Ok((r.settings().get("theme")?, r.settings().all()?)))
        .await
        .unwrap();
    assert_eq!(theme.as_deref(), Some("\"light\""));
    assert_eq!(all.into_keys().collect::<Vec<_>>(), ["theme", "zoom"]);
    let bad = store.write(|w| w.settings_mut().set("theme", "dark")).await;
    assert!(matches!(bad, Err(StoreError::Conflict { .. })));
}

#[tokio::test]
async fn a_setting_belongs_to_its_layer() {
    let store = furnished().await;
    let chat = Owner::Chat(CHAT);
    let other = Owner::Character(CHARACTER);
    store
        .write(move |w| {
            w.scoped_settings_mut()
                .set(Owner::Global, "history_cap", "8000")?;
            w.scoped_settings_mut().set(chat, "history_cap", "4000")?;
            w.scoped_settings_mut().set(chat, "history_cap", "3000")?;
            w.scoped_settings_mut().set(other, "mode", "\"chill\"")?;
            w.scoped_settings_mut().set(other, "template", "\"sms\"")?;
            w.scoped_settings_mut().remove(other, "template")
        })
        .await
        .unwrap();
    let of = |owner| store.read(move |r| r.scoped_settings().of(owner));
    assert_eq!(
        of(Owner::Global).await.unwrap(),
        [("history_cap".to_owned(), "8000".to_owned())].into()
    );
    assert_eq!(
        of(chat).await.unwrap(),
        [("history_cap".to_owned(), "3000".to_owned())].into()
    );
    assert_eq!(
        of(other).await.unwrap(),
        [("mode".to_owned(), "\"chill\"".to_owned())].into()
    );
    let bad = store
        .write(move |w| w.scoped_settings_mut().set(chat, "mode", "chill"))
        .await;
    assert!(matches!(bad, Err(StoreError::Conflict { .. })));
}

/// A chat's own settings may contain the user's text. They are removed with the chat, and with its
/// character.
#[tokio::test]
async fn settings_are_removed_with_their_owners() {
    let store = furnished().await;
    let chat = Owner::Chat(CHAT);
    let character = Owner::Character(CHARACTER);
    store
        .write(move |w| {
            w.scoped_settings_mut()
                .set(chat, "author_note", "\"rain\"")?;
            w.scoped_settings_mut()
                .set(character, "mode", "\"chill\"")?;
            w.scoped_settings_mut()
                .set(Owner::Global, "mode", "\"study\"")?;
            w.characters_mut().soft_delete(CHARACTER, Timestamp(5))
        })
        .await
        .unwrap();
    purge(&store, 6).await;
    let left = store
        .read(move |r| {
            let layers = r.scoped_settings();
            Ok([
                layers.of(chat)?.len(),
                layers.of(character)?.len(),
                layers.of(Owner::Global)?.len(),
            ])
        })
        .await
        .unwrap();
    assert_eq!(left, [0, 0, 1]);
}
