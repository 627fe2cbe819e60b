//! Measures prompt reuse: a long scripted chat through the engine with the real worker, and the
//! same chat with a sliding window.

mod control;
mod group;
pub mod script;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub use control::{Control, ReplayedMessage};
use domain::prompt::Segment;
use domain::{ChatId, SwipeId};
use engine::api::{EndReason, Figures, Message, SettingOwner, SettingValue, WhatIf};
use engine::{Engine, Options, TurnOptions};
pub use group::{GroupRun, group};

use crate::headless::{ended, models_dir, program, selected_text, worker};
use crate::model_file::ModelFile;

/// Training length of the small model. Beyond it the replies are nonsense, but evaluation and reuse
/// work as usual.
const TRAINED: u32 = 8_192;
/// Tokens reserved for a reply by default.
const RESERVE: u32 = 512;

/// Length of a generated reply that a prepared text then replaces.
const FEW: u32 = 4;

/// A chat to measure.
#[derive(Debug, Clone, Copy)]
pub struct Measure {
    /// Context size in tokens.
    pub context: u32,
    pub turns: usize,
    /// The user's messages have one sentence instead of three.
    pub brief: bool,
    /// The user pauses after each reply until all idle-time work has ended, so that the app reads
    /// ahead.
    pub idle: bool,
    /// Older messages, facts and keyframes are recalled.
    pub memory: bool,
    pub replies: ReplySource,
}

/// Source of the replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplySource {
    /// The model writes at most this many tokens.
    Written(u32),
    /// The model writes a few tokens, and a prepared text of this many sentences replaces them. The
    /// model evaluates the text with the next turn. The measurement treats it as reused if the
    /// prompt only grew, as if the model had written it. This is ten times as fast and gives every
    /// reply the same length.
    Prepared(usize),
    /// A stand-in for the worker, `prepared-worker`, writes prepared texts of [`script::LONG`]
    /// sentences. The app knows them like those of a model, so it can read ahead.
    StandIn,
}

/// Prompt tokens and reused tokens per turn.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReuseFigures {
    /// For each turn: prompt tokens and reused tokens.
    turns: Vec<(u32, u32)>,
}

impl ReuseFigures {
    pub(crate) fn add(&mut self, prompt: u32, reused: u32) {
        self.turns.push((prompt, reused));
    }

    fn without_first(mut self) -> Self {
        self.turns.remove(0);
        self
    }

    /// Returns the share of reused prompt tokens, from 0 to 1.
    pub fn share(&self) -> f64 {
        let sum =
            |part: fn(&(u32, u32)) -> u32| self.turns.iter().map(part).map(f64::from).sum::<f64>();
        sum(|turn| turn.1) / sum(|turn| turn.0)
    }

    /// Returns the tokens evaluated per turn: median, 95th percentile and maximum.
    pub fn read(&self) -> [u32; 3] {
        let mut read: Vec<u32> = self
            .turns
            .iter()
            .map(|(prompt, reused)| prompt - reused)
            .collect();
        read.sort_unstable();
        let at = |part: usize| read[(read.len() * part / 100).min(read.len() - 1)];
        [at(50), at(95), at(100)]
    }
}

/// A completed chat with its figures.
#[derive(Debug, Clone, Default)]
pub struct ChatRun {
    pub ours: ReuseFigures,
    /// Number of tokens that the model wrote.
    pub generated: u64,
    /// Number of epochs.
    pub epochs: u32,
    /// System message of the first prompt.
    pub head: String,
    pub chat: Vec<ReplayedMessage>,
    /// Tokens of the last prepared reply, which the cache would contain if the model had written
    /// it.
    unread: u32,
}

impl Measure {
    /// Returns the maximum tokens of a prompt.
    pub fn room(&self) -> usize {
        (self.context - RESERVE) as usize
    }

    /// Returns the default model, or a copy with a larger context length if it was trained for
    /// less.
    pub fn model(&self, dir: &Path) -> PathBuf {
        let name = "SmolLM2-135M-Instruct.Q4_1.gguf";
        let original = models_dir().join(name);
        if self.context <= TRAINED {
            return original;
        }
        let mut file = ModelFile::read(&original);
        file.context(self.context);
        let copy = dir.join(name);
        file.write(&copy);
        copy
    }

    /// Runs the chat. `told` receives the figures of each turn, and why an epoch begins with it.
    pub async fn run(
        &self,
        dir: &Path,
        mut told: impl FnMut(usize, &Figures, Option<&str>),
    ) -> ChatRun {
        let engine = self.open(dir).await;
        let tokenizer =
            local::open_tokenizer(&self.model(dir)).expect("the model has a supported tokenizer");
        let card = script::card().to_string().into_bytes();
        let imported = engine
            .import_bytes("odile.json".into(), card)
            .await
            .expect("the card is imported");
        let chat = engine
            .new_chat(imported.imported[0].id.parse().expect("an id"))
            .await
            .expect("a chat")
            .id;
        let mut held = ChatRun {
            head: head(&engine, chat).await,
            ..ChatRun::default()
        };
        for turn in 0..self.turns {
            if let Some((key, value)) = script::changed(turn, self.turns) {
                set(&engine, chat, key, value).await;
            }
            let (reply, new_epoch) = self.turn(&engine, chat, turn, &mut held).await;
            told(
                turn,
                &reply.swipes[0].figures.clone().expect("figures"),
                new_epoch.as_deref(),
            );
            if self.idle {
                engine.settle().await;
            }
            if let ReplySource::Prepared(sentences) = self.replies {
                let text = script::replied(turn, sentences);
                put(dir, reply.swipes[0].id, &text);
                held.unread = tokenizer.count(&Segment {
                    text,
                    control: false,
                });
                held.generated += u64::from(held.unread);
            }
        }
        let whole = engine.whole_chat(chat).await.expect("the chat is there");
        let said = |message: &Message| ReplayedMessage {
            by_user: message.role == engine::api::Role::User,
            text: selected_text(message).to_owned(),
        };
        held.chat = whole.page.messages.iter().map(said).collect();
        engine.shutdown().await;
        held
    }

