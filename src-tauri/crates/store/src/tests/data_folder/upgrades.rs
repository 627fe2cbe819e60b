//! Data of earlier formats after an upgrade.

use crate::tests::data_folder::opening::{NOW, open_with};
use crate::tests::open;
use crate::{Notice, migrate};

#[tokio::test]
async fn upgraded_texts_from_before_tool_calls_have_none() {
    let dir = tempfile::tempdir().unwrap();
    let old = open_with(dir.path(), &migrate::MIGRATIONS[..3]).unwrap();
    let rows = "INSERT INTO character VALUES (zeroblob(16), 'Ada', '{}', 'chara_card_v3', NULL, NULL, 1, 1, NULL);
        INSERT INTO chat VALUES (zeroblob(16), zeroblob(16), NULL, 'An evening', NULL, '', 0, NULL, '', '', NULL, '{}', 1, 1, NULL);
        INSERT INTO message (id, chat, position, role, created, selected)
            VALUES (zeroblob(16), zeroblob(16), 0, 'user', 1, 0);
        INSERT INTO swipe (id, message, position, text, state, created)
            VALUES (zeroblob(16), zeroblob(16), 0, 'hello', 'finished', 1);";
    old.store
        .on_writer(|conn| conn.execute_batch(rows).unwrap())
        .await
        .unwrap();
    drop(old);
    let opened = open(dir.path());
    assert!(
        matches!(
            opened.notices[..],
            [Notice::Upgraded {
                from: 3,
                to: NOW,
                ..
            }]
        ),
        "{:?}",
        opened.notices
    );
    let id = domain::ChatId(uuid::Uuid::nil());
    let page = opened
        .store
        .read(move |r| r.messages().page(id, None, 9))
        .await
        .unwrap();
    assert_eq!(
        (page[0].text(), &page[0].swipe().tool_calls[..]),
        ("hello", &[][..])
    );
    assert!(page[0].pictures.is_empty());
}

#[tokio::test]
async fn an_upgraded_persona_has_no_picture() {
    let dir = tempfile::tempdir().unwrap();
    let before = migrate::MIGRATIONS
        .iter()
        .position(|sql| sql.contains("CREATE TABLE card_file"))
        .unwrap();
    let old = open_with(dir.path(), &migrate::MIGRATIONS[..before]).unwrap();
    let row = "INSERT INTO persona (id, name, description) VALUES (zeroblob(16), 'Sam', 'a smith')";
    old.store
        .on_writer(move |conn| conn.execute_batch(row).unwrap())
        .await
        .unwrap();
    drop(old);
    let store = open(dir.path()).store;
    let sam = domain::PersonaId(uuid::Uuid::nil());
    let pictured = store.write(move |w| {
        assert_eq!(
            (w.personas().list()?.len(), w.personas().pictures()?.len()),
            (1, 0)
        );
        let picture = w
            .assets_mut()
            .put(b"face", "image/png", domain::Timestamp(1))?;
        w.personas_mut().set_picture(sam, Some(picture))?;
        Ok(w.personas().pictures()?[&sam] == picture)
    });
    assert!(pictured.await.unwrap());
}

#[tokio::test]
async fn an_upgraded_model_keeps_its_adapter() {
    let dir = tempfile::tempdir().unwrap();
    let before = migrate::MIGRATIONS
        .iter()
        .position(|sql| sql.contains("model_adapter_list"))
        .unwrap();
    let old = open_with(dir.path(), &migrate::MIGRATIONS[..before]).unwrap();
    let rows = "INSERT INTO model (id, name, path, bytes, sha256, architecture, context)
            VALUES (zeroblob(16), 'Smol', '/models/smol.gguf', 1, 'ab', 'llama', 8192);
        INSERT INTO model_adapter VALUES (zeroblob(16), '/models/pirate.gguf', 0.5);";
    old.store
        .on_writer(move |conn| conn.execute_batch(rows).unwrap())
        .await
        .unwrap();
    drop(old);
    let store = open(dir.path()).store;
    let model = domain::ModelId(uuid::Uuid::nil());
    let adapters = store
        .read(move |r| r.model_adapters().of(model))
        .await
        .unwrap();
    assert_eq!(
        adapters,
        [crate::ModelAdapter {
            path: "/models/pirate.gguf".into(),
            weight: 0.5
        }]
    );
}
