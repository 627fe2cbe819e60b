//! Streams of the OpenAI-compatible API.

use std::time::Duration;

use domain::token_choice::{TokenAlternative, TokenChoice};
use provider::fake::{ReplyGate, ReplyScript};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::openai::says;
use crate::world::World;

/// Longest wait of these tests.
const PATIENCE: Duration = Duration::from_secs(20);

/// A response that is read piece by piece.
struct Reading {
    socket: TcpStream,
    text: String,
}

impl Reading {
    async fn begin(world: &World, body: &Value) -> Self {
        let (mut socket, body) = (
            TcpStream::connect(world.addr()).await.unwrap(),
            body.to_string(),
        );
        let head = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nHost: {}\r\nAuthorization: {}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
            world.addr(),
            world.bearer(),
            body.len()
        );
        socket
            .write_all(format!("{head}{body}").as_bytes())
            .await
            .unwrap();
        Self {
            socket,
            text: String::new(),
        }
    }

    /// Reads until `text` has arrived.
    async fn until(&mut self, text: &str) {
        let mut piece = [0; 4096];
        while !self.text.contains(text) {
            let count = timeout(PATIENCE, self.socket.read(&mut piece))
                .await
                .expect(text)
                .unwrap();
            assert!(count > 0, "{text} is missing: {}", self.text);
            self.text
                .push_str(&String::from_utf8_lossy(&piece[..count]));
        }
    }

    /// The lines of all events, after the end of the response.
    async fn lines(mut self) -> Vec<String> {
        let mut rest = Vec::new();
        timeout(PATIENCE, self.socket.read_to_end(&mut rest))
            .await
            .unwrap()
            .unwrap();
        self.text.push_str(&String::from_utf8_lossy(&rest));
        assert!(self.text.starts_with("HTTP/1.1 200"), "{}", self.text);
        assert!(
            self.text.contains("content-type: text/event-stream"),
            "{}",
            self.text
        );
        let shown = |line: &&str| line.starts_with("data: ") || line.starts_with(": ");
        self.text.lines().filter(shown).map(str::to_owned).collect()
    }

    async fn chunks(self) -> Vec<Value> {
        let lines = self.lines().await;
        assert_eq!(lines.last().map(String::as_str), Some("data: [DONE]"));
        let data = lines
            .iter()
            .filter_map(|line| line.strip_prefix("data: "))
            .filter(|data| *data != "[DONE]");
        data.map(|data| serde_json::from_str(data).unwrap())
            .collect()
    }
}

fn body(model: &str) -> Value {
    json!({ "model": model, "messages": [says("user", "Ahoy.")], "stream": true })
}

