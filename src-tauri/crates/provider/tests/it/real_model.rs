//! The client against llama.cpp's own server with a real model, which verifies the assumptions of
//! the fault server. Requires the files that `cargo xtask setup` puts into the cache directory; see
//! `openai-server/`.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use domain::model::EndpointDialect;
use domain::prompt::{Prompt, PromptMessage, PromptRole, Segment};
use domain::sampling::SamplerOptions;
use futures_util::StreamExt;
use provider::{
    EndpointClient, EndpointConfig, FinishReason, GenerationEvent, Provider, ProviderError,
    ProviderErrorKind, Request, Timeouts, Timings, Usage, conformance, probe,
};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio_util::sync::CancellationToken;

const KEY: &str = "sk-real-server";
const MODEL: &str = "SmolLM2-135M-Instruct.Q4_1.gguf";
/// Same value as in `serve.py`.
const CONTEXT: u32 = 1024;

struct Server {
    url: String,
    child: Child,
}

impl Server {
    async fn start() -> Self {
        let python = path(
            "INGLENOOK_OPENAI_SERVER",
            &format!("openai-server-venv/{PYTHON}"),
        );
        let model = path("INGLENOOK_MODELS", "models").join(MODEL);
        for file in [&python, &model] {
            assert!(
                file.is_file(),
                "{} is missing: run `cargo xtask setup`",
                file.display()
            );
        }
        let mut child = Command::new(&python)
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/openai-server/serve.py"))
            .arg(&model)
            .arg(KEY)
            // Endless spinning slows generation down while other tests use the cores.
            .env("GOMP_SPINCOUNT", "1000")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let address = lines.next_line().await.unwrap();
        let address = address
            .unwrap_or_else(|| panic!("{} could not serve {}", python.display(), model.display()));
        Self {
            url: format!("{address}/v1"),
            child,
        }
    }

    fn config(&self, key: &str) -> EndpointConfig {
        // A busy machine may need long for the first text; these tests do not check timing.
        let timeouts = Timeouts {
            between_texts: Duration::from_secs(300),
            ..Timeouts::default()
        };
        EndpointConfig::new(&self.url, MODEL, Some(key.into()))
            .unwrap()
            .with_timeouts(timeouts)
    }

    fn client(&self) -> EndpointClient {
        EndpointClient::new(self.config(KEY)).unwrap()
    }
}

const PYTHON: &str = if cfg!(windows) {
    "Scripts/python.exe"
} else {
    "bin/python"
};

fn path(variable: &str, cached: &str) -> PathBuf {
    match std::env::var_os(variable) {
        Some(path) => path.into(),
        None => std::env::home_dir()
            .unwrap()
            .join(".cache/inglenook")
            .join(cached),
    }
}

fn request(messages: &[(PromptRole, &str)], max_tokens: u32) -> Request {
    let messages = messages
        .iter()
        .map(|&(role, text)| PromptMessage {
            role,
            text: text.to_owned(),
        })
        .collect();
    let options = SamplerOptions {
        temperature: Some(0.0),
        max_tokens: Some(max_tokens),
        ..SamplerOptions::default()
    };
    Request {
        cache_key: "chat".to_owned(),
        background: false,
        prompt: Prompt {
            messages,
            ..Prompt::default()
        },
        sampling: options.resolve(1),
        response_schema: None,
    }
}

struct Reply {
    text: String,
    /// `done`, `total` and `reused` of each step of prompt processing.
    prefill: Vec<(u32, u32, u32)>,
    reason: FinishReason,
    usage: Usage,
    timings: Timings,
}

async fn reply(client: &EndpointClient, request: Request) -> Result<Reply, ProviderError> {
    let mut events = client.stream(request, CancellationToken::new());
    let (mut text, mut prefill) = (String::new(), Vec::new());
    while let Some(event) = events.next().await {
        match event? {
            GenerationEvent::Text(piece) => text += &piece,
            GenerationEvent::Prefill {
                done,
                total,
                reused,
            } => prefill.push((done, total, reused)),
            GenerationEvent::Finished {
                reason,
                usage,
                timings,
            } => {
                return Ok(Reply {
                    text,
                    prefill,
                    reason,
                    usage,
                    timings,
                });
            }
            other => assert!(
                matches!(other, GenerationEvent::Stalled { .. }),
                "{other:?}"
            ),
        }
    }
    panic!("no ending after {text:?}")
}

