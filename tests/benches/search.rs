//! Full-text search over a hundred thousand messages, thousands of memories and lorebook entries
//! and hundreds of cards, through the engine; the target is 50 ms for 95 of 100 searches. Run with
//! `cargo xtask bench search`, and with `cargo xtask bench search --messages 2000` for a trial.

use std::time::{Duration, Instant};

use domain::chat::{Role, SwipeState};
use domain::memory::{Memory, MemoryOrigin, MemoryScope, MemoryType};
use domain::{CharacterId, ChatId, LorebookId, MemoryId, MessageId, SwipeId, Timestamp};
use engine::{Engine, Options};
use serde_json::json;
use store::{Character, Lorebook, NewMessage, NewSwipe, Store, StoreError, WriteTransaction};
use tests::reuse::script;
use uuid::Uuid;

/// Number of messages without an argument.
const MESSAGES: usize = 100_000;
/// There is one memory for this many messages.
const A_MEMORY: usize = 20;
const AN_ENTRY: usize = 20;
const A_CARD: usize = 200;
const NOW: Timestamp = Timestamp(1_795_000_000_000);
/// Words in every message, rare words, phrases, one letter of a script without spaces, filters, and
/// nothing.
pub(crate) const SEARCHES: [&str; 12] = [
    "the",
    "lamp",
    "the lamp",
    "quay before:2026-10",
    "\"the lamp\"",
    "桜",
    "桜の木",
    "l",
    "from:me lamp",
    "zzzz",
    "lamp in:mira",
    "harbour tide",
];

pub(crate) async fn run() {
    let dir = tempfile::tempdir().expect("a folder");
    let options = || Options {
        data_dir: dir.path().to_owned(),
        without_keychain: true,
        ..Options::default()
    };
    let engine = Engine::open(options()).await.expect("the engine opens");
    let chat = engine.list_chats().await.expect("chats")[0].clone();
    engine.shutdown().await;
    drop(engine);
    let (started, count) = (Instant::now(), number_after("--messages", MESSAGES));
    fill(dir.path(), chat.id, chat.character, count).await;
    println!(
        "{count} messages and {} other items stored and indexed in {:.1} s",
        items(count),
        secs(started)
    );
    let engine = Engine::open(options()).await.expect("the engine opens");
    let mut all = Vec::new();
    for scope in [None, Some(chat.id)] {
        for text in SEARCHES {
            let search = || engine.search(text.to_owned(), scope, false);
            let found = search().await.expect("hits");
            let hits = found.messages.hits.len()
                + found
                    .groups
                    .iter()
                    .map(|group| group.items.len())
                    .sum::<usize>();
            let mut times = Vec::new();
            for _ in 0..20 {
                let started = Instant::now();
                search().await.expect("hits");
                times.push(started.elapsed());
            }
            all.extend(report(text, hits, times));
        }
    }
    summary("search over everything", all);
    let mut all = Vec::new();
    for text in SEARCHES {
        let mut times = Vec::new();
        let mut hits = 0;
        for _ in 0..20 {
            let started = Instant::now();
            hits = engine
                .find_in_chat(chat.id, text.to_owned())
                .await
                .expect("hits")
                .messages
                .len();
            times.push(started.elapsed());
        }
        all.extend(report(text, hits, times));
    }
    summary("search in the open chat", all);
    engine.shutdown().await;
}

/// The number after an option of the command line.
pub(crate) fn number_after(option: &str, default: usize) -> usize {
    let mut arguments = std::env::args().skip_while(|argument| argument != option);
    arguments.nth(1).map_or(default, |count| {
        count
            .parse()
            .unwrap_or_else(|_| panic!("{option} needs a number"))
    })
}

fn items(messages: usize) -> usize {
    messages / A_MEMORY + messages / AN_ENTRY + messages / A_CARD
}

fn report(text: &str, hits: usize, mut times: Vec<Duration>) -> Vec<Duration> {
    times.sort();
    println!(
        "{text:<24} {hits:>4} hits, median {:>6.1} ms, slowest {:>6.1} ms",
        ms(times[10]),
        ms(times[19])
    );
    times
}

