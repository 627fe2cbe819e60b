//! Pictures behind chats.

use domain::Timestamp;

use crate::migrate;
use crate::tests::data_folder::opening::open_with;

#[tokio::test]
async fn upgraded_backgrounds_have_no_scene_words() {
    let dir = tempfile::tempdir().unwrap();
    let before = migrate::MIGRATIONS
        .iter()
        .position(|sql| sql.contains("scene_words"))
        .unwrap();
    let old = open_with(dir.path(), &migrate::MIGRATIONS[..before]).unwrap();
    let picture = old
        .store
        .write(|w| w.assets_mut().put(b"sea", "image/png", Timestamp(1)))
        .await
        .unwrap();
    let row = format!(
        "INSERT INTO background (asset, name, created) VALUES (x'{picture}', 'sea.png', 1)"
    );
    old.store
        .on_writer(move |conn| conn.execute_batch(&row).unwrap())
        .await
        .unwrap();
    drop(old);
    let store = crate::tests::open(dir.path()).store;
    let words = async || {
        store
            .read(|r| Ok(r.backgrounds().list()?[0].scene_words.clone()))
            .await
            .unwrap()
    };
    assert_eq!(words().await, "");
    let set =
        |asset| store.write(move |w| w.backgrounds_mut().set_scene_words(asset, "sea, harbour"));
    assert!(set(picture).await.unwrap());
    assert_eq!(words().await, "sea, harbour");
    let unknown = "0".repeat(64).parse().unwrap();
    assert!(
        !set(unknown).await.unwrap(),
        "the gallery does not contain it"
    );
}