const RULES: &str = "You are Mira, who keeps the lighthouse. You speak plainly, in short sentences, and you like rain.";

#[tokio::test]
async fn streams_a_chat_and_reuses_its_prefix() {
    let server = Server::start().await;
    let found = probe(&server.config(KEY)).await.unwrap();
    assert!(
        found.models.len() == 1 && found.models[0].ends_with(MODEL),
        "{found:?}"
    );
    assert_eq!(found.context, Some(CONTEXT));

    let client = server.client();
    let mut turns = vec![
        (PromptRole::System, RULES),
        (PromptRole::User, "Say hello."),
    ];
    let first = reply(&client, request(&turns, 12)).await.unwrap();
    assert!(!first.text.trim().is_empty());
    let (prompt, generated) = (first.usage.prompt.unwrap(), first.usage.generated.unwrap());
    assert!(
        (1..=12).contains(&generated) && prompt > 20,
        "{:?}",
        first.usage
    );
    assert_eq!(
        first.prefill.last().map(|&(done, total, _)| (done, total)),
        Some((prompt, prompt))
    );
    assert!(
        first.timings.prefill_ms > 0.0 && first.timings.first_text_ms > 0.0,
        "{:?}",
        first.timings
    );

    turns.extend([
        (PromptRole::Character, first.text.as_str()),
        (PromptRole::User, "How is the weather?"),
    ]);
    let second = reply(&client, request(&turns, 1)).await.unwrap();
    let usage = second.usage;
    assert_eq!(second.reason, FinishReason::Length);
    assert_eq!(
        usage.reused.unwrap() + usage.evaluated.unwrap(),
        usage.prompt.unwrap()
    );
    assert!(
        usage.reused.unwrap() >= prompt - 4,
        "the second prompt begins with the first, but {usage:?}"
    );
}

#[tokio::test]
async fn client_conforms() {
    let server = Server::start().await;
    let story = request(&[(PromptRole::User, "Tell me a very long story.")], 40);
    conformance::check(&server.client(), &story).await.unwrap();
}

#[tokio::test]
async fn continues_a_prefilled_reply() {
    let server = Server::start().await;
    let turns = [
        (PromptRole::User, "Count from one to five in words."),
        (PromptRole::Character, "One, two, three,"),
    ];
    let mut continued = request(&turns, 6);
    continued.prompt.continues = true;
    let reply = reply(&server.client(), continued).await.unwrap();
    assert!(
        reply.text.to_lowercase().starts_with(" four"),
        "{:?}",
        reply.text
    );
}

#[tokio::test]
async fn ends_at_a_stop_text_and_when_cancelled() {
    let server = Server::start().await;
    let client = server.client();
    let turns = [
        (PromptRole::User, "Count from one to five in words."),
        (PromptRole::Character, "One, two, three,"),
    ];
    let mut stopped = request(&turns, 20);
    stopped.prompt.continues = true;
    stopped.prompt.stop = vec![",".to_owned()];
    let reply = reply(&client, stopped).await.unwrap();
    assert_eq!(reply.reason, FinishReason::Stop);
    assert!(!reply.text.contains(','), "{:?}", reply.text);

    let cancel = CancellationToken::new();
    let mut events = client.stream(
        request(&[(PromptRole::User, "Tell me a very long story.")], 500),
        cancel.clone(),
    );
    let mut last = None;
    while let Some(event) = events.next().await {
        last = Some(event.unwrap());
        if matches!(last, Some(GenerationEvent::Text(_))) {
            cancel.cancel();
        }
    }
    let Some(GenerationEvent::Finished { reason, .. }) = last else {
        panic!("no ending: {last:?}")
    };
    assert_eq!(reason, FinishReason::Cancelled);
}

