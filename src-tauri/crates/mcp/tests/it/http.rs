//! A server at an address, made of plain sockets.

use std::sync::{Arc, Mutex};

use mcp::{McpError, Server, ServerConfig, ToolOutput};
use secrecy::SecretString;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use crate::small;

/// A status that comes with a challenge to sign in.
const SIGN_IN: &str = "401 Sign in";
const CHALLENGE: &str = "WWW-Authenticate: Bearer resource_metadata=\"http://127.0.0.1:9/.well-known/oauth-protected-resource\"\r\n";

/// A status whose result is sent as an event.
const EVENTS: &str = "200 Events";

/// Starts a server that records each request and answers it with `answer(method of the call)`:
/// status and body.
async fn serve(answer: fn(&str) -> (&'static str, String)) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let received = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&received);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(converse(stream, answer, Arc::clone(&kept)));
        }
    });
    (url, received)
}

/// A request of the client: its text, and the message in its body.
struct Request {
    text: String,
    is_post: bool,
    message: Value,
}

/// Reads the next request of a connection; `None` at its end.
async fn next_request(stream: &mut TcpStream) -> Option<Request> {
    let mut bytes = Vec::new();
    loop {
        let mut piece = [0; 4_096];
        let Ok(read @ 1..) = stream.read(&mut piece).await else {
            return None;
        };
        bytes.extend_from_slice(&piece[..read]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
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
            let message = serde_json::from_str(body).unwrap_or_default();
            return Some(Request {
                is_post: head.starts_with("POST"),
                message,
                text,
            });
        }
    }
}

/// The result of a request as a whole JSON-RPC answer. Results may be nested more deeply than
/// `serde_json` reads.
fn answered(request: &Request, result: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#,
        request.message["id"]
    )
}

async fn converse(
    mut stream: TcpStream,
    answer: fn(&str) -> (&'static str, String),
    kept: Arc<Mutex<Vec<String>>>,
) {
    while let Some(request) = next_request(&mut stream).await {
        kept.lock().unwrap().push(request.text.clone());
        let method = if request.is_post {
            request.message["method"].as_str().unwrap_or_default()
        } else {
            ""
        };
        let (status, result) = answer(method);
        let body = match (status, result.as_str()) {
            ("200 OK", result) if !result.is_empty() => answered(&request, result),
            (EVENTS, result) => format!("data: {}\n\n", answered(&request, result)),
            (_, other) => other.to_owned(),
        };
        let kind = if status == EVENTS {
            "text/event-stream"
        } else {
            "application/json"
        };
        let place = if status.starts_with("30") {
            "Location: http://127.0.0.1:9/elsewhere\r\n"
        } else {
            ""
        };
        let challenge = if status == SIGN_IN { CHALLENGE } else { "" };
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{place}{challenge}Content-Length: {}\r\n\r\n",
            body.len()
        );
        if stream.write_all((head + &body).as_bytes()).await.is_err() {
            return;
        }
    }
}

fn well(method: &str) -> (&'static str, String) {
    let result = match method {
        "initialize" => {
            json!({ "protocolVersion": "2025-06-18", "capabilities": { "tools": {} }, "serverInfo": { "name": "web", "version": "1" } })
        }
        "tools/list" => {
            json!({ "tools": [{ "name": "run", "inputSchema": { "type": "object" } }] })
        }
        "tools/call" => json!({ "content": [{ "type": "text", "text": "done" }] }),
        "notifications/initialized" => return ("202 Accepted", String::new()),
        _ => return ("405 Method Not Allowed", String::new()),
    };
    ("200 OK", result.to_string())
}

fn server(url: &str, headers: &[(&str, &str)]) -> Arc<Server> {
    let headers = headers
        .iter()
        .map(|(name, value)| ((*name).to_owned(), SecretString::from(*value)))
        .collect();
    Server::new(
        ServerConfig::Http {
            url: url.to_owned(),
            headers,
        },
        small(),
    )
}

