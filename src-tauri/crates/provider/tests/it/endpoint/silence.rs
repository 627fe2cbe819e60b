//! Slow endpoints. The limits are short, and the server waits for gates instead of time.

use std::time::Duration;

use futures_util::StreamExt;
use provider::{GenerationEvent, ProviderErrorKind, ReplyGate, Timeouts};

use super::support::*;

const SOON: Duration = Duration::from_millis(30);

fn gated(before: Play, after: Play) -> (ReplyGate, Play) {
    let gate = ReplyGate::new();
    (
        gate.clone(),
        [before, vec![Step::Gate(gate)], after].concat(),
    )
}

fn bytes(text: &str) -> Play {
    vec![Step::Bytes(text.as_bytes().to_vec())]
}

#[tokio::test]
async fn reports_silence_then_times_out() {
    let (_gate, play) = gated(vec![], vec![]);
    let server = FaultServer::start(vec![play]).await;
    let timeouts = Timeouts {
        notice: SOON,
        first_text: SOON * 7 / 2,
        ..timeouts()
    };
    let seen = watch(start(&server.url(), timeouts)).await;
    assert_eq!(seen.line, "zzz[Timeout]");
    assert!(
        server.received().len() <= 1,
        "our own timeout is not retried"
    );
}

#[tokio::test]
async fn silence_within_a_reply_keeps_the_text() {
    let (_gate, play) = gated(stream(says("Hello ")), vec![]);
    let server = FaultServer::start(vec![play]).await;
    let seen = watch(start(
        &server.url(),
        Timeouts {
            between_texts: SOON,
            ..timeouts()
        },
    ))
    .await;
    assert_eq!(
        (seen.line.as_str(), server.received().len()),
        ("Hello [Timeout]", 1)
    );
    assert!(
        seen.error
            .unwrap()
            .message
            .ends_with("has sent nothing for 0.03 s")
    );
}

#[tokio::test]
async fn reply_ends_without_done_marker() {
    let (_gate, play) = gated(stream(says("Hello.") + &ends("stop")), vec![]);
    let server = FaultServer::start(vec![play]).await;
    let seen = watch(start(
        &server.url(),
        Timeouts {
            usage: SOON,
            ..timeouts()
        },
    ))
    .await;
    assert_eq!(seen.line, "Hello.[Stop]");
}

#[tokio::test]
async fn endless_line_is_silence() {
    let gates: Vec<ReplyGate> = (0..50).map(|_| ReplyGate::new()).collect();
    let drips = gates
        .iter()
        .flat_map(|gate| [Step::Gate(gate.clone()), Step::Bytes(b"x".to_vec())]);
    let server =
        FaultServer::start(vec![stream("data: ").into_iter().chain(drips).collect()]).await;
    let mut events = start(
        &server.url(),
        Timeouts {
            notice: SOON,
            first_text: SOON * 7 / 2,
            ..timeouts()
        },
    );
    let mut notices = 0;
    let error = loop {
        match events.next().await.unwrap() {
            Ok(event) => {
                assert!(
                    matches!(event, GenerationEvent::Stalled { .. }),
                    "{event:?}"
                );
                gates[notices].open();
                notices += 1;
            }
            Err(error) => break error,
        }
    };
    assert_eq!(error.kind, ProviderErrorKind::Timeout);
    // Three notices, and three more before the response head on a slow machine.
    assert!((3..=6).contains(&notices), "{notices} notices");
}

#[tokio::test]
async fn endless_error_is_silence() {
    let head = "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 100\r\n\r\n{\"err";
    let (_gate, play) = gated(bytes(head), vec![]);
    let server = FaultServer::start(vec![play]).await;
    let seen = watch(start(
        &server.url(),
        Timeouts {
            first_text: SOON,
            ..timeouts()
        },
    ))
    .await;
    assert_eq!(seen.line, "[Timeout]");
}

#[tokio::test]
async fn reply_continues_after_a_silence() {
    let (gate, play) = gated(stream(says("Hello ")), bytes(&(says("there.") + DONE)));
    let server = FaultServer::start(vec![play]).await;
    let mut events = start(
        &server.url(),
        Timeouts {
            notice: SOON,
            ..timeouts()
        },
    );
    // Thirty milliseconds are less than a second.
    let quiet = GenerationEvent::Stalled { seconds: 0 };
    let mut next = events.next().await.unwrap().unwrap();
    while next == quiet {
        next = events.next().await.unwrap().unwrap();
    }
    assert_eq!(next, GenerationEvent::Text("Hello ".to_owned()));
    assert_eq!(events.next().await.unwrap().unwrap(), quiet);
    gate.open();
    assert!(
        watch(events)
            .await
            .line
            .trim_start_matches('z')
            .starts_with("there.[Stop]")
    );
}
