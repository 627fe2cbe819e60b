//! Search by meaning beyond messages, with the real encoder in the real worker: memories, document
//! passages and lorebook entries.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use domain::{CharacterId, ChatId, LorebookId, MemoryId};
use engine::api::{
    Changed, DocumentOwner, Event, LorebookBinding, LorebookEntry, PromptBlock, Recollected,
    SignalKind, WhatIf,
};
use engine::{Clock, Engine, Options};
use provider::fake::FakeProvider;
use tests::headless::{NOW, fact, models_dir};

struct Desk {
    engine: Engine,
    character: CharacterId,
    chat: ChatId,
}

impl Desk {
    async fn open(dir: &Path) -> Self {
        Self::with_models(dir, vec![models_dir()]).await
    }

    async fn with_models(dir: &Path, model_dirs: Vec<PathBuf>) -> Self {
        let options = Options {
            data_dir: dir.to_owned(),
            model_dirs,
            without_keychain: true,
            clock: Clock::stopped(NOW),
            provider: Some(std::sync::Arc::new(FakeProvider::new())),
            ..Options::default()
        };
        let engine = Engine::open(options).await.unwrap();
        let chat = engine.startup().await.unwrap().chat.unwrap();
        let character = engine.whole_chat(chat).await.unwrap().character;
        Self {
            engine,
            character,
            chat,
        }
    }

    async fn remember(&self, text: &str) -> MemoryId {
        let draft = fact(self.character, text, 5);
        self.engine.save_memory(draft).await.unwrap().id
    }

    /// Returns the recalled items of one kind for `words`, without standing facts, which are always
    /// included.
    async fn called(&self, words: &str, kind: &str) -> Vec<Recollected> {
        let found = self
            .engine
            .try_recall(self.chat, words.into())
            .await
            .unwrap()
            .items;
        let near = |item: &Recollected| {
            item.signals
                .iter()
                .any(|signal| signal.of == SignalKind::Nearness && signal.value > 0.0)
        };
        found
            .into_iter()
            .filter(|item| item.kind == kind && near(item))
            .collect()
    }

    /// Creates a global lorebook with one entry whose key nobody uses.
    async fn book(&self) -> (LorebookId, LorebookEntry) {
        let book = self
            .engine
            .create_lorebook("The coast".into())
            .await
            .unwrap()
            .about
            .id;
        self.engine
            .bind_lorebook(book, vec![LorebookBinding::Global])
            .await
            .unwrap();
        let entry = LorebookEntry {
            title: "The mill".into(),
            keys: vec!["zzyzx".into()],
            content:
                "Grain is ground at the windmill on the hill; ZEBULON the miller bakes the bread."
                    .into(),
            vectorized: true,
            ..blank()
        };
        let entry = self.engine.save_lore_entry(book, entry).await.unwrap();
        (book, entry)
    }

    async fn lore(&self, words: &str) -> Vec<PromptBlock> {
        let report = self
            .engine
            .preview_prompt(self.chat, words.into(), WhatIf::default())
            .await
            .unwrap();
        report
            .blocks
            .into_iter()
            .filter(|block| block.kind == "lore")
            .collect()
    }

    async fn ready(&self, book: LorebookId) -> Vec<bool> {
        let meanings = self.engine.entry_meanings(book).await.unwrap();
        meanings.into_iter().map(|meaning| meaning.ready).collect()
    }
}

fn blank() -> LorebookEntry {
    serde_json::from_value(serde_json::json!({
        "id": "", "title": "", "enabled": true, "constant": false, "keys": [], "secondaryKeys": [], "selective": false,
        "logic": "andAny", "useRegex": false, "caseSensitive": null, "wholeWords": null, "scanDepth": null,
        "sources": { "persona": false, "description": false, "personality": false, "depthPrompt": false,
            "scenario": false, "creatorNotes": false },
        "content": "", "vectorized": false, "order": 100, "priority": null, "position": "afterCharacter", "depth": 4,
        "role": "system", "outlet": "", "useProbability": false, "probability": 100, "group": "", "groupOverride": false,
        "groupWeight": 100, "groupScoring": null, "excludeRecursion": false, "preventRecursion": false,
        "delayUntilRecursion": 0, "ignoreBudget": false, "sticky": null, "cooldown": null, "delay": null,
        "characterFilter": null, "triggers": []
    }))
    .unwrap()
}

/// A fact that shares no word with the question is found, of this pair only, and nothing if nothing
/// matches.
#[tokio::test]
async fn finds_a_fact_by_meaning_or_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let desk = Desk::open(dir.path()).await;
    let nuts = desk
        .remember("The user gets a rash from cashews and almonds.")
        .await;
    for other in [
        "The lighthouse was painted white in spring.",
        "Ida plays the cello on Thursdays.",
        "The user drives an old van.",
    ] {
        desk.remember(other).await;
    }
    assert!(
        desk.called("Are there foods I must avoid, being allergic?", "fact")
            .await
            .is_empty(),
        "nothing is read yet"
    );
    desk.engine.learn().await.unwrap();
    let found = desk
        .called("Are there foods I must avoid, being allergic?", "fact")
        .await;
    assert_eq!(
        found
            .iter()
            .map(|item| item.id.as_str())
            .collect::<Vec<_>>(),
        [nuts.to_string()],
        "{found:?}"
    );
    assert!(
        found[0].kept && found[0].reason.contains("by meaning, 0."),
        "{found:?}"
    );
    let none = desk
        .called("How many moons does Jupiter have?", "fact")
        .await;
    assert!(none.is_empty(), "{none:?}");
    desk.engine.delete_memory(nuts).await.unwrap();
    assert!(
        desk.called("Are there foods I must avoid, being allergic?", "fact")
            .await
            .is_empty()
    );
    desk.engine.shutdown().await;
}

