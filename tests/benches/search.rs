//! Full-text search over a hundred thousand messages, through the engine; the target is 50 ms for 95 of 100 searches.
//! Run with `cargo xtask bench search`.

#![allow(clippy::print_stdout, reason = "a measurement that prints its figures")]

use std::time::{Duration, Instant};

use domain::chat::{Role, SwipeState};
use domain::{ChatId, MessageId, SwipeId, Timestamp};
use engine::{Engine, Options};
use store::{NewMessage, NewSwipe, Store};
use tests::reuse::script;
use uuid::Uuid;

const MESSAGES: usize = 100_000;
const NOW: Timestamp = Timestamp(1_795_000_000_000);
/// Words in every message, rare words, phrases, one letter of a script without spaces, filters, and nothing.
const SEARCHES: [&str; 12] = [
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

fn main() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(run());
}

async fn run() {
    let dir = tempfile::tempdir().expect("a folder");
    let options = || Options { data_dir: dir.path().to_owned(), without_keychain: true, ..Options::default() };
    let engine = Engine::open(options()).await.expect("the engine opens");
    let chat = engine.list_chats().await.expect("chats")[0].id.clone();
    engine.shutdown().await;
    drop(engine);
    let started = Instant::now();
    fill(dir.path(), chat.parse().expect("an id")).await;
    println!("{MESSAGES} messages stored and indexed in {:.1} s", started.elapsed().as_secs_f64());
    let engine = Engine::open(options()).await.expect("the engine opens");
    let mut all = Vec::new();
    for scope in [None, Some(chat)] {
        for text in SEARCHES {
            let mut times = Vec::new();
            let mut hits = 0;
            for _ in 0..20 {
                let started = Instant::now();
                hits = engine.search_messages(text.to_owned(), scope.clone(), 0).await.expect("hits").hits.len();
                times.push(started.elapsed());
            }
            times.sort();
            println!("{text:<24} {hits:>3} hits, median {:>6.1} ms, slowest {:>6.1} ms", ms(times[10]), ms(times[19]));
            all.extend(times);
        }
    }
    all.sort();
    println!("all: median {:.1} ms, p95 {:.1} ms", ms(all[all.len() / 2]), ms(all[all.len() * 95 / 100]));
    engine.shutdown().await;
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

async fn fill(dir: &std::path::Path, chat: ChatId) {
    let store = Store::open(dir, store::Options { now: NOW }).expect("the store opens").store;
    let message = move |index: usize| {
        let role = if index.is_multiple_of(2) { Role::User } else { Role::Character };
        let parts = if role == Role::User { 1 } else { 4 };
        let text = (0..parts).map(|part| script::said(index * 5 + part)).collect::<Vec<_>>().join(" ");
        let rare = if index.is_multiple_of(500) { " 桜の木の下で" } else { "" };
        let created = Timestamp(NOW.0 - ((MESSAGES - index) as i64) * 60_000);
        let swipe = NewSwipe {
            id: SwipeId(Uuid::now_v7()),
            text: text + rare,
            state: SwipeState::Finished,
            created,
            model: None,
        };
        let id = MessageId(Uuid::now_v7());
        NewMessage { id, chat, role, created, swipes: vec![swipe], selected: 0, context_block: None }
    };
    let append = move |store: &mut store::WriteTransaction<'_>| {
        (0..MESSAGES).try_for_each(|index| store.messages_mut().append(&message(index)).map(|_| ()))
    };
    store.write(append).await.expect("messages are stored");
}
