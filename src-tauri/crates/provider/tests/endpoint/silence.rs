//! Endpoints that keep one waiting. The limits are short; the server waits for gates, never for time.

use std::time::Duration;

use provider::{Gate, Patience};

use super::support::*;

const SOON: Duration = Duration::from_millis(30);

fn gated(before: Play, after: Play) -> (Gate, Play) {
    let gate = Gate::new();
    (gate.clone(), [before, vec![Step::Gate(gate)], after].concat())
}

fn bytes(text: &str) -> Play {
    vec![Step::Bytes(text.as_bytes().to_vec())]
}

#[tokio::test]
async fn silence_is_noticed_again_and_again_and_then_given_up() {
    let (_gate, play) = gated(vec![], vec![]);
    let server = FaultServer::start(vec![play]).await;
    let patience = Patience { notice: SOON, first: SOON * 7 / 2, ..patience() };
    let seen = watch(start(&server.url(), patience)).await;
    assert_eq!((seen.line.as_str(), server.received().len()), ("zzz[Timeout]", 1));
}

#[tokio::test]
async fn silence_within_a_reply_has_a_limit_of_its_own_and_keeps_the_text() {
    let (_gate, play) = gated(stream(says("Hello ")), vec![]);
    let server = FaultServer::start(vec![play]).await;
    let seen = watch(start(&server.url(), Patience { idle: SOON, ..patience() })).await;
    assert_eq!((seen.line.as_str(), server.received().len()), ("Hello [Timeout]", 1));
}

#[tokio::test]
async fn an_end_without_a_goodbye_is_an_end() {
    let (_gate, play) = gated(stream(says("Hello.") + &ends("stop")), vec![]);
    let server = FaultServer::start(vec![play]).await;
    let seen = watch(start(&server.url(), Patience { tail: SOON, ..patience() })).await;
    assert_eq!(seen.line, "Hello.[Stop]");
}

#[tokio::test]
async fn a_line_that_never_ends_is_silence() {
    let drip = vec![Step::Bytes(b"x".to_vec()); 3];
    let (_gate, play) = gated([stream("data: "), drip].concat(), vec![]);
    let server = FaultServer::start(vec![play]).await;
    let seen = watch(start(&server.url(), Patience { first: SOON, ..patience() })).await;
    assert_eq!(seen.line, "[Timeout]");
}

#[tokio::test]
async fn an_error_without_end_is_silence() {
    let head = "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 100\r\n\r\n{\"err";
    let (_gate, play) = gated(bytes(head), vec![]);
    let server = FaultServer::start(vec![play]).await;
    let seen = watch(start(&server.url(), Patience { first: SOON, ..patience() })).await;
    assert_eq!(seen.line, "[Timeout]");
}

#[tokio::test]
async fn a_reply_goes_on_after_a_silence() {
    use futures_util::StreamExt;
    use provider::GenerationEvent;

    let (gate, play) = gated(stream(says("Hello ")), bytes(&(says("there.") + DONE)));
    let server = FaultServer::start(vec![play]).await;
    let mut events = start(&server.url(), Patience { notice: SOON, ..patience() });
    assert_eq!(events.next().await.unwrap().unwrap(), GenerationEvent::Text("Hello ".to_owned()));
    // Thirty milliseconds are no whole second.
    assert_eq!(events.next().await.unwrap().unwrap(), GenerationEvent::Stalled { seconds: 0 });
    gate.open();
    assert!(watch(events).await.line.trim_start_matches('z').starts_with("there.[Stop]"));
}
