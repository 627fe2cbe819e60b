//! A manifest belongs to its swipe.

use crate::StoreError;
use crate::tests::{furnished, say, swipe_id};

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
