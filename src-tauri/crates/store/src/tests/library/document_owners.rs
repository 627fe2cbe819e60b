//! The owners of documents: chats, characters and lorebooks.

use domain::document::DocumentOwner;
use domain::lorebook::Binding;
use domain::{CharacterId, Timestamp};
use uuid::Uuid;

use crate::tests::data_folder::opening::open_with;
use crate::tests::library::documents::{
    BOOK, HERE, HERS, OTHER, WORLD, attach, document, found, id, with_another_chat, world,
};
use crate::tests::{CHARACTER, message, open, purge};
use crate::{Purged, Query, Store, StoreError, migrate};

/// Documents of characters and lorebooks are found separately, by their owner.
#[tokio::test]
async fn every_owner_has_its_own_documents() {
    let store = with_another_chat().await;
    store
        .write(|w| w.lorebooks_mut().insert(&world()))
        .await
        .unwrap();
    for (number, owner) in (1..).zip([HERE, HERS, WORLD]) {
        attach(&store, number, owner, "The lamp burns whale oil.").await;
    }
    for (owner, shown) in [(HERE, "d1"), (HERS, "d2"), (WORLD, "d3")] {
        assert_eq!(
            found(&store, owner, "lamp").await,
            [format!("{shown}/0 : The lamp burns whale oil.")]
        );
        let all = store.read(move |r| r.documents().of(owner)).await.unwrap();
        assert_eq!(
            all.iter()
                .map(|one| (one.name.as_str(), one.owner))
                .collect::<Vec<_>>(),
            [(shown, owner)]
        );
    }
    assert!(found(&store, OTHER, "lamp").await.is_empty());
    let both = store
        .read(|r| {
            r.documents()
                .search(&[HERS, WORLD], &Query::any_word(["lamp"]), 9)
        })
        .await
        .unwrap();
    assert_eq!(
        both.iter().map(|hit| hit.name.as_str()).collect::<Vec<_>>(),
        ["d2", "d3"]
    );
    let numbered = async |owners: Vec<DocumentOwner>| {
        store
            .read(move |r| r.documents().numbered(&owners, 2))
            .await
            .unwrap()
    };
    assert!(
        numbered(vec![HERE, OTHER, WORLD]).await.is_none(),
        "a number of another's passage tells nothing"
    );
    assert_eq!(numbered(vec![HERS]).await.unwrap().name, "d2");
}

/// Attaches one document to the world and one to the character. A message and its manifest quote
/// the first one, and the world is deleted.
async fn quote_deleted_world(store: &Store) {
    store
        .write(|w| {
            w.lorebooks_mut().insert(&world())?;
            w.lorebooks_mut().bind(BOOK, &[Binding::Global])
        })
        .await
        .unwrap();
    attach(store, 1, WORLD, "The lamp burns whale oil.").await;
    attach(store, 2, HERS, "Her lamp.").await;
    let quote = format!(
        r#"[{{"source":{{"type":"document","id":"{}"}},"text":"whale oil"}}]"#,
        id(1)
    );
    let said = crate::NewMessage {
        context_block: Some(quote.clone()),
        ..message(1, domain::chat::Role::User, "Hm?")
    };
    store
        .write(move |w| {
            w.messages_mut().append(&said)?;
            w.manifests_mut()
                .insert(crate::tests::swipe_id(1), &quote, "{}")?;
            w.lorebooks_mut().soft_delete(BOOK, Timestamp(5))
        })
        .await
        .unwrap();
}

