//! An engine in a temporary folder with the scripted provider.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use domain::{CharacterId, ChatId, Timestamp};
use engine::api::{
    CharacterFields, Chat, EndReason, Event, MemoryDraft, MemoryScope, Message, SecretText,
};
use engine::{
    Clock, Engine, Events, MemoryMeter, Options, ToolSources, UnlockSecret, UnlockedFolder,
};
use provider::fake::FakeProvider;
use tempfile::TempDir;

use crate::scripted_hub::ScriptedHub;

/// Time of the tests: 21 November 2026, 23:11 UTC.
pub const NOW: Timestamp = Timestamp(1_795_302_660_000);

/// An engine with its folder and its scripted model.
pub struct Headless {
    pub engine: Engine,
    pub model: FakeProvider,
    pub dir: TempDir,
    /// Tools besides the app's own.
    pub tools: ToolSources,
    environment: BTreeMap<String, String>,
    memory_meter: MemoryMeter,
    keys: Option<UnlockedFolder>,
}

impl Headless {
    /// Starts the app for the first time.
    pub async fn new() -> Self {
        Self::with_environment(&[]).await
    }

    /// Starts the app for the first time, with the model from the settings.
    pub async fn without_provider() -> Self {
        let (dir, model) = (
            tempfile::tempdir().expect("a temporary folder"),
            FakeProvider::new(),
        );
        let options = Options {
            data_dir: dir.path().to_owned(),
            without_keychain: true,
            clock: Clock::stopped(NOW),
            memory_meter: memory_meter(),
            ..Options::default()
        };
        let engine = Engine::open(options)
            .await
            .unwrap_or_else(|error| panic!("{error}"));
        Self {
            engine,
            model,
            dir,
            tools: ToolSources::default(),
            environment: BTreeMap::new(),
            memory_meter: memory_meter(),
            keys: None,
        }
    }

    /// Starts the app for the first time, with this model hub.
    pub async fn with_hub(hub: &ScriptedHub) -> Self {
        Self::with_environment(&[("INGLENOOK_HUB", &hub.address)]).await
    }

    /// Starts the app for the first time, with environment variables that override settings.
    pub async fn with_environment(variables: &[(&str, &str)]) -> Self {
        Self::start(variables, memory_meter()).await
    }

    /// Starts the app for the first time, on a machine whose memory is measured like this.
    pub async fn with_memory_meter(memory_meter: MemoryMeter) -> Self {
        Self::start(&[], memory_meter).await
    }

    async fn start(variables: &[(&str, &str)], memory_meter: MemoryMeter) -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let model = FakeProvider::new();
        let environment = variables
            .iter()
            .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
            .collect();
        let tools = ToolSources::default();
        let engine = open(&dir, (&model, &tools), &environment, &memory_meter, None).await;
        Self {
            engine,
            model,
            dir,
            tools,
            environment,
            memory_meter,
            keys: None,
        }
    }

    /// Starts the app in a data folder that is encrypted with this passphrase.
    pub async fn protected(passphrase: &str) -> Self {
        let secret = SecretText::new(passphrase.to_owned());
        let protect = async |dir: &Path, _| Some(protect(dir, secret).await);
        Self::new().await.restart_with(protect).await
    }

    /// Ends the engine as on closing the window, and starts another one in the same folder.
    pub async fn restart(self) -> Self {
        self.restart_after(|_| {}).await
    }

    /// Like [`Self::restart`], but runs `meanwhile` on the folder between the two engines.
    pub async fn restart_after(self, meanwhile: impl FnOnce(&Path)) -> Self {
        let keep_keys = async |dir: &Path, keys| {
            meanwhile(dir);
            keys
        };
        self.restart_with(keep_keys).await
    }

    /// Runs `meanwhile` between two engines with the keys of the first one. It returns those of the
    /// second one.
    async fn restart_with<F>(self, meanwhile: F) -> Self
    where
        F: AsyncFnOnce(&Path, Option<UnlockedFolder>) -> Option<UnlockedFolder>,
    {
        let Self {
            engine,
            model,
            dir,
            tools,
            environment,
            memory_meter,
            keys,
        } = self;
        engine.shutdown().await;
        drop(engine);
        let keys = meanwhile(dir.path(), keys).await;
        let engine = open(
            &dir,
            (&model, &tools),
            &environment,
            &memory_meter,
            keys.as_ref(),
        )
        .await;
        Self {
            engine,
            model,
            dir,
            tools,
            environment,
            memory_meter,
            keys,
        }
    }

    /// Returns the chat that the first start opens.
    pub async fn first_chat(&self) -> Chat {
        let startup = self.engine.startup().await.expect("a startup");
        self.engine
            .open_chat(startup.chat.expect("a first chat"))
            .await
            .expect("the first chat opens")
    }

    /// Creates a character with only a name and returns its id.
    pub async fn character(&self, name: &str) -> CharacterId {
        let fields = CharacterFields {
            name: name.to_owned(),
            ..CharacterFields::default()
        };
        self.engine
            .create_character(fields)
            .await
            .expect("a character")
            .id
    }

    /// Sends `text` and waits for the end of the reply.
    pub async fn send(&self, chat: ChatId, text: &str) -> (Option<Message>, EndReason) {
        let mut events = self.engine.subscribe();
        self.engine
            .send_message(chat, text.to_owned())
            .await
            .expect("the message is taken");
        ended(&mut events, chat).await
    }

    /// Returns the displayed texts of the chat, each with its speaker.
    pub async fn transcript(&self, chat: ChatId) -> Vec<String> {
        let chat = self
            .engine
            .whole_chat(chat)
            .await
            .expect("the chat is there");
        let line = |message: &Message| format!("{}: {}", message.name, selected_text(message));
        chat.page.messages.iter().map(line).collect()
    }
}

