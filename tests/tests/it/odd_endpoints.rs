//! Whole turns with careless or strict endpoints: displayed and stored texts, retries, and learned
//! dialects.

use std::sync::{Arc, Mutex};

use domain::ChatId;
use engine::api::{
    ApiError, EndReason, EndpointDraft, Event, Message, ModelRef, Quirk, SettingsChange,
};
use engine::{Engine, Options};
use serde_json::{Value, json};
use tempfile::TempDir;
use tests::headless::ended;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Maps a request to the status and body of the response.
type Script = dyn Fn(&Value) -> (&'static str, String) + Send + Sync;

/// A server that answers as scripted and records the requests.
struct Server {
    url: String,
    asked: Arc<Mutex<Vec<Value>>>,
}

impl Server {
    async fn start(
        script: impl Fn(&Value) -> (&'static str, String) + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let (asked, script): (Arc<Mutex<Vec<Value>>>, Arc<Script>) =
            (Arc::default(), Arc::new(script));
        let kept = Arc::clone(&asked);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let Some(body) = body(&mut stream).await else {
                    continue;
                };
                let (status, answer) = script(&body);
                kept.lock().unwrap().push(body);
                let head = format!(
                    "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                    answer.len()
                );
                stream
                    .write_all(format!("{head}{answer}").as_bytes())
                    .await
                    .ok();
            }
        });
        Self { url, asked }
    }

    /// The number of requests that match.
    fn asked_for(&self, such: impl Fn(&Value) -> bool) -> usize {
        self.asked
            .lock()
            .unwrap()
            .iter()
            .filter(|body| such(body))
            .count()
    }

    /// The messages of the last request, one per line.
    fn sent(&self) -> Vec<String> {
        let asked = self.asked.lock().unwrap();
        let messages = asked.last().unwrap()["messages"]
            .as_array()
            .unwrap()
            .clone();
        messages
            .iter()
            .map(|one| {
                format!(
                    "{}: {}",
                    one["role"].as_str().unwrap(),
                    one["content"].as_str().unwrap()
                )
            })
            .collect()
    }
}

async fn body(stream: &mut TcpStream) -> Option<Value> {
    let mut read = Vec::new();
    loop {
        let count = stream.read_buf(&mut read).await.ok()?;
        let text = String::from_utf8_lossy(&read);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let head = head.to_lowercase();
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "))
                .unwrap_or("0");
            if body.len() >= length.trim().parse().unwrap() {
                return Some(serde_json::from_str(body).unwrap_or_default());
            }
        }
        if count == 0 {
            return None;
        }
    }
}

/// An event stream of these pieces.
fn says(pieces: &[&str]) -> (&'static str, String) {
    let piece = |text: &&str| {
        format!(
            "data: {}\n\n",
            json!({"choices": [{"delta": {"content": text}}]})
        )
    };
    let text: String = pieces.iter().map(piece).collect();
    (
        "200 OK",
        text + "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
    )
}

fn refuses(message: &str) -> (&'static str, String) {
    (
        "400 Bad Request",
        json!({"error": {"message": message}}).to_string(),
    )
}

struct App {
    engine: Engine,
    _dir: TempDir,
    chat: ChatId,
    endpoint: EndpointDraft,
}

impl App {
    async fn answered_by(server: &Server) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let options = Options {
            data_dir: dir.path().to_owned(),
            without_keychain: true,
            ..Options::default()
        };
        let engine = Engine::open(options)
            .await
            .unwrap_or_else(|error| panic!("{error}"));
        let url = server.url.clone();
        let (name, model) = ("There".into(), "m".into());
        let draft = EndpointDraft {
            name,
            url,
            model,
            context: 8_192,
            ..EndpointDraft::default()
        };
        let id = engine.save_endpoint(draft.clone()).await.unwrap().id;
        let default_model = Some(ModelRef::Remote { id: id.to_string() });
        engine
            .update_settings(SettingsChange {
                default_model,
                ..SettingsChange::default()
            })
            .await
            .unwrap();
        let chat = engine.startup().await.unwrap().chat.unwrap();
        Self {
            engine,
            _dir: dir,
            chat,
            endpoint: EndpointDraft {
                id: Some(id),
                ..draft
            },
        }
    }

    async fn say(&self, text: &str) -> (Option<Message>, EndReason) {
        let mut events = self.engine.subscribe();
        self.engine
            .send_message(self.chat, text.into())
            .await
            .unwrap();
        ended(&mut events, self.chat).await
    }

    async fn learned(&self) -> Vec<Quirk> {
        self.engine
            .list_endpoints()
            .await
            .unwrap()
            .remove(0)
            .learned
    }
}

