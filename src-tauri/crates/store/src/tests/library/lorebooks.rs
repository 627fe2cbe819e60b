use domain::lorebook::Binding;
use domain::persona::Persona;
use domain::{ChatId, LorebookId, PersonaId, Timestamp};
use uuid::Uuid;

use crate::tests::data_folder::opening::open_with;
use crate::tests::{CHARACTER, CHAT, chat, furnished, open, purge, shown};
use crate::{ChatParticipants, Lorebook, Notice, Purged, Store, StoreError, migrate};

const OTHER: ChatId = ChatId(Uuid::from_u128(70));
const PERSONA: PersonaId = PersonaId(Uuid::from_u128(80));
const HERE: ChatParticipants = ChatParticipants {
    character: CHARACTER,
    chat: CHAT,
    persona: PERSONA,
};

fn id(number: u128) -> LorebookId {
    LorebookId(Uuid::from_u128(number))
}

fn book(number: u128, name: &str) -> Lorebook {
    Lorebook {
        id: id(number),
        name: name.into(),
        json: r#"{"entries":{}}"#.into(),
        source: None,
        enabled: true,
        created: Timestamp(1),
        updated: Timestamp(1),
    }
}

async fn with_books(bindings: &[(&str, &[Binding])]) -> Store {
    let store = furnished().await;
    for (number, (name, bound)) in (1..).zip(bindings) {
        let book = book(number, name);
        let bound = bound.to_vec();
        store
            .write(move |w| {
                w.lorebooks_mut().insert(&book)?;
                w.lorebooks_mut().bind(book.id, &bound)
            })
            .await
            .unwrap();
    }
    store
}

/// Lorebooks that apply, each with its binding.
async fn counting(store: &Store, company: ChatParticipants) -> Vec<String> {
    let bound = store
        .read(move |r| r.lorebooks().bound(company))
        .await
        .unwrap();
    let word = |binding| match binding {
        Binding::Global => "everywhere",
        Binding::Character(_) => "with her",
        Binding::Chat(_) => "here",
        Binding::Persona(_) => "as him",
    };
    bound
        .iter()
        .map(|book| format!("{} {}", book.name, word(book.binding)))
        .collect()
}

#[tokio::test]
async fn a_book_applies_only_where_it_is_bound() {
    let store = with_books(&[
        ("World", &[Binding::Global]),
        (
            "Hers",
            &[Binding::Character(CHARACTER), Binding::Chat(CHAT)],
        ),
        ("His", &[Binding::Persona(PERSONA)]),
        ("Elsewhere", &[Binding::Chat(OTHER)]),
        ("Loose", &[]),
    ])
    .await;
    assert_eq!(
        counting(&store, HERE).await,
        [
            "World everywhere",
            "Hers with her",
            "Hers here",
            "His as him"
        ]
    );
    let other = ChatParticipants {
        chat: OTHER,
        persona: PersonaId(Uuid::nil()),
        ..HERE
    };
    assert_eq!(
        counting(&store, other).await,
        ["World everywhere", "Hers with her", "Elsewhere here"]
    );

    store
        .write(|w| w.lorebooks_mut().bind(id(2), &[Binding::Chat(CHAT)]))
        .await
        .unwrap();
    store
        .write(|w| w.lorebooks_mut().add_binding(id(2), Binding::Chat(CHAT)))
        .await
        .unwrap();
    assert_eq!(counting(&store, HERE).await[1], "Hers here");
    assert_eq!(
        store
            .read(|r| r.lorebooks().bindings_of(id(2)))
            .await
            .unwrap(),
        [Binding::Chat(CHAT)]
    );
    assert_eq!(
        store
            .read(|r| r.lorebooks().bindings())
            .await
            .unwrap()
            .len(),
        4
    );
}

