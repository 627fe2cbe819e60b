//! Test server on a real port with an engine in a temporary folder, and a client that sends exact
//! bytes.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use engine::{Engine, Options};
use provider::fake::FakeProvider;
use server::{ApiSwitch, RunningServer, ServeOptions, serve};
use tempfile::TempDir;

pub(crate) struct World {
    pub(crate) engine: Engine,
    pub(crate) serving: RunningServer,
    /// Answers every turn.
    pub(crate) model: FakeProvider,
    folder: TempDir,
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::serving(ApiSwitch::BySettings).await
    }

    /// With the local API on.
    pub(crate) async fn with_api() -> Self {
        Self::serving(ApiSwitch::Always).await
    }

    async fn serving(api: ApiSwitch) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let ui = folder.path().join("ui");
        write(
            &ui.join("index.html"),
            "<!doctype html><title>Inglenook</title>",
        );
        write(&ui.join("assets/app-1a2b.js"), "export {};");
        write(&folder.path().join("secret.txt"), "canary");
        let model = FakeProvider::new();
        let engine = Engine::open(Options {
            data_dir: folder.path().join("data"),
            without_keychain: true,
            provider: Some(Arc::new(model.clone())),
            ..Options::default()
        });
        let engine = engine.await.unwrap();
        let options = ServeOptions {
            host: "127.0.0.1".into(),
            port: 0,
            ui: Some(ui),
            token: None,
            api,
        };
        let serving = serve(engine.clone(), options).await.unwrap();
        Self {
            engine,
            serving,
            model,
            folder,
        }
    }

    pub(crate) fn addr(&self) -> SocketAddr {
        self.serving.addr
    }

    pub(crate) fn bearer(&self) -> String {
        format!("Bearer {}", self.serving.token.reveal())
    }

    /// Sends a request like the UI.
    pub(crate) async fn ask(&self, method: &str, path: &str, body: &[u8]) -> Answer {
        let (host, bearer) = (self.addr().to_string(), self.bearer());
        request(
            self.addr(),
            method,
            path,
            &[("Host", &host), ("Authorization", &bearer)],
            body,
        )
        .await
    }

    pub(crate) async fn call(&self, operation: &str, args: &str) -> Answer {
        self.ask("POST", &format!("/api/op/{operation}"), args.as_bytes())
            .await
    }

    pub(crate) async fn ticket(&self) -> String {
        self.ask("POST", "/api/ticket", b"").await.json()["ticket"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    pub(crate) async fn is_alive(&self) -> bool {
        self.ask("GET", "/", b"").await.status == 200
    }

    pub(crate) async fn stop(self) {
        self.serving.stop().await;
        self.engine.shutdown().await;
        self.folder.close().unwrap();
    }
}

fn write(file: &Path, text: &str) {
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, text).unwrap();
}

#[derive(Debug, Default)]
pub(crate) struct Answer {
    /// 0 if the server disconnected without a response.
    pub(crate) status: u16,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    fn is_whole(&self) -> bool {
        let length = self
            .header("content-length")
            .and_then(|length| length.parse().ok());
        self.status == 101 || length.is_some_and(|length: usize| self.body.len() >= length)
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

pub(crate) async fn request(
    addr: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Answer {
    let mut bytes = format!("{method} {path} HTTP/1.1\r\n");
    if !headers.iter().any(|(name, _)| *name == "Connection") {
        bytes.push_str("Connection: close\r\n");
    }
    for (name, value) in headers {
        bytes.push_str(&format!("{name}: {value}\r\n"));
    }
    bytes.push_str(&format!("Content-Length: {}\r\n\r\n", body.len()));
    raw(addr, [bytes.as_bytes(), body].concat()).await
}

/// Sends `bytes` and reads until the response is complete or the server disconnects.
pub(crate) async fn raw(addr: SocketAddr, bytes: Vec<u8>) -> Answer {
    tokio::task::spawn_blocking(move || {
        let mut stream = TcpStream::connect(addr).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        // The server may disconnect after a refusal without reading everything.
        let _ = stream.write_all(&bytes);
        let (mut answer, mut piece) = (Vec::new(), [0; 4096]);
        while let Ok(count @ 1..) = stream.read(&mut piece) {
            answer.extend_from_slice(&piece[..count]);
            if parse(&answer).is_whole() {
                break;
            }
        }
        parse(&answer)
    })
    .await
    .unwrap()
}

fn parse(answer: &[u8]) -> Answer {
    let Some(end) = answer.windows(4).position(|four| four == b"\r\n\r\n") else {
        return Answer::default();
    };
    let head = String::from_utf8(answer[..end].to_vec()).unwrap();
    let mut lines = head.lines();
    let status = lines
        .next()
        .unwrap()
        .split(' ')
        .nth(1)
        .unwrap()
        .parse()
        .unwrap();
    let headers = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_lowercase(), value.to_owned()));
    Answer {
        status,
        headers: headers.collect(),
        body: answer[end + 4..].to_vec(),
    }
}
