//! Adapters (LoRA) of a tiny model in the real worker.

use std::fs;
use std::path::{Path, PathBuf};

use local::{Adapter, LoadOptions, LocalHost, WorkerSettings};
use provider::{ProviderErrorKind, Request};
use tempfile::TempDir;

use crate::support::*;
use crate::tiny_models;

/// A tiny model with the two adapters `one` and `two`, and a host that saves caches.
struct Lab {
    folder: TempDir,
    model: PathBuf,
}

impl Lab {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let model = tiny_models::write("llama", folder.path());
        for (name, rank, seed) in [("one", 2, 5), ("two", 3, 9)] {
            fs::write(
                folder.path().join(name),
                tiny_models::adapter("llama", rank, seed),
            )
            .unwrap();
        }
        Self { folder, model }
    }

    fn host(&self) -> LocalHost {
        let state = self.folder.path().join("cache");
        LocalHost::new(WorkerSettings {
            state_dir: Some(state),
            ..settings()
        })
        .unwrap()
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn options(&self, adapters: &[(&str, f32)]) -> LoadOptions {
        let adapter = |(name, weight): &(&str, f32)| Adapter {
            path: self.path(name),
            weight: *weight,
        };
        LoadOptions {
            adapters: adapters.iter().map(adapter).collect(),
            ..LoadOptions::default()
        }
    }

    async fn reply(&self, host: &LocalHost, adapters: &[(&str, f32)]) -> Outcome {
        let provider =
            host.provider_with(&model_at(self.model.clone()), 1_024, self.options(adapters));
        reply(&*provider, asked()).await
    }

    async fn refusal(&self, name: &str) -> String {
        let outcome = self.reply(&self.host(), &[(name, 1.0)]).await;
        assert_eq!(
            outcome.error().kind,
            ProviderErrorKind::Model,
            "{outcome:?}"
        );
        outcome.error().message.clone()
    }
}

fn asked() -> Request {
    request(
        chat(&["The lamplighter walks along the quay and counts the ships. Who is he?"]),
        40,
    )
}

fn files(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect()
}

#[tokio::test]
async fn effects_of_several_adapters_add_up() {
    let (lab, host) = (Lab::new(), Lab::new().host());
    fs::copy(lab.path("one"), lab.path("same as one")).unwrap();
    let plain = lab.reply(&host, &[]).await.text;
    // llama.cpp reads this one itself.
    let one = lab.reply(&host, &[("one", 1.0)]).await.text;
    assert_ne!(one, plain);
    assert_eq!(
        lab.reply(&host, &[("one", 0.25), ("same as one", 0.75)])
            .await
            .text,
        one,
        "two parts of one effect"
    );
    let both = lab.reply(&host, &[("one", 1.0), ("two", 1.0)]).await.text;
    assert!(both != one && both != plain && both != lab.reply(&host, &[("two", 1.0)]).await.text);
    assert_eq!(
        lab.reply(&host, &[("one", 0.0), ("two", 0.0)]).await.text,
        plain
    );
}

#[tokio::test]
async fn changed_weight_never_reuses_what_was_read() {
    let lab = Lab::new();
    let host = lab.host();
    let reused = |outcome: &Outcome| outcome.usage().reused.unwrap_or_default();
    let first = lab.reply(&host, &[("one", 1.0), ("two", 0.5)]).await;
    assert!(reused(&lab.reply(&host, &[("one", 1.0), ("two", 0.5)]).await) > 0);
    let other = lab.reply(&host, &[("one", 1.0), ("two", 0.75)]).await;
    assert_eq!(reused(&other), 0, "in memory");
    host.shutdown().await;
    let host = lab.host();
    assert_eq!(
        reused(&lab.reply(&host, &[("one", 1.0)]).await),
        0,
        "on the disk"
    );
    let again = lab.reply(&host, &[("one", 1.0), ("two", 0.5)]).await;
    assert!(reused(&again) > 0, "the same weights find their own cache");
    assert_eq!(again.text, first.text);
    fs::write(lab.path("two"), tiny_models::adapter("llama", 3, 77)).unwrap();
    host.shutdown().await;
    assert_eq!(
        reused(&lab.reply(&lab.host(), &[("one", 1.0), ("two", 0.5)]).await),
        0,
        "another file in its place"
    );
    assert!(
        files(&lab.folder.path().join("cache/adapters")).is_empty(),
        "combined files are gone"
    );
}

#[tokio::test]
async fn adapter_of_another_model_is_refused_in_words() {
    let lab = Lab::new();
    fs::write(lab.path("gemma"), tiny_models::adapter("gemma3", 2, 1)).unwrap();
    let refusal = lab.refusal("gemma").await;
    assert!(
        refusal.contains("it is for gemma3 models, and this is a llama model"),
        "{refusal}"
    );
    fs::write(
        lab.path("wide"),
        tiny_models::adapter_with("llama", 2, 1, ("blk.0.attn_q.weight", [128, 64])),
    )
    .unwrap();
    let refusal = lab.refusal("wide").await;
    assert!(
        refusal.contains("another llama model") && refusal.contains("[128, 64]"),
        "{refusal}"
    );
    fs::write(
        lab.path("deep"),
        tiny_models::adapter_with("llama", 2, 1, ("blk.40.attn_q.weight", [64, 64])),
    )
    .unwrap();
    let refusal = lab.refusal("deep").await;
    assert!(
        refusal.contains("another llama model") && refusal.contains("blk.40.attn_q.weight"),
        "{refusal}"
    );
}

/// The worker refuses or survives every mutated adapter, and dies of none that the header check
/// lets through unseen.
#[tokio::test]
async fn mutated_adapters_are_refused_or_used() {
    let rounds: usize =
        std::env::var("INGLENOOK_MUTATIONS").map_or(40, |rounds| rounds.parse().unwrap());
    let lab = Lab::new();
    let host = lab.host();
    let whole = tiny_models::adapter("llama", 2, 5);
    let mut deaths = 0;
    for round in 0..rounds {
        let mut bytes = whole.clone();
        // Most faults hit the header; every fifth cuts the file.
        let at = round * 7_919 % if round % 3 == 0 { bytes.len() } else { 600 };
        match round % 5 {
            0 => bytes.truncate(at),
            kind => bytes[at] = bytes[at].wrapping_add([1, 0x80, 0x7f, 0xff][kind - 1]),
        }
        fs::write(lab.path("mutated"), &bytes).unwrap();
        let adapters = [("mutated", 1.0), ("two", 0.5)];
        let outcome = lab
            .reply(
                &host,
                if round % 2 == 0 {
                    &adapters
                } else {
                    &adapters[..1]
                },
            )
            .await;
        deaths += usize::from(
            outcome
                .end
                .is_err_and(|error| error.kind == ProviderErrorKind::WorkerDied),
        );
    }
    assert_eq!(deaths, 0, "of {rounds}");
    assert!(lab.reply(&host, &[("one", 1.0)]).await.end.is_ok());
}
