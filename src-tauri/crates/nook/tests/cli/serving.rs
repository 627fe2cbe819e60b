//! Tests of `serve`.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use futures_util::StreamExt as _;
use serde_json::Value;

use crate::world::{Running, World, card};

struct Serving {
    running: Running,
    addr: String,
    token: String,
}

fn serve(world: &World) -> Serving {
    let mut running = world.start(&["serve", "--json"]);
    let started: Value = serde_json::from_str(&running.line()).unwrap();
    let text = |field: &str| started[field].as_str().unwrap().to_owned();
    assert_eq!(
        text("url"),
        format!("http://{}/#token={}", text("addr"), text("token"))
    );
    Serving {
        running,
        addr: text("addr"),
        token: text("token"),
    }
}

impl Serving {
    fn ask(&self, request: &str, headers: &[(&str, &str)], body: &str) -> (u16, Value) {
        let mut stream = TcpStream::connect(&self.addr).unwrap();
        let extra: String = headers
            .iter()
            .map(|(name, value)| format!("{name}: {value}\r\n"))
            .collect();
        let head = format!(
            "{request} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nAuthorization: Bearer {}\r\n{extra}Content-Length: {}\r\n\r\n",
            self.addr,
            self.token,
            body.len(),
        );
        stream
            .write_all(format!("{head}{body}").as_bytes())
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        let body = answer.split_once("\r\n\r\n").unwrap().1;
        (status, serde_json::from_str(body).unwrap())
    }
}

#[test]
fn server_uses_the_same_data() {
    let world = World::without_model();
    world.json(&["import", &world.file("mira.json", card("Mira Quay"))]);
    let serving = serve(&world);
    assert_eq!(serving.ask("GET /health", &[], "").0, 200);
    let (status, characters) = serving.ask("POST /api/op/list_characters", &[], "{}");
    assert_eq!(status, 200);
    assert!(
        characters
            .as_array()
            .unwrap()
            .iter()
            .any(|one| one["name"] == "Mira Quay"),
        "{characters}"
    );
    let foreign = [("Origin", "http://evil.example")];
    assert_eq!(
        serving
            .ask("POST /api/op/list_characters", &foreign, "{}")
            .0,
        403
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn sends_events_over_the_socket() {
    let world = World::without_model();
    let serving = serve(&world);
    let ticket = serving.ask("POST /api/ticket", &[], "").1;
    let url = format!(
        "ws://{}/api/events?ticket={}",
        serving.addr,
        ticket["ticket"].as_str().unwrap()
    );
    let (mut socket, _) = tokio_tungstenite::connect_async(url).await.unwrap();
    let (status, _) = serving.ask("POST /api/import?name=mira.json", &[], &card("Mira Quay"));
    assert_eq!(status, 200);
    loop {
        let frame = socket.next().await.unwrap().unwrap();
        let event: Value = serde_json::from_str(frame.to_text().unwrap()).unwrap();
        if event["event"] == "imported" {
            assert_eq!(event["report"]["imported"][0]["name"], "Mira Quay");
            return;
        }
    }
}

#[test]
fn second_process_reports_a_folder_in_use() {
    let world = World::without_model();
    let _serving = serve(&world);
    world
        .run(&["list", "chats", "--json"])
        .assert_failed("inUse");
    let doctor = world.run(&["doctor", "--json"]);
    assert_eq!(
        (doctor.code, &doctor.json()["ok"]),
        (1, &false.into()),
        "{doctor:?}"
    );
}

#[cfg(unix)]
#[test]
fn exits_on_request_and_releases_the_folder() {
    use rustix::process::Signal;

    let world = World::without_model();
    for signal in [Signal::INT, Signal::TERM] {
        let serving = serve(&world);
        serving.running.signal(signal);
        assert_eq!(serving.running.wait().code(), Some(0));
    }
    world.json(&["list", "chats"]);
}

#[test]
fn token_can_be_set_and_must_be_strong() {
    let world = World::without_model();
    let weak = world
        .command(&["serve", "--json"])
        .env("INGLENOOK_TOKEN", "secret")
        .output()
        .unwrap();
    crate::world::Done::from(weak).assert_failed("weakToken");
}

#[test]
fn refuses_other_hosts_and_a_missing_ui() {
    let world = World::without_model();
    world
        .run(&["serve", "--host", "0.0.0.0", "--json"])
        .assert_failed("notLoopback");
    let nowhere = world
        .command(&["serve", "--ui", "--json"])
        .env("INGLENOOK_UI", world.path("no-ui"))
        .output()
        .unwrap();
    crate::world::Done::from(nowhere).assert_failed("noUi");
    world.file("ui/index.html", "<!doctype html><title>Inglenook</title>");
    let mut command = world.command(&["serve", "--ui"]);
    let child = command
        .env("INGLENOOK_UI", world.path("ui"))
        .spawn()
        .unwrap();
    let mut running = Running::from(child);
    assert!(running.line().starts_with("http://127.0.0.1:"));
}

#[test]
fn key_is_made_listed_limited_and_revoked() {
    let world = World::without_model();
    world.json(&["import", &world.file("mira.json", card("Mira Quay"))]);
    let made = world.json(&[
        "api-key",
        "add",
        "Reading lamp",
        "--character",
        "mira quay",
        "--read-only",
    ]);
    assert_eq!(made["name"], "Reading lamp");
    let secret = made["key"].as_str().unwrap();
    assert!(secret.starts_with("inglenook_"), "{made}");
    let listed = world.run(&["api-key", "list"]);
    assert!(
        listed.out.contains("Reading lamp")
            && listed.out.contains("1 character, read-only; never used")
    );
    assert!(!listed.out.contains(secret), "the secret is shown once");
    let changed = world.json(&["api-key", "limit", "reading lamp", "--raw"]);
    assert_eq!(
        (
            &changed["limits"]["raw_models"],
            &changed["limits"]["characters"]
        ),
        (&true.into(), &Value::Null)
    );
    world
        .run(&["api-key", "add", "reading LAMP", "--json"])
        .assert_failed("badInput");
    world.run(&["api-key", "revoke", "Reading lamp"]);
    assert_eq!(
        world.json(&["api-key", "list"])["items"],
        serde_json::json!([])
    );
    world
        .run(&["api-key", "revoke", "Reading lamp", "--json"])
        .assert_failed("notFound");
}

#[test]
fn api_is_served_on_request_and_names_a_free_port() {
    let world = World::without_model();
    let serving = serve(&world);
    assert_eq!(
        serving.ask("GET /v1/models", &[], "").1["error"]["code"],
        "local_api_off"
    );
    drop(serving);
    let busy = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = busy.local_addr().unwrap().port().to_string();
    let refused = world.run(&["serve", "--api", "--port", &port, "--json"]);
    refused.assert_failed("portInUse");
    let mut running = world.start(&["serve", "--api", "--port", "0", "--json"]);
    let started: Value = serde_json::from_str(&running.line()).unwrap();
    assert_eq!(
        started["api"],
        format!("http://{}/v1", started["addr"].as_str().unwrap())
    );
    let text = |field: &str| started[field].as_str().unwrap().to_owned();
    let serving = Serving {
        addr: text("addr"),
        token: text("token"),
        running,
    };
    assert_ne!(
        serving.ask("GET /v1/models", &[], "").1["error"]["code"],
        "local_api_off"
    );
}
