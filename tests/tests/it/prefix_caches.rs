//! The share of a long chat's prompts that a provider with a prefix cache reads from its cache. The
//! servers implement the documented rules of the providers.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use engine::api::{EndReason, EndpointDialect, EndpointDraft, ModelRef, SettingsChange};
use serde_json::{Value, json};
use tests::headless::Headless;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const TURNS: usize = 100;
/// Share of prompt tokens that must come from the cache.
const ENOUGH: f64 = 0.9;
/// Both providers store no shorter prefixes.
const SHORTEST: usize = 1024;

/// Prompt tokens of one request.
#[derive(Debug, Clone, Copy, Default)]
struct Billed {
    read: usize,
    written: usize,
    whole: usize,
}

/// A provider's cache.
trait PrefixCache: Send + 'static {
    fn bill(&mut self, body: &Value) -> Billed;
    fn stream(&self, text: &str, billed: Billed) -> String;
}

/// About four characters are one token.
fn tokens(text: &str) -> usize {
    text.chars().count().div_ceil(4)
}

/// Anthropic: a prefix ends with a marked block and is stored there. A later request looks for a
/// stored prefix at each of its markers, and up to twenty blocks before it. At most four markers;
/// shorter prefixes are not stored.
#[derive(Default)]
struct MarkedBlocks {
    stored: HashSet<String>,
}

const LOOKBACK: usize = 20;
const MAX_MARKERS: usize = 4;

/// A block, and whether it has a marker.
fn blocks(body: &Value) -> Vec<(String, bool)> {
    let mut blocks = Vec::new();
    let mut add = |level: &str, block: &Value| {
        let mut plain = block.clone();
        let marker = plain.as_object_mut().unwrap().remove("cache_control");
        assert!(marker.is_none() || marker == Some(json!({"type": "ephemeral"})));
        blocks.push((format!("{level}{plain}"), marker.is_some()));
    };
    body["tools"]
        .as_array()
        .into_iter()
        .flatten()
        .for_each(|tool| add("tool", tool));
    body["system"]
        .as_array()
        .into_iter()
        .flatten()
        .for_each(|block| add("system", block));
    for message in body["messages"].as_array().unwrap() {
        let role = message["role"].as_str().unwrap();
        message["content"]
            .as_array()
            .unwrap()
            .iter()
            .for_each(|block| add(role, block));
    }
    blocks
}

impl PrefixCache for MarkedBlocks {
    fn bill(&mut self, body: &Value) -> Billed {
        let blocks = blocks(body);
        let marked: Vec<usize> = (0..blocks.len()).filter(|at| blocks[*at].1).collect();
        assert!(
            (1..=MAX_MARKERS).contains(&marked.len()),
            "{} markers",
            marked.len()
        );
        let until = |at: usize| {
            blocks[..=at]
                .iter()
                .map(|(text, _)| tokens(text))
                .sum::<usize>()
        };
        let prefix = |at: usize| {
            blocks[..=at]
                .iter()
                .map(|(text, _)| text.as_str())
                .collect::<Vec<_>>()
                .join("\n")
        };
        let near = marked
            .iter()
            .flat_map(|at| at.saturating_sub(LOOKBACK)..=*at);
        let read = near
            .filter(|at| self.stored.contains(&prefix(*at)))
            .map(until)
            .max()
            .unwrap_or(0);
        for at in &marked {
            if until(*at) >= SHORTEST {
                self.stored.insert(prefix(*at));
            }
        }
        let written = marked
            .last()
            .map_or(0, |at| until(*at))
            .saturating_sub(read);
        Billed {
            read,
            written,
            whole: until(blocks.len() - 1),
        }
    }

    fn stream(
        &self,
        text: &str,
        Billed {
            read,
            written,
            whole,
        }: Billed,
    ) -> String {
        let usage = json!({"input_tokens": whole - read - written, "cache_read_input_tokens": read,
            "cache_creation_input_tokens": written, "output_tokens": 1});
        let events = [
            json!({"type": "message_start", "message": {"usage": usage}}),
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}),
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 40}}),
            json!({"type": "message_stop"}),
        ];
        let event = |event: &Value| {
            format!(
                "event: {}\ndata: {event}\n\n",
                event["type"].as_str().unwrap()
            )
        };
        events.iter().map(event).collect()
    }
}

/// OpenAI: the longest common prefix with an earlier prompt is read from the cache, in steps of 128
/// tokens.
#[derive(Default)]
struct CommonPrefix {
    prompts: Vec<Vec<char>>,
}

const STEP: usize = 128;

