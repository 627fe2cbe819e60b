//! Prompts for a local model: counted completely and once, with stable bytes. Uses the real worker
//! and modified copies of the small model.

use domain::{ChatId, Timestamp};
use engine::api::{EndReason, PromptReport, SettingOwner, SettingValue, WhatIf};
use engine::{Clock, Engine, Options};
use tests::headless::{NOW, ended, models_dir, selected_text, worker};
use tests::model_file::ModelFile;

const DAY: i64 = 24 * 60 * 60 * 1_000;

/// A chat template with the date. It replaces the model's own and must be shorter.
const DATED: &str = "{{ '<|im_start|>system\\nToday is ' + strftime_now('%d %B') + '.<|im_end|>\\n' }}\
                     {% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}{% endfor %}\
                     {% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

struct Local {
    engine: Engine,
    dir: tempfile::TempDir,
    chat: ChatId,
}

impl Local {
    async fn new(change: impl FnOnce(&mut ModelFile)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut file = ModelFile::read(&models_dir().join("SmolLM2-135M-Instruct.Q4_1.gguf"));
        change(&mut file);
        let path = dir.path().join("small.gguf");
        file.write(&path);
        let engine = open(&dir, NOW).await;
        engine.add_model(path).await.unwrap();
        let chat = engine.startup().await.unwrap().chat.unwrap();
        Self { engine, dir, chat }
    }

    /// Restarts the engine `days` later.
    async fn restart(self, days: i64) -> Self {
        let Self { engine, dir, chat } = self;
        engine.shutdown().await;
        drop(engine);
        let engine = open(&dir, Timestamp(NOW.0 + days * DAY)).await;
        Self { engine, dir, chat }
    }

    async fn set(&self, key: &str, value: SettingValue) {
        let owner = SettingOwner::Chat { id: self.chat };
        self.engine
            .set_setting(owner, key.to_owned(), Some(value))
            .await
            .unwrap();
    }

    async fn format(&self, name: &str) {
        self.set("chat_format", SettingValue::Text(name.to_owned()))
            .await;
    }

    async fn preview(&self, text: &str) -> PromptReport {
        self.engine
            .preview_prompt(self.chat, text.to_owned(), WhatIf::default())
            .await
            .unwrap()
    }

    /// Sends `text`. Returns the reply, the manifest, and the prompt's tokens as counted by the
    /// worker.
    async fn say(&self, text: &str) -> (String, PromptReport, u32) {
        let mut events = self.engine.subscribe();
        self.engine
            .send_message(self.chat, text.to_owned())
            .await
            .unwrap();
        let (reply, reason) = ended(&mut events, self.chat).await;
        assert!(
            matches!(reason, EndReason::Stop | EndReason::Length),
            "{reason:?}"
        );
        let reply = reply.unwrap();
        let manifest = self.engine.manifest(reply.swipes[0].id).await.unwrap();
        let prompt = reply.swipes[0].figures.as_ref().unwrap().prompt.unwrap();
        (selected_text(&reply).to_owned(), manifest, prompt)
    }
}

async fn open(dir: &tempfile::TempDir, now: Timestamp) -> Engine {
    let variables = [
        ("INGLENOOK_CONTEXT_LIMIT", "2048"),
        ("INGLENOOK_MAX_TOKENS", "24"),
        ("INGLENOOK_TEMPERATURE", "0"),
    ];
    let options = Options {
        data_dir: dir.path().join("data"),
        worker: Some(worker()),
        without_keychain: true,
        clock: Clock::stopped(now),
        environment: variables
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
        ..Options::default()
    };
    Engine::open(options)
        .await
        .unwrap_or_else(|error| panic!("{error}"))
}

/// The plan's total equals the worker's, including one beginning-of-sequence token.
#[tokio::test]
async fn bos_token_is_counted_and_not_doubled() {
    let local = Local::new(|file| file.add_bos()).await;
    for format in ["auto", "alpaca", "llama-2"] {
        local.format(format).await;
        let (_, manifest, prompt) = local.say("Who are you?").await;
        assert!(manifest.tokens.exact);
        assert_eq!(manifest.tokens.total, prompt, "{format}");
        // This model's beginning-of-sequence token is the one that opens its turns.
        assert!(
            manifest.text.starts_with("<|im_start|>"),
            "{format}: {}",
            manifest.text
        );
        assert!(
            !manifest.text.starts_with("<|im_start|><|im_start|>"),
            "{format}"
        );
        assert_eq!(
            manifest.segments[0].text == "<|im_start|>",
            format == "alpaca"
        );
    }
    local.engine.shutdown().await;
}

