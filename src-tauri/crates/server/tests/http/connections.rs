//! Connections and bodies of one client cannot block others.

use std::io::Write as _;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use engine::api::ApiKeyLimits;

use crate::world::{World, request};

/// Opens connections that send only `begin`.
fn idle(world: &World, begin: &str) -> Vec<TcpStream> {
    let connect = |_| {
        let mut stream = TcpStream::connect(world.addr()).unwrap();
        stream.write_all(begin.as_bytes()).unwrap();
        stream
    };
    (0..300).map(connect).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn idle_connections_without_token_block_no_others() {
    let world = World::new().await;
    let whole = format!("GET / HTTP/1.1\r\nHost: {}\r\n\r\n", world.addr());
    for begin in ["", "GET / HTTP/1.1\r\nHost: ", &whole] {
        let held = idle(&world, begin);
        let started = Instant::now();
        let answer = world.call("get_settings", "{}").await;
        assert_eq!(answer.status, 200, "{begin:?}");
        assert!(
            started.elapsed() < Duration::from_secs(1),
            "{begin:?}: {:?}",
            started.elapsed()
        );
        drop(held);
    }
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn authenticated_connection_is_not_evicted() {
    let world = World::new().await;
    let (host, bearer) = (world.addr().to_string(), world.bearer());
    let request = format!(
        "POST /api/op/get_settings HTTP/1.1\r\nHost: {host}\r\nAuthorization: {bearer}\r\nContent-Length: 2\r\n\r\n{{}}"
    );
    let mut known = Known::connect(&world);
    assert!(known.ask(&request).starts_with("HTTP/1.1 200"));
    let held = idle(&world, "");
    assert!(known.ask(&request).starts_with("HTTP/1.1 200"));
    drop(held);
    drop(known);
    world.stop().await;
}

/// A keep-alive connection.
struct Known(TcpStream);

impl Known {
    fn connect(world: &World) -> Self {
        let stream = TcpStream::connect(world.addr()).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(5)))
            .unwrap();
        Self(stream)
    }

    fn ask(&mut self, request: &str) -> String {
        use std::io::Read as _;
        self.0.write_all(request.as_bytes()).unwrap();
        let mut piece = [0; 4096];
        let count = self.0.read(&mut piece).unwrap();
        String::from_utf8_lossy(&piece[..count]).into_owned()
    }
}

/// A key that may only read.
async fn reader(world: &World, name: &str) -> String {
    let limits = ApiKeyLimits {
        characters: None,
        raw_models: false,
        read_only: true,
    };
    format!(
        "Bearer {}",
        world
            .engine
            .create_api_key(name.into(), limits)
            .await
            .unwrap()
            .secret
    )
}

/// Opens a connection that sends the beginning of a request with a body.
fn stalled(world: &World, bearer: &str) -> TcpStream {
    let mut stream = TcpStream::connect(world.addr()).unwrap();
    let head = "POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 1000\r\n";
    write!(
        stream,
        "{head}Host: {}\r\nAuthorization: {bearer}\r\n\r\n{{",
        world.addr()
    )
    .unwrap();
    stream
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_bodies_of_a_key_block_no_others() {
    let world = World::with_api().await;
    let (slow, other) = (reader(&world, "Slow").await, reader(&world, "Other").await);
    let held: Vec<_> = (0..20).map(|_| stalled(&world, &slow)).collect();
    tokio::time::sleep(Duration::from_millis(200)).await;
    let started = Instant::now();
    assert_eq!(world.call("get_settings", "{}").await.status, 200);
    let host = world.addr().to_string();
    let headers = [("Host", host.as_str()), ("Authorization", other.as_str())];
    let answer = request(
        world.addr(),
        "POST",
        "/v1/chat/completions",
        &headers,
        b"{}",
    )
    .await;
    assert_eq!(answer.status, 400, "the body was read");
    assert!(
        started.elapsed() < Duration::from_secs(2),
        "{:?}",
        started.elapsed()
    );
    drop(held);
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn idle_connections_of_a_key_block_no_others() {
    let world = World::with_api().await;
    let (busy, other) = (reader(&world, "Busy").await, reader(&world, "Other").await);
    let host = world.addr().to_string();
    let ask = |bearer: &str| {
        format!("GET /v1/models HTTP/1.1\r\nHost: {host}\r\nAuthorization: {bearer}\r\n\r\n")
    };
    let mut held: Vec<_> = (0..200).map(|_| Known::connect(&world)).collect();
    for connection in &mut held {
        connection.0.write_all(ask(&busy).as_bytes()).unwrap();
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    let started = Instant::now();
    assert_eq!(world.call("get_settings", "{}").await.status, 200);
    assert!(
        Known::connect(&world)
            .ask(&ask(&other))
            .starts_with("HTTP/1.1 200")
    );
    assert!(
        started.elapsed() < Duration::from_secs(2),
        "{:?}",
        started.elapsed()
    );
    drop(held);
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn client_that_sends_too_much_reads_the_reason() {
    let world = World::with_api().await;
    let (host, bearer) = (world.addr().to_string(), world.bearer());
    let headers = [("Host", host.as_str()), ("Authorization", bearer.as_str())];
    let body = vec![b' '; 40 * 1024 * 1024];
    let answer = request(
        world.addr(),
        "POST",
        "/v1/chat/completions",
        &headers,
        &body,
    )
    .await;
    assert_eq!(answer.status, 413);
    assert!(
        answer.json()["error"]["message"]
            .as_str()
            .unwrap()
            .contains("32 MiB"),
        "{answer:?}"
    );
    world.stop().await;
}
