//! A model hub on loopback with the API of Hugging Face. It serves real files, and fails as a test
//! asks it to.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// How the hub answers the next request for the content of a file.
#[derive(Debug, Clone)]
pub enum Quirk {
    /// Closes the connection after this many bytes of the body.
    Cut(usize),
    /// Answers with this status and these header lines.
    Status(u16, &'static str),
    /// Sends a web page with status 200, as the login page of a network does.
    WebPage,
    /// Sends the whole file, whatever range is asked for.
    IgnoresRange,
    /// Redirects to this address.
    Redirect(String),
    /// Sends this many bytes, then nothing, and keeps the connection open until the next request
    /// comes.
    Stalls(usize),
}

/// A file of a repository, and what the hub says about it.
#[derive(Debug, Clone)]
pub struct ScriptedFile {
    pub content: Vec<u8>,
    pub stated_bytes: u64,
    pub stated_sha256: String,
}

impl ScriptedFile {
    /// A file about which the hub tells the truth.
    pub fn new(content: Vec<u8>) -> Self {
        let stated_sha256 = sha256(&content);
        Self {
            stated_bytes: content.len() as u64,
            stated_sha256,
            content,
        }
    }
}

#[derive(Default)]
struct HubState {
    files: BTreeMap<String, BTreeMap<String, ScriptedFile>>,
    gated: Vec<String>,
    quirks: VecDeque<Quirk>,
    /// Answers of the API instead of the usual ones.
    api_answers: VecDeque<(u16, &'static str, String)>,
    requests: Vec<String>,
    stalled: Vec<TcpStream>,
}

/// A running hub. It ends with the process.
#[derive(Clone)]
pub struct ScriptedHub {
    pub address: String,
    state: Arc<Mutex<HubState>>,
}

impl ScriptedHub {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let hub = Self {
            address,
            state: Arc::default(),
        };
        let serving = hub.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let hub = serving.clone();
                std::thread::spawn(move || hub.serve(stream));
            }
        });
        hub
    }

    /// Adds a file to the repository `repo`.
    pub fn put(&self, repo: &str, path: &str, file: ScriptedFile) {
        self.lock()
            .files
            .entry(repo.to_owned())
            .or_default()
            .insert(path.to_owned(), file);
    }

    /// The authors of `repo` ask for a token.
    pub fn gate(&self, repo: &str) {
        self.lock().gated.push(repo.to_owned());
    }

    /// Answers the next requests for content in this way, in this order.
    pub fn next(&self, quirks: impl IntoIterator<Item = Quirk>) {
        self.lock().quirks.extend(quirks);
    }

    /// Answers the next request of the API with a status, header lines and a body.
    pub fn next_answer(&self, status: u16, headers: &'static str, body: impl Into<String>) {
        self.lock()
            .api_answers
            .push_back((status, headers, body.into()));
    }

    /// Heads of all requests so far, in small letters.
    pub fn requests(&self) -> Vec<String> {
        self.lock().requests.clone()
    }

    fn serve(&self, stream: TcpStream) {
        let Ok(read) = stream.try_clone() else { return };
        let lines = BufReader::new(read).lines().map_while(Result::ok);
        let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
        let Some(target) = head
            .first()
            .and_then(|line| line.split(' ').nth(1))
            .map(str::to_owned)
        else {
            return;
        };
        self.lock().requests.push(head.join("\n").to_lowercase());
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        match path.strip_prefix("/api/models") {
            Some(rest) => self.api(stream, rest.trim_matches('/'), query),
            None => self.content(stream, path.trim_start_matches('/'), &head),
        }
    }

    fn api(&self, mut stream: TcpStream, path: &str, query: &str) {
        if let Some((status, headers, body)) = { self.lock().api_answers.pop_front() } {
            return send(&mut stream, status, headers, body.as_bytes());
        }
        let pieces: Vec<&str> = path.split('/').collect();
        let (headers, body) = match pieces[..] {
            [""] => self.search(query),
            [owner, name] => (String::new(), self.described(&format!("{owner}/{name}"))),
            [owner, name, "tree", _] => self.tree(&format!("{owner}/{name}"), query),
            _ => (String::new(), None),
        };
        match body {
            Some(body) => send(&mut stream, 200, &headers, body.to_string().as_bytes()),
            None => send(
                &mut stream,
                401,
                "X-Error-Code: RepoNotFound",
                b"{\"error\":\"Repository not found\"}",
            ),
        }
    }

    /// One model a page.
    fn search(&self, query: &str) -> (String, Option<Value>) {
        let value = |key: &str| {
            query
                .split('&')
                .find_map(|pair| pair.strip_prefix(&format!("{key}=")))
                .unwrap_or_default()
        };
        let (words, at) = (
            value("search").to_lowercase(),
            value("cursor").parse::<usize>().unwrap_or(0),
        );
        let repos: Vec<String> = self.lock().files.keys().cloned().collect();
        let found: Vec<_> = repos
            .into_iter()
            .filter(|repo| repo.to_lowercase().contains(&words))
            .collect();
        let page = found.get(at).and_then(|repo| self.described(repo));
        let link = format!(
            "Link: <{}/api/models?cursor={}>; rel=\"next\"",
            self.address,
            at + 1
        );
        (
            if at + 1 < found.len() {
                link
            } else {
                String::new()
            },
            Some(page.into_iter().collect()),
        )
    }

    fn described(&self, repo: &str) -> Option<Value> {
        let state = self.lock();
        state.files.get(repo)?;
        let gated = if state.gated.iter().any(|one| one == repo) {
            json!("manual")
        } else {
            json!(false)
        };
        Some(json!({
            "id": repo, "sha": "0123456789abcdef0123456789abcdef01234567", "downloads": 42, "likes": 7, "gated": gated,
            "tags": ["gguf", "en", "license:apache-2.0"], "lastModified": "2026-07-14T10:00:00.000Z",
        }))
    }

    /// Two files a page.
    fn tree(&self, repo: &str, query: &str) -> (String, Option<Value>) {
        let at = query
            .split("cursor=")
            .nth(1)
            .and_then(|at| at.parse::<usize>().ok())
            .unwrap_or(0);
        let state = self.lock();
        let Some(files) = state.files.get(repo) else {
            return (String::new(), None);
        };
        let page = files.iter().skip(at).take(2).map(|(path, file)| {
            json!({ "type": "file", "path": path, "size": file.stated_bytes,
                "lfs": { "oid": file.stated_sha256, "size": file.stated_bytes, "pointerSize": 135 } })
        });
        let link = format!(
            "Link: <{}/api/models/{repo}/tree/main?cursor={}>; rel=\"next\"",
            self.address,
            at + 2
        );
        (
            if at + 2 < files.len() {
                link
            } else {
                String::new()
            },
            Some(page.collect()),
        )
    }

    fn content(&self, mut stream: TcpStream, path: &str, head: &[String]) {
        let header = |name: &str| {
            head.iter().find_map(|line| {
                line.to_lowercase()
                    .strip_prefix(name)
                    .map(|text| text.trim().to_owned())
            })
        };
        let pieces: Vec<&str> = path.splitn(5, '/').collect();
        let [owner, name, "resolve", _, file] = pieces[..] else {
            return send(&mut stream, 404, "", b"not found");
        };
        let repo = format!("{owner}/{name}");
        let (gated, quirk, file) = {
            let mut state = self.lock();
            state.stalled.clear();
            let file = state
                .files
                .get(&repo)
                .and_then(|files| files.get(file))
                .cloned();
            (state.gated.contains(&repo), state.quirks.pop_front(), file)
        };
        if gated && header("authorization:").is_none() {
            return send(&mut stream, 401, "X-Error-Code: GatedRepo", b"{}");
        }
        let Some(file) = file else {
            return send(&mut stream, 404, "X-Error-Code: EntryNotFound", b"{}");
        };
        let range = header("range: bytes=").filter(|_| !matches!(quirk, Some(Quirk::IgnoresRange)));
        match quirk {
            Some(Quirk::Status(status, headers)) => send(&mut stream, status, headers, b"{}"),
            Some(Quirk::WebPage) => send(
                &mut stream,
                200,
                "Content-Type: text/html",
                b"<!DOCTYPE html><p>Please log in",
            ),
            Some(Quirk::Redirect(to)) => send(&mut stream, 302, &format!("Location: {to}"), b""),
            Some(Quirk::Stalls(bytes)) => {
                write_file(&mut stream, &file, range.as_deref(), bytes);
                self.lock().stalled.push(stream);
            }
            Some(Quirk::Cut(bytes)) => write_file(&mut stream, &file, range.as_deref(), bytes),
            Some(Quirk::IgnoresRange) | None => {
                write_file(&mut stream, &file, range.as_deref(), usize::MAX)
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HubState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends the file or a range of it, at most `most` bytes of the body.
fn write_file(stream: &mut TcpStream, file: &ScriptedFile, range: Option<&str>, most: usize) {
    let (length, etag) = (file.content.len(), &file.stated_sha256[..16]);
    let bounds = range.and_then(|range| range.split_once('-'));
    let from = bounds
        .and_then(|(from, _)| from.parse::<usize>().ok())
        .unwrap_or(0);
    let to = bounds
        .and_then(|(_, to)| to.parse::<usize>().ok())
        .map_or(length, |to| (to + 1).min(length));
    if from >= length {
        return send(stream, 416, "", b"");
    }
    let (status, range) = match range {
        Some(_) => (
            "206 Partial Content",
            format!("Content-Range: bytes {from}-{}/{length}\r\n", to - 1),
        ),
        None => ("200 OK", String::new()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nETag: \"{etag}\"\r\n{range}Content-Length: {}\r\nConnection: close\r\n\r\n",
        to - from
    );
    let body = &file.content[from..to];
    // A client that has enough closes the connection, which is not an error.
    let _ = stream
        .write_all(head.as_bytes())
        .and_then(|()| stream.write_all(&body[..body.len().min(most)]));
}

fn send(stream: &mut TcpStream, status: u16, headers: &str, body: &[u8]) {
    let headers = if headers.is_empty() {
        String::new()
    } else {
        format!("{headers}\r\n")
    };
    let head = format!(
        "HTTP/1.1 {status} X\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let _ = stream
        .write_all(head.as_bytes())
        .and_then(|()| stream.write_all(body));
}

pub fn sha256(content: &[u8]) -> String {
    Sha256::digest(content)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// A small model file with a chat template and a vocabulary. It cannot generate text; `filler`
/// bytes of a tensor make it as large as a test needs.
pub fn small_model(name: &str, filler: usize) -> Vec<u8> {
    model_part(name, filler, None)
}

/// One part of a split model; `part` is its number from 1, and their count.
pub fn model_part(name: &str, filler: usize, part: Option<(u16, u16)>) -> Vec<u8> {
    let mut pairs = Vec::new();
    if part.is_none_or(|(number, _)| number == 1) {
        let text = |key: &str, value: &str| {
            [string(key), 8u32.to_le_bytes().to_vec(), string(value)].concat()
        };
        let number = |key: &str, value: u32| {
            [
                string(key),
                4u32.to_le_bytes().to_vec(),
                value.to_le_bytes().to_vec(),
            ]
            .concat()
        };
        pairs.extend([
            text("general.architecture", "llama"),
            text("general.name", name),
        ]);
        pairs.extend([
            number("llama.context_length", 8192),
            number("llama.block_count", 4),
        ]);
        pairs.extend([
            number("llama.embedding_length", 64),
            number("llama.attention.head_count", 4),
        ]);
        pairs.extend([
            text("tokenizer.ggml.model", "gpt2"),
            text("tokenizer.chat_template", "{{ messages }}"),
        ]);
        let tokens = ["<unk>", "<s>", "</s>", "a", "b"];
        let list: Vec<u8> = tokens.iter().flat_map(|token| string(token)).collect();
        let count = (tokens.len() as u64).to_le_bytes();
        pairs.push(
            [
                string("tokenizer.ggml.tokens"),
                9u32.to_le_bytes().to_vec(),
                8u32.to_le_bytes().to_vec(),
                count.to_vec(),
                list,
            ]
            .concat(),
        );
    }
    if let Some((number, count)) = part {
        let short = |key: &str, value: u16| {
            [
                string(key),
                2u32.to_le_bytes().to_vec(),
                value.to_le_bytes().to_vec(),
            ]
            .concat()
        };
        pairs.extend([short("split.no", number - 1), short("split.count", count)]);
    }
    let tensor_name = part.map_or_else(
        || "token_embd.weight".to_owned(),
        |(number, _)| format!("token_embd.{number}"),
    );
    let values = (filler as u64 / 4).max(1);
    let tensor = [
        string(&tensor_name),
        1u32.to_le_bytes().to_vec(),
        values.to_le_bytes().to_vec(),
        0u32.to_le_bytes().to_vec(),
        0u64.to_le_bytes().to_vec(),
    ]
    .concat();
    let mut bytes = [
        &b"GGUF"[..],
        &3u32.to_le_bytes(),
        &1u64.to_le_bytes(),
        &(pairs.len() as u64).to_le_bytes(),
    ]
    .concat();
    pairs.iter().for_each(|pair| bytes.extend(pair));
    bytes.extend(tensor);
    bytes.resize(bytes.len().next_multiple_of(32), 0);
    // Every model has other content, and therefore another checksum.
    bytes.extend(name.bytes().cycle().take(values as usize * 4));
    bytes
}

fn string(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes(), text.as_bytes()].concat()
}
