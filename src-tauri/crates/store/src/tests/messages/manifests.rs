//! Manifests: they belong to their swipes, and their prompts can be removed.

use domain::Timestamp;

use crate::tests::{CHAT, furnished, say, swipe_id};
use crate::{PromptSpace, Store, StoreError};

#[tokio::test]
async fn a_manifest_belongs_to_its_swipe() {
    let store = furnished().await;
    say(&store, 1, "hi").await;
    say(&store, 2, "ho").await;
    store
        .write(|w| {
            w.manifests_mut()
                .insert(swipe_id(1), r#"{"blocks":[]}"#, "{\"tokens\":1}")
        })
        .await
        .unwrap();
    store
        .write(|w| {
            w.manifests_mut()
                .insert(swipe_id(1), r#"{"blocks":[1]}"#, "{\"tokens\":2}")
        })
        .await
        .unwrap();
    let (json, figures) = store
        .read(|r| {
            Ok((
                r.manifests().get(swipe_id(1))?,
                r.manifests().figures(&[swipe_id(1), swipe_id(2)])?,
            ))
        })
        .await
        .unwrap();
    assert_eq!(json.as_deref(), Some(r#"{"blocks":[1]}"#));
    assert_eq!(figures, [(swipe_id(1), "{\"tokens\":2}".to_owned())].into());
    let stray = store
        .write(|w| w.manifests_mut().insert(swipe_id(99), "{}", "{}"))
        .await;
    assert!(matches!(stray, Err(StoreError::Conflict { .. })));
}

async fn with_prompts(store: &Store, numbers: impl IntoIterator<Item = u128>) {
    for number in numbers {
        say(store, number, "hi").await;
        store
            .write(move |w| {
                let json = format!("{{\"prompt\":{number}}}");
                w.manifests_mut()
                    .insert(swipe_id(number), &json, "{\"tokens\":1}")
            })
            .await
            .unwrap();
    }
}

async fn space(store: &Store) -> PromptSpace {
    store.read(|r| r.manifests().space()).await.unwrap()
}

#[tokio::test]
async fn removed_prompts_leave_their_figures() {
    let store = furnished().await;
    with_prompts(&store, 1..=3).await;
    let three = PromptSpace {
        prompts: 3,
        bytes: 3 * 12,
    };
    assert_eq!(space(&store).await, three);

    let removed = store.write(|w| w.manifests_mut().remove_all()).await;
    assert_eq!(removed.unwrap(), 3);
    assert_eq!(space(&store).await, PromptSpace::default());
    let (json, figures, latest) = store
        .read(|r| {
            Ok((
                r.manifests().get(swipe_id(1))?,
                r.manifests().figures(&[swipe_id(1)])?,
                r.manifests().latest(CHAT)?,
            ))
        })
        .await
        .unwrap();
    assert_eq!((json.as_deref(), latest), (Some(""), None));
    assert_eq!(figures, [(swipe_id(1), "{\"tokens\":1}".to_owned())].into());
    let again = store.write(|w| w.manifests_mut().remove_all()).await;
    assert_eq!(again.unwrap(), 0);
}

/// The replies are as old as their numbers.
#[tokio::test]
async fn prompts_are_listed_by_the_age_of_their_replies() {
    let store = furnished().await;
    with_prompts(&store, 1..=4).await;
    let (chats, old, mut since) = store
        .read(|r| {
            let manifests = r.manifests();
            let mut since = Vec::new();
            manifests.visit_since(CHAT, Timestamp(3), |swipe, json| {
                since.push((swipe, json.to_owned()));
            })?;
            Ok((
                manifests.chats_before(Timestamp(3))?,
                manifests.made_before(CHAT, Timestamp(3))?,
                since,
            ))
        })
        .await
        .unwrap();
    since.sort();
    assert_eq!(chats, [CHAT]);
    assert_eq!(old, [swipe_id(1), swipe_id(2)].into());
    assert_eq!(
        since,
        [3, 4].map(|number| (swipe_id(number), format!("{{\"prompt\":{number}}}")))
    );
    let none = store.read(|r| r.manifests().chats_before(Timestamp(1)));
    assert!(none.await.unwrap().is_empty());
}

#[tokio::test]
async fn missing_prompts_are_found_before_a_reply() {
    let store = furnished().await;
    with_prompts(&store, 1..=3).await;
    let lacks = async || {
        let read = store.read(|r| {
            let manifests = r.manifests();
            Ok((
                manifests.lacks_prompts(CHAT)?,
                manifests.lacks_prompts_before(swipe_id(2))?,
                manifests.lacks_prompts_before(swipe_id(3))?,
            ))
        });
        read.await.unwrap()
    };
    assert_eq!(lacks().await, (false, false, false));
    store
        .write(|w| w.manifests_mut().set_json(swipe_id(2), ""))
        .await
        .unwrap();
    assert_eq!(lacks().await, (true, false, true));
}
