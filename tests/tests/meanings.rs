//! Recall by meaning, with the real encoder in the real worker, through whole turns.

#![allow(clippy::unwrap_used, reason = "a failed helper fails the test")]

use std::path::{Path, PathBuf};

use engine::api::{PromptReport, WhatIf};
use engine::{Clock, Engine, Options};
use provider::fake::FakeProvider;
use tests::headless::{NOW, ended, fact};

struct Told {
    engine: Engine,
    model: FakeProvider,
    chat: String,
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
        Self { engine, model, chat }
    }

    /// Says `text` in `chat` and returns all that the provider got for it.
    async fn say(&self, chat: &str, text: &str) -> String {
        self.model.reply("Hm.");
        let mut events = self.engine.subscribe();
        self.engine.send_message(chat.to_owned(), text.to_owned()).await.unwrap();
        ended(&mut events, chat).await;
        let prompt = self.model.last_request().expect("a request").prompt;
        prompt.messages.iter().map(|message| message.text.as_str()).collect::<Vec<_>>().join("\n---\n")
    }

    async fn remember(&self, text: &str) {
        let character = self.engine.whole_chat(self.chat.clone()).await.unwrap().character;
        let draft = fact(&character, text, 2);
        self.engine.save_memory(draft).await.unwrap();
    }

    async fn another_chat(&self) -> String {
        let character = self.engine.whole_chat(self.chat.clone()).await.unwrap().character;
        self.engine.new_chat(character).await.unwrap().id
    }

    async fn notices(&self, chat: &str) -> Vec<String> {
        let chat = self.engine.whole_chat(chat.to_owned()).await.unwrap();
        let reply = chat.page.messages.last().unwrap();
        self.engine.manifest(reply.swipes[reply.selected as usize].id.clone()).await.unwrap().notices
    }
}

/// To the worker of this process that understands words.
#[cfg(unix)]
fn signal_encoder(signal: &str) {
    let parent = std::process::id().to_string();
    let sent = std::process::Command::new("pkill").args([signal, "-P", &parent, "-f", "embeddings"]).status().unwrap();
    assert!(sent.success(), "no encoder runs");
}

fn models() -> PathBuf {
    let folder = std::env::var_os("INGLENOOK_MODELS").map(PathBuf::from);
    folder.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache/inglenook/models"))).unwrap()
}

/// Enough other talk that what fits best is chosen and not merely all there is.
async fn talk_of_other_things(told: &Told) {
    for (number, matter) in
        ["the tide tables", "a leaking roof", "soup with leeks", "an old sea chart", "the price of lamp oil"]
            .iter()
            .cycle()
            .take(25)
            .enumerate()
    {
        told.say(&told.chat, &format!("Evening {number}: I spent the hours on {matter}, and then it was late.")).await;
    }
}

/// memory.md, section 5, the third tier: the question shares no word with what was told.
#[tokio::test]
async fn what_was_told_is_found_by_its_meaning_in_the_pairs_next_chat() {
    let dir = tempfile::tempdir().unwrap();
    let told = Told::open(dir.path(), vec![models()]).await;
    told.say(&told.chat, "We adopted a puppy last week; ZEBULON chews on every shoe.").await;
    talk_of_other_things(&told).await;
    assert!(told.engine.learn().await.unwrap() >= 50);
    let next = told.another_chat().await;
    let sent = told.say(&next, "Which pets live at home with me?").await;
    assert!(sent.contains("ZEBULON"), "{sent}");
    assert_eq!(told.notices(&next).await, [""; 0]);
    assert_eq!(told.engine.learn().await.unwrap(), 3, "what is new is read, greeting and all, and nothing twice");
    told.engine.shutdown().await;
}

/// P-6: what is typed is looked for while it is, and what is sent is what would be sent without.
#[tokio::test]
async fn a_question_that_was_looked_for_while_it_was_typed_finds_the_same() {
    const ASKED: &str = "Which pets live at home with me?";
    let dir = tempfile::tempdir().unwrap();
    let told = Told::open(dir.path(), vec![models()]).await;
    told.say(&told.chat, "We adopted a puppy last week; ZEBULON chews on every shoe.").await;
    talk_of_other_things(&told).await;
    told.engine.learn().await.unwrap();
    let next = told.another_chat().await;
    let looked_at =
        async |told: &Told| told.engine.preview_prompt(next.clone(), ASKED.into(), WhatIf::default()).await.unwrap();
    let asked_at_once = looked_at(&told).await;
    told.engine.shutdown().await;
    drop(told);

    let told = Told::open(dir.path(), vec![models()]).await;
    told.engine.save_draft(next.clone(), ASKED.into()).await.unwrap();
    told.engine.settle().await;
    let typed = looked_at(&told).await;
    assert!(typed.text.contains("ZEBULON"), "{}", typed.text);
    assert_eq!(typed.text, asked_at_once.text);
    let scores = |report: &PromptReport| report.blocks.iter().map(|block| block.signals.clone()).collect::<Vec<_>>();
    assert_eq!(scores(&typed), scores(&asked_at_once));
    told.engine.shutdown().await;
}

/// S2.31: without the encoder words do, and no turn fails.
#[tokio::test]
async fn without_the_encoder_words_do() {
    let dir = tempfile::tempdir().unwrap();
    let told = Told::open(dir.path(), Vec::new()).await;
    told.say(&told.chat, "We adopted a puppy last week; ZEBULON chews on every shoe.").await;
    assert_eq!(told.engine.learn().await.unwrap(), 0);
    let next = told.another_chat().await;
    assert!(told.say(&next, "Which puppy did we adopt?").await.contains("ZEBULON"));
    told.engine.shutdown().await;
}

/// S2.31: an encoder that cannot be run is told of, and words do.
#[tokio::test]
async fn a_broken_encoder_is_told_of_and_words_do() {
    let dir = tempfile::tempdir().unwrap();
    let told = Told::run_by(dir.path(), vec![models()], Some(dir.path().join("no-worker"))).await;
    told.say(&told.chat, "We adopted a puppy last week; ZEBULON chews on every shoe.").await;
    let next = told.another_chat().await;
    assert!(told.say(&next, "Which puppy did we adopt?").await.contains("ZEBULON"));
    assert!(told.notices(&next).await.iter().any(|notice| notice.contains("by words only")));
    told.engine.shutdown().await;
}

/// S3.32: what was said before has been understood while nobody waited, and an encoder that hangs keeps no turn waiting.
#[cfg(unix)]
#[tokio::test]
async fn an_encoder_that_hangs_leaves_a_turn_what_was_understood_in_advance() {
    let dir = tempfile::tempdir().unwrap();
    let told = Told::open(dir.path(), vec![models()]).await;
    told.say(&told.chat, "The puppy has chewed on another shoe.").await;
    told.engine.settle().await;
    told.remember("ZEBULON is the puppy that chews on every shoe.").await;
    told.engine.learn().await.unwrap();
    signal_encoder("-STOP");
    let sent = told.say(&told.chat, "Well, that is how it goes.").await;
    signal_encoder("-CONT");
    assert!(sent.contains("ZEBULON"), "{sent}");
    assert!(told.notices(&told.chat).await.iter().any(|notice| notice.contains("cached")));
    told.engine.shutdown().await;
}
