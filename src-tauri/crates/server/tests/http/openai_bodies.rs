//! Malformed requests of the OpenAI-compatible API.

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value, json};

use crate::openai::says;
use crate::world::World;

const REQUESTS: usize = 500;

const FIELDS: [&str; 22] = [
    "model",
    "messages",
    "stream",
    "stream_options",
    "temperature",
    "top_p",
    "n",
    "stop",
    "max_tokens",
    "seed",
    "tools",
    "tool_choice",
    "response_format",
    "logit_bias",
    "logprobs",
    "top_logprobs",
    "metadata",
    "store",
    "prompt",
    "input",
    "encoding_format",
    "frequency_penalty",
];

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        "\\PC{0,12}".prop_map(Value::from),
        Just(json!("mira")),
        Just(says("user", "Ahoy.")),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::btree_map(
                "role|content|type|text|id|function|name|[a-z]{1,5}",
                inner,
                0..4
            )
            .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// A valid request with up to three fields replaced, sometimes cut off.
fn body() -> impl Strategy<Value = Vec<u8>> {
    let changes = prop::collection::vec((prop::sample::select(&FIELDS[..]), any_json()), 0..4);
    (changes, prop::option::weighted(0.1, 0.0_f64..1.0)).prop_map(|(changes, cut)| {
        let mut body =
            json!({ "model": "mira", "messages": [says("user", "Ahoy.")], "prompt": "Ahoy.", "input": "Ahoy." });
        for (field, value) in changes {
            body[field] = value;
        }
        let mut bytes = body.to_string().into_bytes();
        bytes.truncate(cut.map_or(bytes.len(), |share| (bytes.len() as f64 * share) as usize));
        bytes
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn malformed_requests_are_never_the_servers_fault() {
    let world = World::with_api().await;
    let (mut runner, bodies) = (TestRunner::deterministic(), body());
    for index in 0..REQUESTS {
        let body = bodies.new_tree(&mut runner).unwrap().current();
        let path = ["/v1/chat/completions", "/v1/completions", "/v1/embeddings"][index % 3];
        let answer = world.ask("POST", path, &body).await;
        let shown = String::from_utf8_lossy(&body);
        assert!(
            (200..500).contains(&answer.status),
            "{path} {shown}: {answer:?}"
        );
        if answer.status >= 400 {
            assert!(
                answer.json()["error"]["message"].is_string(),
                "{path} {shown}: {answer:?}"
            );
        }
    }
    assert!(world.is_alive().await);
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nested_and_large_bodies_are_refused() {
    let world = World::with_api().await;
    for (body, status) in [
        (Vec::new(), 400),
        (b"\xff\xfe".to_vec(), 400),
        (b"[]".to_vec(), 400),
        (vec![b'['; 1_000_000], 400),
        (vec![b' '; 33 * 1024 * 1024], 413),
    ] {
        let answer = world.ask("POST", "/v1/chat/completions", &body).await;
        assert_eq!(answer.status, status, "{} bytes", body.len());
        assert!(answer.json()["error"]["message"].is_string(), "{answer:?}");
    }
    world.stop().await;
}