#[tokio::test]
async fn documents_and_quotes_are_purged_with_their_owner() {
    let store = with_another_chat().await;
    quote_deleted_world(&store).await;
    assert_eq!(
        store.read(|r| r.documents().get(id(1))).await.unwrap(),
        None,
        "it comes back with the book"
    );
    let purged = purge(&store, 5).await;
    assert_eq!(
        purged,
        Purged {
            documents: 1,
            lorebooks: 1,
            ..Purged::default()
        }
    );
    let quoting = store.on_writer(|conn| {
        let sql = "SELECT (SELECT count(*) FROM message WHERE instr(context_block, 'whale')), (SELECT count(*) FROM manifest WHERE instr(json, 'whale'))";
        conn.query_row(sql, [], |row| Ok((row.get::<_, u32>(0)?, row.get::<_, u32>(1)?))).unwrap()
    });
    assert_eq!(quoting.await.unwrap(), (0, 0));
    store
        .write(|w| w.characters_mut().soft_delete(CHARACTER, Timestamp(6)))
        .await
        .unwrap();
    assert_eq!(
        store.read(|r| r.documents().get(id(2))).await.unwrap(),
        None
    );
    purge(&store, 6).await;
    let left = store.on_writer(|conn| {
        conn.query_row("SELECT count(*) FROM passage", [], |row| {
            row.get::<_, u32>(0)
        })
        .unwrap()
    });
    assert_eq!(left.await.unwrap(), 0);
    let nobody = DocumentOwner::Character(CharacterId(Uuid::from_u128(99)));
    let stray = store
        .write(move |w| w.documents_mut().insert(&document(3, nobody, "d3"), &[]))
        .await;
    assert!(
        matches!(stray, Err(StoreError::Conflict { .. })),
        "{stray:?}"
    );
}

/// Embeds everything in the queue.
async fn embed_all(store: &Store) {
    for thing in store.read(|r| r.item_embeddings().queued(9)).await.unwrap() {
        store
            .write(move |w| {
                w.item_embeddings_mut()
                    .keep(&thing, "encoder", &[(vec![1], 1.0)])
            })
            .await
            .unwrap();
    }
}

/// The migration rebuilds the tables. It must not lose rows or references to row numbers.
#[tokio::test]
async fn upgrade_to_owners_keeps_documents_with_their_chats() {
    let dir = tempfile::tempdir().unwrap();
    let before = migrate::MIGRATIONS
        .iter()
        .position(|sql| sql.contains("CREATE TABLE document_kept"))
        .unwrap();
    let old = open_with(dir.path(), &migrate::MIGRATIONS[..before]).unwrap();
    crate::tests::create_library(&old.store).await;
    attach(
        &old.store,
        1,
        HERE,
        "The lamp: It burns whale oil.\nThe stairs: 灯塔看守人对花生过敏。",
    )
    .await;
    attach(&old.store, 2, HERE, "Gone.").await;
    old.store
        .write(|w| w.documents_mut().soft_delete(id(2), Timestamp(5)))
        .await
        .unwrap();
    embed_all(&old.store).await;
    drop(old);
    let store = open(dir.path()).store;
    assert_eq!(
        store.read(|r| r.documents().of(HERE)).await.unwrap(),
        [document(1, HERE, "d1")]
    );
    assert_eq!(
        found(&store, HERE, "whales").await,
        ["d1/0 The lamp: It burns whale oil."]
    );
    assert_eq!(
        found(&store, HERE, "花生过敏").await,
        ["d1/1 The stairs: 灯塔看守人对花生过敏。"]
    );
    let read = store
        .read(|r| {
            r.item_embeddings()
                .revision(crate::EmbeddingGroup::Passages(HERE))
        })
        .await
        .unwrap();
    assert_eq!(read.passages, 3, "existing embeddings stay");
    attach(&store, 3, HERS, "Her lamp.").await;
    let unread = store.read(|r| r.item_embeddings().queued(9)).await.unwrap();
    assert_eq!(
        unread
            .iter()
            .map(|thing| thing.text.as_str())
            .collect::<Vec<_>>(),
        ["Her lamp."]
    );
    purge(&store, 9).await;
    let restored = store.write(|w| w.documents_mut().restore(id(2))).await;
    assert!(restored.is_err());
    assert_eq!(found(&store, HERE, "whales").await.len(), 1);
}
