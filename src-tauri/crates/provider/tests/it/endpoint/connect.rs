//! Errors for endpoints that cannot be reached.

use std::process::Command;
use std::time::Duration;

use provider::{ProviderErrorKind, Timeouts};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use super::support::*;

/// Returns a port without a listener.
async fn dead_port() -> u16 {
    TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap()
        .port()
}

#[tokio::test]
async fn names_address_and_cause_of_a_stopped_server() {
    let port = dead_port().await;
    let seen = watch(start(&format!("http://127.0.0.1:{port}/v1"), timeouts())).await;
    assert_eq!(seen.line, "~~[Unreachable]");
    let error = seen.error.unwrap();
    assert_eq!(
        error.message,
        format!("nothing listens on 127.0.0.1:{port} (http://127.0.0.1:{port}/v1)")
    );
    assert_eq!(error.hint, "Start the server, or check the port.");
}

#[tokio::test]
async fn names_a_host_that_does_not_resolve() {
    let seen = watch(start("http://no-such-host.invalid:8080/v1", timeouts())).await;
    assert_eq!(seen.line, "[Unreachable]");
    assert!(
        seen.error
            .unwrap()
            .message
            .contains("no-such-host.invalid:8080")
    );
}

#[tokio::test]
async fn connection_attempt_times_out() {
    // With a full backlog, the kernel drops further connections, like a firewall.
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let mut waiting = Vec::new();
    while let Ok(stream) =
        tokio::time::timeout(Duration::from_millis(200), TcpStream::connect(address)).await
    {
        waiting.push(stream.unwrap());
    }
    let timeouts = Timeouts {
        connect: Duration::from_millis(100),
        ..timeouts()
    };
    let seen = watch(start(&format!("http://{address}/v1"), timeouts)).await;
    assert_eq!(seen.line, "[Timeout]");
    let error = seen.error.unwrap();
    assert!(
        error.message.contains(&address.to_string()) && error.message.contains("within 0.1 s"),
        "{error}"
    );
}

#[tokio::test]
async fn https_to_a_plain_server_suggests_http() {
    let server = FaultServer::start(vec![]).await;
    // The server reads the TLS handshake as a request and answers with an error.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut greeting = [0; 1024];
        tokio::io::AsyncReadExt::read(&mut stream, &mut greeting)
            .await
            .unwrap();
        let answer = b"HTTP/1.1 400 Bad Request\r\n\r\n";
        tokio::io::AsyncWriteExt::write_all(&mut stream, answer)
            .await
            .unwrap();
        tokio::io::AsyncReadExt::read(&mut stream, &mut greeting)
            .await
            .ok();
    });
    let seen = watch(start(&format!("https://127.0.0.1:{port}/v1"), timeouts())).await;
    assert_eq!(seen.line, "[Tls]");
    assert!(
        seen.error
            .unwrap()
            .hint
            .contains(&format!("http://127.0.0.1:{port}/v1"))
    );
    drop(server);
}

#[tokio::test]
async fn http_to_a_tls_server_suggests_https() {
    // The alert that a TLS server sends in response to plain text.
    let alert = vec![Step::Bytes(vec![0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x46])];
    let server = FaultServer::start(vec![alert]).await;
    let seen = watch(start(&server.url(), timeouts())).await;
    assert_eq!(seen.line, "[Malformed]");
    assert!(
        seen.error
            .unwrap()
            .hint
            .contains(&server.url().replace("http:", "https:"))
    );
}

#[tokio::test]
async fn explains_a_connection_closed_during_tls() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut greeting = [0; 1024];
            tokio::io::AsyncReadExt::read(&mut stream, &mut greeting)
                .await
                .ok();
        }
    });
    let seen = watch(start(&format!("https://127.0.0.1:{port}/v1"), timeouts())).await;
    assert_eq!(seen.line, "[Tls]");
    assert!(
        seen.error
            .unwrap()
            .hint
            .contains(&format!("http://127.0.0.1:{port}/v1"))
    );
    // A TLS server may also close the connection after a plain request.
    let seen = watch(start(&format!("http://127.0.0.1:{port}/v1"), timeouts())).await;
    assert_eq!(seen.line, "~~[Cut]");
    assert!(
        seen.error
            .unwrap()
            .hint
            .contains(&format!("https://127.0.0.1:{port}/v1"))
    );
}

#[tokio::test]
async fn explains_an_untrusted_certificate() {
    provider::tls::install();
    let certified = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
    let config = rustls::ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(
            vec![certified.cert.der().clone()],
            certified.signing_key.into(),
        )
        .unwrap();
    let acceptor = tokio_rustls::TlsAcceptor::from(std::sync::Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        acceptor.accept(stream).await.ok();
    });
    let seen = watch(start(&format!("https://127.0.0.1:{port}/v1"), timeouts())).await;
    assert_eq!(seen.line, "[Tls]");
    assert!(seen.error.unwrap().message.contains("certificate"));
}

const CHILD: &str = "PROVIDER_TEST_PROXY_CHILD";

#[tokio::test]
async fn loopback_requests_bypass_the_proxy() {
    if std::env::var_os(CHILD).is_some() {
        assert_eq!(run(vec![healthy()]).await.0.line, "Hello there.[Stop]");
        let elsewhere = watch(start("http://no-such-host.invalid/v1", timeouts())).await;
        assert_eq!(
            elsewhere.error.unwrap().kind,
            ProviderErrorKind::Unreachable
        );
        return;
    }
    // Proxies come from the environment, which a test must not change for its own process.
    let output = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "endpoint::connect::loopback_requests_bypass_the_proxy",
        ])
        .envs([
            (CHILD, "1"),
            ("http_proxy", "http://127.0.0.1:1"),
            ("all_proxy", "http://127.0.0.1:1"),
        ])
        .output()
        .unwrap();
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success() && shown.contains("1 passed"),
        "{shown}"
    );
}
