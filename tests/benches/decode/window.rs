//! The way of a reply to the window: a turn in a chat, and the engine's events as the JSON that the
//! page receives.

use std::time::Instant;

use domain::CharacterId;
use engine::api::Event;
use engine::{Engine, Options};
use tempfile::TempDir;
use tests::headless::{models_dir, worker};
use tests::speed::TimedReply;

use super::GENERATE;

/// Settings with which a reply has as many tokens as that of the worker alone, without randomness
/// and without other work.
pub(super) const SETTINGS: [(&str, &str); 6] = [
    ("INGLENOOK_CONTEXT_LIMIT", "2048"),
    ("INGLENOOK_MAX_TOKENS", "128"),
    ("INGLENOOK_TEMPERATURE", "0"),
    ("INGLENOOK_REPEAT_PENALTY", "1"),
    ("INGLENOOK_BAN_END_TOKEN", "on"),
    ("INGLENOOK_MEMORY", "off"),
];

pub(super) struct WindowWay {
    engine: Engine,
    character: CharacterId,
    _data: TempDir,
}

impl WindowWay {
    pub(super) async fn open() -> Self {
        let data = tempfile::tempdir().unwrap();
        let text = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let options = Options {
            data_dir: data.path().to_owned(),
            model_dirs: vec![models_dir()],
            worker: Some(worker()),
            without_keychain: true,
            environment: SETTINGS.map(text).into_iter().collect(),
            ..Options::default()
        };
        let engine = Engine::open(options).await.unwrap();
        let chat = engine.startup().await.unwrap().chat.unwrap();
        let character = engine.open_chat(chat).await.unwrap().character;
        Self {
            engine,
            character,
            _data: data,
        }
    }

    /// A reply in a new chat. The time begins when the message is sent.
    pub(super) async fn measure(&self, round: usize) -> TimedReply {
        let chat = self.engine.new_chat(self.character).await.unwrap();
        self.engine.settle().await;
        let mut events = self.engine.subscribe();
        let started = Instant::now();
        let text = format!("Round {round}. Count on in words: one, two, three, four,");
        let sent = self.engine.send_message(chat.id, text).await;
        sent.unwrap();
        let mut first = None;
        loop {
            let event = events.next().await.expect("the engine lives");
            let json = serde_json::to_string(&event).unwrap();
            assert!(!json.is_empty());
            match event {
                Event::Token { chat: of, .. } if of == chat.id => {
                    first.get_or_insert_with(Instant::now);
                }
                Event::Ended {
                    chat: of,
                    message,
                    reason,
                    ..
                } if of == chat.id => {
                    let ended = Instant::now();
                    let message = message.unwrap_or_else(|| panic!("no reply: {reason:?}"));
                    self.engine.settle().await;
                    let swipe = &message.swipes[message.selected as usize];
                    let figures = swipe.figures.clone().expect("figures");
                    let first = first.expect("a text");
                    return TimedReply {
                        read: figures.evaluated.unwrap_or(0),
                        generated: figures.generated.unwrap_or(GENERATE),
                        first: first - started,
                        rest: ended - first,
                        prefill: std::time::Duration::ZERO,
                    };
                }
                _ => {}
            }
        }
    }

    pub(super) async fn close(self) {
        self.engine.shutdown().await;
    }
}
