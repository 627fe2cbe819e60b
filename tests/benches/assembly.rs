//! Benchmark of building one turn's prompt with neither model nor network: a card with 1,000
//! lorebook entries, 100 regex scripts, 10,000 memories and thousands of messages.
//!
//! The limit applies to the work between storing the user's message and calling the model: from the
//! store to the final bytes. The whole call also expands the message's macros and builds the report
//! for the X-ray.
//!
//! Run `cargo xtask bench assembly` after `cargo xtask setup`.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use domain::chat::{Role, SwipeState};
use domain::embedding::Embedding;
use domain::memory::{MAX_CONFIDENCE, Memory, MemoryOrigin, MemoryScope, MemoryType};
use domain::{CharacterId, ChatId, MemoryId, MessageId, SwipeId, Timestamp};
use engine::api::{AssemblyTimings, PromptReport, RegexScriptRow, WhatIf};
use engine::{Encoder, Engine, Options, TurnOptions};
use provider::fake::FakeProvider;
use serde_json::{Value, json};
use store::{NewMessage, NewSwipe, NewVector, Store};
use tests::headless::{NOW, ended, models_dir, worker};
use tests::reuse::script;

const ENTRIES: usize = 1_000;
const SCRIPTS: usize = 100;
const MEMORIES: usize = 10_000;
/// Number of texts that the encoder embeds.
const READ: usize = 50;
const WARM_UP: usize = 10;
const ROUNDS: usize = 100;

/// One measurement.
struct Case {
    name: &'static str,
    messages: usize,
    /// Context size in tokens.
    context: u32,
    /// Use the default model, with exact counts; else an endpoint, with estimated counts.
    local: bool,
    /// Maximum milliseconds for 95 of 100 turns.
    bar: f64,
}

const CASES: [Case; 3] = [
    Case {
        name: "5,000 messages, 8k window, local model",
        messages: 5_000,
        context: 8_192,
        local: true,
        bar: 10.0,
    },
    Case {
        name: "5,000 messages, 200 turns, endpoint",
        messages: 5_000,
        context: 96_000,
        local: false,
        bar: 10.0,
    },
    Case {
        name: "10,000 messages, 200k window, endpoint",
        messages: 10_000,
        context: 200_000,
        local: false,
        bar: 50.0,
    },
];

pub(crate) async fn run() {
    let names = ["p50", "p95", "worst", "bar", "call"]
        .map(|name| format!("{name:>7}"))
        .concat();
    println!("{:<40}{names}   of p50: collect, find, count, plan", "ms");
    for case in CASES {
        case.run().await;
    }
}

impl Case {
    async fn run(&self) {
        let dir = tempfile::tempdir().unwrap();
        let engine = self.open(dir.path()).await;
        let chat = make_chat(engine, dir.path(), self.messages).await;
        if self.local {
            read(dir.path()).await;
        }
        let engine = self.open(dir.path()).await;
        set_anchor(&engine, chat).await;
        self.measure(&engine, chat, true).await;
        if self.local {
            self.measure(&engine, chat, false).await;
        }
        engine.shutdown().await;
    }

    async fn open(&self, dir: &Path) -> Engine {
        let provider = || Arc::new(FakeProvider::new()) as Arc<dyn provider::Provider>;
        let options = Options {
            data_dir: dir.to_owned(),
            model_dirs: if self.local {
                vec![models_dir()]
            } else {
                Vec::new()
            },
            worker: self.local.then(worker),
            without_keychain: true,
            // Learning would keep the cores busy.
            environment: [
                ("CONTEXT_LIMIT", self.context.to_string()),
                ("MEMORY_LEARN", "off".to_owned()),
            ]
            .map(|(name, value)| (format!("INGLENOOK_{name}"), value))
            .into(),
            provider: (!self.local).then(provider),
            ..Options::default()
        };
        Engine::open(options)
            .await
            .unwrap_or_else(|error| panic!("{error}"))
    }