#[tokio::test]
async fn changed_chat_format_begins_an_epoch() {
    let local = Local::new(|_| {}).await;
    local.say("Hello.").await;
    assert_eq!(local.preview("And now?").await.new_epoch, None);
    local.format("zephyr").await;
    let zephyr = local.preview("And now?").await;
    assert!(
        zephyr
            .new_epoch
            .as_ref()
            .is_some_and(|why| why.contains("chat format")),
        "{:?}",
        zephyr.new_epoch
    );
    let tells = |report: &PromptReport| {
        report
            .notices
            .iter()
            .any(|notice| notice.contains("again on every turn"))
    };
    assert!(!tells(&zephyr));
    local.format("llama-2").await;
    assert!(tells(&local.preview("And now?").await));
    local.engine.shutdown().await;
}

/// The template's date stays the same until the prefix changes anyway.
#[tokio::test]
async fn template_date_is_fixed_for_the_epoch() {
    let local = Local::new(|file| file.chat_template(DATED)).await;
    let (reply, sent, _) = local.say("What day is it?").await;
    assert!(sent.text.contains("Today is 21 November."), "{}", sent.text);

    let local = local.restart(1).await;
    let next = local.preview("And now?").await;
    assert_eq!(next.new_epoch, None);
    assert!(
        next.text.starts_with(&(sent.text + &reply)),
        "{}",
        next.text
    );

    local
        .set("extra_instructions", SettingValue::Text("Be brief.".into()))
        .await;
    let edited = local.preview("And now?").await;
    assert!(
        edited.text.contains("Today is 22 November."),
        "{}",
        edited.text
    );
    assert!(
        edited
            .new_epoch
            .as_ref()
            .is_some_and(|why| why.contains("edited")),
        "{:?}",
        edited.new_epoch
    );
    local.engine.shutdown().await;
}

/// The prompt is the same after a restart, and counted text is not counted again.
#[tokio::test]
async fn restart_keeps_the_prompt_and_its_counts() {
    let local = Local::new(|_| {}).await;
    for words in ["Hello! Who are you?", "What do you like about the fire?"] {
        assert!(local.say(words).await.1.timings.counted > 0);
    }
    let before = local.preview("And what is in that pot?").await;
    assert!(before.timings.counted > 0);
    let local = local.restart(0).await;
    let after = local.preview("And what is in that pot?").await;
    assert_eq!(
        (after.timings.counted, after.text == before.text),
        (0, true)
    );
    assert_eq!((after.tokens, after.new_epoch), (before.tokens, None));
    // Only the new message is counted.
    assert!((1..=3).contains(&local.preview("And in the other one?").await.timings.counted));
    local.engine.shutdown().await;
}

/// Stop texts of a custom format apply, also after it was imported again.
#[tokio::test]
async fn stop_texts_of_a_custom_format_end_a_reply() {
    let local = Local::new(|_| {}).await;
    let preset = |stop: &str| {
        serde_json::json!({
            "name": "Own", "input_sequence": "<|im_start|>user", "output_sequence": "<|im_start|>assistant",
            "system_sequence": "<|im_start|>system", "input_suffix": "<|im_end|>\n", "output_suffix": "<|im_end|>\n",
            "system_suffix": "<|im_end|>\n", "wrap": true, "stop_sequence": stop,
        })
    };
    let import = async |stop: &str| {
        let bytes = preset(stop).to_string().into_bytes();
        let report = local
            .engine
            .import_bytes("own.json".into(), bytes)
            .await
            .unwrap();
        assert_eq!(report.imported[0].kind, "chatFormat", "{report:?}");
        report.imported[0].id.clone()
    };
    let name = import("nothing of the kind").await;
    local.format(&name).await;
    let (free, ..) = local.say("Who are you?").await;
    let word = free.split_whitespace().nth(1).unwrap();
    import(word).await;
    let mut events = local.engine.subscribe();
    local.engine.regenerate(local.chat).await.unwrap();
    let (cut, _) = ended(&mut events, local.chat).await;
    let cut = cut.unwrap();
    assert!(
        free.starts_with(selected_text(&cut)) && !selected_text(&cut).contains(word),
        "{free}\n{}",
        selected_text(&cut)
    );
    local.engine.shutdown().await;
}
