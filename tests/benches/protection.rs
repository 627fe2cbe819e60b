//! Benchmark of an encrypted data folder next to a plain one with the same content. Both are used in
//! turns, so that a busy machine slows both.
//!
//! Run `cargo bench -p tests --bench engine -- protection`, and with `--messages 2000 --cards 50` for
//! a trial. The time to derive the key from the passphrase is not included.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use domain::{CharacterId, ChatId};
use engine::api::{GroupOptions, SecretText, TurnOrder, WhatIf};
use engine::{Engine, Options, UnlockSecret, UnlockedFolder};
use provider::fake::FakeProvider;
use tempfile::TempDir;
use tests::tavern::Tavern;

use crate::assembly::{make_chat, message_of, set_anchor};
use crate::search::{self, SEARCHES, number_after};

const PASSPHRASE: &str = "whale oil";
/// Messages of the chat whose prompts are built.
const LONG_CHAT: usize = 5_000;
/// Messages that are searched, without an argument.
const MESSAGES: usize = 20_000;
const CARDS: usize = 2_000;
const WARM_UP: usize = 12;
const PROMPTS: usize = 100;
const COMMITS: usize = 200;
const STARTS: usize = 10;
const IMPORTS: usize = 2;

/// Milliseconds in the plain folder and in the encrypted one.
type Times = [Vec<f64>; 2];

pub(crate) async fn run() {
    println!(
        "{:<34}{:>10}{:>12}{:>8}  goal",
        "ms", "plain", "encrypted", "ratio"
    );
    long_chat().await;
    searches_and_starts().await;
    imports().await;
}

/// A data folder that no engine has open.
struct Folder {
    dir: TempDir,
    /// The keys of the encrypted one.
    keys: Option<UnlockedFolder>,
}

