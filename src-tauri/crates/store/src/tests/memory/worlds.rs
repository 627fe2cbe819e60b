//! World memories apply where their lorebook applies, and are removed with it.

use domain::lorebook::Binding;
use domain::memory::{ArchiveReason, ArchivedState, MemoryScope};
use domain::{CharacterId, ChatId, LorebookId, PersonaId, Timestamp};
use tempfile::TempDir;
use uuid::Uuid;

use crate::tests::data_folder::opening::open_with;
use crate::tests::memory::memories::{active, memory};
use crate::tests::{CHARACTER, CHAT, character, chat, create_library, furnished, open, purge};
use crate::{ChatParticipants, Lorebook, MemoryFilter, MemorySet, Query, Store, migrate};

const COAST: LorebookId = LorebookId(Uuid::from_u128(31));
const TOWN: LorebookId = LorebookId(Uuid::from_u128(32));
const BO: CharacterId = CharacterId(Uuid::from_u128(9));
const BOS_CHAT: ChatId = ChatId(Uuid::from_u128(10));
const PERSONA: PersonaId = PersonaId(Uuid::from_u128(80));
const HERE: ChatParticipants = ChatParticipants {
    character: CHARACTER,
    chat: CHAT,
    persona: PERSONA,
};
const SCOPES: [MemoryScope; 3] = [
    MemoryScope::World(COAST),
    MemoryScope::World(TOWN),
    MemoryScope::Profile,
];

/// Two worlds without bindings, memories of each, and profile memories.
async fn with_worlds() -> Store {
    let store = furnished().await;
    store
        .write(|w| {
            w.characters_mut().insert(&character(BO, "Bo"))?;
            w.chats_mut().insert(&chat(BOS_CHAT, BO, 1))?;
            for (id, name) in [(COAST, "The coast"), (TOWN, "The town")] {
                w.lorebooks_mut().insert(&book(id, name))?;
            }
            for (number, (scope, text)) in
                (1..).zip(
                    SCOPES
                        .into_iter()
                        .zip(["coast canary", "town canary", "canary"]),
                )
            {
                w.memories_mut().insert(&memory(number, scope, text))?;
            }
            Ok(())
        })
        .await
        .unwrap();
    store
}

fn book(id: LorebookId, name: &str) -> Lorebook {
    let json = r#"{"entries":{}}"#.into();
    let created = Timestamp(1);
    let updated = Timestamp(1);
    Lorebook {
        id,
        name: name.into(),
        json,
        source: None,
        enabled: true,
        created,
        updated,
    }
}

async fn bind(store: &Store, book: LorebookId, bindings: &[Binding]) {
    let bindings = bindings.to_vec();
    store
        .write(move |w| w.lorebooks_mut().bind(book, &bindings))
        .await
        .unwrap();
}

/// Memories that are listed for a character or found with her.
async fn listed(store: &Store, of: CharacterId, filter: MemoryFilter) -> Vec<String> {
    let (listed, found) = store
        .read(move |r| {
            let query = Query::any_word(["canary"]);
            let found = r.memories().search_of_character(of, &query, filter, 100)?;
            Ok((r.memories().of_character(of, filter, 100)?, found))
        })
        .await
        .unwrap();
    let mut texts: Vec<String> = listed.into_iter().map(|memory| memory.text).collect();
    let mut found: Vec<String> = found.into_iter().map(|found| found.memory.text).collect();
    texts.sort();
    found.sort();
    assert_eq!(texts, found, "a list and a search have the same");
    texts
}

fn of_kind(scope: &'static str) -> MemoryFilter {
    MemoryFilter {
        scope: Some(scope),
        ..MemoryFilter::default()
    }
}

