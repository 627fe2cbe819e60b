//! Token counts for remote models: method, error and display.

use engine::api::{
    ApiError, Counted, CountedWith, Endpoint, EndpointDraft, ModelRef, SettingsChange, WhatIf,
};
use engine::{Engine, Options};
use provider::Encoding;
use serde_json::{Value, json};
use tempfile::TempDir;
use tests::headless::ended;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

async fn open(dir: &TempDir) -> Engine {
    let options = Options {
        data_dir: dir.path().to_owned(),
        without_keychain: true,
        ..Options::default()
    };
    Engine::open(options)
        .await
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Adds an endpoint and makes it the default.
async fn connect(engine: &Engine, url: &str, model: &str) -> Endpoint {
    let draft = EndpointDraft {
        id: None,
        name: "Mine".into(),
        url: url.into(),
        model: model.into(),
        context: 8_192,
        key: None,
        ..EndpointDraft::default()
    };
    let saved = engine.save_endpoint(draft).await.unwrap();
    let default_model = Some(ModelRef::Remote {
        id: saved.id.to_string(),
    });
    engine
        .update_settings(SettingsChange {
            default_model,
            ..SettingsChange::default()
        })
        .await
        .unwrap();
    saved
}

/// A server whose tokens are those of cl100k plus some per message, and which reports its usage.
async fn reporting() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer(stream));
        }
    });
    url
}

async fn answer(mut stream: TcpStream) {
    let body = body(&mut stream).await;
    let contents = body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["content"].as_str().unwrap());
    let prompt: u32 = contents.map(|text| Encoding::Cl100k.count(text) + 7).sum();
    let said = json!({ "choices": [{ "delta": { "content": "Aye, she counts the ships on the quay." } }] });
    let end = json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }],
        "usage": { "prompt_tokens": prompt, "completion_tokens": 9 } });
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
    let reply = format!("{head}data: {said}\n\ndata: {end}\n\ndata: [DONE]\n\n");
    stream.write_all(reply.as_bytes()).await.unwrap();
}

async fn body(stream: &mut TcpStream) -> Value {
    let mut read = Vec::new();
    loop {
        let mut part = [0; 4_096];
        let count = stream.read(&mut part).await.unwrap();
        read.extend_from_slice(&part[..count]);
        let text = String::from_utf8_lossy(&read);
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let head = head.to_lowercase();
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "))
            .unwrap();
        if body.len() >= length.trim().parse().unwrap() {
            return serde_json::from_str(body).unwrap();
        }
        assert!(count > 0, "the request broke off");
    }
}

async fn counted(engine: &Engine) -> (u32, Counted) {
    let chat = engine.startup().await.unwrap().chat.unwrap();
    let report = engine
        .preview_prompt(chat, "Who goes there?".into(), WhatIf::default())
        .await
        .unwrap();
    assert!(!report.tokens.exact);
    (report.tokens.total, report.tokens.counted.unwrap())
}

async fn health(engine: &Engine) -> (bool, String) {
    let checks = engine.health().await.unwrap().checks;
    let check = checks
        .into_iter()
        .find(|check| check.name == "token counts of Mine")
        .unwrap();
    (check.ok, check.reason)
}

#[tokio::test]
async fn reports_count_error_within_five_percent() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(&dir).await;
    connect(&engine, &reporting().await, "mystery-7b").await;
    let before = counted(&engine).await.1;
    assert_eq!(
        before,
        Counted {
            with: CountedWith::Estimate,
            margin: 819,
            mean_error: None
        }
    );
    assert_eq!(
        health(&engine).await,
        (true, "Estimated from text length".into())
    );

    let chat = engine.startup().await.unwrap().chat.unwrap();
    let mut events = engine.subscribe();
    for turn in 0..20 {
        let words = [
            "How many ships came in?",
            "Сколько кораблей пришло ночью?",
            "港口里有几条船？",
        ][turn % 3];
        engine
            .send_message(chat, words.repeat(1 + turn % 4))
            .await
            .unwrap();
        ended(&mut events, chat).await;
    }
    let (total, after) = counted(&engine).await;
    assert_eq!(
        (after.with, after.margin),
        (CountedWith::Estimate, 245),
        "3 % of 8,192"
    );
    let error = after.mean_error.unwrap();
    assert!(error > 0.0 && error <= 0.05, "{error}");
    let endpoint = &engine.list_endpoints().await.unwrap()[0];
    assert_eq!(
        (endpoint.counted_with, endpoint.mean_error),
        (CountedWith::Estimate, Some(error))
    );
    let said = format!(
        "Estimated from text length, off by {:.1} % on average over its last prompts",
        error * 100.0
    );
    assert_eq!(health(&engine).await, (true, said));

    engine
        .send_message(chat, "Who goes there?".into())
        .await
        .unwrap();
    let (reply, _) = ended(&mut events, chat).await;
    let truth = reply.unwrap().swipes[0]
        .figures
        .as_ref()
        .unwrap()
        .prompt
        .unwrap();
    assert!(
        total.abs_diff(truth) * 20 <= truth,
        "{total} was predicted, {truth} reported"
    );
    engine.shutdown().await;
}

