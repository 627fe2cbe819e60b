//! The local API with the bundled models.

use domain::ToolDefinition;
use domain::prompt::ToolChoice;
use domain::sampling::SamplerOptions;
use engine::api::ApiGrant;
use engine::api::client::{
    ClientMessage, ClientOptions, ClientRequest, ClientRole, ModelKind, ReplyEvent, ReplyFinish,
};
use engine::{Engine, Options};
use serde_json::{Value, json};
use tempfile::TempDir;

fn grant() -> ApiGrant {
    ApiGrant {
        name: "test".into(),
        characters: None,
        raw_models: true,
        read_only: false,
    }
}

async fn open() -> (Engine, TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let options = Options {
        data_dir: dir.path().to_owned(),
        model_dirs: vec![tests::headless::models_dir()],
        worker: Some(tests::headless::worker()),
        without_keychain: true,
        ..Options::default()
    };
    (Engine::open(options).await.unwrap(), dir)
}

async fn name_of(engine: &Engine, kind: ModelKind) -> String {
    let models = engine.api_models(&grant()).await.unwrap();
    models
        .into_iter()
        .find(|model| model.kind == kind)
        .expect("a bundled model")
        .id
}

#[tokio::test(flavor = "multi_thread")]
async fn schema_and_probabilities_of_a_raw_model() {
    let (engine, _dir) = open().await;
    let model = name_of(&engine, ModelKind::Local).await;
    let schema = r#"{"type":"object","properties":{"lit":{"type":"boolean"}},"required":["lit"],"additionalProperties":false}"#;
    let options = ClientOptions {
        json_schema: Some(schema.to_owned()),
        top_logprobs: Some(2),
        sampler: SamplerOptions {
            max_tokens: Some(48),
            temperature: Some(0.0),
            ..SamplerOptions::default()
        },
        ..ClientOptions::default()
    };
    let messages = vec![ClientMessage::new(
        ClientRole::User,
        "Is the lamp lit? Answer in JSON.",
    )];
    let request = ClientRequest {
        model,
        messages,
        options,
        ..ClientRequest::default()
    };
    let mut reply = engine.api_reply(grant(), request).await.unwrap();
    let (mut text, mut tokens, mut usage) = (String::new(), Vec::new(), None);
    while let Some(event) = reply.next().await {
        match event.unwrap() {
            ReplyEvent::Text(piece) => text.push_str(&piece),
            ReplyEvent::Tokens(more) => tokens.extend(more),
            ReplyEvent::Ended(end) => usage = Some(end.usage),
            _ => {}
        }
    }
    let answer: Value =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert!(answer["lit"].is_boolean(), "{text}");
    let spoken: String = tokens.iter().map(|token| token.text.as_str()).collect();
    assert!(spoken.starts_with(text.trim()), "{spoken}");
    assert!(
        tokens
            .iter()
            .all(|token| token.logprob <= 0.0 && token.alternatives.len() >= 2),
        "{tokens:?}"
    );
    assert!(
        usage.is_some_and(|usage| usage.prompt > 8 && usage.generated > 3),
        "{usage:?}"
    );
    engine.shutdown().await;
}

/// The model knows no tools and wants to talk, but the grammar leaves it no choice.
#[tokio::test(flavor = "multi_thread")]
async fn demanded_call_of_a_local_model() {
    let (engine, _dir) = open().await;
    let raw = name_of(&engine, ModelKind::Local).await;
    let character = name_of(&engine, ModelKind::Character).await;
    let tool = |name: &str| ToolDefinition {
        name: name.into(),
        description: "Looks up the weather.".into(),
        parameters: json!({ "type": "object", "required": ["city"], "properties": { "city": { "enum": ["Oslo", "Rome"] } } }),
    };
    for model in [raw, character] {
        let options = ClientOptions {
            tools: vec![tool("weather"), tool("tides")],
            tool_choice: ToolChoice::Named("tides".into()),
            single_call: true,
            sampler: SamplerOptions {
                max_tokens: Some(64),
                temperature: Some(0.0),
                ..SamplerOptions::default()
            },
            ..ClientOptions::default()
        };
        let said = |role, text: &str| ClientMessage::new(role, text);
        let messages = vec![
            said(ClientRole::User, "Hello."),
            said(ClientRole::Assistant, "Good evening."),
            said(ClientRole::User, "How are you?"),
        ];
        let request = ClientRequest {
            model,
            messages,
            options,
            ..ClientRequest::default()
        };
        let mut reply = engine.api_reply(grant(), request).await.unwrap();
        let (mut text, mut calls, mut finish) = (String::new(), Vec::new(), None);
        while let Some(event) = reply.next().await {
            match event.unwrap() {
                ReplyEvent::Text(piece) => text.push_str(&piece),
                ReplyEvent::ToolCall(call) => calls.push(call),
                ReplyEvent::Ended(end) => finish = Some(end.finish),
                _ => {}
            }
        }
        assert_eq!(
            (text.as_str(), calls.len(), finish),
            ("", 1, Some(ReplyFinish::ToolCalls)),
            "{calls:?}"
        );
        assert_eq!(calls[0].name, "tides");
        let arguments: Value = serde_json::from_str(calls[0].arguments.text()).unwrap();
        assert!(
            ["Oslo", "Rome"].contains(&arguments["city"].as_str().unwrap()),
            "{arguments}"
        );
        assert!(
            calls[0].id.as_ref().is_some_and(|id| id.len() == 9),
            "{calls:?}"
        );
    }
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn embeddings_have_length_one() {
    let (engine, _dir) = open().await;
    let model = name_of(&engine, ModelKind::Embeddings).await;
    let texts = ["lamp", "lantern", "tax return"]
        .map(str::to_owned)
        .to_vec();
    let embedded = engine.api_embed(&grant(), &model, texts).await.unwrap();
    let dot = |one: usize, other: usize| -> f32 {
        embedded.vectors[one]
            .iter()
            .zip(&embedded.vectors[other])
            .map(|(a, b)| a * b)
            .sum()
    };
    assert!((dot(0, 0) - 1.0).abs() < 0.01, "{}", dot(0, 0));
    assert!(dot(0, 1) > dot(0, 2), "a lantern is nearer to a lamp");
    assert!(embedded.tokens >= 9, "{}", embedded.tokens);
    engine.shutdown().await;
}
