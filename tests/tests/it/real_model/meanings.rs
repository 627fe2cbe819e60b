//! Recall by meaning over whole turns, with the real encoder in the real worker.

use std::path::{Path, PathBuf};

use domain::ChatId;
use engine::api::{PromptReport, WhatIf};
use engine::{Clock, Engine, Options};
use provider::fake::FakeProvider;
use tests::headless::{NOW, ended, fact};

struct Told {
    engine: Engine,
    model: FakeProvider,
    chat: ChatId,
}

impl Told {
    async fn open(dir: &Path, model_dirs: Vec<PathBuf>) -> Self {
        Self::run_by(dir, model_dirs, None).await
    }

    async fn run_by(dir: &Path, model_dirs: Vec<PathBuf>, worker: Option<PathBuf>) -> Self {
        let model = FakeProvider::new();
        let options = Options {
            data_dir: dir.to_owned(),
            model_dirs,
            worker,
            without_keychain: true,
            clock: Clock::stopped(NOW),
            provider: Some(std::sync::Arc::new(model.clone())),
            ..Options::default()
        };
        let engine = Engine::open(options).await.unwrap();
        let chat = engine.startup().await.unwrap().chat.unwrap();
        Self {
            engine,
            model,
            chat,
        }
    }

    /// Sends `text` in `chat` and returns all that the provider received.
    async fn say(&self, chat: ChatId, text: &str) -> String {
        self.model.reply("Hm.");
        let mut events = self.engine.subscribe();
        self.engine
            .send_message(chat, text.to_owned())
            .await
            .unwrap();
        ended(&mut events, chat).await;
        let prompt = self.model.last_request().expect("a request").prompt;
        prompt
            .messages
            .iter()
            .map(|message| message.text.as_str())
            .collect::<Vec<_>>()
            .join("\n---\n")
    }

    async fn remember(&self, text: &str) {
        let character = self.engine.whole_chat(self.chat).await.unwrap().character;
        let draft = fact(character, text, 2);
        self.engine.save_memory(draft).await.unwrap();
    }

    async fn another_chat(&self) -> ChatId {
        let character = self.engine.whole_chat(self.chat).await.unwrap().character;
        self.engine.new_chat(character).await.unwrap().id
    }

    async fn notices(&self, chat: ChatId) -> Vec<String> {
        let chat = self.engine.whole_chat(chat).await.unwrap();
        let reply = chat.page.messages.last().unwrap();
        self.engine
            .manifest(reply.swipes[reply.selected as usize].id)
            .await
            .unwrap()
            .notices
    }
}

/// Sends a signal to the encoder's worker of this process.
#[cfg(unix)]
fn signal_encoder(signal: &str) {
    let parent = std::process::id().to_string();
    let sent = std::process::Command::new("pkill")
        .args([signal, "-P", &parent, "-f", "embeddings"])
        .status()
        .unwrap();
    assert!(sent.success(), "no encoder runs");
}

fn models() -> PathBuf {
    let folder = std::env::var_os("INGLENOOK_MODELS").map(PathBuf::from);
    folder
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache/inglenook/models")))
        .unwrap()
}

/// Adds unrelated messages, so that recall must select.
async fn talk_of_other_things(told: &Told) {
    for (number, matter) in [
        "the tide tables",
        "a leaking roof",
        "soup with leeks",
        "an old sea chart",
        "the price of lamp oil",
    ]
    .iter()
    .cycle()
    .take(25)
    .enumerate()
    {
        told.say(
            told.chat,
            &format!("Evening {number}: I spent the hours on {matter}, and then it was late."),
        )
        .await;
    }
}

/// The question shares no word with the statement.
#[tokio::test]
async fn finds_a_fact_by_meaning_in_the_pairs_next_chat() {
    let dir = tempfile::tempdir().unwrap();
    let told = Told::open(dir.path(), vec![models()]).await;
    told.say(
        told.chat,
        "We adopted a puppy last week; ZEBULON chews on every shoe.",
    )
    .await;
    talk_of_other_things(&told).await;
    assert!(told.engine.learn().await.unwrap() >= 50);
    let next = told.another_chat().await;
    let sent = told.say(next, "Which pets live at home with me?").await;
    assert!(sent.contains("ZEBULON"), "{sent}");
    assert_eq!(told.notices(next).await, [""; 0]);
    assert_eq!(
        told.engine.learn().await.unwrap(),
        3,
        "embeds every new message once, including the greeting"
    );
    told.engine.shutdown().await;
}