#[tokio::test]
async fn finds_a_passage_by_meaning() {
    let dir = tempfile::tempdir().unwrap();
    let desk = Desk::open(dir.path()).await;
    let guide = "# The lighthouse\n\nIt stands on a rock of granite.\n\n## The stairs\n\nEighty-one steps lead up.\n\n\
                 ## The keeper\n\nHer spouse drowned in the storm of 1911.\n";
    desk.engine
        .attach_document_bytes(
            DocumentOwner::Chat { id: desk.chat },
            "guide.md".into(),
            guide.as_bytes().to_vec(),
        )
        .await
        .unwrap();
    desk.engine.learn().await.unwrap();
    let found = desk.called("How did the husband die?", "document").await;
    assert!(
        found.iter().any(|item| item.text.contains("drowned")),
        "{found:?}"
    );
    let none = desk
        .called("How many moons does Jupiter have?", "document")
        .await;
    assert!(none.is_empty(), "{none:?}");
    desk.engine.shutdown().await;
}

/// A marked entry is used if its meaning matches, with that reason. Its keys keep working. Without
/// the mark or the encoder, only keys apply.
#[tokio::test]
async fn marked_entry_is_triggered_by_meaning() {
    let dir = tempfile::tempdir().unwrap();
    let desk = Desk::open(dir.path()).await;
    let (book, entry) = desk.book().await;
    assert_eq!(desk.ready(book).await, [false]);
    desk.engine.learn().await.unwrap();
    assert_eq!(desk.ready(book).await, [true]);
    let words = "Where does flour come from around here?";
    let told = desk.lore(words).await;
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].kept
            && told[0].reason.starts_with("by meaning, 0.")
            && told[0].text.contains("ZEBULON"),
        "{told:?}"
    );
    assert_eq!(told[0].signals[0].of, SignalKind::Nearness);
    assert_eq!(
        desk.called(words, "lore").await.len(),
        1,
        "it is listed with the recalled items"
    );
    assert!(
        desk.lore("How many moons does Jupiter have?")
            .await
            .is_empty()
    );
    assert!(
        desk.lore("zzyzx!").await[0]
            .reason
            .starts_with("key \"zzyzx\"")
    );
    desk.engine
        .save_lore_entry(
            book,
            LorebookEntry {
                vectorized: false,
                ..entry
            },
        )
        .await
        .unwrap();
    desk.engine.learn().await.unwrap();
    assert!(desk.ready(book).await.is_empty() && desk.lore(words).await.is_empty());
    desk.engine.shutdown().await;
}

/// A new entry is indexed within five seconds, and after a restart if it was not.
#[tokio::test]
async fn entry_is_indexed_in_idle_time_and_after_restart() {
    let dir = tempfile::tempdir().unwrap();
    let desk = Desk::with_models(dir.path(), Vec::new()).await;
    let (book, _) = desk.book().await;
    let words = "Where does flour come from around here?";
    assert!(
        desk.ready(book).await.is_empty() && desk.lore(words).await.is_empty(),
        "there is no encoder"
    );
    desk.engine.shutdown().await;
    drop(desk);

    let desk = Desk::open(dir.path()).await;
    let mut events = desk.engine.subscribe();
    desk.engine.warm_up_in_background();
    let read = async {
        while desk.ready(book).await != [true] {
            while !matches!(
                events.next().await,
                Some(Event::Changed {
                    what: Changed::Lorebooks,
                    ..
                })
            ) {}
        }
    };
    let started = Instant::now();
    tokio::time::timeout(Duration::from_secs(60), read)
        .await
        .expect("the waiting entry is read");
    desk.engine.settle().await;
    assert_eq!(desk.lore(words).await.len(), 1);
    let entry = LorebookEntry {
        content: "Salt is boiled from the sea in the pans of QUILLON.".into(),
        vectorized: true,
        ..blank()
    };
    desk.engine.save_lore_entry(book, entry).await.unwrap();
    let read = async {
        while desk.ready(book).await != [true, true] {
            while !matches!(
                events.next().await,
                Some(Event::Changed {
                    what: Changed::Lorebooks,
                    ..
                })
            ) {}
        }
    };
    tokio::time::timeout(Duration::from_secs(60), read)
        .await
        .expect("the new entry is read");
    desk.engine.settle().await;
    assert!(
        desk.lore("How do they make salt here?")
            .await
            .iter()
            .any(|block| block.text.contains("QUILLON"))
    );
    eprintln!("both were read after {:?}", started.elapsed());
    desk.engine.shutdown().await;
}
