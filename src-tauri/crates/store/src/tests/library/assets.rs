//! Assets: one file for each content, kept while something references it.

use domain::Timestamp;
use uuid::Uuid;

use crate::tests::{
    CHARACTER, CHAT, character, empty_store, furnished, keys, message_id, purge, say,
};
use crate::{AssetHash, Draft, DraftPlace, NotAHash, Store};

fn files_below(dir: &std::path::Path) -> usize {
    let entries = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries
        .map(|path| if path.is_dir() { files_below(&path) } else { 1 })
        .sum()
}

async fn put(store: &Store, bytes: &'static [u8]) -> AssetHash {
    store
        .write(move |w| w.assets_mut().put(bytes, "image/png", Timestamp(1)))
        .await
        .unwrap()
}

#[tokio::test]
async fn the_same_content_is_stored_once() {
    let store = empty_store();
    let first = put(&store, b"picture").await;
    let second = put(&store, b"picture").await;
    assert_eq!(first, second);
    assert_eq!(store.read_asset_file(first).unwrap(), b"picture");
    assert_eq!(files_below(&store.dir().join("assets")), 1);
    let asset = store
        .read(move |r| r.assets().get(first))
        .await
        .unwrap()
        .unwrap();
    assert_eq!((asset.mime.as_str(), asset.bytes), ("image/png", 7));
    assert_eq!(store.read(|r| r.assets().all()).await.unwrap(), [asset]);
}

#[tokio::test]
async fn the_next_import_restores_a_lost_file() {
    let store = empty_store();
    let hash = put(&store, b"picture").await;
    std::fs::remove_file(store.assets().file(hash)).unwrap();
    put(&store, b"picture").await;
    assert_eq!(store.read_asset_file(hash).unwrap(), b"picture");
}

#[test]
fn only_a_hash_names_a_file() {
    let hash = AssetHash::of(b"picture");
    assert_eq!(hash.to_string().parse(), Ok(hash));
    assert_eq!(serde_json::to_string(&hash).unwrap(), format!("\"{hash}\""));
    for text in [
        "",
        "../../etc/passwd",
        &"g".repeat(64),
        &"a".repeat(63),
        &"a".repeat(65),
        "ab/cd",
    ] {
        assert_eq!(text.parse::<AssetHash>(), Err(NotAHash), "{text}");
    }
}

#[tokio::test]
async fn lost_and_emptied_files_come_back_from_a_backup() {
    let store = empty_store();
    let [lost, emptied_file, changed, only_here] = [
        put(&store, b"one").await,
        put(&store, b"two").await,
        put(&store, b"three").await,
        AssetHash::of(b"four"),
    ];
    store
        .backup(Timestamp(1), crate::BackupKind::Automatic)
        .await
        .unwrap();
    put(&store, b"four").await;
    std::fs::remove_file(store.assets().file(lost)).unwrap();
    std::fs::write(store.assets().file(emptied_file), "").unwrap();
    std::fs::remove_file(store.assets().file(only_here)).unwrap();
    let repair = store.repair_assets().await.unwrap();
    assert_eq!(
        repair,
        crate::AssetRepair {
            healed: 2,
            lost: vec![only_here]
        }
    );
    assert_eq!(store.read_asset_file(emptied_file).unwrap(), b"two");
    std::fs::write(store.assets().file(changed), "THREE").unwrap();
    assert_eq!(
        store.repair_asset(changed).unwrap().as_deref(),
        Some(&b"three"[..]),
        "of the same length"
    );
    assert_eq!(store.repair_asset(only_here).unwrap(), None);
    let missing = store
        .backup(Timestamp(2), crate::BackupKind::Automatic)
        .await
        .unwrap()
        .missing;
    assert_eq!(missing, 1, "the backup says what it lacks");
}