#[tokio::test]
async fn calls_a_tool_at_an_address() {
    let (url, received) = serve(well).await;
    let server = server(&url, &[("Authorization", "Bearer secret")]);
    assert_eq!(server.tools().await.unwrap().tools[0].name, "run");
    let output = server
        .call("run", Map::new(), &CancellationToken::new())
        .await;
    assert_eq!(
        output,
        Ok(ToolOutput {
            text: "done".into(),
            error: false
        })
    );
    let received = received.lock().unwrap();
    assert!(received.iter().all(|request| {
        request
            .to_lowercase()
            .contains("authorization: bearer secret")
    }));
}

/// 200 lists in each other.
fn nested() -> String {
    format!("{}1{}", "[".repeat(200), "]".repeat(200))
}

/// A good tool, and one whose arguments are nested too deeply.
fn tools_with_a_deep_one() -> String {
    let deep = format!(
        r#"{{"name":"deep","inputSchema":{{"type":"object","default":{}}}}}"#,
        nested()
    );
    format!(r#"{{"tools":[{{"name":"run","inputSchema":{{"type":"object"}}}},{deep}]}}"#)
}

#[tokio::test]
async fn deep_tool_costs_only_itself() {
    let in_an_event = |method: &str| match method {
        "tools/list" => (EVENTS, tools_with_a_deep_one()),
        _ => well(method),
    };
    let in_plain_json = |method: &str| match method {
        "tools/list" => ("200 OK", tools_with_a_deep_one()),
        _ => well(method),
    };
    for answer in [
        in_an_event as fn(&str) -> (&'static str, String),
        in_plain_json,
    ] {
        let (url, received) = serve(answer).await;
        let server = server(&url, &[("X-Key", "secret")]);
        let listed = server.tools().await.unwrap();
        assert_eq!(
            listed
                .tools
                .iter()
                .map(|tool| tool.name.as_str())
                .collect::<Vec<_>>(),
            ["run"]
        );
        assert!(
            listed.left_out[0].reason.contains("nested too deeply"),
            "{:?}",
            listed.left_out
        );
        let output = server
            .call("run", Map::new(), &CancellationToken::new())
            .await;
        assert_eq!(
            output,
            Ok(ToolOutput {
                text: "done".into(),
                error: false
            })
        );
        assert!(
            received
                .lock()
                .unwrap()
                .iter()
                .all(|request| request.to_lowercase().contains("x-key: secret"))
        );
    }
}

#[tokio::test]
async fn deep_result_fails_its_call_which_is_not_repeated() {
    let (url, received) = serve(|method| match method {
        "tools/call" => (
            "200 OK",
            format!(
                r#"{{"content":[],"structuredContent":{{"x":{}}}}}"#,
                nested()
            ),
        ),
        _ => well(method),
    })
    .await;
    let server = server(&url, &[]);
    let failed = server
        .call("run", Map::new(), &CancellationToken::new())
        .await
        .unwrap_err();
    assert!(failed.to_string().contains("nested too deeply"), "{failed}");
    assert_eq!(
        server.tools().await.unwrap().tools.len(),
        1,
        "the server can still be used"
    );
    let received = received.lock().unwrap();
    assert_eq!(
        received
            .iter()
            .filter(|request| request.contains("tools/call"))
            .count(),
        1
    );
}

#[tokio::test]
async fn redirect_is_not_followed() {
    let (url, received) = serve(|_| ("307 Temporary Redirect", String::new())).await;
    let error = server(&url, &[("X-Key", "secret")])
        .tools()
        .await
        .unwrap_err();
    assert!(
        matches!(error, McpError::Protocol { .. } | McpError::Status { .. }),
        "{error:?}"
    );
    assert_eq!(received.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn refusals_of_the_server_are_typed() {
    let (url, _) = serve(|_| ("401 Unauthorized", "no".into())).await;
    let error = server(&url, &[]).tools().await.unwrap_err();
    assert!(
        matches!(
            error,
            McpError::Unauthorized { .. } | McpError::Protocol { .. }
        ),
        "{error:?}"
    );
    let (url, _) = serve(|_| ("503 Service Unavailable", "later".into())).await;
    let error = server(&url, &[]).tools().await.unwrap_err();
    assert!(
        matches!(error, McpError::Status { status: 503, .. }),
        "{error:?}"
    );
    let (url, _) = serve(|_| ("200 OK", String::new())).await;
    let error = server(&url, &[]).tools().await.unwrap_err();
    assert!(matches!(error, McpError::Protocol { .. }), "{error:?}");
}

#[tokio::test]
async fn sign_in_that_is_not_supported_is_explained() {
    let (url, received) = serve(|_| (SIGN_IN, "{}".into())).await;
    let error = server(&url, &[]).tools().await.unwrap_err();
    assert!(matches!(error, McpError::SignIn { .. }), "{error:?}");
    assert!(
        error.hint().contains("header Authorization"),
        "{}",
        error.hint()
    );
    assert_eq!(
        received.lock().unwrap().len(),
        1,
        "no address of the challenge is called"
    );
}

#[tokio::test]
async fn header_that_cannot_be_sent_is_named() {
    let error = server("https://example.org/mcp", &[("X Bad", "1")])
        .tools()
        .await
        .unwrap_err();
    assert_eq!(
        error,
        McpError::BadHeader {
            name: "X Bad".into()
        }
    );
}

/// Starts a server that forgets its session after the list of tools, and says so with `status` and
/// `body`.
async fn forgetful(status: &'static str, body: &'static str) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let calls = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&calls);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(converse_with_session(
                stream,
                status,
                body,
                Arc::clone(&kept),
            ));
        }
    });
    (url, calls)
}

