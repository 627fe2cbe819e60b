use tokio::io::AsyncReadExt as _;
use tokio::net::TcpListener;

use super::*;
use crate::download::address::may_redirect_to;

#[cfg(target_os = "linux")]
#[tokio::test]
async fn full_disk_is_reported() {
    let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url: Url = format!("http://{}/m", server.local_addr().unwrap())
        .parse()
        .unwrap();
    let serve = async {
        let (mut stream, _) = server.accept().await.unwrap();
        stream.read_exact(&mut [0; 4]).await.unwrap();
        stream
            .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwords")
            .await
            .unwrap();
    };
    let (answer, ()) = tokio::join!(client(&url).unwrap().get(url.clone()).send(), serve);
    let mut disk = OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .await
        .unwrap();
    let conditions = Conditions {
        bytes: None,
        verified: false,
        cancel: CancellationToken::new(),
        has_room: Some(&|_| true),
    };
    let part = Path::new("m.part");
    let received = receive(
        answer.unwrap(),
        &mut disk,
        part,
        &mut 0,
        None,
        &conditions,
        |_| (),
    )
    .await;
    let ended = received.and(disk.flush().await.map_err(|source| file(part, source)));
    assert!(
        matches!(ended, Err(DownloadError::Full { .. })),
        "{ended:?}"
    );
}

#[test]
fn remote_hosts_cannot_redirect_to_loopback() {
    let leads =
        |from: &str, to: &str| may_redirect_to(&from.parse().unwrap(), &to.parse().unwrap());
    let (hub, files, here) = (
        "https://hub.example/a",
        "https://files.example/b",
        "http://127.0.0.1:9/c",
    );
    assert!(leads(hub, files) && leads(here, files) && leads(here, "http://localhost:8/d"));
    for own in [
        here,
        "https://localhost/c",
        "http://[::1]:9/c",
        "http://files.example/b",
        "https://192.168.1.1/admin",
        "https://169.254.169.254/latest",
        "https://[fd00::1]/c",
        "https://[::ffff:10.0.0.1]/c",
    ] {
        assert!(!leads(hub, own), "{own}");
    }
}