#[tokio::test]
async fn files_that_belong_to_nothing_are_removed() {
    let dir = tempfile::tempdir().unwrap();
    let store = crate::tests::open(dir.path()).store;
    let named = put(&store, b"named").await;
    let old = store.keep_file(b"left by a kill").unwrap();
    store.keep_thumbnail(old, b"small").unwrap();
    std::fs::write(dir.path().join("assets").join("notes.txt"), "not ours").unwrap();
    let paths = [store.assets().file(old), store.thumbnails().file(old)];
    drop(store);
    let aged = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    for path in paths {
        std::fs::File::options()
            .append(true)
            .open(path)
            .unwrap()
            .set_modified(aged)
            .unwrap();
    }
    let store = crate::tests::open(dir.path()).store;
    let new = store.keep_file(b"its row follows").unwrap();
    assert_eq!(store.sweep_assets().await.unwrap(), 2);
    assert!(store.assets().file(named).exists() && store.assets().file(new).exists());
    assert!(!store.assets().file(old).exists() && !store.thumbnails().file(old).exists());
    assert!(dir.path().join("assets").join("notes.txt").exists());
}

#[tokio::test]
async fn files_of_a_set_aside_database_stay() {
    let dir = tempfile::tempdir().unwrap();
    let store = crate::tests::open(dir.path()).store;
    let picture = put(&store, b"picture").await;
    let path = store.assets().file(picture);
    drop(store);
    Store::set_aside(dir.path(), Timestamp(0), keys())
        .unwrap()
        .unwrap();
    let aged = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    std::fs::File::options()
        .append(true)
        .open(&path)
        .unwrap()
        .set_modified(aged)
        .unwrap();
    assert_eq!(
        crate::tests::open(dir.path())
            .store
            .sweep_assets()
            .await
            .unwrap(),
        0
    );
    assert!(path.exists());
}

#[tokio::test]
async fn a_thumbnail_is_removed_with_its_picture() {
    let store = empty_store();
    let hash = put(&store, b"picture").await;
    store.keep_thumbnail(hash, b"small").unwrap();
    assert_eq!(store.read_thumbnail(hash).unwrap(), b"small");
    purge(&store, 1).await;
    assert!(!store.thumbnails().file(hash).exists());
}

#[tokio::test]
async fn a_picture_is_purged_with_its_last_character() {
    let store = furnished().await;
    let shared = put(&store, b"shared").await;
    let own = put(&store, b"own").await;
    let deleted = domain::CharacterId(uuid::Uuid::from_u128(50));
    store
        .write(move |w| {
            let mut ada = character(CHARACTER, "Ada");
            ada.picture = Some(shared);
            w.characters_mut().update(&ada)?;
            let mut bea = character(deleted, "Bea");
            (bea.picture, bea.source) = (Some(shared), Some(own));
            w.characters_mut().insert(&bea)?;
            w.characters_mut().soft_delete(deleted, Timestamp(5))
        })
        .await
        .unwrap();
    assert_eq!(purge(&store, 4).await.assets, 0);
    assert!(store.assets().file(own).exists());

    assert_eq!(purge(&store, 5).await.assets, 1);
    assert!(!store.assets().file(own).exists());
    assert!(store.assets().file(shared).exists());
}

#[tokio::test]
async fn a_picture_is_purged_with_its_message() {
    let store = furnished().await;
    let sent = put(&store, b"sent").await;
    let unsent = put(&store, b"unsent").await;
    say(&store, 1, "look").await;
    let pictures = [(sent, "lamp.png".to_owned()), (sent, String::new())];
    store
        .write(move |w| w.pictures_mut().put(message_id(1), &pictures))
        .await
        .unwrap();
    let message = store
        .read(|r| r.messages().get(message_id(1)))
        .await
        .unwrap()
        .unwrap();
    let names: Vec<_> = message
        .pictures
        .iter()
        .map(|picture| (picture.hash.clone(), picture.name.as_str()))
        .collect();
    assert_eq!(
        names,
        [(sent.to_string(), "lamp.png"), (sent.to_string(), "")]
    );
    let page = store
        .read(|r| r.messages().page(CHAT, None, 9))
        .await
        .unwrap();
    assert_eq!(page, [message]);
    let found = store.read(|r| r.pictures().from(CHAT, 0)).await.unwrap();
    assert_eq!(found[&message_id(1)], page[0].pictures);
    assert!(
        store
            .read(|r| r.pictures().from(CHAT, 1))
            .await
            .unwrap()
            .is_empty()
    );

    assert_eq!(purge(&store, 4).await.assets, 1);
    assert!(store.assets().file(sent).exists() && !store.assets().file(unsent).exists());
    store
        .write(|w| w.messages_mut().soft_delete(message_id(1), Timestamp(5)))
        .await
        .unwrap();
    assert_eq!(purge(&store, 4).await.assets, 0);
    assert_eq!(purge(&store, 5).await.assets, 1);
    assert!(!store.assets().file(sent).exists());

    let stray = store
        .write(move |w| {
            w.pictures_mut()
                .put(message_id(1), &[(unsent, String::new())])
        })
        .await;
    assert!(
        matches!(stray, Err(crate::StoreError::Conflict { .. })),
        "{stray:?}"
    );
}

