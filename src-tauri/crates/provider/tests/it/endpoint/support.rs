//! A server that plays bytes, and a client that records the events.

use std::sync::Arc;
use std::time::Duration;

use domain::SignedThought;
use domain::prompt::{Prompt, PromptMessage, PromptRole};
use domain::sampling::SamplerOptions;
use futures_util::StreamExt;
use provider::{
    EndpointClient, EndpointConfig, EventStream, GenerationEvent, Provider, ProviderError,
    ReplyGate, Request, Timeouts,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

pub(crate) const KEY: &str = "sk-lamplighter-4711";

/// Action of the server on one connection, which it closes at the end.
#[derive(Clone)]
pub(crate) enum Step {
    Bytes(Vec<u8>),
    /// Waits until the test opens the gate.
    Gate(ReplyGate),
    /// Closes with an RST instead of a FIN.
    Reset,
    /// Waits until the client has disconnected.
    UntilHungUp,
}

pub(crate) type Play = Vec<Step>;

/// One received request.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) head: String,
    pub(crate) body: String,
}

#[derive(Default)]
struct Log {
    received: Vec<Received>,
    hung_up: usize,
}

/// Selects the server's response by the request and the number of earlier requests.
type Script = Arc<dyn Fn(&Received, usize) -> Play + Send + Sync>;

/// Plays one script per connection, in order. Counts and closes connections beyond the last script.
pub(crate) struct FaultServer {
    pub(crate) port: u16,
    log: Arc<watch::Sender<Log>>,
}

impl FaultServer {
    pub(crate) async fn start(plays: Vec<Play>) -> Self {
        Self::scripted(move |_, nth| plays.get(nth).cloned().unwrap_or_default()).await
    }

    /// Starts a server whose `script` gets the body of each request.
    pub(crate) async fn answering(
        script: impl Fn(&serde_json::Value) -> Play + Send + Sync + 'static,
    ) -> Self {
        Self::scripted(move |received, _| {
            script(&serde_json::from_str(&received.body).unwrap_or_default())
        })
        .await
    }

    pub(crate) async fn scripted(
        script: impl Fn(&Received, usize) -> Play + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let log = Arc::new(watch::Sender::new(Log::default()));
        tokio::spawn(serve(listener, Arc::new(script), Arc::clone(&log)));
        Self { port, log }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// Returns the bodies of all requests so far.
    pub(crate) fn bodies(&self) -> Vec<serde_json::Value> {
        self.received()
            .iter()
            .map(|received| serde_json::from_str(&received.body).unwrap())
            .collect()
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.log.borrow().received.clone()
    }

    pub(crate) async fn client_hung_up(&self) {
        self.log
            .subscribe()
            .wait_for(|log| log.hung_up > 0)
            .await
            .unwrap();
    }
}

async fn serve(listener: TcpListener, script: Script, log: Arc<watch::Sender<Log>>) {
    let mut nth = 0;
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(perform(stream, Arc::clone(&script), nth, Arc::clone(&log)));
        nth += 1;
    }
}

async fn perform(mut stream: TcpStream, script: Script, nth: usize, log: Arc<watch::Sender<Log>>) {
    let Some(received) = read_request(&mut stream).await else {
        return;
    };
    let play = script(&received, nth);
    log.send_modify(|log| log.received.push(received));
    for step in play {
        match step {
            // After some faults the client has already disconnected.
            Step::Bytes(bytes) => drop(stream.write_all(&bytes).await),
            Step::Gate(gate) => gate.pass().await,
            Step::Reset => return stream.set_zero_linger().unwrap(),
            Step::UntilHungUp => {
                let mut rest = [0; 64];
                while stream.read(&mut rest).await.is_ok_and(|read| read > 0) {}
                log.send_modify(|log| log.hung_up += 1);
            }
        }
    }
    stream.shutdown().await.ok();
}

async fn read_request(stream: &mut TcpStream) -> Option<Received> {
    let mut bytes = Vec::new();
    loop {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head.lines().find_map(|line| {
            line.to_lowercase()
                .strip_prefix("content-length: ")?
                .parse()
                .ok()
        });
        if body.len() >= length.unwrap_or(0) {
            return Some(Received {
                head: head.to_owned(),
                body: body.to_owned(),
            });
        }
    }
}

/// Builds a response.
pub(crate) fn answer(status: &str, headers: &str, body: &str) -> Play {
    let head = format!(
        "HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {}\r\n{headers}\r\n",
        body.len()
    );
    vec![Step::Bytes((head + body).into_bytes())]
}

/// Starts a stream with `body`; it ends when the connection closes.
pub(crate) fn stream(body: impl AsRef<[u8]>) -> Play {
    let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/event-stream\r\n\r\n";
    vec![Step::Bytes([head.as_bytes(), body.as_ref()].concat())]
}