/// Prefetching during typing must not change the sent prompt.
#[tokio::test]
async fn prefetch_while_typing_finds_the_same() {
    const ASKED: &str = "Which pets live at home with me?";
    let dir = tempfile::tempdir().unwrap();
    let told = Told::open(dir.path(), vec![models()]).await;
    told.say(
        told.chat,
        "We adopted a puppy last week; ZEBULON chews on every shoe.",
    )
    .await;
    talk_of_other_things(&told).await;
    told.engine.learn().await.unwrap();
    let next = told.another_chat().await;
    let looked_at = async |told: &Told| {
        told.engine
            .preview_prompt(next, ASKED.into(), WhatIf::default())
            .await
            .unwrap()
    };
    let asked_at_once = looked_at(&told).await;
    told.engine.shutdown().await;
    drop(told);

    let told = Told::open(dir.path(), vec![models()]).await;
    told.engine.save_draft(next, ASKED.into()).await.unwrap();
    told.engine.settle().await;
    let typed = looked_at(&told).await;
    assert!(typed.text.contains("ZEBULON"), "{}", typed.text);
    assert_eq!(typed.text, asked_at_once.text);
    let scores = |report: &PromptReport| {
        report
            .blocks
            .iter()
            .map(|block| block.signals.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(scores(&typed), scores(&asked_at_once));
    told.engine.shutdown().await;
}

/// Without the encoder, recall uses words, and no turn fails.
#[tokio::test]
async fn recall_uses_words_without_the_encoder() {
    let dir = tempfile::tempdir().unwrap();
    let told = Told::open(dir.path(), Vec::new()).await;
    told.say(
        told.chat,
        "We adopted a puppy last week; ZEBULON chews on every shoe.",
    )
    .await;
    assert_eq!(told.engine.learn().await.unwrap(), 0);
    let next = told.another_chat().await;
    assert!(
        told.say(next, "Which puppy did we adopt?")
            .await
            .contains("ZEBULON")
    );
    told.engine.shutdown().await;
}

/// A broken encoder is reported, and recall uses words.
#[tokio::test]
async fn broken_encoder_is_reported_and_words_are_used() {
    let dir = tempfile::tempdir().unwrap();
    let told = Told::run_by(
        dir.path(),
        vec![models()],
        Some(dir.path().join("no-worker")),
    )
    .await;
    told.say(
        told.chat,
        "We adopted a puppy last week; ZEBULON chews on every shoe.",
    )
    .await;
    let next = told.another_chat().await;
    assert!(
        told.say(next, "Which puppy did we adopt?")
            .await
            .contains("ZEBULON")
    );
    assert!(
        told.notices(next)
            .await
            .iter()
            .any(|notice| notice.contains("by words only"))
    );
    told.engine.shutdown().await;
}

/// Earlier messages are already embedded, and a hanging encoder does not delay a turn.
#[cfg(unix)]
#[tokio::test]
async fn hanging_encoder_does_not_delay_a_turn() {
    let dir = tempfile::tempdir().unwrap();
    let told = Told::open(dir.path(), vec![models()]).await;
    told.say(told.chat, "The puppy has chewed on another shoe.")
        .await;
    told.engine.settle().await;
    told.remember("ZEBULON is the puppy that chews on every shoe.")
        .await;
    told.engine.learn().await.unwrap();
    signal_encoder("-STOP");
    let sent = told.say(told.chat, "Well, that is how it goes.").await;
    signal_encoder("-CONT");
    assert!(sent.contains("ZEBULON"), "{sent}");
    assert!(
        told.notices(told.chat)
            .await
            .iter()
            .any(|notice| notice.contains("older embedding"))
    );
    told.engine.shutdown().await;
}

/// A search by meaning adds messages and memories that share no word with the text, and marks them.
#[tokio::test]
async fn search_by_meaning_marks_its_hits() {
    let dir = tempfile::tempdir().unwrap();
    let told = Told::open(dir.path(), vec![models()]).await;
    told.say(told.chat, "I get a rash from cashews and almonds.")
        .await;
    told.say(told.chat, "The lighthouse was painted white in spring.")
        .await;
    told.remember("The user gets a rash from cashews and almonds.")
        .await;
    let search = async |text: &str, meaning| {
        told.engine
            .search(text.into(), None, meaning)
            .await
            .unwrap()
    };
    let question = "which nuts cause an allergic reaction";
    assert!(
        !search(question, true).await.can_find_meaning,
        "nothing is read yet"
    );
    told.engine.learn().await.unwrap();

    let words = search(question, false).await;
    assert_eq!(
        (
            words.can_find_meaning,
            words.messages.hits.len(),
            words.groups.len()
        ),
        (true, 0, 0)
    );
    let near = search(question, true).await;
    let excerpt = |hit: &engine::api::SearchHit| {
        hit.excerpt
            .iter()
            .map(|part| part.text.clone())
            .collect::<String>()
    };
    assert!(
        near.messages.hits.iter().all(|hit| hit.by_meaning),
        "{near:?}"
    );
    assert!(
        excerpt(&near.messages.hits[0]).contains("almonds"),
        "{near:?}"
    );
    assert!(near.groups[0].items[0].by_meaning, "{near:?}");
    // Hits by words come first, and are not repeated.
    let both = search("almonds", true).await;
    assert_eq!(
        (
            both.messages.hits[0].by_meaning,
            both.groups[0].items[0].by_meaning
        ),
        (false, false)
    );
    let swipes: std::collections::HashSet<_> =
        both.messages.hits.iter().map(|hit| &hit.swipe).collect();
    assert_eq!(swipes.len(), both.messages.hits.len());
    let other = search("almonds from:mira", true).await;
    assert!(
        other.messages.hits.iter().all(|hit| hit.name.is_some()),
        "{other:?}"
    );
    told.engine.shutdown().await;
}