/// The content is about to be referenced, so a purge of older assets must not remove it.
#[tokio::test]
async fn storing_an_asset_again_resets_its_age() {
    let store = furnished().await;
    let hash = put(&store, b"picture").await;
    store
        .write(|w| w.assets_mut().put(b"picture", "image/png", Timestamp(9)))
        .await
        .unwrap();
    assert_eq!(purge(&store, 8).await.assets, 0);
    assert!(store.assets().file(hash).exists());
}

/// Uses the assets as a file of a card, as the picture of a persona, and as a background.
async fn reference_assets(store: &Store, persona: domain::PersonaId, hashes: [AssetHash; 3]) {
    let [sprite, face, sea] = hashes;
    store
        .write(move |w| {
            let description = String::new();
            let instructions = String::new();
            let place = Default::default();
            let row = domain::persona::Persona {
                id: persona,
                name: "Sam".into(),
                description,
                instructions,
                place,
            };
            w.personas_mut().insert(&row)?;
            w.personas_mut().set_picture(persona, Some(face))?;
            w.card_files_mut()
                .put(CHARACTER, "assets/joy.png", sprite)?;
            let name = "sea.png".to_owned();
            let scene_words = String::new();
            let sea = crate::Background {
                asset: sea,
                name,
                created: Timestamp(1),
                luminance: None,
                scene_words,
            };
            assert!(
                w.backgrounds_mut().add(&sea)? && !w.backgrounds_mut().add(&sea)?,
                "kept once"
            );
            Ok(())
        })
        .await
        .unwrap();
}

#[tokio::test]
async fn referenced_assets_are_not_purged() {
    let store = furnished().await;
    let hashes = [
        put(&store, b"sprite").await,
        put(&store, b"face").await,
        put(&store, b"sea").await,
    ];
    let [sprite, face, _] = hashes;
    let persona = domain::PersonaId(uuid::Uuid::from_u128(60));
    reference_assets(&store, persona, hashes).await;
    assert_eq!(purge(&store, 9).await.assets, 0);
    let found = store.read(move |r| {
        Ok((
            r.card_files().of(CHARACTER)?,
            r.personas().pictures()?,
            r.backgrounds().list()?,
        ))
    });
    let (files, faces, backgrounds) = found.await.unwrap();
    assert_eq!(
        (files[0].path.as_str(), files[0].asset, files[0].bytes),
        ("assets/joy.png", sprite, 6)
    );
    assert_eq!(
        (faces[&persona], backgrounds[0].name.as_str()),
        (face, "sea.png")
    );

    let gone = move |w: &mut crate::WriteTransaction<'_>| {
        w.personas_mut().delete(persona)?;
        w.characters_mut().soft_delete(CHARACTER, Timestamp(9))
    };
    store.write(gone).await.unwrap();
    assert_eq!(purge(&store, 9).await.assets, 2, "all but the background");
}

#[tokio::test]
async fn pictures_of_a_draft_are_purged_with_it() {
    let store = furnished().await;
    let hash = put(&store, b"attached").await;
    let place = DraftPlace {
        kind: "pictures".into(),
        owner: CHAT.to_string(),
        target: String::new(),
    };
    let text = format!(r#"[{{"hash":"{hash}","name":""}}]"#);
    let draft = Draft {
        id: Uuid::from_u128(7),
        place,
        text,
        base: String::new(),
        saved: Timestamp(1),
    };
    store
        .write(move |w| w.drafts_mut().write(&draft, None))
        .await
        .unwrap();
    assert_eq!(purge(&store, 9).await.assets, 0);
    store
        .write(|w| w.drafts_mut().discard(Uuid::from_u128(7)))
        .await
        .unwrap();
    assert_eq!(purge(&store, 9).await.assets, 1);
}
