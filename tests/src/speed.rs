//! Helpers of the benches that time the worker, alone or next to another program with the same
//! work.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use domain::ModelId;
use domain::prompt::{Prompt, PromptMessage, PromptRole, Segment};
use domain::sampling::SamplerOptions;
use futures_util::StreamExt;
use local::{LocalHost, WorkerSettings};
use provider::{EndpointClient, EndpointConfig, GenerationEvent, Provider, Request};
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use tokio_util::sync::CancellationToken;

/// Compute threads of both sides.
pub const THREADS: u32 = 2;

/// Times of one reply, measured at its stream of events.
#[derive(Debug, Clone, Copy)]
pub struct TimedReply {
    /// Prompt tokens that were read.
    pub read: u32,
    pub generated: u32,
    /// From the request to the first text.
    pub first: Duration,
    /// From the first text to the end.
    pub rest: Duration,
    /// Reading the prompt, by the model's own clock; zero if it does not report it.
    pub prefill: Duration,
}

impl TimedReply {
    /// Prompt tokens per second, up to the first text.
    pub fn prompt_speed(&self) -> f64 {
        f64::from(self.read) / self.first.as_secs_f64()
    }

    /// Tokens per second after the first.
    pub fn decode_speed(&self) -> f64 {
        f64::from(self.generated - 1) / self.rest.as_secs_f64()
    }
}

/// Settings of the worker that was built with the tests.
pub fn worker_settings() -> WorkerSettings {
    WorkerSettings {
        worker: crate::headless::worker(),
        threads: THREADS,
        ..WorkerSettings::default()
    }
}

/// Starts a supervisor for `model`. Its worker starts with the first request.
///
/// # Panics
/// The file is no model.
pub async fn worker(
    settings: WorkerSettings,
    model: &Path,
    context: u32,
) -> (LocalHost, Arc<dyn Provider>) {
    let host = LocalHost::new(settings).expect("a supervisor");
    let path = model.to_owned();
    let inspect = move || local::inspect(&path, |_, _| {}).expect("a model");
    let inspected = tokio::task::spawn_blocking(inspect)
        .await
        .expect("the file is read");
    let provider = host.provider(&inspected.into_model(ModelId(Default::default())), context);
    (host, provider)
}

/// The user's message `text` in SmolLM2's chat format.
pub fn prompt(text: &str) -> Prompt {
    let control = |text: &str| Segment {
        text: text.into(),
        control: true,
    };
    let segments = vec![
        control("<|im_start|>user\n"),
        Segment {
            text: text.to_owned(),
            control: false,
        },
        control("<|im_end|>\n<|im_start|>assistant\n"),
    ];
    Prompt {
        messages: vec![PromptMessage {
            role: PromptRole::User,
            text: text.to_owned(),
        }],
        segments,
        ..Prompt::default()
    }
}

/// Generates up to `tokens` tokens without randomness.
///
/// # Panics
/// The request fails, or no text arrives although tokens were requested.
pub async fn reply(
    provider: &dyn Provider,
    cache_key: &str,
    prompt: Prompt,
    tokens: u32,
) -> TimedReply {
    let options = SamplerOptions {
        temperature: Some(0.0),
        max_tokens: Some(tokens),
        repeat_penalty: Some(1.0),
        ..SamplerOptions::default()
    };
    let mut sampling = options.resolve(1);
    sampling.max_tokens = tokens;
    let request = Request {
        cache_key: cache_key.to_owned(),
        background: false,
        prompt,
        sampling,
        response_schema: None,
    };
    let started = Instant::now();
    let mut stream = provider.stream(request, CancellationToken::new());
    let mut first = None;
    while let Some(event) = stream.next().await {
        match event.unwrap_or_else(|error| panic!("{error}")) {
            GenerationEvent::Text(_) => {
                first.get_or_insert_with(Instant::now);
            }
            GenerationEvent::Finished { usage, timings, .. } => {
                let ended = Instant::now();
                let first = first.unwrap_or(ended);
                return TimedReply {
                    read: usage.evaluated.or(usage.prompt).unwrap_or(0),
                    generated: usage.generated.unwrap_or(0),
                    first: first - started,
                    rest: ended - first,
                    prefill: Duration::from_secs_f64(timings.prefill_ms / 1_000.0),
                };
            }
            _ => {}
        }
    }
    panic!("the stream ended before the reply");
}

/// llama.cpp's own server, from a Python script that prints lines on stdout and ends with its
/// stdin.
pub struct PythonServer {
    _process: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl PythonServer {
    /// Starts `script` with `arguments`, with the default waits of OpenMP.
    ///
    /// # Panics
    /// Python does not start.
    pub fn start(script: &str, arguments: &[&std::ffi::OsStr]) -> Self {
        let mut process = Command::new(python("INGLENOOK_OPENAI_SERVER", "openai-server-venv"))
            .arg(script)
            .args(arguments)
            .env_remove("OMP_WAIT_POLICY")
            .env_remove("GOMP_SPINCOUNT")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("llama.cpp's server starts; `cargo xtask bench` installs it");
        let lines = BufReader::new(process.stdout.take().expect("a pipe")).lines();
        Self {
            _process: process,
            lines,
        }
    }

    /// The next line on its stdout.
    ///
    /// # Panics
    /// The script has ended.
    pub async fn line(&mut self) -> String {
        self.lines
            .next_line()
            .await
            .expect("the pipe is read")
            .expect("the server runs")
    }

    /// A client for the address in the next line.
    ///
    /// # Panics
    /// The line is no address.
    pub async fn client(&mut self) -> EndpointClient {
        let address = self.line().await;
        let config = EndpointConfig::new(&format!("{address}/v1"), "", None).expect("an address");
        EndpointClient::new(config).expect("a client")
    }
}

/// Keeps one core busy until it is dropped.
///
/// # Panics
/// The system has no shell.
pub fn busy_process() -> Child {
    Command::new("sh")
        .args(["-c", "while :; do :; done"])
        .kill_on_drop(true)
        .spawn()
        .expect("a shell")
}

/// The Python in `$variable`, else the one that `cargo xtask` installs in `folder` of the cache.
///
/// # Panics
/// The user has no home folder.
pub fn python(variable: &str, folder: &str) -> PathBuf {
    let home = || std::env::home_dir().expect("a home folder");
    let cached = || {
        home()
            .join(".cache/inglenook")
            .join(folder)
            .join("bin/python")
    };
    std::env::var_os(variable).map_or_else(cached, PathBuf::from)
}

/// # Panics
/// There are no figures.
pub fn median(figures: impl Iterator<Item = f64>) -> f64 {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_by(f64::total_cmp);
    let upper = figures.len() / 2;
    if figures.len() % 2 == 1 {
        figures[upper]
    } else {
        (figures[upper - 1] + figures[upper]) / 2.0
    }
}

/// Processor time that process `pid` has used, in seconds; Linux only.
///
/// # Panics
/// The process is gone.
pub fn processor_time(pid: u32) -> f64 {
    /// Ticks per second in `/proc`, on every supported architecture.
    const TICKS: f64 = 100.0;
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("the process runs");
    // The name in brackets may contain blanks. User and system time are the 12th and 13th field
    // after it.
    let fields = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace();
    fields
        .skip(11)
        .take(2)
        .map(|ticks| ticks.parse::<f64>().expect("a number"))
        .sum::<f64>()
        / TICKS
}
