//! Connections without the token cannot block others.

use std::io::Write as _;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::world::World;

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
        assert!(started.elapsed() < Duration::from_secs(1), "{begin:?}: {:?}", started.elapsed());
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
        stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
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