#[tokio::test]
async fn worlds_and_profile_do_not_share_memories() {
    let store = with_worlds().await;
    for (scope, text) in SCOPES
        .into_iter()
        .zip(["coast canary", "town canary", "canary"])
    {
        assert_eq!(active(&store, scope).await, [text]);
        let (counted, all) = store
            .read(move |r| {
                Ok((
                    r.memories().count_active(scope)?,
                    r.memories().all_active(scope)?,
                ))
            })
            .await
            .unwrap();
        assert_eq!((counted, all.len(), all[0].memory.scope), (1, 1, scope));
        let found = store
            .read(move |r| {
                r.memories()
                    .search(&[scope], &Query::any_word(["canary"]), 10)
            })
            .await
            .unwrap();
        assert_eq!(
            found
                .iter()
                .map(|found| found.memory.text.as_str())
                .collect::<Vec<_>>(),
            [text]
        );
    }
    let scopes = store.read(|r| r.memories().scopes()).await.unwrap();
    assert!(
        scopes.len() == 3 && SCOPES.iter().all(|scope| scopes.contains(scope)),
        "{scopes:?}"
    );
}

#[tokio::test]
async fn a_memory_can_move_between_worlds_and_profile() {
    let store = with_worlds().await;
    for scope in [
        MemoryScope::World(TOWN),
        MemoryScope::Profile,
        MemoryScope::World(COAST),
    ] {
        store
            .write(move |w| w.memories_mut().update(&memory(1, scope, "coast canary")))
            .await
            .unwrap();
        for each in SCOPES {
            let has_it = active(&store, each)
                .await
                .contains(&"coast canary".to_owned());
            assert_eq!(has_it, each == scope, "{each:?} of {scope:?}");
        }
    }
}

#[tokio::test]
async fn worlds_of_a_chat_are_its_books_with_memories() {
    let store = with_worlds().await;
    let worlds = async |company: ChatParticipants| {
        store
            .read(move |r| r.memories().worlds(company))
            .await
            .unwrap()
    };
    assert_eq!(worlds(HERE).await, []);
    bind(
        &store,
        COAST,
        &[Binding::Character(CHARACTER), Binding::Chat(CHAT)],
    )
    .await;
    bind(&store, TOWN, &[Binding::Persona(PERSONA)]).await;
    store
        .write(|w| {
            let silent = LorebookId(Uuid::from_u128(33));
            w.lorebooks_mut()
                .insert(&book(silent, "Nothing is known of it"))?;
            w.lorebooks_mut().bind(silent, &[Binding::Global])
        })
        .await
        .unwrap();
    assert_eq!(worlds(HERE).await, [COAST, TOWN]);
    assert_eq!(
        worlds(ChatParticipants {
            persona: PersonaId(Uuid::nil()),
            ..HERE
        })
        .await,
        [COAST]
    );
    assert_eq!(
        worlds(ChatParticipants {
            character: BO,
            chat: BOS_CHAT,
            ..HERE
        })
        .await,
        [TOWN]
    );
    store
        .write(|w| {
            w.lorebooks_mut().update(&Lorebook {
                enabled: false,
                ..book(COAST, "The coast")
            })
        })
        .await
        .unwrap();
    assert_eq!(
        worlds(HERE).await,
        [TOWN],
        "a disabled book applies nowhere"
    );
}

/// Lorebooks bound to the character, one of her chats, a persona, or globally.
#[tokio::test]
async fn world_memories_are_listed_where_their_book_applies() {
    let store = with_worlds().await;
    let all = MemoryFilter::default();
    assert_eq!(listed(&store, CHARACTER, all).await, ["canary"]);
    let both = [vec![Binding::Global], vec![Binding::Persona(PERSONA)]];
    let hers = [
        vec![Binding::Character(CHARACTER)],
        vec![Binding::Chat(CHAT)],
    ];
    for (bindings, with_bo) in both
        .iter()
        .map(|some| (some, 2))
        .chain(hers.iter().map(|some| (some, 1)))
    {
        bind(&store, COAST, bindings).await;
        assert_eq!(
            listed(&store, CHARACTER, all).await,
            ["canary", "coast canary"],
            "{bindings:?}"
        );
        assert_eq!(listed(&store, BO, all).await.len(), with_bo, "{bindings:?}");
    }
    assert_eq!(
        listed(&store, CHARACTER, of_kind("world")).await,
        ["coast canary"]
    );
    assert_eq!(
        listed(&store, CHARACTER, of_kind("profile")).await,
        ["canary"]
    );
    let known = memory(1, SCOPES[0], "coast canary");
    let archived = ArchivedState {
        reason: ArchiveReason::Retired,
        since: Timestamp(9),
        replaced_by: None,
    };
    store
        .write(move |w| w.memories_mut().archive(&known, archived).map(drop))
        .await
        .unwrap();
    assert_eq!(listed(&store, CHARACTER, all).await, ["canary"]);
    assert_eq!(
        listed(
            &store,
            CHARACTER,
            MemoryFilter {
                archived: true,
                ..all
            }
        )
        .await,
        ["coast canary"]
    );
    let hers = store
        .read(|r| r.memories().all_of(MemorySet::Character(CHARACTER)))
        .await
        .unwrap();
    assert!(hers.is_empty(), "other characters can use it too: {hers:?}");
}

