use std::time::{Duration, Instant};

use futures_util::StreamExt;
use local::WorkerState;
use provider::{FinishReason, GenerationEvent, Provider};
use tokio_util::sync::CancellationToken;

use crate::support::*;

/// Cancels at the first event that `at` accepts. Returns the outcome and how long the stream
/// continued after that.
async fn cancelled(
    provider: &dyn Provider,
    request: provider::Request,
    at: impl Fn(&GenerationEvent) -> bool,
) -> (Outcome, Duration) {
    let cancel = CancellationToken::new();
    let mut pressed = None;
    let outcome = follow(provider.stream(request, cancel.clone()), |_, event| {
        if pressed.is_none() && at(event) {
            pressed = Some(Instant::now());
            cancel.cancel();
        }
    })
    .await;
    (outcome, pressed.unwrap().elapsed())
}

#[tokio::test]
async fn cancelled_reply_stops_in_time_and_keeps_its_text() {
    let host = host();
    let provider = host.provider(&model(), 2048);
    let (outcome, took) = cancelled(&*provider, endless(), |event| {
        matches!(event, GenerationEvent::Text(_))
    })
    .await;
    assert_eq!(outcome.reason(), FinishReason::Cancelled);
    assert!(took < Duration::from_millis(300), "{took:?}");
    assert!(!outcome.text.is_empty());
    is_well(&*provider).await;
}

#[tokio::test]
async fn cancelled_prompt_processing_is_reused() {
    let host = host();
    let provider = host.provider(&model(), 4096);
    let reading =
        |event: &GenerationEvent| matches!(event, GenerationEvent::Prefill { done: 1.., .. });
    let (outcome, took) = cancelled(&*provider, request(long_chat(), 10), reading).await;
    assert_eq!(
        (outcome.reason(), outcome.text.as_str()),
        (FinishReason::Cancelled, "")
    );
    assert!(took < Duration::from_millis(300), "{took:?}");
    let usage = outcome.usage();
    assert!(usage.evaluated < usage.prompt, "{usage:?}");
    let (again, _) = cancelled(&*provider, request(long_chat(), 10), reading).await;
    assert!(again.usage().reused >= usage.evaluated, "{again:?}");
    is_well(&*provider).await;
}

#[tokio::test]
async fn dropped_stream_frees_the_model() {
    let host = host();
    let provider = host.provider(&model(), 2048);
    let mut stream = provider.stream(endless(), CancellationToken::new());
    while !matches!(stream.next().await, Some(Ok(GenerationEvent::Text(_)))) {}
    drop(stream);
    let mut status = host.watch();
    status
        .wait_for(|status| status.state == WorkerState::Idle)
        .await
        .unwrap();
    is_well(&*provider).await;
}

#[tokio::test]
async fn cancels_a_queued_request() {
    let host = host();
    let provider = host.provider(&model(), 2048);
    let (first, second) = (CancellationToken::new(), CancellationToken::new());
    let running = provider.stream(endless(), first.clone());
    let waiting = provider.stream(endless(), second.clone());
    let (running, waiting) = tokio::join!(follow(running, |_, _| {}), async {
        let outcome = follow(waiting, |_, event| {
            if *event == GenerationEvent::Queued {
                second.cancel();
            }
        });
        let outcome = tokio::time::timeout(Duration::from_secs(2), outcome).await;
        first.cancel();
        outcome.unwrap()
    });
    assert_eq!(
        (running.reason(), waiting.reason()),
        (FinishReason::Cancelled, FinishReason::Cancelled)
    );
    assert_eq!(waiting.text, "");
    is_well(&*provider).await;
}

#[tokio::test]
async fn cancel_ends_in_time_if_the_worker_hangs() {
    let host = host();
    let provider = host.provider(&model(), 2048);
    is_well(&*provider).await;
    let pid = host.status().pid.unwrap();
    let (outcome, took) = cancelled(&*provider, endless(), |event| {
        let writes = matches!(event, GenerationEvent::Text(_));
        if writes {
            signal(pid, rustix::process::Signal::STOP);
        }
        writes
    })
    .await;
    assert_eq!(outcome.reason(), FinishReason::Cancelled);
    assert!(took < Duration::from_millis(300), "{took:?}");
    signal(pid, rustix::process::Signal::CONT);
    is_well(&*provider).await;
}
