//! The measured speed of the real small model.

use engine::Engine;
use tests::headless::ended;

use super::open_with;

async fn open(dir: &tempfile::TempDir) -> Engine {
    open_with(
        dir,
        &[("INGLENOOK_MEMORY", "off"), ("INGLENOOK_MAX_TOKENS", "40")],
    )
    .await
}

#[tokio::test]
async fn reply_measures_the_speed_of_its_model() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(&dir).await;
    let chat = engine.startup().await.unwrap().chat.unwrap();
    assert!(engine.model_speeds().await.unwrap().is_empty());
    let mut events = engine.subscribe();
    engine
        .send_message(chat, "Tell me a long story about a lighthouse.".into())
        .await
        .unwrap();
    ended(&mut events, chat).await;
    engine.settle().await;
    let measured = engine.model_speeds().await.unwrap();
    let [speed] = &measured[..] else {
        panic!("one model was measured: {measured:?}")
    };
    assert!(speed.is_measured && speed.tokens_per_second > 0.0 && speed.words_per_minute > 0);
    engine.shutdown().await;
    drop(engine);
    let engine = open(&dir).await;
    assert_eq!(engine.model_speeds().await.unwrap(), measured);
    engine.shutdown().await;
}
