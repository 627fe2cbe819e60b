//! Prompt processing and decode of the worker beside llama.cpp's own server, same model and threads, taking turns in one
//! run. Both are timed from outside, at the stream of events, so pipes and HTTP are part of the figure.
//!
//! `cargo bench -p tests --bench decode`, on an idle machine, after `cargo xtask setup`.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement that prints its figures")]

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Instant;

use domain::ModelId;
use domain::prompt::{Prompt, PromptMessage, PromptRole, Segment};
use domain::sampling::SamplerOptions;
use futures_util::StreamExt;
use local::LocalHost;
use provider::{EndpointConfig, GenerationEvent, OpenAiClient, Provider, Request};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio_util::sync::CancellationToken;

const ROUNDS: usize = 5;
const GENERATE: u32 = 128;
const THREADS: u32 = 2;

/// Tokens per second.
#[derive(Clone, Copy)]
struct Speed {
    prefill: f64,
    decode: f64,
}

#[tokio::main]
async fn main() {
    let model = tests::headless::models_dir().join("SmolLM2-135M-Instruct.Q4_1.gguf");
    let settings =
        local::Settings { worker: tests::headless::worker(), threads: THREADS, ..local::Settings::default() };
    let host = LocalHost::new(settings).unwrap();
    let path = model.clone();
    let inspected = tokio::task::spawn_blocking(move || local::inspect(&path, |_, _| {}).unwrap()).await.unwrap();
    let ours = host.provider(&inspected.into_model(ModelId(Default::default())), 1_024);
    let mut server = tokio::process::Command::new(python())
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../src-tauri/crates/provider/tests/openai-server/serve.py"))
        .arg(&model)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let address = BufReader::new(server.stdout.take().unwrap()).lines().next_line().await.unwrap().unwrap();
    let theirs = OpenAiClient::new(EndpointConfig::new(&format!("{address}/v1"), "", None).unwrap()).unwrap();

    let (mut worker, mut peer) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        let (a, b) = (measure(ours.as_ref(), round).await, measure(&theirs, round).await);
        // The first round loads.
        if round > 0 {
            worker.push(a);
            peer.push(b);
        }
    }
    let (worker, peer) = (median(&worker), median(&peer));
    println!("{:>24} {:>12} {:>12} {:>7}", "", "worker", "llama.cpp", "ratio");
    for (name, a, b) in
        [("prompt, tokens/s", worker.prefill, peer.prefill), ("decode, tokens/s", worker.decode, peer.decode)]
    {
        println!("{name:>24} {a:>12.1} {b:>12.1} {:>7.2}", a / b);
    }
    host.shutdown().await;
}

/// One reply of [`GENERATE`] tokens to a prompt that shares nothing with the one before.
async fn measure(provider: &dyn Provider, round: usize) -> Speed {
    let text = format!(
        "Round {round}. {}Count on in words: one, two, three, four,",
        "The lamp burns low tonight. ".repeat(60)
    );
    let control = |text: &str| Segment { text: text.into(), control: true };
    let segments = vec![
        control("<|im_start|>user\n"),
        Segment { text: text.clone(), control: false },
        control("<|im_end|>\n<|im_start|>assistant\n"),
    ];
    let messages = vec![PromptMessage { role: PromptRole::User, text }];
    let options = SamplerOptions {
        temperature: Some(0.0),
        max_tokens: Some(GENERATE),
        repeat_penalty: Some(1.0),
        ..Default::default()
    };
    let request = Request {
        cache_key: "bench".into(),
        prompt: Prompt { messages, segments, ..Prompt::default() },
        sampling: options.resolve(1),
        shape: None,
    };
    let started = Instant::now();
    let mut stream = provider.stream(request, CancellationToken::new());
    let mut first = None;
    while let Some(event) = stream.next().await {
        match event.unwrap() {
            GenerationEvent::Text(_) => {
                first.get_or_insert_with(Instant::now);
            }
            GenerationEvent::Finished { usage, .. } => {
                let (first, ended) = (first.unwrap(), Instant::now());
                let evaluated = usage.evaluated.or(usage.prompt).unwrap();
                let generated = usage.generated.unwrap();
                return Speed {
                    prefill: f64::from(evaluated) / (first - started).as_secs_f64(),
                    decode: f64::from(generated - 1) / (ended - first).as_secs_f64(),
                };
            }
            _ => {}
        }
    }
    panic!("the stream ended without a word");
}

fn median(speeds: &[Speed]) -> Speed {
    let middle = |figure: fn(&Speed) -> f64| {
        let mut figures: Vec<f64> = speeds.iter().map(figure).collect();
        figures.sort_by(f64::total_cmp);
        figures[figures.len() / 2]
    };
    Speed { prefill: middle(|speed| speed.prefill), decode: middle(|speed| speed.decode) }
}

fn python() -> PathBuf {
    let cached = || std::env::home_dir().unwrap().join(".cache/inglenook/openai-server-venv/bin/python");
    std::env::var_os("INGLENOOK_OPENAI_SERVER").map_or_else(cached, PathBuf::from)
}
