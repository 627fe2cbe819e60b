//! Tests of embeddings with the real encoder and the real worker.

use domain::embedding::Embedding;
use futures_util::future::try_join_all;
use local::{LocalHost, WorkerSettings};

use crate::support::{models_dir, settings};

fn nearness(a: &Embedding, b: &Embedding) -> f32 {
    a.mean.iter().zip(&b.mean).map(|(a, b)| a * b).sum()
}

async fn embed(host: &LocalHost, texts: &[&str]) -> Vec<Embedding> {
    let model = models_dir().join("all-MiniLM-L6-v2.Q8_0.gguf");
    try_join_all(texts.iter().map(|text| host.embed(&model, text)))
        .await
        .unwrap()
}

#[tokio::test]
async fn synonyms_are_similar_without_shared_words() {
    let host = LocalHost::new(settings()).unwrap();
    let [dog, puppy, tax] = embed(
        &host,
        &[
            "I adopted a dog.",
            "We got ourselves a puppy.",
            "The tax office closes at five.",
        ],
    )
    .await
    .try_into()
    .unwrap();
    assert!(
        nearness(&dog, &puppy) > nearness(&dog, &tax) + 0.3,
        "{} {}",
        nearness(&dog, &puppy),
        nearness(&dog, &tax)
    );
    assert_eq!(dog.tokens.len(), 7, "five tokens between two markers");
    assert_eq!(dog.vectors.len(), dog.tokens.len() * dog.mean.len());
    let length: f32 = dog.mean.iter().map(|number| number * number).sum();
    assert!((length - 1.0).abs() < 1e-4);
}

#[tokio::test]
async fn embedding_is_independent_of_the_batch() {
    let host = LocalHost::new(settings()).unwrap();
    let long = "The lamplighter counts the ships. ".repeat(200);
    let texts: Vec<&str> = ["", "[SEP] </s>", "花生过敏", &long]
        .into_iter()
        .cycle()
        .take(20)
        .collect();
    let together = embed(&host, &texts).await;
    assert_eq!(together.len(), 20);
    for (text, embedding) in texts.iter().zip(&together).take(4) {
        assert_eq!(&embed(&host, &[text]).await[0], embedding, "{text}");
    }
    assert_eq!(together[3].tokens.len(), 256, "the model's maximum length");
    assert_ne!(together[1].tokens, embed(&host, &["</s>"]).await[0].tokens);
}

#[tokio::test]
async fn idle_worker_is_shut_down_and_restarted() {
    let idle = Some(std::time::Duration::from_millis(50));
    let host = LocalHost::new(WorkerSettings { idle, ..settings() }).unwrap();
    let first = embed(&host, &["Hello"]).await;
    let mut status = host.watch();
    status
        .wait_for(|status| status.pid.is_none())
        .await
        .unwrap();
    assert_eq!(embed(&host, &["Hello"]).await, first);
}