/// Builds a chunk with text.
pub(crate) fn says(text: &str) -> String {
    let chunk = serde_json::json!({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": null}]});
    format!("data: {chunk}\n\n")
}

/// Builds a chunk with a finish reason.
pub(crate) fn ends(reason: &str) -> String {
    format!(
        "data: {{\"choices\":[{{\"index\":0,\"delta\":{{}},\"finish_reason\":\"{reason}\"}}]}}\n\n"
    )
}

pub(crate) const DONE: &str = "data: [DONE]\n\n";

/// Builds a complete reply without faults.
pub(crate) fn healthy() -> Play {
    stream(says("Hello ") + &says("there.") + &ends("stop") + DONE)
}

/// Timeouts that never expire in a test, and no pauses between attempts.
pub(crate) fn timeouts() -> Timeouts {
    let long = Duration::from_secs(30);
    Timeouts {
        connect: long,
        notice: long,
        first_text: long,
        between_texts: long,
        usage: long,
        backoff: Duration::from_millis(1),
        backoff_cap: Duration::from_millis(4),
        retry_after_cap: Duration::from_secs(60),
    }
}

pub(crate) fn client(url: &str, timeouts: Timeouts) -> EndpointClient {
    let config = EndpointConfig::new(url, "tiny", Some(KEY.into())).unwrap();
    EndpointClient::new(config.with_timeouts(timeouts)).unwrap()
}

pub(crate) fn request() -> Request {
    let message = PromptMessage {
        role: PromptRole::User,
        text: "Good evening.".to_owned(),
    };
    Request {
        cache_key: "chat".to_owned(),
        background: false,
        prompt: Prompt {
            messages: vec![message],
            ..Prompt::default()
        },
        sampling: SamplerOptions::default().resolve(1),
        response_schema: None,
    }
}

pub(crate) fn start(url: &str, timeouts: Timeouts) -> EventStream {
    client(url, timeouts).stream(request(), CancellationToken::new())
}

/// Events of a reply in one line: text as is, thoughts in parentheses, tool calls with their
/// arguments (`?` if malformed), `~` for a retry, `z` for a notice of silence, and the final event
/// in brackets.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) line: String,
    pub(crate) error: Option<ProviderError>,
    pub(crate) last: Option<GenerationEvent>,
}

pub(crate) async fn watch(mut events: EventStream) -> Seen {
    let mut seen = Seen::default();
    let mut ended = false;
    while let Some(event) = events.next().await {
        assert!(
            !ended,
            "an event followed the final event: {} {event:?}",
            seen.line
        );
        match event {
            Ok(event) => {
                match &event {
                    GenerationEvent::Text(text) => seen.line += text,
                    GenerationEvent::Thoughts(text) => seen.line += &format!("({text})"),
                    GenerationEvent::ToolCall(call) => {
                        let mark = if call.arguments.is_object() { "" } else { "?" };
                        seen.line += &format!("<{}({}){mark}>", call.name, call.arguments.text());
                    }
                    GenerationEvent::Retrying { .. } => seen.line.push('~'),
                    GenerationEvent::Stalled { .. } => seen.line.push('z'),
                    GenerationEvent::Prefill {
                        done,
                        total,
                        reused,
                    } => {
                        seen.line += &format!("<{done}/{total} {reused}>");
                    }
                    GenerationEvent::Finished { reason, .. } => {
                        ended = true;
                        seen.line += &format!("[{reason:?}]");
                    }
                    // They repeat the thoughts.
                    GenerationEvent::SignedThought(SignedThought::Plain { .. }) => {}
                    other => seen.line += &format!("<{other:?}>"),
                }
                seen.last = Some(event);
            }
            Err(error) => {
                let everything = format!("{error} {error:?} {}", error.hint);
                assert!(
                    !everything.contains(KEY) && !everything.contains("lamplighter"),
                    "the key is shown: {everything}"
                );
                assert!(
                    !error.message.is_empty() && !error.hint.is_empty(),
                    "an error without text: {error:?}"
                );
                assert!(
                    error.message.len() < 700,
                    "an error of {} bytes",
                    error.message.len()
                );
                seen.line += &format!("[{:?}]", error.kind);
                seen.error = Some(error);
                ended = true;
            }
        }
    }
    assert!(ended, "a reply without a final event: {}", seen.line);
    seen
}

/// Plays `plays` and returns the events of one reply and the number of requests.
pub(crate) async fn run(plays: Vec<Play>) -> (Seen, usize) {
    let server = FaultServer::start(plays).await;
    let seen = watch(start(&server.url(), timeouts())).await;
    (seen, server.received().len())
}