fn deltas(chunks: &[Value]) -> Vec<Value> {
    chunks
        .iter()
        .map(|chunk| chunk["choices"][0]["delta"].clone())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn first_chunk_comes_before_the_model_ends() {
    let (world, _) = World::with_keeper().await;
    world.add_raw_model("gpt-small").await;
    for model in ["captain-nemo", "gpt-small"] {
        let gate = ReplyGate::new();
        world
            .model
            .play(ReplyScript::new().text("Aye ").gate(&gate).text("aye."));
        let mut reading = Reading::begin(&world, &body(model)).await;
        reading.until(r#""content":"Aye ""#).await;
        assert!(!reading.text.contains("aye."), "{}", reading.text);
        gate.open();
        let chunks = reading.chunks().await;
        assert_eq!(
            deltas(&chunks),
            [
                json!({ "role": "assistant", "content": "" }),
                json!({ "content": "Aye " }),
                json!({ "content": "aye." }),
                json!({})
            ]
        );
        assert_eq!(
            chunks.last().unwrap()["choices"][0]["finish_reason"],
            "stop"
        );
        assert!(
            chunks.iter().all(|chunk| chunk.get("usage").is_none()),
            "nobody asked for it"
        );
    }
    world.stop().await;
}

/// The shape of each chunk, compared with the documented one.
#[tokio::test(flavor = "multi_thread")]
async fn chunks_have_the_documented_shape() {
    let (world, _) = World::with_keeper().await;
    world.add_raw_model("gpt-small").await;
    world.model.play(
        ReplyScript::new()
            .text("<think>Hm.</think>")
            .text("Aye.")
            .call("depth", "{}"),
    );
    let mut body = body("gpt-small");
    body["stream_options"] = json!({ "include_usage": true });
    let mut chunks = Reading::begin(&world, &body).await.chunks().await;
    let id = chunks[0]["id"].clone();
    for chunk in &mut chunks {
        assert_eq!(
            (&chunk["id"], &chunk["object"]),
            (&id, &json!("chat.completion.chunk"))
        );
        assert!(
            chunk["created"].is_u64() && chunk["model"] == "gpt-small",
            "{chunk}"
        );
        for common in ["id", "object", "created", "model"] {
            chunk.as_object_mut().unwrap().remove(common);
        }
        if let Some(call) = chunk.pointer_mut("/choices/0/delta/tool_calls/0") {
            assert!(call["id"].is_string(), "{call}");
            call["id"] = Value::Null;
        }
    }
    let delta = |delta: Value| json!({ "choices": [{ "index": 0, "delta": delta, "logprobs": null, "finish_reason": null }], "usage": null });
    let call = json!({ "index": 0, "id": null, "type": "function", "function": { "name": "depth", "arguments": "{}" } });
    let usage = json!({
        "prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3, "prompt_tokens_details": { "cached_tokens": 0 },
    });
    assert_eq!(
        chunks,
        [
            delta(json!({ "role": "assistant", "content": "" })),
            delta(json!({ "reasoning_content": "Hm." })),
            delta(json!({ "content": "Aye." })),
            delta(json!({ "tool_calls": [call] })),
            json!({
                "choices": [{ "index": 0, "delta": {}, "logprobs": null, "finish_reason": "tool_calls" }], "usage": null,
            }),
            json!({ "choices": [], "usage": usage }),
        ]
    );
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn last_chunk_names_the_stored_reply() {
    let (world, _) = World::with_keeper().await;
    world.model.reply("Aye.");
    let chunks = Reading::begin(&world, &body("captain-nemo"))
        .await
        .chunks()
        .await;
    let place = &chunks.last().unwrap()["x_inglenook"];
    assert_eq!(place["character"], "Captain Nemo");
    let chat = world
        .call("open_chat", &json!({ "id": place["chat"] }).to_string())
        .await
        .json();
    let last = chat["page"]["messages"]
        .as_array()
        .unwrap()
        .last()
        .unwrap()
        .clone();
    assert_eq!(
        (&last["id"], &last["swipes"][0]["id"]),
        (&place["message"], &place["manifest"])
    );
    assert_eq!(last["swipes"][0]["text"], "Aye.");
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn comments_tell_that_the_model_reads() {
    let (world, _) = World::with_keeper().await;
    world.add_raw_model("gpt-small").await;
    for model in ["captain-nemo", "gpt-small"] {
        world
            .model
            .play(ReplyScript::new().queued().prefill(40, 90, 0).text("Aye."));
        let lines = Reading::begin(&world, &body(model)).await.lines().await;
        for expected in [": queued", ": reading 40/90"] {
            assert!(
                lines.iter().any(|line| line == expected),
                "{model}: {lines:?}"
            );
        }
    }
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn error_in_mid_stream_is_an_object() {
    let (world, _) = World::with_keeper().await;
    world.add_raw_model("gpt-small").await;
    for model in ["captain-nemo", "gpt-small"] {
        world.model.play(ReplyScript::new().text("Half ").cut());
        let chunks = Reading::begin(&world, &body(model)).await.chunks().await;
        let error = &chunks.last().unwrap()["error"];
        assert_eq!(
            (&error["code"], &error["type"]),
            (&json!("upstream_error"), &json!("server_error")),
            "{chunks:?}"
        );
    }
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn client_that_disconnects_stops_the_model() {
    let (world, _) = World::with_keeper().await;
    world.add_raw_model("gpt-small").await;
    for model in ["captain-nemo", "gpt-small"] {
        for stream in [true, false] {
            let (gate, after) = (ReplyGate::new(), ReplyGate::new());
            // The first gate ends early if the reply is cancelled; the second is reached only if it
            // is not.
            world.model.play(
                ReplyScript::new()
                    .text("Aye ")
                    .gate(&gate)
                    .text("aye.")
                    .gate(&after),
            );
            let mut body = body(model);
            body["stream"] = stream.into();
            let mut reading = Reading::begin(&world, &body).await;
            gate.reached().await;
            if stream {
                reading.until("Aye ").await;
            }
            drop(reading);
            timeout(PATIENCE, world.engine.settle())
                .await
                .expect("the model stops");
            gate.open();
            let reached = timeout(Duration::from_millis(50), after.reached()).await;
            assert!(reached.is_err(), "{model} {stream}: the model went on");
        }
    }
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn probabilities_are_reported_on_request() {
    let (world, _) = World::with_keeper().await;
    world.add_raw_model("gpt-small").await;
    let token = |text: &str| TokenChoice {
        text: text.to_owned(),
        logprob: -0.5,
        alternatives: vec![TokenAlternative {
            text: "No".to_owned(),
            logprob: -12.5,
        }],
    };
    for model in ["captain-nemo", "gpt-small"] {
        let script = || {
            ReplyScript::new()
                .text("Aye.")
                .choices(vec![token("Aye"), token(".")])
        };
        world.model.play(script()).play(script());
        let mut body = body(model);
        (body["logprobs"], body["top_logprobs"]) = (true.into(), 1.into());
        let chunks = Reading::begin(&world, &body).await.chunks().await;
        let streamed = chunks
            .iter()
            .map(|chunk| &chunk["choices"][0]["logprobs"])
            .find(|logprobs| !logprobs.is_null());
        body["stream"] = false.into();
        let whole = world.chat(body).await.json()["choices"][0]["logprobs"].clone();
        assert_eq!(streamed, Some(&whole), "{model}");
        assert_eq!(
            whole["content"][0],
            json!({
                "token": "Aye", "logprob": -0.5, "bytes": [65, 121, 101],
                "top_logprobs": [{ "token": "No", "logprob": -12.5, "bytes": [78, 111] }],
            })
        );
    }
    world.stop().await;
}
