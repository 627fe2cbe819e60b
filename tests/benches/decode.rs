//! Compares prompt processing and decode of the worker with llama.cpp's own server: same model and
//! threads, alternating runs, first idle and then next to one busy process. Both are timed at their
//! event streams, so the figures include pipes and HTTP. The server uses its own defaults for batch
//! size and polling.
//!
//! Run `cargo xtask bench decode` on an idle machine. `-- --pairs 5` changes the number of pairs of
//! each load. `-- --sweep` times only the worker, with several spin counts and zero to two busy
//! processes. `-- --through api` and `-- --through window` measure the whole way of a reply, beside
//! the worker alone and llama.cpp's server.

mod api;
mod through;
mod window;

use std::path::Path;

use provider::Provider;
use tests::speed::{
    PythonServer, THREADS, TimedReply, busy_process, median, prompt, reply, worker, worker_settings,
};
use tokio::process::Child;

const PAIRS: usize = 10;
const GENERATE: u32 = 128;
const CONTEXT: u32 = 1_024;
/// Values of `GOMP_SPINCOUNT` in the sweep. 0 sleeps at every barrier, like
/// `OMP_WAIT_POLICY=passive`.
const SPINS: [u32; 6] = [0, 100, 200, 400, 1_000, 3_000];
const SWEEP_ROUNDS: usize = 3;

pub(crate) async fn run() {
    let model = tests::headless::models_dir().join("SmolLM2-135M-Instruct.Q4_1.gguf");
    if std::env::args().any(|argument| argument == "--sweep") {
        sweep(&model).await;
    } else if let Some(way) = text_after("--through") {
        through::compare(&way, &model, pairs()).await;
    } else {
        compare(&model).await;
    }
}

fn pairs() -> usize {
    text_after("--pairs").map_or(PAIRS, |pairs| pairs.parse().unwrap())
}

/// llama.cpp's own server with the same model.
fn server_of(model: &Path) -> PythonServer {
    let script = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../src-tauri/crates/provider/tests/openai-server/serve.py"
    );
    PythonServer::start(script, &[model.as_os_str()])
}

/// Compares the worker as shipped with llama.cpp's server.
async fn compare(model: &Path) {
    let (host, ours) = worker(worker_settings(), model, CONTEXT).await;
    let mut server = server_of(model);
    let theirs = server.client().await;
    // The first round loads the models.
    measure(ours.as_ref(), 0).await;
    measure(&theirs, 0).await;
    for (load, busy) in [("idle", 0), ("next to one busy process", 1)] {
        let _load: Vec<Child> = (0..busy).map(|_| busy_process()).collect();
        println!("{load}");
        let mut measured = Vec::new();
        for round in 1..=pairs() {
            let round_of_load = busy * 1_000 + round;
            let pair = if round % 2 == 0 {
                let first = measure(ours.as_ref(), round_of_load).await;
                (first, measure(&theirs, round_of_load).await)
            } else {
                let first = measure(&theirs, round_of_load).await;
                (measure(ours.as_ref(), round_of_load).await, first)
            };
            let [a, b] = [pair.0, pair.1].map(|side| side.decode_speed());
            println!(
                "pair {round:>2}: decode {a:>6.1} against {b:>6.1} = {:.2}",
                a / b
            );
            measured.push(pair);
        }
        summary(&measured);
    }
    host.shutdown().await;
}

/// A speed in tokens per second.
type Figure = fn(&TimedReply) -> f64;

fn summary(pairs: &[(TimedReply, TimedReply)]) {
    println!(
        "{:>24} {:>12} {:>12} {:>16}",
        "medians", "worker", "llama.cpp", "ratio of pairs"
    );
    let figures: [(&str, Figure); 2] = [
        ("prompt, tokens/s", TimedReply::prompt_speed),
        ("decode, tokens/s", TimedReply::decode_speed),
    ];
    for (name, figure) in figures {
        let ours = median(pairs.iter().map(|pair| figure(&pair.0)));
        let theirs = median(pairs.iter().map(|pair| figure(&pair.1)));
        let ratio = median(pairs.iter().map(|pair| figure(&pair.0) / figure(&pair.1)));
        println!("{name:>24} {ours:>12.1} {theirs:>12.1} {ratio:>16.2}");
    }
}

/// Prints the median decode speed of the worker for each spin count, with 0 to 2 busy processes.
/// One thread, which never waits at a barrier, is the reference.
async fn sweep(model: &Path) {
    println!(
        "decode, tokens/s{:>18} {:>8} {:>8} {:>8}",
        "", "idle", "1 busy", "2 busy"
    );
    let single = (1, worker_settings().spin);
    for (threads, spin) in SPINS
        .map(|spin| (THREADS, spin))
        .into_iter()
        .chain([single])
    {
        let settings = local::WorkerSettings {
            threads,
            spin,
            ..worker_settings()
        };
        let (host, ours) = worker(settings, model, CONTEXT).await;
        measure(ours.as_ref(), 0).await;
        let mut speeds = Vec::new();
        for busy in 0..=2 {
            let _load: Vec<Child> = (0..busy).map(|_| busy_process()).collect();
            let mut rounds = Vec::new();
            for round in 1..=SWEEP_ROUNDS {
                rounds.push(measure(ours.as_ref(), round).await.decode_speed());
            }
            speeds.push(median(rounds.into_iter()));
        }
        let [idle, one, two] = speeds[..] else {
            unreachable!("three loads are measured")
        };
        println!(
            "{threads} threads, spin {spin:>5}{:>12} {idle:>8.1} {one:>8.1} {two:>8.1}",
            ""
        );
        host.shutdown().await;
    }
}

/// Generates [`GENERATE`] tokens for a prompt that shares no prefix with the previous one.
async fn measure(provider: &dyn Provider, round: usize) -> TimedReply {
    let lamps = "The lamp burns low tonight. ".repeat(60);
    let text = format!("Round {round}. {lamps}Count on in words: one, two, three, four,");
    reply(provider, "bench", prompt(&text), GENERATE).await
}

/// Returns the word after `name` on the command line.
fn text_after(name: &str) -> Option<String> {
    let mut words = std::env::args().skip_while(|word| word != name).skip(1);
    words.next()
}