#[tokio::test]
async fn a_disabled_or_deleted_book_applies_nowhere() {
    let store = with_books(&[("World", &[Binding::Global])]).await;
    let delete = || store.write(|w| w.lorebooks_mut().soft_delete(id(1), Timestamp(5)));
    store
        .write(|w| {
            w.lorebooks_mut().update(&Lorebook {
                enabled: false,
                ..book(1, "World")
            })
        })
        .await
        .unwrap();
    assert!(counting(&store, HERE).await.is_empty());
    store
        .write(|w| w.lorebooks_mut().update(&book(1, "World")))
        .await
        .unwrap();
    let first = store
        .read(|r| r.lorebooks().get(id(1)))
        .await
        .unwrap()
        .unwrap()
        .updated;
    assert_eq!(
        first,
        Timestamp(3),
        "each change has a new time, even within a millisecond"
    );

    delete().await.unwrap();
    assert!(counting(&store, HERE).await.is_empty());
    assert_eq!(store.read(|r| r.lorebooks().list()).await.unwrap(), []);
    let edit = store
        .write(|w| w.lorebooks_mut().update(&book(1, "Edited")))
        .await;
    assert!(matches!(edit, Err(StoreError::NotFound { .. })));
    store
        .write(|w| w.lorebooks_mut().restore(id(1)))
        .await
        .unwrap();
    assert_eq!(counting(&store, HERE).await, ["World everywhere"]);

    delete().await.unwrap();
    assert_eq!(
        purge(&store, 5).await,
        Purged {
            lorebooks: 1,
            ..Purged::default()
        }
    );
    assert!(
        store
            .read(|r| r.lorebooks().bindings())
            .await
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn a_binding_is_removed_with_its_target() {
    let store = with_books(&[(
        "World",
        &[
            Binding::Character(CHARACTER),
            Binding::Chat(CHAT),
            Binding::Chat(OTHER),
            Binding::Persona(PERSONA),
        ],
    )])
    .await;
    let persona = Persona {
        id: PERSONA,
        name: "Wren".into(),
        description: String::new(),
        instructions: String::new(),
        place: Default::default(),
    };
    store
        .write(move |w| {
            w.chats_mut().insert(&chat(OTHER, CHARACTER, 2))?;
            w.personas_mut().insert(&persona)?;
            w.personas_mut().delete(PERSONA)?;
            w.chats_mut().soft_delete(CHAT, Timestamp(5))
        })
        .await
        .unwrap();
    purge(&store, 5).await;
    let left = async || {
        store
            .read(|r| r.lorebooks().bindings_of(id(1)))
            .await
            .unwrap()
    };
    assert_eq!(
        left().await,
        [Binding::Character(CHARACTER), Binding::Chat(OTHER)]
    );
    store
        .write(|w| w.characters_mut().soft_delete(CHARACTER, Timestamp(6)))
        .await
        .unwrap();
    purge(&store, 6).await;
    assert_eq!(left().await, [], "her chats went with her");
}

#[tokio::test]
async fn the_source_file_is_kept_with_its_book() {
    let store = furnished().await;
    let source = store
        .write(|w| w.assets_mut().put(b"{}", "application/json", Timestamp(1)))
        .await
        .unwrap();
    store
        .write(move |w| {
            w.lorebooks_mut().insert(&Lorebook {
                source: Some(source),
                ..book(1, "World")
            })
        })
        .await
        .unwrap();
    assert_eq!(purge(&store, 9).await, Purged::default());
    let found = store
        .read(move |r| r.lorebooks().from_source(source))
        .await
        .unwrap();
    assert_eq!(
        found
            .iter()
            .map(|book| book.name.as_str())
            .collect::<Vec<_>>(),
        ["World"]
    );
    store
        .write(|w| w.lorebooks_mut().soft_delete(id(1), Timestamp(9)))
        .await
        .unwrap();
    assert_eq!(
        purge(&store, 9).await,
        Purged {
            lorebooks: 1,
            assets: 1,
            ..Purged::default()
        }
    );
}

#[tokio::test]
async fn an_upgraded_older_file_has_no_lorebooks() {
    let dir = tempfile::tempdir().unwrap();
    let before = 9;
    let old = open_with(dir.path(), &migrate::MIGRATIONS[..before]).unwrap();
    crate::tests::create_library(&old.store).await;
    crate::tests::say_without_checksum(&old.store, 1, "hello").await;
    drop(old);
    let opened = open(dir.path());
    assert!(
        matches!(opened.notices[..], [Notice::Upgraded { from: 9, .. }]),
        "{:?}",
        opened.notices
    );
    assert_eq!(shown(&opened.store).await, ["hello"]);
    assert_eq!(
        opened.store.read(|r| r.lorebooks().list()).await.unwrap(),
        []
    );
    opened
        .store
        .write(|w| w.lorebooks_mut().insert(&book(1, "World")))
        .await
        .unwrap();
}