    /// Every turn sends another message. With `typed`, the user pauses before sending, so the draft
    /// is processed first; else the encoder starts with the message as soon as the call does. A
    /// message that is sent has a longer lead, because it is stored first.
    async fn measure(&self, engine: &Engine, chat: ChatId, typed: bool) {
        let mut taken: Vec<(Duration, AssemblyTimings)> = Vec::new();
        let mut last: Option<PromptReport> = None;
        for round in 0..WARM_UP + ROUNDS {
            let text = message_of(round);
            if typed {
                engine.save_draft(chat, text.clone()).await.unwrap();
                engine.settle().await;
            }
            let started = Instant::now();
            let report = engine
                .preview_prompt(chat, text, WhatIf::default())
                .await
                .unwrap();
            if round >= WARM_UP {
                taken.push((started.elapsed(), report.timings));
            }
            last = Some(report);
        }
        taken.sort_by(|(_, a), (_, b)| a.total_ms.total_cmp(&b.total_ms));
        let at = |part: usize| &taken[(ROUNDS * part / 100).min(ROUNDS - 1)];
        let mut calls: Vec<Duration> = taken.iter().map(|(call, _)| *call).collect();
        calls.sort();
        let call = calls[ROUNDS * 95 / 100].as_secs_f64() * 1_000.0;
        let ([p50, p95, worst], of) = ([50, 95, 100].map(|part| at(part).1.total_ms), at(50).1);
        println!(
            "{:<40}{p50:>7.1}{p95:>7.1}{worst:>7.1}{:>7}{call:>7.1} {:>12.1} {:.1} {:.1} {:.1}",
            if typed {
                self.name
            } else {
                "  the same, never a draft"
            },
            self.bar,
            of.collect_ms,
            of.activate_ms,
            of.count_ms,
            of.plan_ms
        );
        let report = last.unwrap();
        let kept = |kinds: &[&str]| {
            report
                .blocks
                .iter()
                .filter(|block| block.kept && kinds.contains(&block.kind.as_str()))
                .count()
        };
        println!(
            "{:<40} {} tokens, {} messages in the window, {} memories included",
            "",
            report.tokens.total,
            kept(&["message"]),
            kept(&["memory", "fact", "relationship", "lastSession"])
        );
    }
}

/// Fills the folder of an engine as years with one character do, and closes the engine. Returns the
/// chat.
pub(crate) async fn make_chat(engine: Engine, dir: &Path, messages: usize) -> ChatId {
    let card = card().to_string().into_bytes();
    let character = engine
        .import_bytes("world.json".into(), card)
        .await
        .unwrap()
        .imported[0]
        .id
        .parse()
        .unwrap();
    let chat = engine.new_chat(character).await.unwrap().id;
    for index in 0..SCRIPTS {
        engine.save_regex_script(regex_script(index)).await.unwrap();
    }
    engine.shutdown().await;
    drop(engine);
    fill(dir, chat, messages).await;
    remember(dir, character).await;
    chat
}

/// Sends one turn, which sets the window's anchor, as in any chat that is longer than its window.
pub(crate) async fn set_anchor(engine: &Engine, chat: ChatId) {
    let sampler = domain::sampling::SamplerOptions {
        max_tokens: Some(1),
        ..Default::default()
    };
    let mut events = engine.subscribe();
    let options = TurnOptions {
        sampler,
        ..TurnOptions::default()
    };
    engine
        .send_with(chat, script::said(0), options)
        .await
        .unwrap();
    ended(&mut events, chat).await;
}

/// The message of a turn. Each is another one.
pub(crate) fn message_of(round: usize) -> String {
    format!("{} And {}?", script::said(round), word(round * 7))
}

/// Stores messages with replies of about 250 tokens. One message in three names a lorebook entry.
async fn fill(dir: &Path, chat: ChatId, messages: usize) {
    let store = Store::open(
        dir,
        store::Options {
            now: NOW,
            keys: None,
        },
    )
    .unwrap()
    .store;
    let message = move |index: usize| {
        let role = if index.is_multiple_of(2) {
            Role::User
        } else {
            Role::Character
        };
        let text = match role {
            Role::User => script::said(index / 2),
            _ => (0..5)
                .map(|part| script::said(index * 5 + part))
                .collect::<Vec<_>>()
                .join(" "),
        };
        let named = if index.is_multiple_of(3) {
            word(index % (ENTRIES * 4))
        } else {
            String::new()
        };
        let created = Timestamp(NOW.0 - ((messages - index) as i64) * 60_000);
        let swipe = NewSwipe {
            id: SwipeId(uuid::Uuid::now_v7()),
            text: format!("{text} {named}"),
            state: SwipeState::Finished,
            created,
            model: None,
        };
        let id = MessageId(uuid::Uuid::now_v7());
        NewMessage {
            id,
            chat,
            role,
            created,
            swipes: vec![swipe],
            selected: 0,
            context_block: None,
        }
    };
    let append = move |store: &mut store::WriteTransaction<'_>| {
        (0..messages).try_for_each(|index| store.messages_mut().append(&message(index)).map(|_| ()))
    };
    store.write(append).await.unwrap();
}

