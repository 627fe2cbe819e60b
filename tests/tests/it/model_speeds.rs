//! When the memory of the machine is measured, and what the suggestions show then.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use engine::MemoryMeter;
use engine::api::SuggestedModel;
use provider::{ReplyGate, ReplyScript};
use tests::headless::{Headless, ended};
use tokio::sync::Notify;

/// A machine with fast memory, and how often it was measured.
async fn counted() -> (Headless, Arc<AtomicU32>) {
    let count = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&count);
    let meter = MemoryMeter::new(move |_, _| {
        counter.fetch_add(1, Ordering::Relaxed);
        Some(50_000_000_000)
    });
    (Headless::with_memory_meter(meter).await, count)
}

async fn suggested(app: &Headless) -> Vec<SuggestedModel> {
    app.engine.suggested_models().await.unwrap()
}

fn shows_speeds(models: &[SuggestedModel]) -> bool {
    models
        .iter()
        .all(|model| model.tokens_per_second.is_some() && model.words_per_minute.is_some())
}

#[tokio::test]
async fn memory_is_measured_once_per_machine() {
    let (app, count) = counted().await;
    assert!(app.engine.model_speeds().await.unwrap().is_empty());
    assert_eq!(count.load(Ordering::Relaxed), 0, "only suggestions measure");
    let first = suggested(&app).await;
    assert!(shows_speeds(&first));
    assert!(first.iter().all(|model| !model.speed_is_measured));
    assert!(shows_speeds(&suggested(&app).await));
    let app = app.restart().await;
    assert!(shows_speeds(&suggested(&app).await));
    assert_eq!(count.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn two_requests_at_once_measure_once() {
    let (app, count) = counted().await;
    let (first, second) = tokio::join!(suggested(&app), suggested(&app));
    assert!(shows_speeds(&first) && shows_speeds(&second));
    assert_eq!(count.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn memory_is_not_measured_during_a_reply() {
    let (app, count) = counted().await;
    let chat = app.first_chat().await.id;
    let gate = ReplyGate::new();
    app.model.play(ReplyScript::new().text("Aye.").gate(&gate));
    let mut events = app.engine.subscribe();
    app.engine.send_message(chat, "Hello".into()).await.unwrap();
    gate.reached().await;
    let during = suggested(&app).await;
    assert!(during.iter().all(|model| model.words_per_minute.is_none()));
    assert_eq!(count.load(Ordering::Relaxed), 0);
    gate.open();
    ended(&mut events, chat).await;
    app.engine.settle().await;
    assert!(shows_speeds(&suggested(&app).await));
    assert_eq!(count.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn reply_that_begins_ends_the_measurement() {
    let started = Arc::new(Notify::new());
    let start = Arc::clone(&started);
    let meter = MemoryMeter::new(move |_, is_stopped| {
        start.notify_one();
        while !is_stopped() {
            std::thread::yield_now();
        }
        None
    });
    let app = Headless::with_memory_meter(meter).await;
    let chat = app.first_chat().await.id;
    let engine = app.engine.clone();
    let suggesting = tokio::spawn(async move { engine.suggested_models().await });
    started.notified().await;
    let gate = ReplyGate::new();
    app.model.play(ReplyScript::new().text("Aye.").gate(&gate));
    let mut events = app.engine.subscribe();
    app.engine.send_message(chat, "Hello".into()).await.unwrap();
    let models = suggesting.await.unwrap().unwrap();
    assert!(models.iter().all(|model| model.words_per_minute.is_none()));
    gate.open();
    ended(&mut events, chat).await;
}
