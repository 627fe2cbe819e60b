//! Benchmark of memory: the speed of the encoder, and the delay of a reply while many messages are
//! not embedded yet.
//!
//! Run `cargo xtask bench memory` on an idle machine.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use domain::ChatId;
use engine::scenario::Step;
use engine::{Engine, Options};
use tests::headless::{ended, first_token, models_dir, worker};
use tests::planted::{StoryPlan, StorySize};

/// Number of messages to embed.
const READ: usize = 1_000;
/// Number of jobs that wait during a reply.
const QUEUED: usize = 50;
const ROUNDS: usize = 15;

pub(crate) async fn run() {
    let said = said();
    indexing(&said).await;
    first_words(&said).await;
}

/// Returns the messages of a generated world, in order.
fn said() -> Vec<String> {
    let plan = StoryPlan::new(
        StorySize {
            messages: 2 * READ,
            ..StorySize::of(1_000)
        },
        1,
    );
    let text = |step| {
        if let Step::Say(said) = step {
            Some(said.text.replace('\n', " "))
        } else {
            None
        }
    };
    plan.steps
        .into_iter()
        .filter_map(|timed| text(timed.step))
        .collect()
}

async fn open(dir: &Path) -> Engine {
    let options = Options {
        data_dir: dir.to_owned(),
        model_dirs: vec![models_dir()],
        worker: Some(worker()),
        without_keychain: true,
        ..Options::default()
    };
    Engine::open(options)
        .await
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Imports `said` as a chat of the first character.
async fn tell(engine: &Engine, said: &[String]) {
    let mut talk = String::new();
    for (at, text) in said.iter().enumerate() {
        writeln!(
            talk,
            "{}: {text}",
            if at.is_multiple_of(2) { "You" } else { "Mira" }
        )
        .unwrap();
    }
    let character = engine.list_characters().await.unwrap().remove(0).id;
    let report = engine
        .import_chat_with(character, "talk.txt".into(), talk.into_bytes())
        .await
        .unwrap();
    assert!(report.refused.is_empty(), "{report:?}");
}

async fn indexing(said: &[String]) {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path()).await;
    engine.startup().await.unwrap();
    // The first call loads the encoder.
    engine.learn().await.unwrap();
    tell(&engine, &said[..READ]).await;
    let started = Instant::now();
    let read = engine.learn().await.unwrap();
    let took = started.elapsed();
    engine.shutdown().await;
    let letters: usize = said[..READ].iter().map(String::len).sum();
    println!(
        "{read} messages of {} bytes read in {took:.1?}: {:.0} a second (aim: 50)",
        letters / READ,
        f64::from(read) / took.as_secs_f64()
    );
}

/// Alternates turns with nothing to embed and with a backlog.
async fn first_words(said: &[String]) {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path()).await;
    let chat = engine.startup().await.unwrap().chat.unwrap();
    engine.warm_up_in_background();
    let (mut free, mut busy) = (Vec::new(), Vec::new());
    let mut said = said.chunks(QUEUED).cycle();
    for round in 0..=ROUNDS {
        for (queued, times) in [(false, &mut free), (true, &mut busy)] {
            engine.learn().await.unwrap();
            engine.settle().await;
            if queued {
                tell(&engine, said.next().unwrap()).await;
            }
            let took = first_word(&engine, chat, round).await;
            // The first round loads the models.
            if round > 0 {
                times.push(took);
            }
        }
    }
    engine.shutdown().await;
    let [free, busy] = [free, busy].map(median);
    let later = (busy.as_secs_f64() / free.as_secs_f64() - 1.0) * 100.0;
    println!(
        "first word with nothing to read: {free:.0?}; with {QUEUED} unread: {busy:.0?} ({later:+.0} %, aim: 10)"
    );
}

async fn first_word(engine: &Engine, chat: ChatId, round: usize) -> Duration {
    let mut events = engine.subscribe();
    let words = format!(
        "Round {round}. {}And what do you make of it?",
        "The lamp burns low tonight. ".repeat(12)
    );
    let started = Instant::now();
    engine.send_message(chat, words).await.unwrap();
    first_token(&mut events, chat).await;
    let took = started.elapsed();
    engine.stop(chat).await.unwrap();
    ended(&mut events, chat).await;
    took
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
