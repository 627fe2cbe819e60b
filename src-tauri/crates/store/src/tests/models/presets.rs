//! Presets are replaced by their key.

use domain::Timestamp;

use crate::tests::{CHARACTER, furnished, purge};
use crate::{Preset, PresetKind};

#[tokio::test]
async fn presets_are_replaced_by_key() {
    let store = furnished().await;
    let preset = |key: &str, position, character| Preset {
        kind: PresetKind::RegexScript,
        key: key.into(),
        character,
        name: key.into(),
        position,
        json: "{}".into(),
        source: None,
        updated: Timestamp(1),
    };
    let own = preset("own", 2, None);
    let of_card = preset("card", 1, Some(CHARACTER));
    let changed = Preset {
        name: "renamed".into(),
        ..own.clone()
    };
    let first = own;
    let second = of_card.clone();
    let third = changed.clone();
    store
        .write(move |w| {
            [first, second, third]
                .iter()
                .try_for_each(|preset| w.presets_mut().put(preset))
        })
        .await
        .unwrap();
    let list = || store.read(|r| r.presets().list(PresetKind::RegexScript));
    assert_eq!(list().await.unwrap(), [of_card, changed.clone()]);
    assert!(
        store
            .read(|r| r.presets().list(PresetKind::Mode))
            .await
            .unwrap()
            .is_empty()
    );

    store
        .write(|w| w.characters_mut().soft_delete(CHARACTER, Timestamp(2)))
        .await
        .unwrap();
    purge(&store, 2).await;
    assert_eq!(list().await.unwrap(), [changed]);
    store
        .write(|w| w.presets_mut().delete(PresetKind::RegexScript, "own"))
        .await
        .unwrap();
    assert!(list().await.unwrap().is_empty());
}
