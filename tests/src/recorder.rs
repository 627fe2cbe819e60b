//! A local OpenAI-compatible endpoint that records the exact bytes of its requests.

use std::sync::{Arc, Mutex, PoisonError};

use engine::Engine;
use engine::api::{EndpointDraft, ModelRef};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A complete reply with the text "Hm.".
const REPLY: &str = concat!(
    "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/event-stream\r\n\r\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hm.\"},\"finish_reason\":null}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
    "data: [DONE]\n\n"
);

type Bodies = Arc<Mutex<Vec<Vec<u8>>>>;

/// Answers requests until the test ends.
pub struct Recorder {
    port: u16,
    bodies: Bodies,
}

impl Recorder {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let bodies = Bodies::default();
        let kept = bodies.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(answer(stream, kept.clone()));
            }
        });
        Self { port, bodies }
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// Adds the endpoint to `engine` as `model` with 16,384 tokens of context.
    pub async fn join(&self, engine: &Engine, model: &str) -> ModelRef {
        let draft = EndpointDraft {
            id: None,
            name: "Recorder".into(),
            url: self.url(),
            model: model.into(),
            context: 16_384,
            key: None,
            ..EndpointDraft::default()
        };
        ModelRef::Remote {
            id: engine
                .save_endpoint(draft)
                .await
                .expect("an endpoint")
                .id
                .to_string(),
        }
    }

    /// Returns the body of the newest request that contains `text`.
    pub fn body_with(&self, text: &str) -> Option<Vec<u8>> {
        let bodies = self.bodies.lock().unwrap_or_else(PoisonError::into_inner);
        bodies.iter().rev().find(|body| holds(body, text)).cloned()
    }
}

/// Whether `body` contains the bytes of `text`.
pub fn holds(body: &[u8], text: &str) -> bool {
    body.windows(text.len())
        .any(|window| window == text.as_bytes())
}

async fn answer(mut stream: TcpStream, bodies: Bodies) {
    let Some(body) = read_body(&mut stream).await else {
        return;
    };
    bodies
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(body);
    // The client may have disconnected already; the test detects that itself.
    stream.write_all(REPLY.as_bytes()).await.ok();
    stream.shutdown().await.ok();
}

async fn read_body(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    loop {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
        let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else {
            continue;
        };
        let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
        if bytes.len() - end - 4 >= length.unwrap_or(0) {
            return Some(bytes.split_off(end + 4));
        }
    }
}
