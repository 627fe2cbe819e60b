//! An endpoint on this machine that gives the same reply to every request.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

use serde_json::json;

const LIST: &str = r#"{"data":[{"id":"lamp"}]}"#;

/// Starts it and returns its base address. It ends with the test.
pub(crate) fn start(reply: &str) -> String {
    start_with(finished(&delta("content", reply)))
}

/// Like [`start`], with thoughts before the reply.
pub(crate) fn start_thinking(thoughts: &str, reply: &str) -> String {
    let events = delta("reasoning_content", thoughts) + &delta("content", reply);
    start_with(finished(&events))
}

/// Like [`start`], but no reply ends after its beginning.
pub(crate) fn start_endless(beginning: &str) -> String {
    let piece = delta("content", beginning);
    let mut open = Vec::new();
    serve(move |mut stream, is_post| {
        if is_post {
            let head =
                "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
            // The client may have disconnected.
            let _ = stream.write_all((head.to_owned() + &piece).as_bytes());
            open.push(stream);
        } else {
            answer(stream, "application/json", LIST);
        }
    })
}

fn start_with(events: String) -> String {
    serve(move |stream, is_post| {
        if is_post {
            answer(stream, "text/event-stream", &events);
        } else {
            answer(stream, "application/json", LIST);
        }
    })
}

/// Lets `respond` answer each request, and returns the base address.
fn serve(mut respond: impl FnMut(TcpStream, bool) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut connection in listener.incoming().flatten() {
            let is_post = read_request(&mut connection).starts_with(b"POST");
            respond(connection, is_post);
        }
    });
    url
}

/// An event with a piece of the reply.
fn delta(field: &str, text: &str) -> String {
    let event =
        json!({ "choices": [{ "index": 0, "delta": { field: text }, "finish_reason": null }] });
    format!("data: {event}\n\n")
}

fn finished(events: &str) -> String {
    let end = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }] });
    format!("{events}data: {end}\n\ndata: [DONE]\n\n")
}

fn read_request(stream: &mut TcpStream) -> Vec<u8> {
    let mut request = Vec::new();
    let mut piece = [0; 4096];
    while !is_whole(&request) {
        match stream.read(&mut piece) {
            Ok(count @ 1..) => request.extend_from_slice(&piece[..count]),
            _ => break,
        }
    }
    request
}

fn answer(mut stream: TcpStream, kind: &str, body: &str) {
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    // The client may have disconnected.
    let _ = stream.write_all((head + body).as_bytes());
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