/// A `tokenizer.json` that counts every word as a token.
fn words() -> Vec<u8> {
    let words = json!({
        "version": "1.0", "truncation": { "direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 0 },
        "pre_tokenizer": { "type": "WhitespaceSplit" },
        "model": { "type": "WordLevel", "vocab": { "?": 0 }, "unk_token": "?" },
    });
    words.to_string().into_bytes()
}

const LINE: &str = "Antidisestablishmentarianism counts once, as one.";

async fn tokens(engine: &Engine, endpoint: &Endpoint) -> u32 {
    let model = Some(ModelRef::Remote {
        id: endpoint.id.to_string(),
    });
    engine
        .count_tokens(model, LINE.into(), false)
        .await
        .unwrap()
        .tokens
}

#[tokio::test]
async fn tokenizer_json_counts_until_removed() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(&dir).await;
    let endpoint = connect(&engine, "http://127.0.0.1:9/v1", "gpt-4o").await;
    let encoded = Encoding::O200k.count(LINE);
    let (total, how) = counted(&engine).await;
    assert_eq!(
        (how.with, tokens(&engine, &endpoint).await),
        (CountedWith::O200k, encoded)
    );

    let given = engine
        .set_endpoint_tokenizer(endpoint.id, words())
        .await
        .unwrap();
    assert_eq!(given.counted_with, CountedWith::TokenizerJson);
    assert_eq!(tokens(&engine, &endpoint).await, 5);
    let (by_words, how) = counted(&engine).await;
    assert_eq!(how.with, CountedWith::TokenizerJson);
    assert!(by_words < total, "{by_words} words, {total} tokens");

    // The tokenizer survives edits of the endpoint and a restart.
    let engine = again(engine, &dir).await;
    assert_eq!(
        (tokens(&engine, &endpoint).await, health(&engine).await.0),
        (5, true)
    );

    let removed = engine.remove_endpoint_tokenizer(endpoint.id).await.unwrap();
    assert_eq!(removed.counted_with, CountedWith::O200k);
    assert_eq!(
        (tokens(&engine, &endpoint).await, counted(&engine).await.0),
        (encoded, total)
    );
    engine.shutdown().await;
}

/// A card whose lorebook has a budget of 12 tokens, for two texts of five long words.
fn book_of_twelve() -> Vec<u8> {
    let entry = json!({ "keys": ["lamp"], "content": LINE, "enabled": true, "insertion_order": 1, "extensions": {}, "use_regex": false });
    let mut other = entry.clone();
    other["content"] = format!("{LINE} ").into();
    json!({
        "spec": "chara_card_v3", "spec_version": "3.0",
        "data": {
            "name": "Ada", "description": "", "personality": "", "scenario": "", "first_mes": "", "mes_example": "",
            "creator_notes": "", "system_prompt": "", "post_history_instructions": "", "alternate_greetings": [],
            "tags": [], "creator": "", "character_version": "", "group_only_greetings": [], "extensions": {},
            "character_book": { "token_budget": 12, "extensions": {}, "entries": [entry, other] },
        }
    })
    .to_string()
    .into_bytes()
}

/// The cost of lore is counted with the same tokenizer as the rest of the prompt.
#[tokio::test]
async fn lorebook_budget_uses_the_models_tokenizer() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(&dir).await;
    let endpoint = connect(&engine, "http://127.0.0.1:9/v1", "mystery-7b").await;
    let card = engine
        .import_bytes("ada.json".into(), book_of_twelve())
        .await
        .unwrap()
        .imported
        .remove(0);
    let chat = engine.new_chat(card.id.parse().unwrap()).await.unwrap().id;
    let entries = async || {
        let prompt = engine
            .preview_prompt(chat, "The lamp?".into(), WhatIf::default())
            .await
            .unwrap();
        prompt
            .blocks
            .iter()
            .filter(|block| block.kind == "lore" && block.kept)
            .count()
    };
    assert_eq!(entries().await, 0, "thirteen tokens by estimate");
    engine
        .set_endpoint_tokenizer(endpoint.id, words())
        .await
        .unwrap();
    assert_eq!(entries().await, 2, "five words each");
    engine.shutdown().await;
}

