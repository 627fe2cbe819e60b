//! Compares prompt processing and decode of the worker with llama.cpp's own server: same model and threads, alternating
//! runs. Both are timed at their event streams, so the figures include pipes and HTTP. The server uses its own defaults
//! for batch size and polling.
//!
//! Run `cargo xtask bench decode` on an idle machine. `-- --sweep` times only the worker, with several spin counts and
//! zero to two busy processes.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement that prints its figures")]

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Instant;

use domain::ModelId;
use domain::prompt::{Prompt, PromptMessage, PromptRole, Segment};
use domain::sampling::SamplerOptions;
use futures_util::StreamExt;
use local::LocalHost;
use provider::{EndpointClient, EndpointConfig, GenerationEvent, Provider, Request};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio_util::sync::CancellationToken;

const PAIRS: usize = 10;
const GENERATE: u32 = 128;
const THREADS: u32 = 2;
/// Values of `GOMP_SPINCOUNT` in the sweep. 0 sleeps at every barrier, like `OMP_WAIT_POLICY=passive`.
const SPINS: [u32; 6] = [0, 100, 200, 400, 1_000, 3_000];
const SWEEP_ROUNDS: usize = 3;

/// Tokens per second.
#[derive(Clone, Copy)]
struct Speed {
    prefill: f64,
    decode: f64,
}

type Figure = fn(&Speed) -> f64;

fn prefill(speed: &Speed) -> f64 {
    speed.prefill
}

fn decode(speed: &Speed) -> f64 {
    speed.decode
}

#[tokio::main]
async fn main() {
    let model = tests::headless::models_dir().join("SmolLM2-135M-Instruct.Q4_1.gguf");
    if std::env::args().any(|argument| argument == "--sweep") {
        sweep(&model).await;
    } else {
        compare(&model).await;
    }
}

/// Compares the worker as shipped with llama.cpp's server.
async fn compare(model: &Path) {
    let settings = worker_settings();
    let (host, ours) = worker(settings, model).await;
    let (_server, theirs) = server(model).await;
    let (mut worker, mut peer) = (Vec::new(), Vec::new());
    for round in 0..=PAIRS {
        let (a, b) = if round % 2 == 0 {
            let a = measure(ours.as_ref(), round).await;
            (a, measure(&theirs, round).await)
        } else {
            let b = measure(&theirs, round).await;
            (measure(ours.as_ref(), round).await, b)
        };
        // The first round is not measured, because it loads the models.
        if round > 0 {
            println!(
                "pair {round:>2}: decode {:>6.1} against {:>6.1} = {:.2}",
                a.decode,
                b.decode,
                a.decode / b.decode
            );
            worker.push(a);
            peer.push(b);
        }
    }
    let ratio = |figure: Figure| median(worker.iter().zip(&peer).map(|(a, b)| figure(a) / figure(b)));
    println!("{:>24} {:>12} {:>12} {:>16}", "medians", "worker", "llama.cpp", "ratio of pairs");
    for (name, figure) in [("prompt, tokens/s", prefill as Figure), ("decode, tokens/s", decode)] {
        let (a, b) = (median(worker.iter().map(figure)), median(peer.iter().map(figure)));
        println!("{name:>24} {a:>12.1} {b:>12.1} {:>16.2}", ratio(figure));
    }
    host.shutdown().await;
}

/// Prints the median decode speed of the worker for each spin count, with 0 to 2 busy processes. One thread, which never
/// waits at a barrier, is the reference.
async fn sweep(model: &Path) {
    println!("decode, tokens/s{:>18} {:>8} {:>8} {:>8}", "", "idle", "1 busy", "2 busy");
    let single = (1, worker_settings().spin);
    for (threads, spin) in SPINS.map(|spin| (THREADS, spin)).into_iter().chain([single]) {
        let (host, ours) = worker(local::WorkerSettings { threads, spin, ..worker_settings() }, model).await;
        measure(ours.as_ref(), 0).await;
        let mut speeds = Vec::new();
        for busy in 0..=2 {
            let _load: Vec<Child> = (0..busy).map(|_| busy_process()).collect();
            let mut rounds = Vec::new();
            for round in 1..=SWEEP_ROUNDS {
                rounds.push(measure(ours.as_ref(), round).await.decode);
            }
            speeds.push(median(rounds.into_iter()));
        }
        let [idle, one, two] = speeds[..] else { unreachable!("three loads are measured") };
        println!("{threads} threads, spin {spin:>5}{:>12} {idle:>8.1} {one:>8.1} {two:>8.1}", "");
        host.shutdown().await;
    }
}

fn worker_settings() -> local::WorkerSettings {
    local::WorkerSettings { worker: tests::headless::worker(), threads: THREADS, ..local::WorkerSettings::default() }
}

async fn worker(settings: local::WorkerSettings, model: &Path) -> (LocalHost, std::sync::Arc<dyn Provider>) {
    let host = LocalHost::new(settings).unwrap();
    let path = model.to_owned();
    let inspected = tokio::task::spawn_blocking(move || local::inspect(&path, |_, _| {}).unwrap()).await.unwrap();
    let provider = host.provider(&inspected.into_model(ModelId(Default::default())), 1_024);
    (host, provider)
}

async fn server(model: &Path) -> (Child, EndpointClient) {
    let mut server = Command::new(python())
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../src-tauri/crates/provider/tests/openai-server/serve.py"))
        .arg(model)
        .env_remove("OMP_WAIT_POLICY")
        .env_remove("GOMP_SPINCOUNT")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let address = BufReader::new(server.stdout.take().unwrap()).lines().next_line().await.unwrap().unwrap();
    let client = EndpointClient::new(EndpointConfig::new(&format!("{address}/v1"), "", None).unwrap()).unwrap();
    (server, client)
}

/// Keeps one core busy until it is dropped.
fn busy_process() -> Child {
    Command::new("sh").args(["-c", "while :; do :; done"]).kill_on_drop(true).spawn().unwrap()
}

/// Generates [`GENERATE`] tokens for a prompt that shares no prefix with the previous one.
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
        background: false,
        prompt: Prompt { messages, segments, ..Prompt::default() },
        sampling: options.resolve(1),
        response_schema: None,
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

fn median(figures: impl Iterator<Item = f64>) -> f64 {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_by(f64::total_cmp);
    let upper = figures.len() / 2;
    if figures.len() % 2 == 1 { figures[upper] } else { (figures[upper - 1] + figures[upper]) / 2.0 }
}

fn python() -> PathBuf {
    let cached = || std::env::home_dir().unwrap().join(".cache/inglenook/openai-server-venv/bin/python");
    std::env::var_os("INGLENOOK_OPENAI_SERVER").map_or_else(cached, PathBuf::from)
}
