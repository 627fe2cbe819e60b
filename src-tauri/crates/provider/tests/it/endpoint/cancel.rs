//! Cancellation before and during a reply, and by dropping the stream.

use std::time::Duration;

use futures_util::StreamExt;
use provider::{FinishReason, GenerationEvent, Provider, ProviderErrorKind, ReplyGate, Timeouts};
use tokio_util::sync::CancellationToken;

use super::support::*;

#[tokio::test]
async fn cancelled_reply_ends_and_disconnects() {
    let server = FaultServer::start(vec![
        [stream(says("Hello ")), vec![Step::UntilHungUp]].concat(),
    ])
    .await;
    let cancel = CancellationToken::new();
    let mut events = client(&server.url(), timeouts()).stream(request(), cancel.clone());
    assert_eq!(
        events.next().await.unwrap().unwrap(),
        GenerationEvent::Text("Hello ".to_owned())
    );
    cancel.cancel();
    let last = events.next().await.unwrap().unwrap();
    assert!(
        matches!(
            last,
            GenerationEvent::Finished {
                reason: FinishReason::Cancelled,
                ..
            }
        ),
        "{last:?}"
    );
    assert!(events.next().await.is_none());
    server.client_hung_up().await;
}

#[tokio::test]
async fn dropping_the_stream_disconnects() {
    let server = FaultServer::start(vec![
        [stream(says("Hello ")), vec![Step::UntilHungUp]].concat(),
    ])
    .await;
    let mut events = start(&server.url(), timeouts());
    events.next().await.unwrap().unwrap();
    drop(events);
    server.client_hung_up().await;
}

#[tokio::test]
async fn cancels_before_the_response() {
    let gate = ReplyGate::new();
    let server = FaultServer::start(vec![vec![Step::Gate(gate.clone())]]).await;
    let cancel = CancellationToken::new();
    let reply = tokio::spawn(watch(
        client(&server.url(), timeouts()).stream(request(), cancel.clone()),
    ));
    gate.reached().await;
    cancel.cancel();
    assert_eq!(reply.await.unwrap().line, "[Cancelled]");
}

#[tokio::test]
async fn cancels_a_retry_pause() {
    let server = FaultServer::start(vec![answer(
        "503 Service Unavailable",
        "Retry-After: 50\r\n",
        "{}",
    )])
    .await;
    let cancel = CancellationToken::new();
    let mut events = client(&server.url(), timeouts()).stream(request(), cancel.clone());
    let event = events.next().await.unwrap().unwrap();
    let GenerationEvent::Retrying {
        attempt: 1,
        after_ms: 50_000,
        why,
    } = event
    else {
        panic!("{event:?}")
    };
    assert!(why.contains("503"), "{why}");
    cancel.cancel();
    assert_eq!(watch(events).await.line, "[Cancelled]");
    assert_eq!(server.received().len(), 1);
}

#[tokio::test]
async fn request_cancelled_before_start_is_never_sent() {
    let server = FaultServer::start(vec![healthy()]).await;
    let cancel = CancellationToken::new();
    cancel.cancel();
    let events = client(&server.url(), timeouts()).stream(request(), cancel);
    assert_eq!(watch(events).await.line, "[Cancelled]");
    assert_eq!(server.received().len(), 0);
}

#[tokio::test]
async fn cancels_while_the_endpoint_is_unreachable() {
    let cancel = CancellationToken::new();
    let timeouts = Timeouts {
        backoff: Duration::from_secs(50),
        backoff_cap: Duration::from_secs(50),
        ..timeouts()
    };
    let mut events = client("http://127.0.0.1:1/v1", timeouts).stream(request(), cancel.clone());
    let event = events.next().await.unwrap();
    assert!(
        matches!(event, Ok(GenerationEvent::Retrying { .. })),
        "{event:?}"
    );
    cancel.cancel();
    let seen = watch(events).await;
    assert_eq!(seen.line, "[Cancelled]");
    assert_ne!(
        seen.error.map(|error| error.kind),
        Some(ProviderErrorKind::Unreachable)
    );
}
