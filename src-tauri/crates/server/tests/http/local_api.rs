//! The switch of the local API, the status for programs, and the app's own server.

use std::net::TcpListener;

use engine::api::{ApiKeyLimits, LocalApi, LocalApiSettings, SettingsChange};
use serde_json::{Value, json};
use server::LocalApiServer;

use crate::world::{Answer, World, request};

async fn set(world: &World, enabled: bool, port: u16) {
    let local_api = Some(LocalApiSettings { enabled, port });
    world
        .engine
        .update_settings(SettingsChange {
            local_api,
            ..SettingsChange::default()
        })
        .await
        .unwrap();
}

async fn get(world: &World, path: &str, headers: &[(&str, &str)]) -> Answer {
    let host = world.addr().to_string();
    request(
        world.addr(),
        "GET",
        path,
        &[&[("Host", host.as_str())], headers].concat(),
        b"",
    )
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn routes_are_missing_with_a_reason_while_off() {
    let world = World::new().await;
    for path in ["/v1/models", "/api/v1/models"] {
        let answer = world.ask("GET", path, b"").await;
        assert_eq!(
            (answer.status, &answer.json()["error"]["code"]),
            (404, &json!("local_api_off")),
            "{path}"
        );
        assert!(
            answer.json()["error"]["message"]
                .as_str()
                .unwrap()
                .contains("Settings, Local API")
        );
    }
    let answer = world.ask("GET", "/ws/chat", b"").await;
    assert_eq!(
        (answer.status, &answer.json()["kind"]),
        (404, &json!("notFound"))
    );
    set(&world, true, 8000).await;
    assert_ne!(
        world.ask("GET", "/v1/models", b"").await.json()["error"]["code"],
        "local_api_off"
    );
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn root_is_a_page_for_browsers_and_a_status_for_programs() {
    let world = World::new().await;
    let status = get(&world, "/", &[]).await;
    assert_eq!(
        status.json(),
        json!({ "status": "ok", "message": "Inglenook is running", "localApi": false })
    );
    let any = get(&world, "/", &[("Accept", "*/*")]).await;
    assert_eq!(any.header("content-type"), Some("application/json"));
    let page = get(&world, "/", &[("Accept", "text/html,*/*;q=0.8")]).await;
    assert!(
        page.header("content-type")
            .unwrap()
            .starts_with("text/html"),
        "{page:?}"
    );
    assert!(
        String::from_utf8(page.body)
            .unwrap()
            .contains("<title>Inglenook</title>")
    );
    set(&world, true, 8000).await;
    assert_eq!(get(&world, "/", &[]).await.json()["localApi"], true);
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn health_gives_facts_with_reasons() {
    let world = World::new().await;
    let health = world.ask("GET", "/health", b"").await.json();
    let facts = &health["facts"];
    assert_eq!(facts["databaseWritable"]["value"], true);
    assert_eq!(
        facts["modelLoaded"],
        json!({ "value": false, "reason": "No model is set up" })
    );
    assert_eq!(
        facts["endpointReachable"],
        Value::Null,
        "no endpoint is asked without a request for it"
    );
    let asked = world.ask("GET", "/health?endpoints=true", b"").await.json();
    assert_eq!(
        asked["facts"]["endpointReachable"],
        json!({ "value": false, "reason": "No endpoint is set up" })
    );
    let limits = ApiKeyLimits {
        characters: None,
        raw_models: false,
        read_only: true,
    };
    let made = world
        .engine
        .create_api_key("Watch".into(), limits)
        .await
        .unwrap();
    let bearer = format!("Bearer {}", made.secret);
    let seen = get(&world, "/health", &[("Authorization", &bearer)])
        .await
        .json();
    let names: Vec<_> = seen["checks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|check| check["name"].clone())
        .collect();
    assert_eq!(
        names,
        ["database", "model", "worker"],
        "a key does not see the data folder"
    );
    let asked = get(
        &world,
        "/health?endpoints=true",
        &[("Authorization", &bearer)],
    )
    .await
    .json();
    assert_eq!(
        asked["facts"]["endpointReachable"],
        Value::Null,
        "a key contacts no endpoint with the user's keys"
    );
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn key_opens_nothing_but_the_api() {
    let world = World::new().await;
    set(&world, true, 8000).await;
    let limits = ApiKeyLimits {
        characters: None,
        raw_models: true,
        read_only: false,
    };
    let made = world
        .engine
        .create_api_key("Lamp".into(), limits)
        .await
        .unwrap();
    let (host, bearer) = (world.addr().to_string(), format!("Bearer {}", made.secret));
    for (method, path) in [
        ("POST", "/api/op/list_chats"),
        ("POST", "/api/ticket"),
        ("GET", "/asset/0000"),
    ] {
        let headers = [("Host", host.as_str()), ("Authorization", bearer.as_str())];
        assert_eq!(
            request(world.addr(), method, path, &headers, b"{}")
                .await
                .status,
            401,
            "{path}"
        );
    }
    world.stop().await;
}

/// Waits until the server of the app is as wanted.
async fn api(world: &World, wanted: impl Fn(&LocalApi) -> bool) -> LocalApi {
    let mut events = world.engine.subscribe();
    loop {
        let found = world.engine.local_api().await.unwrap();
        if wanted(&found) {
            return found;
        }
        events.next().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn app_server_follows_the_settings() {
    let world = World::new().await;
    let busy = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = busy.local_addr().unwrap().port();
    let server = LocalApiServer::follow_settings(world.engine.clone());
    assert_eq!(api(&world, |_| true).await.address, None, "off by default");

    set(&world, true, port).await;
    let failure = api(&world, |found| found.failure.is_some())
        .await
        .failure
        .unwrap();
    assert!(failure.message.contains(&port.to_string()), "{failure:?}");
    let free = failure.free_port.unwrap();
    assert_ne!(free, port);

    set(&world, true, free).await;
    let found = api(&world, |found| found.address.is_some()).await;
    assert_eq!(
        (found.address, found.failure),
        (Some(format!("http://127.0.0.1:{free}")), None)
    );
    let host = format!("127.0.0.1:{free}");
    let status = request(host.parse().unwrap(), "GET", "/", &[("Host", &host)], b"").await;
    assert_eq!(status.json()["localApi"], true);
    let page = request(
        host.parse().unwrap(),
        "GET",
        "/",
        &[("Host", &host), ("Accept", "text/html")],
        b"",
    )
    .await;
    assert!(
        String::from_utf8(page.body)
            .unwrap()
            .contains("Inglenook is running")
    );

    set(&world, false, free).await;
    api(&world, |found| found.address.is_none()).await;
    drop(TcpListener::bind(("127.0.0.1", free)).expect("the port is free again"));
    server.stop().await;
    world.stop().await;
}