impl PrefixCache for CommonPrefix {
    fn bill(&mut self, body: &Value) -> Billed {
        let message = |message: &Value| format!("{}\n{}\n", message["role"], message["content"]);
        let prompt: Vec<char> = body["messages"]
            .as_array()
            .unwrap()
            .iter()
            .map(message)
            .collect::<String>()
            .chars()
            .collect();
        let common = |earlier: &Vec<char>| {
            earlier
                .iter()
                .zip(&prompt)
                .take_while(|(one, other)| one == other)
                .count()
        };
        let shared = self.prompts.iter().map(common).max().unwrap_or(0) / 4;
        let read = if shared < SHORTEST {
            0
        } else {
            shared / STEP * STEP
        };
        let whole = prompt.len().div_ceil(4);
        self.prompts.push(prompt);
        Billed {
            read,
            written: 0,
            whole,
        }
    }

    fn stream(&self, text: &str, Billed { read, whole, .. }: Billed) -> String {
        let said =
            json!({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": "stop"}]});
        let usage = json!({"prompt_tokens": whole, "completion_tokens": 40, "prompt_tokens_details": {"cached_tokens": read}});
        format!(
            "data: {said}\n\ndata: {}\n\ndata: [DONE]\n\n",
            json!({"choices": [], "usage": usage})
        )
    }
}

/// Starts a server with this cache. Returns its address, and what it bills.
async fn serve(mut cache: impl PrefixCache) -> (String, Arc<Mutex<Vec<Billed>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let bills = Arc::<Mutex<Vec<Billed>>>::default();
    let kept = Arc::clone(&bills);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let Some(body) = body(&mut stream).await else {
                continue;
            };
            let billed = cache.bill(&body);
            let nth = kept.lock().unwrap().len();
            kept.lock().unwrap().push(billed);
            let answer = cache.stream(&sentence("She answers", nth), billed);
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                answer.len()
            );
            stream.write_all((head + &answer).as_bytes()).await.ok();
        }
    });
    (url, bills)
}

async fn body(stream: &mut TcpStream) -> Option<Value> {
    let mut read = Vec::new();
    loop {
        let count = stream.read_buf(&mut read).await.ok()?;
        let text = String::from_utf8_lossy(&read);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .to_lowercase()
                .lines()
                .find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
            if body.len() >= length.unwrap_or(0) {
                return serde_json::from_str(body).ok();
            }
        }
        if count == 0 {
            return None;
        }
    }
}

/// About sixty words that no other turn has.
fn sentence(who: &str, turn: usize) -> String {
    let part = |part: usize| {
        format!("{who} number {turn} about the ships and the rocks of part {part}, and waits.")
    };
    (0..4).map(part).collect::<Vec<_>>().join(" ")
}

/// Chats for a hundred turns. Returns the share of prompt tokens that came from the cache.
async fn share(dialect: EndpointDialect, cache: impl PrefixCache) -> f64 {
    let (url, bills) = serve(cache).await;
    let app = Headless::without_provider().await;
    let draft = EndpointDraft {
        name: "There".into(),
        dialect: Some(dialect),
        url,
        model: "m".into(),
        context: 200_000,
        ..EndpointDraft::default()
    };
    let id = app.engine.save_endpoint(draft).await.unwrap().id;
    let default_model = Some(ModelRef::Remote { id: id.to_string() });
    app.engine
        .update_settings(SettingsChange {
            default_model,
            ..SettingsChange::default()
        })
        .await
        .unwrap();
    let chat = app.first_chat().await.id;
    for turn in 0..TURNS {
        let (_, reason) = app.send(chat, &sentence("He asks", turn)).await;
        assert_eq!(reason, EndReason::Stop, "turn {turn}");
    }
    let bills = bills.lock().unwrap();
    assert_eq!(bills.len(), TURNS);
    let sum = |of: fn(&Billed) -> usize| bills.iter().map(of).sum::<usize>() as f64;
    sum(|billed| billed.read) / sum(|billed| billed.whole)
}

#[tokio::test]
async fn anthropic_reads_long_chats_from_its_cache() {
    let share = share(EndpointDialect::Anthropic, MarkedBlocks::default()).await;
    println!("Anthropic: {share:.3} of the prompt tokens came from the cache");
    assert!(share >= ENOUGH, "{share}");
}

#[tokio::test]
async fn openai_reads_long_chats_from_its_cache() {
    let share = share(EndpointDialect::OpenAi, CommonPrefix::default()).await;
    println!("OpenAI: {share:.3} of the prompt tokens came from the cache");
    assert!(share >= ENOUGH, "{share}");
}