#[tokio::test]
async fn refuses_other_files_as_tokenizer_json() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(&dir).await;
    let endpoint = connect(&engine, "http://127.0.0.1:9/v1", "gpt-4o").await;
    let refused = async |json: &[u8], why: &str| {
        let refused = engine
            .set_endpoint_tokenizer(endpoint.id, json.to_vec())
            .await;
        let Err(ApiError::BadInput { message, hint }) = refused else {
            panic!("{refused:?}")
        };
        assert!(message.contains(why), "{message}");
        assert!(hint.contains("published with the model"), "{hint}");
    };
    refused(b"not json", "not a tokenizer.json").await;
    assert_eq!(
        engine.list_endpoints().await.unwrap()[0].counted_with,
        CountedWith::O200k
    );

    let file = dir.path().join("tokenizer.json");
    std::fs::write(&file, words()).unwrap();
    engine
        .set_endpoint_tokenizer_file(endpoint.id, file)
        .await
        .unwrap();
    refused(&words()[..40], "EOF").await;
    assert_eq!(tokens(&engine, &endpoint).await, 5);
    let folder = engine
        .set_endpoint_tokenizer_file(endpoint.id, dir.path().to_owned())
        .await;
    assert!(
        matches!(folder, Err(ApiError::BadInput { message, .. }) if message.contains("not a file"))
    );
    let gone = engine
        .set_endpoint_tokenizer(
            "0190a0a0-0000-7000-8000-000000000000".parse().unwrap(),
            words(),
        )
        .await;
    assert!(matches!(gone, Err(ApiError::NotFound { .. })));
    engine.shutdown().await;
}

#[tokio::test]
async fn health_reports_a_lost_tokenizer_json() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(&dir).await;
    let endpoint = connect(&engine, "http://127.0.0.1:9/v1", "gpt-4o").await;
    engine
        .set_endpoint_tokenizer(endpoint.id, words())
        .await
        .unwrap();
    engine.shutdown().await;
    drop(engine);
    let hash = store::AssetHash::of(&words()).to_string();
    // A file that a backup has would come back.
    for assets in ["assets", "backups/assets"] {
        std::fs::remove_file(dir.path().join(assets).join(&hash[..2]).join(&hash)).unwrap();
    }

    let engine = open(&dir).await;
    assert_eq!(counted(&engine).await.1.with, CountedWith::O200k);
    let (ok, reason) = health(&engine).await;
    assert!(!ok && reason.contains("missing or damaged"), "{reason}");
    engine
        .set_endpoint_tokenizer(endpoint.id, words())
        .await
        .unwrap();
    assert_eq!(
        (tokens(&engine, &endpoint).await, health(&engine).await.0),
        (5, true)
    );
    engine.shutdown().await;
}

async fn again(engine: Engine, dir: &TempDir) -> Engine {
    let mut endpoint = engine.list_endpoints().await.unwrap().remove(0);
    endpoint.name = "Mine".into();
    let Endpoint {
        id,
        name,
        url,
        model,
        context,
        ..
    } = endpoint;
    engine
        .save_endpoint(EndpointDraft {
            id: Some(id),
            name,
            url,
            model,
            context: context + 1,
            key: None,
            ..EndpointDraft::default()
        })
        .await
        .unwrap();
    engine.shutdown().await;
    drop(engine);
    open(dir).await
}

mod real_model {
    use engine::api::WhatIf;
    use engine::{Clock, Engine, Options};
    use tests::headless::{NOW, models_dir, worker};

    use super::connect;

    /// Counts of drafts are not stored. Text of a sent prompt is never counted again.
    #[tokio::test]
    async fn counts_are_stored_once_sent() {
        let dir = tempfile::tempdir().unwrap();
        let open = async || {
            let options = Options {
                data_dir: dir.path().to_owned(),
                without_keychain: true,
                model_dirs: vec![models_dir()],
                worker: Some(worker()),
                clock: Clock::stopped(NOW),
                ..Options::default()
            };
            Engine::open(options)
                .await
                .unwrap_or_else(|error| panic!("{error}"))
        };
        let typed = async |engine: &Engine, text: &str| {
            let chat = engine.startup().await.unwrap().chat.unwrap();
            engine.save_draft(chat, text.into()).await.unwrap();
            engine.settle().await;
        };
        let counted = async |engine: &Engine, text: &str| {
            let chat = engine.startup().await.unwrap().chat.unwrap();
            engine
                .preview_prompt(chat, text.into(), WhatIf::default())
                .await
                .unwrap()
                .timings
                .counted
        };
        const FIRST: &str = "Who goes there?";
        const SECOND: &str = "And what is the name of the ship?";

        let engine = open().await;
        connect(&engine, "http://127.0.0.1:9/v1", "gpt-4").await;
        typed(&engine, FIRST).await;
        engine.shutdown().await;
        drop(engine);

        let engine = open().await;
        assert!(
            counted(&engine, FIRST).await > 5,
            "the draft's counts were stored"
        );
        typed(&engine, SECOND).await;
        assert_eq!(
            counted(&engine, SECOND).await,
            0,
            "the draft was not counted"
        );
        engine.shutdown().await;
        drop(engine);

        let engine = open().await;
        assert_eq!(
            (
                counted(&engine, FIRST).await,
                counted(&engine, SECOND).await
            ),
            (0, 0)
        );
        engine.shutdown().await;
    }
}