/// The text of the selected swipe.
pub fn selected_text(message: &Message) -> &str {
    &message.swipes[message.selected as usize].text
}

/// Waits for the end of the reply in `chat`.
pub async fn ended(events: &mut Events, chat: ChatId) -> (Option<Message>, EndReason) {
    loop {
        match events.next().await.expect("the engine lives") {
            Event::Ended {
                chat: of,
                message,
                reason,
                ..
            } if of == chat => return (message, reason),
            _ => {}
        }
    }
}

async fn open(
    dir: &TempDir,
    (model, tools): (&FakeProvider, &ToolSources),
    environment: &BTreeMap<String, String>,
    memory_meter: &MemoryMeter,
    keys: Option<&UnlockedFolder>,
) -> Engine {
    let options = Options {
        data_dir: dir.path().to_owned(),
        without_keychain: true,
        clock: Clock::stopped(NOW),
        provider: Some(Arc::new(model.clone())),
        environment: environment.clone(),
        tools: tools.clone(),
        memory_meter: memory_meter.clone(),
        keys: keys.cloned(),
        ..Options::default()
    };
    Engine::open(options)
        .await
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Encrypts a folder, and unlocks it.
async fn protect(dir: &Path, passphrase: SecretText) -> UnlockedFolder {
    let options = Options {
        data_dir: dir.to_owned(),
        without_keychain: true,
        clock: Clock::stopped(NOW),
        ..Options::default()
    };
    let prepared = Engine::prepare_protection(passphrase.clone())
        .await
        .expect("keys");
    let code = prepared.recovery_code();
    Engine::protect(&options, prepared, code)
        .await
        .expect("an encrypted folder");
    Engine::unlock(&options, UnlockSecret::Passphrase(passphrase))
        .await
        .expect("the passphrase is right")
}

/// A machine with fast memory. A real measurement would take a second of each test.
fn memory_meter() -> MemoryMeter {
    MemoryMeter::fixed(50_000_000_000)
}

/// Waits for the first piece of the reply in `chat`.
pub async fn first_token(events: &mut Events, chat: ChatId) {
    loop {
        match events.next().await.expect("the engine lives") {
            Event::Token { chat: of, .. } if of == chat => return,
            Event::Ended {
                chat: of, reason, ..
            } if of == chat => panic!("no token came: {reason:?}"),
            _ => {}
        }
    }
}

/// A fact about a character and the user's persona, as entered by the user.
pub fn fact(character: CharacterId, text: &str, importance: u32) -> MemoryDraft {
    MemoryDraft {
        id: None,
        kind: "fact".into(),
        text: text.into(),
        importance,
        pinned: false,
        scope: MemoryScope::Pair,
        world: None,
        character,
        persona: None,
        chat: None,
    }
}

/// Returns the folder in which `cargo xtask setup` stores the default models.
pub fn models_dir() -> PathBuf {
    let cache = || {
        std::env::home_dir()
            .expect("a home folder")
            .join(".cache/inglenook/models")
    };
    let dir = std::env::var_os("INGLENOOK_MODELS").map_or_else(cache, PathBuf::from);
    assert!(
        dir.join("SmolLM2-135M-Instruct.Q4_1.gguf").exists(),
        "the default model is missing: run `cargo xtask setup`"
    );
    dir
}

/// Returns the worker next to this test binary. A benchmark of the release build accepts any build,
/// because the C++ code is always optimised.
pub fn worker() -> PathBuf {
    program("inglenook-worker")
}

/// Returns a program next to this test binary, or else from the debug build.
pub fn program(name: &str) -> PathBuf {
    let exe = std::env::current_exe().expect("a running test");
    let beside = exe.ancestors().nth(2).expect("a target folder").join(name);
    let other = exe
        .ancestors()
        .nth(3)
        .expect("a target folder")
        .join("debug")
        .join(name);
    let built = [beside, other].into_iter().find(|path| path.exists());
    built.unwrap_or_else(|| panic!("{name} is missing: run `cargo build --workspace --bins`"))
}