/// Stores memories of every importance, as after years with one character. One in four matches the
/// turns' topics.
async fn remember(dir: &Path, character: CharacterId) {
    let store = Store::open(
        dir,
        store::Options {
            now: NOW,
            keys: None,
        },
    )
    .unwrap()
    .store;
    let memory = move |index: usize| {
        let created = Timestamp(NOW.0 - ((MEMORIES - index) as i64) * 3_600_000);
        let about = if index.is_multiple_of(4) {
            "the lamp on the quay"
        } else {
            "nothing in particular"
        };
        Memory {
            id: MemoryId(uuid::Uuid::now_v7()),
            kind: MemoryType::ALL[index % MemoryType::ALL.len()],
            scope: match index % 10 {
                0 => MemoryScope::Profile,
                1 | 2 => MemoryScope::Character(character),
                _ => MemoryScope::Pair {
                    character,
                    persona: None,
                },
            },
            text: format!(
                "The user told of {} and {}, and of {about}.",
                word(index * 3),
                word(index * 5)
            ),
            importance: (index % 10 + 1) as u8,
            pinned: false,
            sources: Vec::new(),
            origin: MemoryOrigin::User,
            confidence: MAX_CONFIDENCE,
            merged_sources: Vec::new(),
            archived: None,
            created,
            updated: created,
        }
    };
    let insert = move |store: &mut store::WriteTransaction<'_>| {
        (0..MEMORIES).try_for_each(|index| store.memories_mut().insert(&memory(index)))
    };
    store.write(insert).await.unwrap();
}

/// Marks everything as embedded, so that a search covers all of it. Reuses the vectors of [`READ`]
/// texts, because embedding all would take minutes.
async fn read(dir: &Path) {
    let settings = local::WorkerSettings {
        worker: worker(),
        ..local::WorkerSettings::default()
    };
    let encoder = Encoder::run_by(&settings, &[models_dir()])
        .unwrap()
        .unwrap();
    let store = Store::open(
        dir,
        store::Options {
            now: NOW,
            keys: None,
        },
    )
    .unwrap()
    .store;
    let mut known = Vec::new();
    for round in 0..READ {
        let text = format!("{} {}", script::said(round), script::said(round + 1));
        known.push(passage(&encoder.understand(&text).await.unwrap().unwrap()));
    }
    let model = encoder.model().to_owned();
    encoder.shutdown().await;
    let keep = move |store: &mut store::WriteTransaction<'_>| {
        let mut of = known.iter().cycle();
        for unread in store.vectors().queued(u32::MAX)? {
            store.vectors_mut().keep(
                &unread,
                &model,
                of.by_ref().take(1).cloned().collect::<Vec<_>>().as_slice(),
            )?;
        }
        for unread in store.item_embeddings().queued(u32::MAX)? {
            let part = of.next().map(|known| (known.vector.clone(), known.scale));
            store
                .item_embeddings_mut()
                .keep(&unread, &model, part.as_slice())?;
        }
        Ok(())
    };
    store.write(keep).await.unwrap();
}

fn passage(read: &Embedding) -> NewVector {
    let (vector, scale) = recall::similarity::bytes(&read.mean);
    let pieces = read
        .tokens
        .iter()
        .map(|piece| u16::try_from(*piece).unwrap())
        .collect();
    NewVector {
        vector,
        scale,
        token_ids: pieces,
        token_vectors: read.vectors.clone(),
    }
}

const SYLLABLES: [&str; 20] = [
    "ka", "lor", "mi", "ven", "tha", "rus", "el", "dor", "an", "gri", "sol", "pe", "wyn", "qua",
    "bel", "zor", "hu", "sae", "tir", "nok",
];

/// Returns a distinct word for each number.
fn word(mut number: usize) -> String {
    let mut word = String::new();
    for _ in 0..4 {
        word.push_str(SYLLABLES[number % SYLLABLES.len()]);
        number /= SYLLABLES.len();
    }
    word
}

/// The card of the reuse script with a larger lorebook.
fn card() -> Value {
    let entries: Vec<Value> = (0..ENTRIES)
        .map(|number| {
            let keys: Vec<String> = (0..4).map(|key| word(number * 4 + key)).collect();
            let content =
                format!("{} lies beyond the {}, and nobody goes there twice.", word(number * 4), word(number * 7));
            json!({ "keys": keys, "content": content, "extensions": {}, "enabled": true, "insertion_order": 100,
                "use_regex": false })
        })
        .collect();
    let mut card = script::card();
    card["data"]["character_book"] =
        json!({ "name": "World", "extensions": {}, "entries": entries });
    card
}

/// Typical user scripts: status lines, thoughts, softened words. One in ten uses look-around.
fn regex_script(index: usize) -> RegexScriptRow {
    let find = match index % 10 {
        0 => format!(r"/<status{index}>([\s\S]*?)<\/status{index}>/g"),
        1 => format!(r"/\*(\w+ {index}[^*]*)\*/gi"),
        2 => format!(r"/\b(lamp{index}|wick{index}|oil{index})\b/gi"),
        3 => format!(r"/^\[OOC{index}: (.*)\]$/gm"),
        4 => format!(r"/(?<!\w)mood{index}: (\d+)/g"),
        _ => format!(r"/(shivers{index}) down (?:his|her) spine/gi"),
    };
    let name = format!("script {index}");
    let json = json!({ "scriptName": name, "findRegex": find, "replaceString": "$1", "placement": [1, 2],
        "promptOnly": true });
    RegexScriptRow {
        id: String::new(),
        name,
        json: json.to_string(),
        enabled: true,
        problem: None,
    }
}
