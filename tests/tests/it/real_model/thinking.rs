//! Models that think first, with chat templates that leave earlier thoughts out of later prompts.
//! Tokens that the model has read before a reply are never read again; only the reply itself is,
//! once, because it was read after its thoughts.

use engine::api::{Figures, SettingOwner, SettingValue};
use engine::{Engine, Options};
use tests::headless::{ended, selected_text};

use crate::real_model::tiny_models;

const QWEN3: &str = include_str!(
    "../../../../src-tauri/crates/context/tests/chat_templates/templates/qwen3-thinking.jinja"
);
const DEEPSEEK_R1: &str = include_str!(
    "../../../../src-tauri/crates/context/tests/chat_templates/templates/deepseek-r1.jinja"
);

/// Lets random weights write thoughts and a reply, after the `opening` of the thoughts. The reply
/// ends with the grammar.
fn grammar(opening: &str) -> String {
    let letters = |count| "[a-z] ".repeat(count);
    format!(
        r#"root ::= {opening} {}"\n</think>\n\n" {}"#,
        letters(10),
        letters(12)
    )
}

/// Opening mark of the thoughts, if the template does not write it.
const OPENING: &str = r#""<think>\n""#;
const NOTHING: &str = "";

async fn three_turns(architecture: &str, template: &str, opening: &str) -> Vec<Figures> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tiny.gguf");
    std::fs::write(
        &path,
        tiny_models::bytes_with_template(architecture, template),
    )
    .unwrap();
    let options = Options {
        data_dir: dir.path().join("data"),
        worker: Some(tests::headless::worker()),
        without_keychain: true,
        ..Options::default()
    };
    let engine = Engine::open(options)
        .await
        .unwrap_or_else(|error| panic!("{error}"));
    engine.add_model(path).await.unwrap();
    let set = async |key: &str, value| {
        engine
            .set_setting(SettingOwner::Global, key.to_owned(), Some(value))
            .await
            .unwrap_or_else(|error| panic!("{error}"));
    };
    for key in ["memory", "read_ahead"] {
        set(key, SettingValue::Switch(false)).await;
    }
    set("grammar", SettingValue::Text(grammar(opening))).await;
    let chat = engine.startup().await.unwrap().chat.unwrap();
    let mut events = engine.subscribe();
    let mut figures = Vec::new();
    for words in [
        "Hello! Who are you?",
        "What do you like about the fire?",
        "And what is in that pot?",
    ] {
        engine.send_message(chat, words.into()).await.unwrap();
        let (reply, reason) = ended(&mut events, chat).await;
        let reply = reply.unwrap_or_else(|| panic!("{reason:?}"));
        let swipe = &reply.swipes[reply.selected as usize];
        assert!(
            swipe
                .display
                .as_ref()
                .is_some_and(|shown| shown.has_thoughts)
                && !selected_text(&reply).is_empty(),
            "{reason:?} {reply:?}"
        );
        // The X-ray shows what the worker has counted.
        let manifest = engine.manifest(swipe.id).await.unwrap();
        let shown = swipe.figures.clone().unwrap();
        assert_eq!(shown.prompt, Some(manifest.tokens.total));
        figures.push(shown);
    }
    engine.shutdown().await;
    figures
}

/// Tokens that each later turn has read beyond those that are new in its prompt.
fn read_again(figures: &[Figures]) -> Vec<i64> {
    let count = |number: Option<u32>| i64::from(number.unwrap());
    figures
        .windows(2)
        .map(|pair| count(pair[1].evaluated) - count(pair[1].prompt) + count(pair[0].prompt))
        .collect()
}

/// The last tokens before the reply may be split otherwise with it.
#[tokio::test]
async fn thoughts_left_out_cost_only_the_reply() {
    for (template, opening) in [(QWEN3, OPENING), (DEEPSEEK_R1, NOTHING)] {
        let figures = three_turns("llama", template, opening).await;
        assert!(
            read_again(&figures).iter().all(|tokens| *tokens <= 16),
            "{figures:?}"
        );
    }
}

/// A recurrent state cannot be cut, so it is taken from the checkpoint at the end of the prompt.
#[tokio::test]
async fn hybrid_model_keeps_what_it_read_before_thoughts() {
    let figures = three_turns("qwen35", QWEN3, OPENING).await;
    // At most one interval between checkpoints is read again.
    assert!(
        read_again(&figures).iter().all(|tokens| *tokens <= 64),
        "{figures:?}"
    );
}