/// How many worlds are known in the chat, whether the memory exists, and how often lists show it.
async fn places_seen(store: &Store) -> (usize, bool, usize, usize) {
    let scope = SCOPES[0];
    let (worlds, known) = store
        .read(|r| {
            Ok((
                r.memories().worlds(HERE)?,
                r.memories().get(memory(1, SCOPES[0], "").id)?,
            ))
        })
        .await
        .unwrap();
    let listed = listed(store, CHARACTER, MemoryFilter::default()).await;
    (
        worlds.len(),
        known.is_some(),
        listed.len(),
        active(store, scope).await.len(),
    )
}

/// The memory is hidden and restored with its book, and purged with it.
#[tokio::test]
async fn a_world_memory_is_purged_with_its_book() {
    let dir = TempDir::new().unwrap();
    let store = open(dir.path()).store;
    create_library(&store).await;
    store
        .write(|w| {
            w.lorebooks_mut().insert(&book(COAST, "The coast"))?;
            w.lorebooks_mut().bind(COAST, &[Binding::Global])?;
            w.memories_mut().insert(&memory(
                1,
                SCOPES[0],
                "The harbour is called ZEBULON, a canary.",
            ))
        })
        .await
        .unwrap();
    assert_eq!(places_seen(&store).await, (1, true, 1, 1));
    store
        .write(|w| w.lorebooks_mut().soft_delete(COAST, Timestamp(5)))
        .await
        .unwrap();
    assert_eq!(places_seen(&store).await, (0, false, 0, 0));
    store
        .write(|w| w.lorebooks_mut().restore(COAST))
        .await
        .unwrap();
    assert_eq!(places_seen(&store).await, (1, true, 1, 1));
    store
        .write(|w| w.lorebooks_mut().soft_delete(COAST, Timestamp(5)))
        .await
        .unwrap();
    purge(&store, 5).await;
    assert!(
        !store
            .read(|r| r.memories().exists(memory(1, SCOPES[0], "").id))
            .await
            .unwrap()
    );
    drop(store);
    for file in std::fs::read_dir(dir.path())
        .unwrap()
        .map(Result::unwrap)
        .filter(|file| file.path().is_file())
    {
        let bytes = std::fs::read(file.path()).unwrap();
        assert!(
            !bytes.windows(7).any(|some| some == b"ZEBULON"),
            "{:?}",
            file.path()
        );
    }
}

#[tokio::test]
async fn upgraded_memories_stay_in_the_profile_scope() {
    let dir = TempDir::new().unwrap();
    let before = open_with(dir.path(), &migrate::MIGRATIONS[..22])
        .unwrap()
        .store;
    let old = "INSERT INTO memory (id, type, scope, text, importance, pinned, created, updated)
         VALUES (zeroblob(16), 'fact', 'profile', 'an old canary', 5, 0, 1, 1)";
    before
        .write(move |w| Ok(w.conn.execute(old, [])?))
        .await
        .unwrap();
    drop(before);
    let store = open(dir.path()).store;
    assert_eq!(
        active(&store, MemoryScope::Profile).await,
        ["an old canary"]
    );
    let scopes = store.read(|r| r.memories().scopes()).await.unwrap();
    assert_eq!(scopes, [MemoryScope::Profile]);
}
