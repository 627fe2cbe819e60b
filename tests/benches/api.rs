//! The local API over the scripted provider: what HTTP adds to the engine, and fifty clients at
//! once. The targets are 2 ms to the first byte, 50 us a token, 50 ms for 99 of 100 first bytes
//! without a character, and 1 s with one. Run with `cargo xtask bench api`.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use engine::api::client::{ClientMessage, ClientRequest, ClientRole, ReplyEvent};
use engine::api::{ApiGrant, EndpointDraft};
use futures_util::future::join_all;
use provider::fake::ReplyScript;
use serde_json::{Value, json};
use server::{ApiSwitch, RunningServer, ServeOptions, serve};
use tests::headless::Headless;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Requests of each measurement.
const REQUESTS: usize = 200;
/// Tokens of a long reply.
const TOKENS: usize = 4_000;
const CLIENTS: usize = 50;
const ROUNDS: usize = 10;
const RAW: &str = "gpt-small";

pub(crate) async fn run() {
    let app = Headless::new().await;
    let draft = EndpointDraft {
        name: "Lab".into(),
        url: "http://127.0.0.1:9/v1".into(),
        model: RAW.into(),
        context: 8_192,
        ..EndpointDraft::default()
    };
    app.engine.save_endpoint(draft).await.expect("an endpoint");
    let options = ServeOptions {
        host: "127.0.0.1".into(),
        port: 0,
        ui: None,
        token: None,
        api: ApiSwitch::Always,
    };
    let server = serve(app.engine.clone(), options).await.expect("a server");
    first_byte(&app, &server).await;
    per_token(&app, &server).await;
    at_once(&server).await;
    server.stop().await;
    app.engine.shutdown().await;
}

async fn first_byte(app: &Headless, server: &RunningServer) {
    let (mut engine, mut http) = (Vec::new(), Vec::new());
    for _ in 0..REQUESTS {
        engine.push(by_engine(app).await.0);
        http.push(by_http(server, &given(RAW)).await.0);
    }
    let (engine, http) = (percentile(&mut engine, 50), percentile(&mut http, 50));
    println!(
        "first byte, median of {REQUESTS}: engine {}, HTTP {}",
        shown(engine),
        shown(http)
    );
    println!(
        "  added by HTTP: {} (at most 2 ms)",
        shown(http.saturating_sub(engine))
    );
}

async fn per_token(app: &Headless, server: &RunningServer) {
    let script = || (0..TOKENS).fold(ReplyScript::new(), |script, _| script.text("word "));
    let (mut engine, mut http) = (Vec::new(), Vec::new());
    for _ in 0..5 {
        app.model.play(script());
        engine.push(by_engine(app).await.1);
        app.model.play(script());
        http.push(by_http(server, &given(RAW)).await.1);
    }
    let (engine, http) = (percentile(&mut engine, 50), percentile(&mut http, 50));
    let added = http.saturating_sub(engine).as_secs_f64() * 1e6 / TOKENS as f64;
    println!(
        "{TOKENS} tokens: engine {}, HTTP {}",
        shown(engine),
        shown(http)
    );
    println!("  added by HTTP: {added:.1} us a token (at most 50)");
}

async fn at_once(server: &RunningServer) {
    let own = |model: &str| json!({ "model": model, "messages": [says("user", "Good evening.")], "stream": true });
    for (name, body) in [
        ("without a character", given(RAW)),
        ("given history", given("mira")),
        ("stored chat", own("mira")),
    ] {
        let mut times = Vec::new();
        for _ in 0..ROUNDS {
            let all = join_all((0..CLIENTS).map(|_| by_http(server, &body))).await;
            times.extend(all.into_iter().map(|(first, _)| first));
        }
        let (half, most) = (percentile(&mut times, 50), percentile(&mut times, 99));
        println!(
            "{CLIENTS} clients at once, {name}: first byte {} (median), {} (p99)",
            shown(half),
            shown(most)
        );
    }
}

fn says(role: &str, text: &str) -> Value {
    json!({ "role": role, "content": text })
}

fn given(model: &str) -> Value {
    let messages = [
        says("user", "Ahoy."),
        says("assistant", "Ahoy."),
        says("user", "Good evening."),
    ];
    json!({ "model": model, "messages": messages, "stream": true })
}

/// Times to the first text and to the end, without HTTP.
async fn by_engine(app: &Headless) -> (Duration, Duration) {
    let grant = ApiGrant {
        name: String::new(),
        characters: None,
        raw_models: true,
        read_only: false,
    };
    let roles = [ClientRole::User, ClientRole::Assistant, ClientRole::User];
    let messages = roles
        .map(|role| ClientMessage::new(role, "Good evening."))
        .to_vec();
    let request = ClientRequest {
        model: RAW.into(),
        messages,
        ..ClientRequest::default()
    };
    let (started, mut first) = (Instant::now(), None);
    let mut reply = app.engine.api_reply(grant, request).await.expect("a reply");
    while let Some(event) = reply.next().await {
        match event.expect("an event") {
            ReplyEvent::Text(_) => drop(first.get_or_insert_with(|| started.elapsed())),
            ReplyEvent::Ended(_) => break,
            _ => {}
        }
    }
    (first.expect("a text"), started.elapsed())
}

/// Times to the first text and to the end, with a connection of its own.
async fn by_http(server: &RunningServer, body: &Value) -> (Duration, Duration) {
    let mut socket = TcpStream::connect(server.addr).await.expect("a connection");
    let request = request(server.addr, server.token.reveal(), &body.to_string());
    let (started, mut first) = (Instant::now(), None);
    socket
        .write_all(request.as_bytes())
        .await
        .expect("a request");
    let (mut text, mut piece) = (Vec::new(), [0; 65_536]);
    loop {
        let count = socket.read(&mut piece).await.expect("a response");
        if count == 0 {
            break;
        }
        let begin = text.len().saturating_sub(32);
        text.extend_from_slice(&piece[..count]);
        if first.is_none() && contains(&text, b"data: ") {
            first = Some(started.elapsed());
        }
        if contains(&text[begin..], b"[DONE]") {
            break;
        }
    }
    assert!(
        text.starts_with(b"HTTP/1.1 200"),
        "{}",
        String::from_utf8_lossy(&text)
    );
    (first.expect("a chunk"), started.elapsed())
}

fn request(addr: SocketAddr, token: &str, body: &str) -> String {
    format!(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: {addr}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn contains(text: &[u8], wanted: &[u8]) -> bool {
    text.windows(wanted.len()).any(|part| part == wanted)
}

fn percentile(times: &mut [Duration], share: usize) -> Duration {
    times.sort_unstable();
    times[(times.len() * share / 100).min(times.len() - 1)]
}

fn shown(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1e3)
}
