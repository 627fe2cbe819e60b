//! Time from the start of the worker to the first token of a model of 1 GB, compared with
//! llama.cpp's own server. The weights are random and made once, in the cache. Both sides find the
//! file in the page cache.
//!
//! Run `cargo xtask bench start`. The time of the worker includes the start of its process; that of
//! the server begins after Python has loaded it. Neither warms up.

use std::path::{Path, PathBuf};
use std::time::Instant;

use tests::speed::{PythonServer, median, prompt, reply, worker, worker_settings};

const PAIRS: usize = 5;
const CONTEXT: u32 = 1_024;

pub(crate) async fn run() {
    let model = model();
    let mut pairs = Vec::new();
    for round in 0..=PAIRS {
        let (ours, theirs) = if round % 2 == 0 {
            let ours = start_worker(&model).await;
            (ours, start_server(&model).await)
        } else {
            let theirs = start_server(&model).await;
            (start_worker(&model).await, theirs)
        };
        // The first round fills the page cache.
        if round > 0 {
            println!(
                "pair {round}: {ours:.2} s against {theirs:.2} s = {:.2}",
                ours / theirs
            );
            pairs.push((ours, theirs));
        }
    }
    let middle = |figure: fn(&(f64, f64)) -> f64| median(pairs.iter().map(figure));
    println!(
        "medians: worker {:.2} s, llama.cpp {:.2} s, ratio of pairs {:.2} (goal: 1.2)",
        middle(|pair| pair.0),
        middle(|pair| pair.1),
        middle(|pair| pair.0 / pair.1)
    );
}

/// Returns the model, which is made on the first run.
fn model() -> PathBuf {
    let small = tests::headless::models_dir().join("SmolLM2-135M-Instruct.Q4_1.gguf");
    let folder = std::env::home_dir().unwrap().join(".cache/inglenook/bench");
    let path = folder.join("random-1gb.Q8_0.gguf");
    if !path.exists() {
        std::fs::create_dir_all(&folder).unwrap();
        let unfinished = folder.join("unfinished.gguf");
        tests::generated_model::write_large(&small, &unfinished);
        std::fs::rename(unfinished, &path).unwrap();
    }
    path
}

async fn start_worker(model: &Path) -> f64 {
    // The app has read the header long before.
    let (host, ours) = worker(worker_settings(), model, CONTEXT).await;
    let started = Instant::now();
    reply(ours.as_ref(), "bench", prompt("Good evening."), 1).await;
    let took = started.elapsed().as_secs_f64();
    host.shutdown().await;
    took
}

async fn start_server(model: &Path) -> f64 {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/start_server.py");
    let mut server = PythonServer::start(script, &[model.as_os_str()]);
    assert_eq!(server.line().await, "imported");
    let started = Instant::now();
    let theirs = server.client().await;
    reply(&theirs, "bench", prompt("Good evening."), 1).await;
    started.elapsed().as_secs_f64()
}