/// The displayed text and thoughts of a message.
fn shown(message: Option<Message>) -> (String, String) {
    let message = message.expect("a message");
    let swipe = &message.swipes[message.selected as usize];
    match &swipe.display {
        Some(display) => (display.text.clone(), display.thoughts.clone()),
        None => (swipe.text.clone(), String::new()),
    }
}

#[tokio::test]
async fn thoughts_stay_out_of_view_store_and_prompt() {
    for pieces in [
        &["<think mode=\"x\">Cold.", "</think>Come in."][..],
        &["Cold.\n", "</th", "ink>\n\n", "Come in."],
        &["<seed:think>Cold.</seed:think>", "Come in."],
        &["<|channel>thought\nCold.", "<channel|>", "Come in."],
        &[
            "<|channel|>analysis<|message|>Cold.<|end|><|start|>assistant<|channel|>final<|message|>Come in.",
        ],
        &["[THINK]Cold.[/THINK]Come in."],
        &[
            "<|begin_of_thought|>Cold.<|end_of_thought|>",
            "<|begin_of_solution|>Come in.<|end_of_solution|>",
        ],
    ] {
        let server = Server::start(move |_| says(pieces)).await;
        let app = App::answered_by(&server).await;
        let (message, reason) = app.say("It is </think> cold.").await;
        assert_eq!(reason, EndReason::Stop, "{pieces:?}");
        assert_eq!(
            shown(message),
            ("Come in.".into(), "Cold.".into()),
            "{pieces:?}"
        );
        app.say("And now?").await;
        let sent = server.sent();
        assert!(
            sent.contains(&"assistant: Come in.".to_owned()),
            "{pieces:?}: {sent:?}"
        );
        assert!(
            sent.iter().all(|line| !line.contains("Cold.")),
            "{pieces:?}: {sent:?}"
        );
        assert!(
            sent.iter()
                .any(|line| line.contains("It is </think> cold.")),
            "the user's text stays"
        );
        app.engine.shutdown().await;
    }
}

#[tokio::test]
async fn listeners_learn_that_text_was_a_thought() {
    let server = Server::start(|_| says(&["She is cold.\n", "</think>", "Come in."])).await;
    let app = App::answered_by(&server).await;
    let mut events = app.engine.subscribe();
    app.engine
        .send_message(app.chat, "Hello?".into())
        .await
        .unwrap();
    let mut heard = String::new();
    loop {
        match events.next().await.unwrap() {
            Event::Token { text, .. } => heard.push_str(&text),
            Event::ThoughtsClosed { text, .. } => heard.push_str(&format!("[{text}]")),
            Event::Ended { .. } => break,
            _ => {}
        }
    }
    assert_eq!(heard, "She is cold.\n[She is cold.\n]Come in.");
}

#[tokio::test]
async fn reply_of_thoughts_only_is_reported() {
    let alone = |reason: &str| {
        let body = json!({"choices": [{"delta": {"reasoning_content": "Hm."}}]});
        let end = json!({"choices": [{"delta": {"content": ""}, "finish_reason": reason}]});
        (
            "200 OK",
            format!("data: {body}\n\ndata: {end}\n\ndata: [DONE]\n\n"),
        )
    };
    for reason in ["stop", "length"] {
        let server = Server::start(move |_| alone(reason)).await;
        let app = App::answered_by(&server).await;
        let (message, ended) = app.say("Hello?").await;
        let EndReason::Failed {
            error:
                ApiError::Provider {
                    message: words,
                    hint,
                    ..
                },
        } = ended
        else {
            panic!("{ended:?}")
        };
        assert!(
            words.contains("only thoughts") && hint.contains("thinking off"),
            "{words} {hint}"
        );
        assert_eq!(
            shown(message),
            (String::new(), "Hm.".into()),
            "the thoughts are readable"
        );
        app.say("Again?").await;
        assert!(
            server
                .sent()
                .iter()
                .all(|line| !line.trim_end().ends_with(':')),
            "{:?}",
            server.sent()
        );
    }
    let server = Server::start(|_| says(&["<think>\nShe is cold", " and wet."])).await;
    let app = App::answered_by(&server).await;
    let (message, ended) = app.say("Hello?").await;
    assert!(matches!(ended, EndReason::Failed { .. }), "{ended:?}");
    assert_eq!(
        shown(message),
        (String::new(), "She is cold and wet.".into()),
        "the thoughts are readable"
    );
}

