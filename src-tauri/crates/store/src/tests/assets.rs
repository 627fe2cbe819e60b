use domain::Timestamp;

use super::{CHARACTER, character, furnished};
use crate::{AssetHash, NotAHash, Store};

fn files_below(dir: &std::path::Path) -> usize {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| if path.is_dir() { files_below(&path) } else { 1 }).sum()
}

async fn put(store: &Store, bytes: &'static [u8]) -> AssetHash {
    store.write(move |w| w.assets_mut().put(bytes, "image/png", Timestamp(1))).await.unwrap()
}

#[tokio::test]
async fn the_same_content_is_stored_once() {
    let store = Store::in_memory().unwrap();
    let (first, second) = (put(&store, b"picture").await, put(&store, b"picture").await);
    assert_eq!(first, second);
    assert_eq!(std::fs::read(store.asset_path(first)).unwrap(), b"picture");
    assert_eq!(files_below(&store.dir().join("assets")), 1);
    let asset = store.read(move |r| r.assets().get(first)).await.unwrap().unwrap();
    assert_eq!((asset.mime.as_str(), asset.bytes), ("image/png", 7));
    assert_eq!(store.read(|r| r.assets().all()).await.unwrap(), [asset]);
}

#[tokio::test]
async fn a_lost_file_comes_back_with_the_next_import() {
    let store = Store::in_memory().unwrap();
    let hash = put(&store, b"picture").await;
    std::fs::remove_file(store.asset_path(hash)).unwrap();
    put(&store, b"picture").await;
    assert_eq!(std::fs::read(store.asset_path(hash)).unwrap(), b"picture");
}

#[test]
fn only_a_hash_names_a_file() {
    let hash = AssetHash::of(b"picture");
    assert_eq!(hash.to_string().parse(), Ok(hash));
    assert_eq!(serde_json::to_string(&hash).unwrap(), format!("\"{hash}\""));
    for text in ["", "../../etc/passwd", &"g".repeat(64), &"a".repeat(63), &"a".repeat(65), "ab/cd"] {
        assert_eq!(text.parse::<AssetHash>(), Err(NotAHash), "{text}");
    }
}

#[tokio::test]
async fn a_picture_goes_with_its_last_character() {
    let store = furnished().await;
    let (shared, own) = (put(&store, b"shared").await, put(&store, b"own").await);
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
    assert_eq!(store.purge(Timestamp(4)).await.unwrap().assets, 0);
    assert!(store.asset_path(own).exists());

    assert_eq!(store.purge(Timestamp(5)).await.unwrap().assets, 1);
    assert!(!store.asset_path(own).exists());
    assert!(store.asset_path(shared).exists());
}