impl Folder {
    fn empty() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
            keys: None,
        }
    }

    fn options(&self) -> Options {
        Options {
            data_dir: self.dir.path().to_owned(),
            keys: self.keys.clone(),
            without_keychain: true,
            // Learning would keep the cores busy.
            environment: [("CONTEXT_LIMIT", "96000"), ("MEMORY_LEARN", "off")]
                .map(|(name, value)| (format!("INGLENOOK_{name}"), value.to_owned()))
                .into(),
            provider: Some(Arc::new(FakeProvider::new())),
            ..Options::default()
        }
    }

    async fn open(&self) -> Engine {
        let opened = Engine::open(self.options()).await;
        opened.unwrap_or_else(|error| panic!("{error}"))
    }

    async fn protected(mut self) -> Self {
        let passphrase = || SecretText::new(PASSPHRASE.to_owned());
        let prepared = Engine::prepare_protection(passphrase()).await.unwrap();
        let code = prepared.recovery_code();
        let report = Engine::protect(&self.options(), prepared, code).await;
        let report = report.unwrap();
        assert!(report.failed.is_empty(), "{:?}", report.failed);
        let secret = UnlockSecret::Passphrase(passphrase());
        self.keys = Some(Engine::unlock(&self.options(), secret).await.unwrap());
        self
    }

    /// This folder and an encrypted copy of it.
    async fn with_encrypted_copy(self) -> [Self; 2] {
        let copy = Self::empty();
        copy_folder(self.dir.path(), copy.dir.path());
        let copy = copy.protected().await;
        [self, copy]
    }
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_folder(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

async fn close(engine: Engine) {
    engine.shutdown().await;
    drop(engine);
}

/// Which folder comes first changes with every round.
fn order(round: usize) -> [usize; 2] {
    if round.is_multiple_of(2) {
        [0, 1]
    } else {
        [1, 0]
    }
}

/// Runs `work` in both open folders in turns. It returns the milliseconds that it took.
async fn in_turns(
    engines: &[Engine; 2],
    rounds: usize,
    mut work: impl AsyncFnMut(&Engine, usize) -> f64,
) -> Times {
    let mut times = Times::default();
    for round in 0..WARM_UP + rounds {
        for side in order(round) {
            let took = work(&engines[side], round).await;
            if round >= WARM_UP {
                times[side].push(took);
            }
        }
    }
    times
}

fn ms(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

/// The time that `part` of 100 measurements do not exceed.
fn percentile(times: &[f64], part: usize) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[(sorted.len() * part / 100).min(sorted.len() - 1)]
}

fn print(what: &str, times: &Times, part: usize, goal: &str) {
    let [plain, encrypted] = [0, 1].map(|side| percentile(&times[side], part));
    let (name, ratio) = (format!("{what}, p{part}"), encrypted / plain);
    println!("{name:<34}{plain:>10.2}{encrypted:>12.2}{ratio:>8.2}  {goal}");
}

/// Prompts of a long chat, and messages that nobody answers.
async fn long_chat() {
    let folder = Folder::empty();
    let engine = folder.open().await;
    let messages = LONG_CHAT.min(number_after("--messages", LONG_CHAT));
    let chat = make_chat(engine, folder.dir.path(), messages).await;
    let engine = folder.open().await;
    set_anchor(&engine, chat).await;
    let group = silent_group(&engine).await;
    close(engine).await;
    let [plain, encrypted] = folder.with_encrypted_copy().await;
    let engines = [plain.open().await, encrypted.open().await];

    let prompts = in_turns(&engines, PROMPTS, async |engine: &Engine, round: usize| {
        build_prompt(engine, chat, round).await
    })
    .await;
    print("prompt of a long chat", &prompts, 50, "1.15");
    print("prompt of a long chat", &prompts, 95, "1.15");
    let commits = in_turns(&engines, COMMITS, async |engine: &Engine, _: usize| {
        commit_message(engine, group).await
    })
    .await;
    print("one message stored", &commits, 50, "at most 3 ms more");
    print("one message stored", &commits, 95, "at most 3 ms more");
    for engine in engines {
        close(engine).await;
    }
}

/// A group in which only characters speak that are called upon.
async fn silent_group(engine: &Engine) -> ChatId {
    let characters = engine.list_characters().await.unwrap();
    let members: Vec<CharacterId> = characters.iter().take(2).map(|one| one.id).collect();
    let group = engine.new_group("Quay".into(), members).await.unwrap().id;
    let options = GroupOptions {
        order: TurnOrder::Manual,
        self_responses: false,
        several_replies: false,
        auto_delay: 0,
    };
    engine.set_group(group, options).await.unwrap();
    group
}

/// From the store to the final text.
async fn build_prompt(engine: &Engine, chat: ChatId, round: usize) -> f64 {
    let text = message_of(round);
    engine.save_draft(chat, text.clone()).await.unwrap();
    engine.settle().await;
    let report = engine.preview_prompt(chat, text, WhatIf::default()).await;
    report.unwrap().timings.total_ms
}

/// The whole call, of which the commit is a part.
async fn commit_message(engine: &Engine, group: ChatId) -> f64 {
    let text = "The tide is in, and nobody has lit anything yet.".to_owned();
    let started = Instant::now();
    engine.send_message(group, text).await.unwrap();
    let took = ms(started);
    engine.settle().await;
    took
}

async fn searches_and_starts() {
    let folder = Folder::empty();
    let engine = folder.open().await;
    let chat = engine.list_chats().await.unwrap()[0].clone();
    close(engine).await;
    let messages = number_after("--messages", MESSAGES);
    search::fill(folder.dir.path(), chat.id, chat.character, messages).await;
    let folders = folder.with_encrypted_copy().await;

    let engines = [folders[0].open().await, folders[1].open().await];
    let rounds = 10 * SEARCHES.len();
    let searches = in_turns(&engines, rounds, async |engine: &Engine, round: usize| {
        let text = SEARCHES[round % SEARCHES.len()].to_owned();
        let started = Instant::now();
        engine.search(text, None, false).await.unwrap();
        ms(started)
    })
    .await;
    print("search over everything", &searches, 95, "1.15");
    for engine in engines {
        close(engine).await;
    }
    print(
        "start to the list of chats",
        &starts(&folders).await,
        50,
        "1.15",
    );
}

/// From the keys to the first list of chats.
async fn starts(folders: &[Folder; 2]) -> Times {
    let mut times = Times::default();
    for round in 0..=STARTS {
        for side in order(round) {
            let started = Instant::now();
            let engine = folders[side].open().await;
            engine.list_chats().await.unwrap();
            // The first round fills the page cache.
            if round > 0 {
                times[side].push(ms(started));
            }
            close(engine).await;
        }
    }
    times
}

/// A SillyTavern folder with cards only, into new folders.
async fn imports() {
    let tavern = Tavern {
        cards: number_after("--cards", CARDS),
        chats: 0,
        worlds: 0,
        personas: 0,
        groups: 0,
        ..Tavern::LARGE
    };
    let source = tempfile::tempdir().unwrap();
    tavern.write(source.path());
    let mut times = Times::default();
    for round in 0..IMPORTS {
        for side in order(round) {
            let folder = new_folder(side == 1).await;
            let engine = folder.open().await;
            let started = Instant::now();
            let report = engine.import_sillytavern(source.path().to_owned()).await;
            times[side].push(ms(started));
            let imported = report.unwrap().imported.len();
            assert!(imported >= tavern.cards, "{imported}");
            close(engine).await;
        }
    }
    let what = format!("import of {} cards", tavern.cards);
    print(&what, &times, 50, "1.15");
}

/// A folder that was opened once.
async fn new_folder(is_encrypted: bool) -> Folder {
    let folder = Folder::empty();
    close(folder.open().await).await;
    if is_encrypted {
        folder.protected().await
    } else {
        folder
    }
}
