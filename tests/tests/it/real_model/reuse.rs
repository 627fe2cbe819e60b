//! Short form of `cargo xtask bench reuse`: a full window is not evaluated again on every turn.

use domain::ModelId;
use local::{LocalHost, WorkerSettings};
use tests::reuse::{Control, Measure, ReplySource};

#[tokio::test]
async fn most_of_a_long_chat_is_reused() {
    let dir = tempfile::tempdir().unwrap();
    let replies = ReplySource::Prepared(1);
    let measure = Measure {
        context: 1_536,
        turns: 22,
        brief: true,
        idle: false,
        memory: true,
        replies,
    };
    let held = measure.run(dir.path(), |_, _, _| {}).await;
    // The first epoch and two more.
    assert!(
        held.epochs > 2,
        "too few epochs to prove anything: {}",
        held.epochs
    );

    let model = measure.model(dir.path());
    let tokenizer = local::open_tokenizer(&model).unwrap();
    let control = Control::new(&tokenizer, &held.head, measure.room(), &held.chat);
    let settings = WorkerSettings {
        worker: tests::headless::worker(),
        ..WorkerSettings::default()
    };
    let host = LocalHost::new(settings).unwrap();
    let provider = host.provider(
        &local::inspect(&model, |_, _| {})
            .unwrap()
            .into_model(ModelId(Default::default())),
        2_048,
    );
    // A smaller context, to save time: the calculated tokens equal the worker's, so the calculation
    // is valid for the whole chat.
    let (measured, counted) = Control::new(&tokenizer, &held.head, 640, &held.chat)
        .by_provider(provider.as_ref(), 1)
        .await;
    host.shutdown().await;
    assert_eq!(measured, counted);

    let (ours, sliding) = (held.ours.share(), control.by_tokens().share());
    println!(
        "{ours:.3} of the prompts reused, {sliding:.3} by a sliding window; {} epochs",
        held.epochs
    );
    assert!(ours >= 0.80, "{ours:.3} reused");
    assert!(
        ours >= sliding + 0.30,
        "{ours:.3} reused, {sliding:.3} by a sliding window"
    );
}
