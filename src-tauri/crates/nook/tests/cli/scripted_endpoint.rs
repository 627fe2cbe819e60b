//! An endpoint on this machine that gives the same reply to every request.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

use serde_json::json;

/// Starts it and returns its base address. It ends with the test.
pub(crate) fn start(reply: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let stream = events(reply);
    std::thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            answer(connection, &stream);
        }
    });
    url
}

fn events(reply: &str) -> String {
    let text = json!({ "choices": [{ "index": 0, "delta": { "content": reply }, "finish_reason": null }] });
    let end = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }] });
    format!("data: {text}\n\ndata: {end}\n\ndata: [DONE]\n\n")
}

fn answer(mut stream: TcpStream, events: &str) {
    let mut request = Vec::new();
    let mut piece = [0; 4096];
    while !is_whole(&request) {
        match stream.read(&mut piece) {
            Ok(count @ 1..) => request.extend_from_slice(&piece[..count]),
            _ => break,
        }
    }
    let list = r#"{"data":[{"id":"lamp"}]}"#;
    let answer = if request.starts_with(b"POST") {
        ("text/event-stream", events)
    } else {
        ("application/json", list)
    };
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        answer.0,
        answer.1.len()
    );
    // The client may have disconnected.
    let _ = stream.write_all((head + answer.1).as_bytes());
}

fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request);
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head.lines().find_map(|line| {
        line.to_lowercase()
            .strip_prefix("content-length: ")?
            .parse()
            .ok()
    });
    body.len() >= length.unwrap_or(0)
}