async fn converse_with_session(
    mut stream: TcpStream,
    status: &'static str,
    body: &'static str,
    kept: Arc<Mutex<Vec<String>>>,
) {
    while let Some(request) = next_request(&mut stream).await {
        let method = request.message["method"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        let sessions = kept
            .lock()
            .unwrap()
            .iter()
            .filter(|known| *known == "initialize")
            .count();
        kept.lock().unwrap().push(method.clone());
        let lost = method == "tools/call" && sessions < 2;
        let (status, body) = match well(&method) {
            _ if lost => (
                status,
                body.replace("ID", &request.message["id"].to_string()),
            ),
            ("200 OK", result) if request.is_post => ("200 OK", answered(&request, &result)),
            (status, _) => (status, String::new()),
        };
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nMcp-Session-Id: s{sessions}\r\nContent-Length: {length}\r\n\r\n"
        );
        if stream.write_all((head + &body).as_bytes()).await.is_err() {
            return;
        }
    }
}

#[tokio::test]
async fn lost_session_begins_again_whatever_the_status() {
    let error =
        r#"{"jsonrpc":"2.0","id":ID,"error":{"code":-32001,"message":"Session not found"}}"#;
    let bad = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}"#;
    for (status, body) in [
        ("404 Not Found", ""),
        ("400 Bad Request", ""),
        ("400 Bad Request", error),
        ("400 Bad Request", bad),
        ("401 Unauthorized", ""),
        ("410 Gone", "gone"),
        ("200 OK", error),
    ] {
        let (url, calls) = forgetful(status, body).await;
        let server = server(&url, &[]);
        assert_eq!(server.tools().await.unwrap().tools.len(), 1, "{status}");
        let output = server
            .call("run", Map::new(), &CancellationToken::new())
            .await;
        assert_eq!(
            output,
            Ok(ToolOutput {
                text: "done".into(),
                error: false
            }),
            "{status} {body}"
        );
        let calls = calls.lock().unwrap();
        assert_eq!(
            calls
                .iter()
                .filter(|method| *method == "initialize")
                .count(),
            2,
            "{status}: {calls:?}"
        );
    }
}

#[tokio::test]
async fn call_that_may_have_run_is_not_repeated() {
    let (url, calls) = forgetful("500 Internal Server Error", "").await;
    let server = server(&url, &[]);
    server.tools().await.unwrap();
    let failed = server
        .call("run", Map::new(), &CancellationToken::new())
        .await
        .unwrap_err();
    assert!(
        matches!(failed, McpError::Status { status: 500, .. }),
        "{failed:?}"
    );
    assert_eq!(
        calls
            .lock()
            .unwrap()
            .iter()
            .filter(|method| *method == "tools/call")
            .count(),
        1
    );
}