#[tokio::test]
async fn learned_dialect_is_stored_and_shown() {
    let script = |body: &Value| match body.get("top_k") {
        Some(_) => refuses("top_k must be -1 (disable), or at least 1, got 40."),
        None => says(&["Come in."]),
    };
    let server = Server::start(script).await;
    let app = App::answered_by(&server).await;
    assert_eq!(app.learned().await, []);
    assert_eq!(app.say("Hello?").await.1, EndReason::Stop);
    let top_k = Quirk::LeavesOut {
        parameters: vec!["top_k".into()],
    };
    assert_eq!(app.learned().await, [top_k]);
    assert_eq!(app.say("Still there?").await.1, EndReason::Stop);
    assert_eq!(
        server.asked_for(|body| body.get("top_k").is_some()),
        1,
        "no parameter is refused twice"
    );
    app.engine
        .save_endpoint(app.endpoint.clone())
        .await
        .unwrap();
    assert_eq!(
        app.learned().await,
        [],
        "saving the endpoint resets the dialect"
    );
}

/// Whether user and assistant messages alternate, starting with the user, after an optional system
/// message.
fn alternates(body: &Value) -> bool {
    let messages = body["messages"].as_array().unwrap();
    let roles: Vec<&str> = messages
        .iter()
        .map(|one| one["role"].as_str().unwrap())
        .collect();
    let rest = roles.strip_prefix(&["system"]).unwrap_or(&roles);
    rest.iter()
        .enumerate()
        .all(|(at, role)| *role == ["user", "assistant"][at % 2])
}

#[tokio::test]
async fn chat_with_a_greeting_fits_strict_roles() {
    let server = Server::start(|body| match alternates(body) {
        true => says(&["Come in."]),
        false => refuses("Conversation roles must alternate user/assistant/user/assistant/..."),
    })
    .await;
    let app = App::answered_by(&server).await;
    assert_eq!(app.say("Hello?").await.1, EndReason::Stop);
    assert_eq!(app.learned().await, [Quirk::StrictRoles]);
    assert_eq!(app.say("And now?").await.1, EndReason::Stop);
    assert_eq!(server.asked_for(|body| !alternates(body)), 1);
}

#[tokio::test]
async fn reply_ends_at_the_users_turn() {
    let server = Server::start(|body| {
        let stop = body["stop"][0].as_str().unwrap_or("\nYou:").to_owned();
        says(&["Come in.", &stop, " Thanks!"])
    })
    .await;
    let app = App::answered_by(&server).await;
    assert_eq!(shown(app.say("Hello?").await.0).0, "Come in.");
    assert!(
        server.asked.lock().unwrap()[0]["stop"][0].is_string(),
        "a chat has a stop text"
    );
}

#[tokio::test]
async fn invalid_key_is_refused_on_save() {
    let server = Server::start(|_| says(&["Come in."])).await;
    let app = App::answered_by(&server).await;
    for key in ["sk-a\nsk-b", "sk-…", "sk a"] {
        let draft = EndpointDraft {
            key: Some(key.into()),
            ..app.endpoint.clone()
        };
        let saved = app
            .engine
            .save_endpoint(draft.clone())
            .await
            .unwrap_err()
            .to_string();
        let tested = app
            .engine
            .test_endpoint(draft)
            .await
            .unwrap_err()
            .to_string();
        assert_eq!(saved, tested);
        assert!(
            saved.starts_with("The key ") && !saved.contains("sk"),
            "{saved}"
        );
    }
    let draft = EndpointDraft {
        key: Some("\u{200b}Bearer sk-a\n".into()),
        ..app.endpoint.clone()
    };
    assert!(app.engine.save_endpoint(draft).await.unwrap().has_key);
}

#[tokio::test]
async fn reply_in_any_pieces_is_complete() {
    let tiny = "Come in, it is cold. ".repeat(400);
    let letters: Vec<String> = tiny.chars().map(String::from).collect();
    let endless = vec!["W".repeat(200); 300];
    for (pieces, whole) in [
        (letters, tiny.trim_end().to_owned()),
        (endless, "W".repeat(60_000)),
    ] {
        let server =
            Server::start(move |_| says(&pieces.iter().map(String::as_str).collect::<Vec<_>>()))
                .await;
        let app = App::answered_by(&server).await;
        let (message, reason) = app.say("Hello?").await;
        assert_eq!((shown(message).0, reason), (whole, EndReason::Stop));
    }
}

#[tokio::test]
async fn comments_before_the_first_word_are_waited_out() {
    let server = Server::start(|_| {
        let (status, reply) = says(&["Come in."]);
        (status, ": wait\n\n".repeat(2_000) + &reply)
    })
    .await;
    let app = App::answered_by(&server).await;
    let (message, reason) = app.say("Hello?").await;
    assert_eq!(
        (shown(message).0, reason),
        ("Come in.".to_owned(), EndReason::Stop)
    );
}
