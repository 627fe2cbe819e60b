//! Speed of the embedding model in the worker, compared with the same model in int8 on ONNX
//! Runtime: the same tokens and two threads each, alternating runs. ONNX Runtime gets the tokens,
//! so only the worker's figures include splitting texts into tokens and the pipe. Both sides are
//! also compared by processor time, which other programs disturb less.
//!
//! Run `cargo xtask bench embed` on an idle machine. `INGLENOOK_WORKER` names another worker, such
//! as the one that `cargo xtask bundle` builds, which uses every instruction set of the processor.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Instant;

use domain::embedding::Embedding;
use engine::scenario::Step;
use local::{LocalHost, WorkerSettings};
use serde::Deserialize;
use tests::planted::{StoryPlan, StorySize};
use tests::speed::{THREADS, median, processor_time, python, worker_settings};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

const PAIRS: usize = 7;
/// Texts of one run.
const TEXTS: usize = 64;
/// Bytes of a text of about 50 and of about 235 tokens.
const SIZES: [usize; 2] = [210, 1_000];

/// Answer of the Python script.
#[derive(Deserialize)]
struct Answer {
    wall: f64,
    processor: f64,
    batch: usize,
    means: Vec<Vec<f32>>,
}

/// Tokens per second of wall time, and per second of processor time.
type Speed = [f64; 2];

pub(crate) async fn run() {
    let model = tests::headless::models_dir().join("all-MiniLM-L6-v2.Q8_0.gguf");
    let settings = worker_settings();
    let worker =
        std::env::var_os("INGLENOOK_WORKER").map_or(settings.worker.clone(), PathBuf::from);
    let host = LocalHost::new(WorkerSettings { worker, ..settings }).unwrap();
    let mut onnx = Onnx::start();
    for size in SIZES {
        let texts = texts(size);
        let (_, embedded) = ours(&host, &model, &texts).await;
        let tokens: Vec<&[i32]> = embedded
            .iter()
            .map(|embedding| &embedding.tokens[..])
            .collect();
        let count = tokens.iter().map(|tokens| tokens.len()).sum::<usize>();
        // The first run loads the model and finds the size of the batches.
        let (_, answer) = onnx.run(&tokens).await;
        let alike = embedded
            .iter()
            .zip(&answer.means)
            .map(|(a, b)| cosine(&a.mean, b));
        println!(
            "{TEXTS} texts of {} tokens; ONNX Runtime in batches of {}; median cosine of the vectors {:.3}",
            count / TEXTS,
            answer.batch,
            median(alike.map(f64::from))
        );
        let mut pairs = Vec::new();
        for round in 0..PAIRS {
            let pair = if round % 2 == 0 {
                let a = ours(&host, &model, &texts).await.0;
                (a, onnx.run(&tokens).await.0)
            } else {
                let b = onnx.run(&tokens).await.0;
                (ours(&host, &model, &texts).await.0, b)
            };
            pairs.push(pair);
        }
        summary(&pairs);
    }
    host.shutdown().await;
}

fn summary(pairs: &[(Speed, Speed)]) {
    println!(
        "{:>28} {:>10} {:>14} {:>16}",
        "medians", "worker", "ONNX Runtime", "ratio of pairs"
    );
    for (figure, name) in ["tokens/s", "tokens/s of processor time"]
        .into_iter()
        .enumerate()
    {
        let ours = median(pairs.iter().map(|pair| pair.0[figure]));
        let theirs = median(pairs.iter().map(|pair| pair.1[figure]));
        let ratio = median(pairs.iter().map(|pair| pair.0[figure] / pair.1[figure]));
        println!("{name:>28} {ours:>10.0} {theirs:>14.0} {ratio:>16.2}");
    }
}

/// Embeds the texts one after the other, like the app.
async fn ours(host: &LocalHost, model: &Path, texts: &[String]) -> (Speed, Vec<Embedding>) {
    // Loads the model.
    host.embed(model, "Hello").await.unwrap();
    let process = host.status().pid.expect("the worker runs");
    let (started, before) = (Instant::now(), processor_time(process));
    let mut embedded = Vec::with_capacity(texts.len());
    for text in texts {
        embedded.push(host.embed(model, text).await.unwrap());
    }
    let (wall, processor) = (
        started.elapsed().as_secs_f64(),
        processor_time(process) - before,
    );
    let tokens = embedded
        .iter()
        .map(|embedding| embedding.tokens.len())
        .sum::<usize>() as f64;
    ([tokens / wall, tokens / processor], embedded)
}

/// The Python process with ONNX Runtime.
struct Onnx {
    _process: Child,
    requests: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

impl Onnx {
    fn start() -> Self {
        let model = std::env::home_dir()
            .unwrap()
            .join(".cache/inglenook/bench/all-MiniLM-L6-v2.int8.onnx");
        let mut process = Command::new(python("INGLENOOK_ONNX", "onnx-venv"))
            .arg(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/benches/embed_onnx.py"
            ))
            .arg(model)
            .arg(THREADS.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let requests = process.stdin.take().unwrap();
        let answers = BufReader::new(process.stdout.take().unwrap()).lines();
        Self {
            _process: process,
            requests,
            answers,
        }
    }

    async fn run(&mut self, texts: &[&[i32]]) -> (Speed, Answer) {
        let request = format!("{}\n", serde_json::json!({ "texts": texts }));
        self.requests.write_all(request.as_bytes()).await.unwrap();
        loop {
            let line = self
                .answers
                .next_line()
                .await
                .unwrap()
                .expect("the script runs; see its error above");
            // The first line says that the model is loaded.
            let Ok(answer) = serde_json::from_str::<Answer>(&line) else {
                continue;
            };
            let tokens = texts.iter().map(|tokens| tokens.len()).sum::<usize>() as f64;
            return ([tokens / answer.wall, tokens / answer.processor], answer);
        }
    }
}

/// Returns texts of about `size` bytes from a generated world.
fn texts(size: usize) -> Vec<String> {
    let plan = StoryPlan::new(
        StorySize {
            messages: 2_000,
            ..StorySize::of(1_000)
        },
        1,
    );
    let said = plan.steps.into_iter().filter_map(|timed| {
        if let Step::Say(said) = timed.step {
            Some(said.text)
        } else {
            None
        }
    });
    let (mut texts, mut text) = (Vec::new(), String::new());
    for said in said {
        for word in said.split_whitespace() {
            text.push_str(word);
            text.push(' ');
            if text.len() >= size {
                texts.push(std::mem::take(&mut text));
            }
        }
        if texts.len() >= TEXTS {
            texts.truncate(TEXTS);
            return texts;
        }
    }
    panic!("the world has too few messages")
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
