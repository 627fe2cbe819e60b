//! Responses of the routes to authorised requests.

use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use provider::fake::{ReplyGate, ReplyScript};
use serde_json::{Value, json};
use server::{ApiSwitch, ServeError, ServeOptions, serve};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use crate::world::{World, raw, request};

macro_rules! names {
    ($($(#[doc = $doc:literal])* $($room:ident).+: $name:ident($($arg:ident: $ty:ty),*) -> $result:ty;)*) => {
        const OPERATIONS: &[&str] = &[$(stringify!($name)),*];
    };
}
engine::operations!(names);

#[tokio::test(flavor = "multi_thread")]
async fn every_operation_exists_and_checks_arguments() {
    let world = World::new().await;
    for operation in OPERATIONS {
        let answer = world.call(operation, r#"{"noSuchArgument":1}"#).await;
        assert_eq!(
            (answer.status, &answer.json()["kind"]),
            (400, &"badInput".into()),
            "{operation}: {answer:?}"
        );
    }
    let answer = world.call("no_such_operation", "{}").await;
    assert_eq!(
        (answer.status, &answer.json()["kind"]),
        (404, &"notFound".into())
    );
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn operation_returns_its_result() {
    let world = World::new().await;
    let made = world.call("create_character", &character("Mira")).await;
    assert_eq!(made.status, 200, "{made:?}");
    assert_eq!(made.header("content-type"), Some("application/json"));
    let id = made.json()["id"].as_str().unwrap().to_owned();
    let found = world
        .call("get_character", &format!(r#"{{"id":"{id}"}}"#))
        .await;
    assert_eq!(found.json()["fields"]["name"], "Mira");
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_object_is_404() {
    let world = World::new().await;
    let nowhere = "00000000-0000-7000-8000-000000000000";
    for path in [
        format!("/asset/{}", "0".repeat(64)),
        format!("/api/export/{nowhere}/png"),
        "/no/such/file".into(),
    ] {
        let answer = world.ask("GET", &path, b"").await;
        assert_eq!(
            (answer.status, &answer.json()["kind"]),
            (404, &"notFound".into()),
            "{path}"
        );
    }
    let answer = world
        .call("get_character", &format!(r#"{{"id":"{nowhere}"}}"#))
        .await;
    assert_eq!(answer.status, 404, "{answer:?}");
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn imports_and_exports_a_lorebook() {
    let world = World::new().await;
    let book = r#"{"entries":{"0":{"uid":0,"key":["lamp"],"content":"Oil.","strange":4}}}"#;
    let report = world
        .ask("POST", "/api/import?name=Sea.json", book.as_bytes())
        .await;
    let id = report.json()["imported"][0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let out = world
        .ask("GET", &format!("/api/export-lorebook/{id}/native"), b"")
        .await;
    assert!(
        out.header("content-disposition")
            .unwrap()
            .starts_with("attachment; filename*=UTF-8''Sea%2Ejson")
    );
    assert_eq!(out.json()["entries"]["0"]["strange"], 4);
    assert_eq!(
        world
            .ask("GET", &format!("/api/export-lorebook/{id}/v3"), b"")
            .await
            .json()["spec"],
        "lorebook_v3"
    );
    assert_eq!(
        world
            .ask("GET", &format!("/api/export-lorebook/{id}/png"), b"")
            .await
            .status,
        400
    );
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn exports_memories() {
    let world = World::new().await;
    let id = world.call("list_characters", "{}").await.json()[0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let out = world
        .ask("GET", &format!("/api/export-memories/{id}"), b"")
        .await;
    assert!(
        out.header("content-disposition")
            .unwrap()
            .contains("memories")
    );
    assert_eq!(out.json()["items"], json!([]));
    assert_eq!(
        world
            .ask("GET", "/api/export-memories/nobody", b"")
            .await
            .status,
        400
    );
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn exports_and_imports_all_data() {
    let world = World::new().await;
    let out = world.ask("GET", "/api/backup/archive", b"").await;
    assert_eq!(out.status, 200, "{out:?}");
    let made = world.ask("POST", "/api/backup/archive", &out.body).await;
    assert_eq!(
        (made.status, &made.json()["kind"]),
        (200, &"imported".into()),
        "{made:?}"
    );
    assert_eq!(
        world
            .ask("POST", "/api/backup/archive", b"no archive")
            .await
            .status,
        400
    );
    let listed = world.call("backups", "{}").await.json();
    assert_eq!(listed["backups"].as_array().unwrap().len(), 1, "{listed}");
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn second_backup_place_is_a_local_folder() {
    let (world, folder) = (World::new().await, tempfile::tempdir().unwrap());
    let body = json!({ "folder": folder.path() }).to_string();
    let chosen = world
        .ask("POST", "/api/backup/second-place", body.as_bytes())
        .await;
    assert_eq!(chosen.json()["secondPlaceMissing"], false, "{chosen:?}");
    let missing = json!({ "folder": folder.path().join("nowhere") }).to_string();
    assert_eq!(
        world
            .ask("POST", "/api/backup/second-place", missing.as_bytes())
            .await
            .status,
        400
    );
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn imports_and_exports_a_card() {
    let world = World::new().await;
    let card = r#"{"spec":"chara_card_v2","spec_version":"2.0","data":{"name":"Mira","extensions":{"depth":4}}}"#;
    let report = world
        .ask("POST", "/api/import?name=mira.json", card.as_bytes())
        .await;
    assert_eq!(report.status, 200, "{report:?}");
    let id = report.json()["imported"][0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let out = world
        .ask("GET", &format!("/api/export/{id}/json-v2"), b"")
        .await;
    assert_eq!(out.status, 200, "{out:?}");
    assert!(
        out.header("content-disposition")
            .unwrap()
            .starts_with("attachment; filename*=UTF-8''")
    );
    assert_eq!(out.json()["data"]["extensions"]["depth"], 4);
    assert_eq!(
        world
            .ask("GET", &format!("/api/export/{id}/exe"), b"")
            .await
            .status,
        400
    );
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_file_is_a_report_and_not_an_error() {
    let world = World::new().await;
    let report = world
        .ask(
            "POST",
            "/api/import?name=broken.png",
            b"\x89PNG\r\n\x1a\nbroken",
        )
        .await;
    assert_eq!(report.status, 200, "{report:?}");
    assert_eq!(report.json()["refused"][0]["file"], "broken.png");
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn imports_a_tokenizer_for_an_endpoint() {
    let world = World::new().await;
    let draft = json!({ "draft": {
        "name": "Mine", "url": "http://127.0.0.1:9/v1", "model": "mystery", "context": 8192
    } });
    let saved = world
        .ask(
            "POST",
            "/api/op/save_endpoint",
            draft.to_string().as_bytes(),
        )
        .await;
    let path = format!("/api/tokenizer/{}", saved.json()["id"].as_str().unwrap());
    let words = json!({
        "version": "1.0", "pre_tokenizer": { "type": "WhitespaceSplit" },
        "model": { "type": "WordLevel", "vocab": { "?": 0 }, "unk_token": "?" },
    });
    let taken = world.ask("POST", &path, words.to_string().as_bytes()).await;
    assert_eq!(
        (taken.status, &taken.json()["countedWith"]),
        (200, &"tokenizer.json".into()),
        "{taken:?}"
    );
    let refused = world.ask("POST", &path, b"hello").await;
    assert_eq!(
        (refused.status, &refused.json()["kind"]),
        (400, &"badInput".into()),
        "{refused:?}"
    );
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn health_without_token_shows_no_details() {
    let world = World::new().await;
    let host = world.addr().to_string();
    let answer = request(world.addr(), "GET", "/health", &[("Host", &host)], b"").await;
    assert_eq!(answer.json(), json!({ "ok": true }));
    let answer = world.ask("GET", "/health", b"").await;
    assert!(
        !answer.json()["checks"].as_array().unwrap().is_empty(),
        "{answer:?}"
    );
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ui_has_security_headers() {
    let world = World::new().await;
    let host = world.addr().to_string();
    let headers = [("Host", host.as_str()), ("Accept", "text/html")];
    let index = request(world.addr(), "GET", "/", &headers, b"").await;
    assert_eq!(
        (index.status, index.header("content-type")),
        (200, Some("text/html"))
    );
    assert_eq!(index.header("cache-control"), Some("no-store"));
    let policy = index.header("content-security-policy").unwrap();
    let scripts = policy
        .split("; ")
        .find(|rule| rule.starts_with("script-src"))
        .unwrap();
    assert_eq!(scripts, "script-src 'self'");
    assert!(policy.starts_with("default-src 'none'") && !policy.contains("http"));
    let script = world.ask("GET", "/assets/app-1a2b.js", b"").await;
    assert_eq!(script.header("content-type"), Some("text/javascript"));
    assert!(
        script
            .header("cache-control")
            .unwrap()
            .contains("immutable")
    );
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn paths_cannot_leave_the_ui_folder() {
    let world = World::new().await;
    for path in [
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/..%2fsecret.txt",
        "/assets/../../secret.txt",
        "/assets/..%5c..%5csecret.txt",
        "/./../secret.txt",
        "//secret.txt",
        "/%00",
    ] {
        let answer = world.ask("GET", path, b"").await;
        assert!(answer.status >= 400, "{path}: {answer:?}");
        assert!(
            !String::from_utf8_lossy(&answer.body).contains("canary"),
            "{path}"
        );
    }
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn refuses_a_large_body_unread() {
    let world = World::new().await;
    let head = |path: &str, length: usize| {
        let (host, bearer) = (world.addr(), world.bearer());
        format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: {bearer}\r\nContent-Length: {length}\r\n\r\n"
        )
    };
    for (path, cap) in [
        ("/api/op/list_chats", 44 << 20),
        ("/api/import?name=a.png", 64 << 20),
    ] {
        let answer = raw(world.addr(), head(path, cap + 1).into_bytes()).await;
        assert_eq!(
            (answer.status, &answer.json()["kind"]),
            (413, &"badInput".into()),
            "{path}"
        );
    }
    assert!(world.is_alive().await);
    world.stop().await;
}

/// A hundred malformed requests; each is refused, and the server survives.
#[tokio::test(flavor = "multi_thread")]
async fn survives_a_hundred_malformed_requests() {
    let world = World::new().await;
    let bodies = [
        "",
        "null",
        "[]",
        "7",
        "\"x\"",
        "{",
        "}",
        "{\"id\"",
        "{\"id\":}",
        "{\"id\":1}",
        "{\"id\":null}",
        "{\"id\":\"a\",}",
        "{\"id\":\"a\"}{}",
        "{id:1}",
        "\u{0}",
        "{\"id\":\"\\ud800\"}",
        "NaN",
        "{\"id\":1e999}",
        "<xml/>",
        "id=a",
    ];
    for operation in [
        "get_character",
        "open_chat",
        "update_settings",
        "send_message",
    ] {
        for body in bodies {
            let answer = world.call(operation, body).await;
            assert_eq!(
                answer.json()["kind"],
                "badInput",
                "{operation} {body:?}: {answer:?}"
            );
        }
    }
    let deep = format!("{{\"change\":{}", "[".repeat(100_000));
    for body in [deep.as_bytes(), b"{\"id\":\"\xff\xfe\"}", &[0xff; 4096]] {
        assert_eq!(
            world
                .ask("POST", "/api/op/update_settings", body)
                .await
                .status,
            400
        );
    }
    let long = format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(1 << 20));
    for bytes in [
        "\r\n\r\nx\r\n\r\n",
        "hello\r\n\r\n",
        "GET\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "GET / HTTP/1.1\r\nHost\r\n\r\n",
        "GET / HTTP/1.0\r\n\r\n",
        "GET / HTTP/1.1\r\n: x\r\n\r\n",
        "GET /\u{0} HTTP/1.1\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}",
        "{}",
        "GET /%ff HTTP/1.1\r\n\r\n",
        "\u{0}\u{0}\u{0}\u{0}\r\n\r\n",
        &long,
    ] {
        let answer = raw(world.addr(), finished(bytes)).await;
        assert!(
            answer.status == 0 || answer.status >= 400,
            "{:?}: {answer:?}",
            bytes.get(..60).unwrap_or(bytes)
        );
    }
    assert!(world.is_alive().await);
    world.stop().await;
}

/// Closes the request where the server would wait for more, so that the test does not wait either.
fn finished(bytes: &str) -> Vec<u8> {
    let end = if bytes.contains("\r\n\r\n") {
        ""
    } else {
        "\r\n\r\n"
    };
    format!("{bytes}{end}").into_bytes()
}

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

async fn listen(world: &World) -> Socket {
    let url = format!(
        "ws://{}/api/events?ticket={}",
        world.addr(),
        world.ticket().await
    );
    connect_async(url).await.unwrap().0
}

/// Returns the next event that satisfies `wanted`.
async fn event(socket: &mut Socket, wanted: impl Fn(&Value) -> bool) -> Value {
    let next = async |socket: &mut Socket| {
        tokio::time::timeout(Duration::from_secs(60), socket.next()).await
    };
    while let Some(frame) = next(socket).await.expect("the event comes within a minute") {
        if let Message::Text(text) = frame.unwrap() {
            let event: Value = serde_json::from_str(&text).unwrap();
            if wanted(&event) {
                return event;
            }
        }
    }
    panic!("the socket closed before the event came");
}

fn character(name: &str) -> String {
    let fields = engine::api::CharacterFields {
        name: name.to_owned(),
        ..Default::default()
    };
    json!({ "fields": fields }).to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_listener_gets_every_event() {
    let world = World::new().await;
    let mut listeners = [
        listen(&world).await,
        listen(&world).await,
        listen(&world).await,
    ];
    assert_eq!(
        world
            .call("create_character", &character("Mira"))
            .await
            .status,
        200
    );
    for listener in &mut listeners {
        let event = event(listener, |event| event["event"] == "changed").await;
        assert_eq!(event["what"], "characters");
    }
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn exports_many_cards_and_a_chat() {
    let world = World::new().await;
    let mut ids = Vec::new();
    for name in ["Wren", "wren"] {
        let made = world
            .call("create_character", &character(name))
            .await
            .json();
        ids.push(made["id"].as_str().unwrap().to_owned());
    }
    ids.push("00000000-0000-0000-0000-000000000000".to_owned());
    let wanted = json!({ "characters": ids, "format": "json-v3" }).to_string();
    let archive = world
        .ask("POST", "/api/export-characters", wanted.as_bytes())
        .await;
    assert_eq!(
        (archive.status, archive.header("content-type")),
        (200, Some("application/zip"))
    );
    let has = |text: &[u8]| {
        archive
            .body
            .windows(text.len())
            .any(|window| window == text)
    };
    for text in [
        &b"PK\x03\x04"[..],
        b"Wren.json",
        b"wren-2.json",
        b"not exported.txt",
        b"PK\x05\x06",
    ] {
        assert!(has(text), "{}", String::from_utf8_lossy(text));
    }
    let malformed = world.ask("POST", "/api/export-characters", b"{}").await;
    assert_eq!(malformed.status, 400);

    let chat = first_chat(&world).await;
    let text = world
        .ask("GET", &format!("/api/export-chat/{chat}/markdown"), b"")
        .await;
    assert_eq!(text.status, 200);
    assert!(
        text.header("content-disposition")
            .unwrap()
            .ends_with("%2Emd")
    );
    let bare = world
        .ask(
            "GET",
            &format!("/api/export-chat/{chat}/html?names=false&times=true"),
            b"",
        )
        .await;
    let page = String::from_utf8(bare.body).unwrap();
    assert!(
        page.starts_with("<!doctype html>") && page.contains("<time>") && !page.contains("<b dir"),
        "{page}"
    );
    assert_eq!(
        world
            .ask("GET", &format!("/api/export-chat/{chat}/pdf"), b"")
            .await
            .status,
        400
    );
    let wanted = json!({ "chats": [chat, chat], "format": "text" }).to_string();
    let archive = world
        .ask("POST", "/api/export-chats", wanted.as_bytes())
        .await;
    assert_eq!(
        (archive.status, archive.header("content-type")),
        (200, Some("application/zip"))
    );
    assert!(
        archive.body.windows(6).any(|window| window == b"-2.txt"),
        "two files"
    );
    assert_eq!(
        world.ask("POST", "/api/export-chats", b"[]").await.status,
        400
    );
    world.stop().await;
}

/// Opens the first chat.
async fn first_chat(world: &World) -> String {
    world.call("startup", "").await.json()["chat"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn reply_streams_to_every_listener() {
    let world = World::new().await;
    let chat = first_chat(&world).await;
    let mut listeners = [listen(&world).await, listen(&world).await];
    world.model.reply("Good evening to you.");
    let args = json!({ "chat": chat, "text": "Good evening!" }).to_string();
    let started = world.call("send_message", &args).await;
    assert_eq!(
        started.json()["sent"]["swipes"][0]["text"],
        "Good evening!",
        "{started:?}"
    );
    for listener in &mut listeners {
        let mut text = String::new();
        for seq in 0..4 {
            let token = event(listener, |event| event["event"] == "token").await;
            assert_eq!((&token["chat"], &token["seq"]), (&json!(chat), &json!(seq)));
            text += token["text"].as_str().unwrap();
        }
        assert_eq!(text, "Good evening to you.");
        let ended = event(listener, |event| event["event"] == "ended").await;
        assert_eq!(ended["reason"]["kind"], "stop");
    }
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn second_message_during_a_reply_is_a_conflict() {
    let world = World::new().await;
    let chat = first_chat(&world).await;
    let gate = ReplyGate::new();
    world.model.play(
        ReplyScript::new()
            .words("Half a ")
            .gate(&gate)
            .words("reply."),
    );
    let args = json!({ "chat": chat, "text": "Hello" }).to_string();
    assert_eq!(world.call("send_message", &args).await.status, 200);
    gate.reached().await;
    let refused = world.call("send_message", &args).await;
    assert_eq!(
        (refused.status, &refused.json()["kind"]),
        (409, &json!("busy"))
    );
    gate.open();
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn operation_completes_after_a_disconnect() {
    let world = World::new().await;
    let chat = first_chat(&world).await;
    let mut socket = listen(&world).await;
    // Repeated, because the system decides whether the server sees the request or the disconnect
    // first.
    for turn in 0..50 {
        let args = json!({ "chat": chat, "text": format!("Hello {turn}") }).to_string();
        let head = format!(
            "POST /api/op/send_message HTTP/1.1\r\nHost: {}\r\nAuthorization: {}\r\nContent-Length: {}\r\n\r\n{args}",
            world.addr(),
            world.bearer(),
            args.len(),
        );
        let mut client = TcpStream::connect(world.addr()).await.unwrap();
        client.write_all(head.as_bytes()).await.unwrap();
        drop(client);
        let ended = event(&mut socket, |event| event["event"] == "ended").await;
        assert_eq!(ended["reason"]["kind"], "stop");
    }
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn listener_that_sends_gets_an_error() {
    let world = World::new().await;
    let mut socket = listen(&world).await;
    for frame in [
        Message::text("{}"),
        Message::text("not json"),
        Message::binary(vec![0xff; 100]),
    ] {
        socket.send(frame).await.unwrap();
        let objection = event(&mut socket, |event| event["event"] == "error").await;
        assert_eq!(objection["kind"], "badInput");
    }
    socket
        .send(Message::Ping("still there?".into()))
        .await
        .unwrap();
    while !matches!(socket.next().await.unwrap().unwrap(), Message::Pong(_)) {}
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn stop_closes_sockets_and_frees_the_port() {
    let world = World::new().await;
    let addr = world.addr();
    let mut socket = listen(&world).await;
    world.stop().await;
    let mut last = None;
    while let Some(Ok(frame)) = socket.next().await {
        last = Some(frame);
    }
    assert!(matches!(last, Some(Message::Close(Some(_)))), "{last:?}");
    assert!(TcpStream::connect(addr).await.is_err());
}

/// A silent client is disconnected, so that it does not occupy a slot forever.
#[tokio::test(flavor = "multi_thread")]
async fn silent_connections_time_out() {
    let world = World::new().await;
    let mut silent = TcpStream::connect(world.addr()).await.unwrap();
    let mut answer = Vec::new();
    let read = tokio::time::timeout(Duration::from_secs(60), silent.read_to_end(&mut answer)).await;
    assert!(read.is_ok(), "the server still waits");
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn refuses_other_hosts_and_a_missing_ui() {
    let world = World::new().await;
    let with = |host: &str, ui| ServeOptions {
        host: host.into(),
        port: 0,
        ui,
        token: None,
        api: ApiSwitch::BySettings,
    };
    let refused = serve(world.engine.clone(), with("0.0.0.0", None)).await;
    assert!(matches!(
        refused.err(),
        Some(ServeError::NotLoopback { .. })
    ));
    let refused = serve(
        world.engine.clone(),
        with("localhost", Some("/no/such/folder".into())),
    )
    .await;
    assert!(matches!(refused.err(), Some(ServeError::NoUi { .. })));
    let taken = ServeOptions {
        port: world.addr().port(),
        ..with("127.0.0.1", None)
    };
    assert!(matches!(
        serve(world.engine.clone(), taken).await.err(),
        Some(ServeError::PortInUse { free: Some(_), .. })
    ));
    world.stop().await;
}
