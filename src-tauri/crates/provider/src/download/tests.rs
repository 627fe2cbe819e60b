use tokio::io::AsyncReadExt as _;
use tokio::net::TcpListener;

use super::*;
use crate::download::address::{is_of_release, may_redirect_to};

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
    let (answer, ()) = tokio::join!(
        client(&url, Redirects::Anywhere)
            .unwrap()
            .get(url.clone())
            .send(),
        serve
    );
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

#[test]
fn release_leads_to_its_own_server_only() {
    let leads = |from: &str, to: &str| is_of_release(&from.parse().unwrap(), &to.parse().unwrap());
    let own = "https://updates.example/manifest.json";
    assert!(leads(own, "https://updates.example/stable/manifest.json"));
    let github = "https://github.com/inglenook/inglenook/releases/latest/download/manifest.json";
    for file in [
        "https://github.com/inglenook/inglenook/releases/download/v0.2.0/manifest.json",
        "https://objects.githubusercontent.com/1/manifest.json?sig=a",
        "https://release-assets.githubusercontent.com/1/manifest.json",
    ] {
        assert!(leads(github, file), "{file}");
        assert!(!leads(own, file), "{file}");
    }
    for other in [
        "https://evil.example/manifest.json",
        "https://github.com.evil.example/manifest.json",
        "https://raw.githubusercontent.com/a/b/manifest.json",
        "http://release-assets.githubusercontent.com/1/manifest.json",
        "https://release-assets.githubusercontent.com:8443/1",
        "http://127.0.0.1:9/manifest.json",
    ] {
        assert!(!leads(github, other), "{other}");
        assert!(!leads(own, other), "{other}");
    }
    let here = "http://127.0.0.1:9/manifest.json";
    assert!(leads(here, "http://127.0.0.1:9/other"));
    assert!(!leads(here, "http://127.0.0.1:8/other") && !leads(here, "http://localhost:9/other"));
}
