//! Tool calls of the real small model, which knows no tools: the prompt describes them, and a
//! grammar shapes the reply.

use context::tools::{CallSyntax, FrameTools, grammar};
use domain::prompt::ToolChoice;
use domain::{ChatId, ToolDefinition};
use engine::api::{EndReason, SettingOwner};
use engine::{Engine, Options};
use serde_json::json;
use tests::headless::{ended, models_dir, worker};

async fn send(engine: &Engine, chat: ChatId, text: &str) -> engine::api::Message {
    let mut events = engine.subscribe();
    engine.send_message(chat, text.to_owned()).await.unwrap();
    let (reply, reason) = ended(&mut events, chat).await;
    assert!(
        matches!(reason, EndReason::Stop | EndReason::Length),
        "{reason:?}"
    );
    reply.unwrap()
}

#[tokio::test]
async fn small_model_calls_a_tool_by_grammar() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options {
        data_dir: dir.path().to_owned(),
        model_dirs: vec![models_dir()],
        worker: Some(worker()),
        without_keychain: true,
        ..Options::default()
    };
    let engine = Engine::open(options)
        .await
        .unwrap_or_else(|error| panic!("{error}"));
    let chat = engine.startup().await.unwrap().chat.unwrap();
    let set = async |key: &str, value: &str| {
        let owner = SettingOwner::Chat { id: chat };
        engine
            .set_setting_in_words(owner, key.to_owned(), value.to_owned())
            .await
            .unwrap();
    };
    for (key, value) in [
        ("tool_dice", "on"),
        ("tools_as_text", "on"),
        ("tool_rounds", "1"),
        ("max_tokens", "48"),
    ] {
        set(key, value).await;
    }
    // The worker accepts the grammar of the offered tools, and the prompt is counted exactly.
    let reply = send(&engine, chat, "Hello there.").await;
    let report = engine.manifest(reply.swipes[0].id).await.unwrap();
    assert!(
        report.tokens.exact
            && report
                .blocks
                .iter()
                .any(|block| block.text.contains("roll_dice"))
    );

    let dice = json!({ "type": "object", "required": ["dice"], "properties": { "dice": { "enum": ["2d6", "d20"] } } });
    let roll = ToolDefinition {
        name: "roll_dice".into(),
        description: String::new(),
        parameters: dice,
    };
    let demanded = FrameTools {
        definitions: vec![roll],
        choice: ToolChoice::Required,
        single_call: true,
        ..FrameTools::default()
    };
    let only_calls = grammar(&CallSyntax::text(), &demanded);
    set("grammar", &only_calls).await;
    let reply = send(&engine, chat, "Roll the dice for me.").await;
    let round = &reply.swipes[0].tool_rounds[0];
    assert_eq!(
        (round.calls.len(), round.calls[0].name.as_str()),
        (1, "roll_dice")
    );
    assert!(
        !round.calls[0].error && round.calls[0].result.contains(" = "),
        "{:?}",
        round.calls[0]
    );
    let prompt = engine.manifest(reply.swipes[0].id).await.unwrap();
    assert!(
        prompt
            .blocks
            .iter()
            .any(|block| block.kind == "tool" && block.kept && block.tokens > 0)
    );
    engine.shutdown().await;
}