#[tokio::test]
async fn explains_refusals_of_the_server() {
    let server = Server::start().await;
    let long = "rain ".repeat(2000);
    let error = reply(&server.client(), request(&[(PromptRole::User, &long)], 1))
        .await
        .err()
        .unwrap();
    assert_eq!(error.kind, ProviderErrorKind::ContextOverflow);
    assert!(
        error
            .message
            .ends_with(&format!("the model allows {CONTEXT}")),
        "{error}"
    );

    let stranger = EndpointClient::new(server.config("sk-wrong")).unwrap();
    let error = reply(&stranger, request(&[(PromptRole::User, "Hi.")], 1))
        .await
        .err()
        .unwrap();
    assert_eq!(
        (error.kind, error.status),
        (ProviderErrorKind::Unauthorized, Some(401))
    );
    assert_eq!(
        probe(&server.config("sk-wrong")).await.unwrap_err().kind,
        ProviderErrorKind::Unauthorized
    );
}

#[tokio::test]
async fn keeps_text_when_the_server_dies() {
    let mut server = Server::start().await;
    let client = server.client();
    let story = request(&[(PromptRole::User, "Tell me a very long story.")], 500);
    let mut events = client.stream(story.clone(), CancellationToken::new());
    let (mut text, mut error) = (String::new(), None);
    while let Some(event) = events.next().await {
        match event {
            Ok(GenerationEvent::Text(piece)) => {
                text += &piece;
                server.child.start_kill().ok();
            }
            Ok(_) => {}
            Err(failed) => error = Some(failed),
        }
    }
    assert!(!text.is_empty());
    assert_eq!(error.unwrap().kind, ProviderErrorKind::Cut);

    server.child.wait().await.unwrap();
    let mut events = client.stream(story, CancellationToken::new());
    let mut last = None;
    while let Some(event) = events.next().await {
        last = Some(event);
    }
    assert_eq!(
        last.unwrap().unwrap_err().kind,
        ProviderErrorKind::Unreachable
    );
}

/// A prompt in the model's own chat format, ChatML.
fn rendered(before: &str, said: &str, begun: &str, max_tokens: u32) -> Request {
    let segment = |text: &str, control| Segment {
        text: text.to_owned(),
        control,
    };
    let mut asked = request(&[(PromptRole::User, said)], max_tokens);
    asked.prompt.segments = vec![
        segment(&format!("{before}<|im_start|>user\n"), true),
        segment(said, false),
        segment("<|im_end|>\n<|im_start|>assistant\n", true),
        segment(begun, false),
    ];
    asked.prompt.stop = vec!["<|im_end|>".to_owned()];
    asked
}

#[tokio::test]
async fn completes_text_in_our_chat_format() {
    let server = Server::start().await;
    let config = server.config(KEY).speaking(EndpointDialect::Text).unwrap();
    assert_eq!(probe(&config).await.unwrap().context, Some(CONTEXT));
    let client = EndpointClient::new(config).unwrap();
    conformance::check(&client, &rendered("", "Tell me a very long story.", "", 40))
        .await
        .unwrap();

    let counted = rendered(
        "",
        "Count from one to five in words.",
        "One, two, three,",
        6,
    );
    let counted = reply(&client, counted).await.unwrap();
    assert!(
        counted.text.to_lowercase().starts_with(" four"),
        "{:?}",
        counted.text
    );
    assert_eq!(
        reply(&client, rendered("", "Say hello.", "", 1))
            .await
            .unwrap()
            .reason,
        FinishReason::Length
    );

    // A marker in plain text costs more than the one token that it would be as control text.
    let plain = reply(&client, rendered("", "<|im_end|>", "", 1))
        .await
        .unwrap()
        .usage
        .prompt
        .unwrap();
    let without = reply(&client, rendered("", "", "", 1))
        .await
        .unwrap()
        .usage
        .prompt
        .unwrap();
    assert!(plain > without + 3, "{plain} and {without} tokens");
}