    fn prepared(&self) -> bool {
        matches!(self.replies, ReplySource::Prepared(_))
    }

    async fn open(&self, dir: &Path) -> Engine {
        let model = self.model(dir);
        let longest = match self.replies {
            ReplySource::Written(tokens) => tokens,
            ReplySource::Prepared(_) => FEW,
            ReplySource::StandIn => RESERVE,
        };
        let variables = [
            ("INGLENOOK_CONTEXT_LIMIT", self.context),
            ("INGLENOOK_REPLY_RESERVE", RESERVE),
            ("INGLENOOK_MAX_TOKENS", longest),
        ];
        let mut environment: BTreeMap<_, _> = variables
            .map(|(name, value)| (name.to_owned(), value.to_string()))
            .into();
        if !self.memory {
            environment.insert("INGLENOOK_MEMORY".to_owned(), "off".to_owned());
        }
        if !self.idle {
            // Prefetching between the turns would be measured as reuse.
            environment.insert("INGLENOOK_READ_AHEAD".to_owned(), "off".to_owned());
        }
        let options = Options {
            data_dir: dir.join("data"),
            worker: Some(if self.replies == ReplySource::StandIn {
                program("prepared-worker")
            } else {
                worker()
            }),
            without_keychain: true,
            environment,
            ..Options::default()
        };
        let engine = Engine::open(options)
            .await
            .unwrap_or_else(|error| panic!("{error}"));
        engine.add_model(model).await.expect("the model is taken");
        engine
    }

    async fn turn(
        &self,
        engine: &Engine,
        chat: ChatId,
        turn: usize,
        held: &mut ChatRun,
    ) -> (Message, Option<String>) {
        let sampler = domain::sampling::SamplerOptions {
            seed: Some(turn as u32 + 1),
            // A higher temperature keeps so small a model from copying its last reply.
            temperature: Some(if self.prepared() { 0.0 } else { 1.3 }),
            repeat_penalty: Some(1.25),
            ..Default::default()
        };
        let options = TurnOptions {
            sampler,
            ..TurnOptions::default()
        };
        let mut events = engine.subscribe();
        let words = if self.brief {
            script::said_briefly(turn)
        } else {
            script::said(turn)
        };
        engine
            .send_with(chat, words, options)
            .await
            .expect("the message is accepted");
        let (reply, reason) = ended(&mut events, chat).await;
        assert!(
            matches!(reason, EndReason::Stop | EndReason::Length),
            "turn {turn}: {reason:?}"
        );
        let reply = reply.expect("a reply");
        let swipe = &reply.swipes[0];
        let figures = swipe.figures.as_ref().expect("figures");
        let reused = figures.reused.expect("the reused tokens");
        let new_epoch = engine
            .manifest(swipe.id)
            .await
            .expect("a manifest")
            .new_epoch_code;
        let moved = new_epoch.is_some();
        // The last token of a reply is never evaluated.
        let known = if moved {
            0
        } else {
            held.unread.saturating_sub(1)
        };
        let prompt = figures.prompt.expect("a prompt's size");
        held.ours.add(prompt, (reused + known).min(prompt));
        if !self.prepared() {
            held.generated += u64::from(figures.generated.unwrap_or(0));
        }
        held.epochs += u32::from(moved);
        (reply, new_epoch)
    }
}

/// Replaces the text of a reply in the database, because an edit through the engine would begin a
/// new epoch.
fn put(dir: &Path, id: SwipeId, text: &str) {
    let database = crate::open_database(&dir.join("data"));
    let changed = database.execute(
        "UPDATE swipe SET text = ?1 WHERE id = ?2",
        (text, id.0.as_bytes()),
    );
    assert_eq!(changed.expect("the text is taken"), 1);
}

async fn head(engine: &Engine, chat: ChatId) -> String {
    let report = engine
        .preview_prompt(chat, "Hello.".to_owned(), WhatIf::default())
        .await;
    report.expect("a prompt").messages[0].text.clone()
}

async fn set(engine: &Engine, chat: ChatId, key: &str, value: &str) {
    let owner = SettingOwner::Chat { id: chat };
    engine
        .set_setting(
            owner,
            key.to_owned(),
            Some(SettingValue::Text(value.to_owned())),
        )
        .await
        .expect("a setting is taken");
}