fn summary(what: &str, mut all: Vec<Duration>) {
    all.sort();
    println!(
        "{what}: median {:.1} ms, p95 {:.1} ms",
        ms(all[all.len() / 2]),
        ms(all[all.len() * 95 / 100])
    );
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn secs(since: Instant) -> f64 {
    since.elapsed().as_secs_f64()
}

pub(crate) async fn fill(
    dir: &std::path::Path,
    chat: ChatId,
    character: CharacterId,
    count: usize,
) {
    let store = Store::open(
        dir,
        store::Options {
            now: NOW,
            keys: None,
        },
    )
    .expect("the store opens")
    .store;
    let append = move |store: &mut WriteTransaction<'_>| {
        (0..count).try_for_each(|index| {
            store
                .messages_mut()
                .append(&message(chat, index, count))
                .map(|_| ())
        })
    };
    store.write(append).await.expect("messages are stored");
    store
        .write(move |store| add_items(store, character, count))
        .await
        .expect("items are stored");
}

fn message(chat: ChatId, index: usize, count: usize) -> NewMessage {
    let role = if index.is_multiple_of(2) {
        Role::User
    } else {
        Role::Character
    };
    let parts = if role == Role::User { 1 } else { 4 };
    let text = (0..parts)
        .map(|part| script::said(index * 5 + part))
        .collect::<Vec<_>>()
        .join(" ");
    let rare = if index.is_multiple_of(500) {
        " 桜の木の下で"
    } else {
        ""
    };
    let created = Timestamp(NOW.0 - ((count - index) as i64) * 60_000);
    let swipe = NewSwipe {
        id: SwipeId(Uuid::now_v7()),
        text: text + rare,
        state: SwipeState::Finished,
        created,
        model: None,
    };
    let id = MessageId(Uuid::now_v7());
    NewMessage {
        id,
        chat,
        role,
        created,
        swipes: vec![swipe],
        selected: 0,
        context_block: None,
    }
}

/// Memories, one large lorebook, and cards.
fn add_items(
    store: &mut WriteTransaction<'_>,
    character: CharacterId,
    count: usize,
) -> Result<(), StoreError> {
    (0..count / A_MEMORY)
        .try_for_each(|index| store.memories_mut().insert(&memory(character, index)))?;
    let entry = |uid: usize| json!({ "uid": uid, "key": [format!("key{uid}")], "content": script::said(uid) });
    let entries: serde_json::Map<_, _> = (0..count / AN_ENTRY)
        .map(|uid| (uid.to_string(), entry(uid)))
        .collect();
    store.lorebooks_mut().insert(&Lorebook {
        id: LorebookId(Uuid::now_v7()),
        name: "World".into(),
        json: json!({ "entries": entries }).to_string(),
        source: None,
        enabled: true,
        created: NOW,
        updated: NOW,
    })?;
    (0..count / A_CARD).try_for_each(|index| store.characters_mut().insert(&card(index)))
}

fn memory(character: CharacterId, index: usize) -> Memory {
    Memory {
        id: MemoryId(Uuid::now_v7()),
        kind: MemoryType::Fact,
        scope: MemoryScope::Character(character),
        text: script::said(index),
        importance: 5,
        origin: MemoryOrigin::User,
        confidence: 10,
        pinned: false,
        sources: Vec::new(),
        merged_sources: Vec::new(),
        archived: None,
        created: NOW,
        updated: NOW,
    }
}

fn card(index: usize) -> Character {
    let name = format!("Keeper {index}");
    let description = (0..40)
        .map(|part| script::said(index * 40 + part))
        .collect::<Vec<_>>()
        .join(" ");
    let data = json!({ "name": name, "description": description });
    let card = json!({ "spec": "chara_card_v3", "spec_version": "3.0", "data": data });
    Character {
        id: CharacterId(Uuid::now_v7()),
        name,
        card_json: card.to_string(),
        spec: "chara_card_v3".into(),
        picture: None,
        source: None,
        created: NOW,
        updated: NOW,
    }
}
