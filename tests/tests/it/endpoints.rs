//! One endpoint with several models: the list, the choice per chat, and requests with the
//! endpoint's headers.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use domain::ChatId;
use engine::api::{
    ApiError, EndpointDraft, HeaderDraft, ModelRef, OfferedModel, SettingOwner, SettingValue,
};
use tests::headless::Headless;

const LIST: &str =
    r#"{"data":[{"id":"large","context_length":32768},{"id":"small","context_length":2048}]}"#;
const REPLY: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"Good evening.\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

/// A server that answers every request and records it.
struct Server {
    url: String,
    received: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let received = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&received);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                kept.lock().unwrap().push(answer(stream));
            }
        });
        Self { url, received }
    }

    fn asked(&self) -> Vec<String> {
        self.received.lock().unwrap().clone()
    }
}

fn answer(mut stream: TcpStream) -> String {
    let mut request = Vec::new();
    let mut piece = [0; 4096];
    while !is_whole(&request) {
        match stream.read(&mut piece) {
            Ok(count @ 1..) => request.extend_from_slice(&piece[..count]),
            _ => break,
        }
    }
    let request = String::from_utf8_lossy(&request).into_owned();
    let (kind, body) = match request.starts_with("POST") {
        true => ("text/event-stream", REPLY),
        false => ("application/json", LIST),
    };
    let length = body.len();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    let _ = stream.write_all((head + body).as_bytes());
    request
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

struct World {
    app: Headless,
    server: Server,
}

impl World {
    async fn new() -> Self {
        Self {
            app: Headless::without_provider().await,
            server: Server::start(),
        }
    }

    fn draft(&self) -> EndpointDraft {
        EndpointDraft {
            name: "Hilltop".into(),
            url: self.server.url.clone(),
            model: "large".into(),
            context: 8_192,
            ..EndpointDraft::default()
        }
    }

    async fn chat(&self) -> ChatId {
        self.app.first_chat().await.id
    }

    /// Sends a message and returns the request for the reply.
    async fn say(&self, chat: ChatId) -> String {
        self.app.send(chat, "Hello.").await;
        self.server
            .asked()
            .into_iter()
            .rfind(|request| request.starts_with("POST"))
            .unwrap()
    }
}

fn header(name: &str, value: Option<&str>) -> HeaderDraft {
    HeaderDraft {
        name: name.into(),
        value: value.map(Into::into),
    }
}

#[tokio::test]
async fn chat_selects_a_model_of_an_endpoint() {
    let world = World::new().await;
    let saved = world.app.engine.save_endpoint(world.draft()).await.unwrap();
    world.app.engine.refresh_endpoint(saved.id).await.unwrap();
    let listed = world.app.engine.list_endpoints().await.unwrap().remove(0);
    let names: Vec<_> = listed
        .models
        .iter()
        .map(|model| (model.name.as_str(), model.context))
        .collect();
    assert_eq!(names, [("large", Some(32_768)), ("small", Some(2_048))]);
    let chat = world.chat().await;
    for (id, expected) in [
        (saved.id.to_string(), "large"),
        (listed.models[1].id.clone(), "small"),
    ] {
        world
            .app
            .engine
            .set_chat_model(chat, Some(ModelRef::Remote { id }))
            .await
            .unwrap();
        assert!(
            world
                .say(chat)
                .await
                .contains(&format!("\"model\":\"{expected}\"")),
            "{expected}"
        );
    }
    let reply = world
        .app
        .engine
        .whole_chat(chat)
        .await
        .unwrap()
        .page
        .messages
        .pop()
        .unwrap();
    assert_eq!(reply.swipes[0].model.as_deref(), Some("Hilltop · small"));
    let recent = world.app.engine.recent_models().await.unwrap();
    assert_eq!(
        recent,
        [ModelRef::Remote {
            id: listed.models[1].id.clone()
        }]
    );
}

#[tokio::test]
async fn typed_models_survive_a_new_list() {
    let world = World::new().await;
    let typed = OfferedModel {
        name: "hidden".into(),
        context: None,
        typed: true,
    };
    let draft = EndpointDraft {
        models: Some(vec![typed]),
        ..world.draft()
    };
    let id = world.app.engine.save_endpoint(draft).await.unwrap().id;
    world.app.engine.refresh_endpoint(id).await.unwrap();
    let listed = world
        .app
        .engine
        .list_endpoints()
        .await
        .unwrap()
        .remove(0)
        .models;
    assert_eq!(
        listed
            .iter()
            .map(|model| model.name.as_str())
            .collect::<Vec<_>>(),
        ["large", "small", "hidden"]
    );
}

#[tokio::test]
async fn headers_are_sent_and_never_shown_again() {
    let world = World::new().await;
    let draft = EndpointDraft {
        headers: Some(vec![header("X-Team", Some("canary-9"))]),
        ..world.draft()
    };
    let saved = world.app.engine.save_endpoint(draft).await.unwrap();
    assert_eq!(saved.headers, ["x-team"]);
    let chat = world.chat().await;
    world
        .app
        .engine
        .set_chat_model(
            chat,
            Some(ModelRef::Remote {
                id: saved.id.to_string(),
            }),
        )
        .await
        .unwrap();
    assert!(world.say(chat).await.contains("x-team: canary-9"));
    assert!(!format!("{:?}", world.app.engine.list_endpoints().await.unwrap()).contains("canary"));
    let keep = EndpointDraft {
        id: Some(saved.id),
        headers: Some(vec![header("x-team", None), header("x-more", Some("b"))]),
        ..world.draft()
    };
    world.app.engine.save_endpoint(keep).await.unwrap();
    let request = world.say(chat).await;
    assert!(
        request.contains("x-team: canary-9") && request.contains("x-more: b"),
        "{request}"
    );
    let none = EndpointDraft {
        id: Some(saved.id),
        headers: Some(Vec::new()),
        ..world.draft()
    };
    assert_eq!(
        world.app.engine.save_endpoint(none).await.unwrap().headers,
        Vec::<String>::new()
    );
    assert!(!world.say(chat).await.contains("x-team"));
}

#[tokio::test]
async fn stored_headers_stay_with_their_address() {
    let world = World::new().await;
    let draft = EndpointDraft {
        headers: Some(vec![header("X-Team", Some("canary-9"))]),
        ..world.draft()
    };
    let id = Some(world.app.engine.save_endpoint(draft).await.unwrap().id);
    for headers in [None, Some(vec![header("x-team", None)])] {
        let url = "http://127.0.0.1:1/v1".to_owned();
        let moved = EndpointDraft {
            id,
            url,
            headers,
            ..world.draft()
        };
        let refused = world
            .app
            .engine
            .save_endpoint(moved.clone())
            .await
            .unwrap_err();
        assert!(matches!(refused, ApiError::BadInput { .. }), "{refused:?}");
        assert!(world.app.engine.test_endpoint(moved).await.is_err());
    }
}

#[tokio::test]
async fn headers_that_break_a_request_are_refused() {
    let world = World::new().await;
    for (name, value) in [
        ("Host", "evil.example"),
        ("Content-Length", "3"),
        ("a b", "c"),
        ("x-a", "b\r\nc: d"),
    ] {
        let draft = EndpointDraft {
            headers: Some(vec![header(name, Some(value))]),
            ..world.draft()
        };
        assert!(
            world.app.engine.save_endpoint(draft).await.is_err(),
            "{name}"
        );
    }
    let twice = vec![header("X-A", Some("1")), header("x-a", Some("2"))];
    assert!(
        world
            .app
            .engine
            .save_endpoint(EndpointDraft {
                headers: Some(twice),
                ..world.draft()
            })
            .await
            .is_err()
    );
    assert!(world.app.engine.list_endpoints().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_models_settings_build_on_its_endpoints() {
    let world = World::new().await;
    let id = world
        .app
        .engine
        .save_endpoint(world.draft())
        .await
        .unwrap()
        .id;
    world.app.engine.refresh_endpoint(id).await.unwrap();
    let small = world.app.engine.list_endpoints().await.unwrap()[0].models[1]
        .id
        .clone();
    let owner = |id: &str| SettingOwner::Model {
        model: ModelRef::Remote { id: id.into() },
    };
    let sees = Some(SettingValue::Switch(true));
    world
        .app
        .engine
        .set_setting(owner(&id.to_string()), "sees_images".into(), sees.clone())
        .await
        .unwrap();
    let settings = world
        .app
        .engine
        .layered_settings(owner(&small))
        .await
        .unwrap();
    let setting = settings
        .settings
        .iter()
        .find(|setting| setting.key == "sees_images")
        .unwrap();
    assert_eq!(Some(setting.value.clone()), sees);
}

#[tokio::test]
async fn health_report_contacts_no_endpoint() {
    let world = World::new().await;
    world.app.engine.save_endpoint(world.draft()).await.unwrap();
    world.app.engine.health().await.unwrap();
    assert_eq!(world.server.asked(), Vec::<String>::new());
}

#[tokio::test]
async fn deleting_an_endpoint_frees_chat_and_default() {
    let world = World::new().await;
    let id = world
        .app
        .engine
        .save_endpoint(world.draft())
        .await
        .unwrap()
        .id;
    world.app.engine.refresh_endpoint(id).await.unwrap();
    let small = world.app.engine.list_endpoints().await.unwrap()[0].models[1]
        .id
        .clone();
    let default_model = Some(ModelRef::Remote { id: small });
    world
        .app
        .engine
        .update_settings(engine::api::SettingsChange {
            default_model,
            ..Default::default()
        })
        .await
        .unwrap();
    assert!(world.app.engine.list_endpoints().await.unwrap()[0].default);
    world.app.engine.delete_endpoint(id).await.unwrap();
    assert_eq!(
        world.app.engine.get_settings().await.unwrap().default_model,
        None
    );
}
