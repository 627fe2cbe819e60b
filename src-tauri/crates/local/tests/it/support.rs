//! Helpers: hosts, prompts and collected replies.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use domain::ModelId;
use domain::model::LocalModel;
use domain::prompt::{Prompt, Segment};
use domain::sampling::{SamplerOptions, Sampling};
use futures_util::StreamExt;
use local::{LocalHost, Policy, WorkerSettings};
use provider::{
    EventStream, FinishReason, GenerationEvent, Provider, ProviderError, Request, Timings, Usage,
};
use rustix::process::Signal;
use tokio_util::sync::CancellationToken;

pub(crate) fn models_dir() -> PathBuf {
    let folder = std::env::var_os("INGLENOOK_MODELS").map(PathBuf::from);
    folder
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache/inglenook/models")))
        .unwrap()
}

pub(crate) fn model_path() -> PathBuf {
    let path = models_dir().join("SmolLM2-135M-Instruct.Q4_1.gguf");
    assert!(
        path.is_file(),
        "{} is missing: run `cargo xtask setup`",
        path.display()
    );
    path
}

pub(crate) fn model_at(path: PathBuf) -> LocalModel {
    LocalModel {
        id: ModelId(uuid::Uuid::nil()),
        name: "SmolLM2".into(),
        path: path.to_str().unwrap().into(),
        bytes: 98_362_432,
        sha256: String::new(),
        architecture: "llama".into(),
        context: 8192,
    }
}

pub(crate) fn model() -> LocalModel {
    model_at(model_path())
}

/// One thread, because tests run in parallel; no pauses after deaths.
pub(crate) fn settings() -> WorkerSettings {
    let settings = WorkerSettings {
        threads: 1,
        policy: Policy {
            deaths: 1_000,
            backoff: Duration::ZERO,
            ..Policy::default()
        },
        ..WorkerSettings::default()
    };
    assert!(
        settings.worker.is_file(),
        "{} is missing: run `cargo xtask setup`",
        settings.worker.display()
    );
    settings
}

pub(crate) fn host() -> LocalHost {
    LocalHost::new(settings()).unwrap()
}

pub(crate) fn control(text: &str) -> Segment {
    Segment {
        text: text.into(),
        control: true,
    }
}

pub(crate) fn plain(text: &str) -> Segment {
    Segment {
        text: text.into(),
        control: false,
    }
}

/// Builds a ChatML prompt with alternating messages of user and character. The character replies
/// next.
pub(crate) fn chat(messages: &[&str]) -> Vec<Segment> {
    let mut segments = vec![
        control("<|im_start|>system\n"),
        plain("You are a helpful assistant."),
        control("<|im_end|>\n"),
    ];
    for (turn, message) in messages.iter().enumerate() {
        let role = if turn % 2 == 0 { "user" } else { "assistant" };
        segments.extend([
            control(&format!("<|im_start|>{role}\n")),
            plain(message),
            control("<|im_end|>\n"),
        ]);
    }
    segments.push(control("<|im_start|>assistant\n"));
    segments
}

/// A prompt of about 3,000 tokens.
pub(crate) fn long_chat() -> Vec<Segment> {
    chat(&[&"The lamplighter walks along the quay and counts the ships. ".repeat(250)])
}

pub(crate) fn greedy(max_tokens: u32) -> Sampling {
    SamplerOptions {
        temperature: Some(0.0),
        repeat_penalty: Some(1.0),
        max_tokens: Some(max_tokens),
        ..SamplerOptions::default()
    }
    .resolve(1)
}

pub(crate) fn request(segments: Vec<Segment>, max_tokens: u32) -> Request {
    let prompt = Prompt {
        segments,
        ..Prompt::default()
    };
    Request {
        cache_key: "chat".into(),
        background: false,
        prompt,
        sampling: greedy(max_tokens),
        response_schema: None,
    }
}

/// A request for a reply without end.
pub(crate) fn endless() -> Request {
    let mut request = request(vec![plain("1, 2, 3, 4, 5, 6, 7, 8, 9, 10,")], 4_000);
    request.cache_key = "endless".into();
    request
}

/// Events and result of one stream.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) text: String,
    pub(crate) events: Vec<GenerationEvent>,
    pub(crate) end: Result<(FinishReason, Usage, Timings), ProviderError>,
}

impl Outcome {
    pub(crate) fn usage(&self) -> Usage {
        self.end.as_ref().unwrap().1
    }

    pub(crate) fn reason(&self) -> FinishReason {
        self.end.as_ref().unwrap().0
    }

    pub(crate) fn error(&self) -> &ProviderError {
        self.end.as_ref().unwrap_err()
    }
}

/// Reads a stream to its end and calls `watch` with each event and its number.
pub(crate) async fn follow(
    mut stream: EventStream,
    mut watch: impl FnMut(usize, &GenerationEvent),
) -> Outcome {
    let (mut text, mut events) = (String::new(), Vec::new());
    while let Some(event) = stream.next().await {
        match event {
            Ok(event) => {
                watch(events.len(), &event);
                match &event {
                    GenerationEvent::Text(piece) => text += piece,
                    GenerationEvent::Finished {
                        reason,
                        usage,
                        timings,
                    } => {
                        let end = Ok((*reason, *usage, *timings));
                        assert!(
                            stream.next().await.is_none(),
                            "no event follows the final event"
                        );
                        return Outcome { text, events, end };
                    }
                    _ => {}
                }
                events.push(event);
            }
            Err(error) => {
                assert!(stream.next().await.is_none(), "no event follows an error");
                return Outcome {
                    text,
                    events,
                    end: Err(error),
                };
            }
        }
    }
    panic!("the stream ended without an end: {events:?}")
}

pub(crate) async fn reply(provider: &dyn Provider, request: Request) -> Outcome {
    follow(
        provider.stream(request, CancellationToken::new()),
        |_, _| {},
    )
    .await
}

/// Checks that a short reply works.
pub(crate) async fn is_well(provider: &dyn Provider) {
    let outcome = reply(
        provider,
        request(chat(&["What is the capital of France?"]), 12),
    )
    .await;
    assert!(outcome.text.contains("Paris"), "{outcome:?}");
}

/// Waits until an external condition holds.
pub(crate) async fn until(what: &str, condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(
            start.elapsed() < Duration::from_secs(5),
            "timed out waiting for {what}"
        );
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

pub(crate) fn signal(pid: u32, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

pub(crate) fn is_running(pid: u32) -> bool {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    rustix::process::test_kill_process(pid).is_ok()
}

/// Sends a signal to the worker at event number `at`, or earlier, once the reply has that many
/// bytes: an event can hold the text of many tokens. The reply must be longer than that.
pub(crate) async fn killed_during(
    request: Request,
    host: &LocalHost,
    provider: &dyn Provider,
    with: Signal,
    at: usize,
) -> Outcome {
    let mut bytes = 0;
    let mut killed = false;
    follow(
        provider.stream(request, CancellationToken::new()),
        |number, event| {
            if let GenerationEvent::Text(text) = event {
                bytes += text.len();
            }
            if !killed && (number >= at || bytes >= at) {
                killed = true;
                signal(host.status().pid.unwrap(), with);
            }
        },
    )
    .await
}
