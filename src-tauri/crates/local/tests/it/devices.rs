//! Graphics devices, limits of memory and several models, on a scripted worker.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

use domain::model::LocalModel;
use local::{
    Adapter, CacheType, Device, DeviceKind, Devices, LoadNote, LoadOptions, LoadReason, LocalHost,
    ModelLimits, Policy, WorkerSettings, WorkerState,
};
use provider::ProviderErrorKind;
use serde_json::json;
use tempfile::TempDir;

use crate::support::*;
use crate::tiny_models;

const GIB: u64 = 1 << 30;

/// A machine with a graphics card, as `scripted_worker.py` reads it.
struct Machine {
    folder: TempDir,
    description: serde_json::Value,
}

impl Machine {
    fn new() -> Self {
        let card = Device {
            name: "Vulkan0".into(),
            description: "A card".into(),
            backend: "Vulkan".into(),
            kind: DeviceKind::Discrete,
            total: 8 * GIB,
            free: 8 * GIB,
        };
        let description = json!({
            "protocol": worker::protocol::PROTOCOL,
            "driver": "works",
            "devices": [card],
            "max_layers": 1_000,
            "max_context": 1_000_000,
            "bytes": 100_000_000,
        });
        Self {
            folder: tempfile::tempdir().unwrap(),
            description,
        }
    }

    fn with(mut self, key: &str, value: impl Into<serde_json::Value>) -> Self {
        self.description[key] = value.into();
        self
    }

    fn host(&self) -> LocalHost {
        let script = self.folder.path().join("worker");
        std::fs::write(&script, include_str!("scripted_worker.py")).unwrap();
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::write(
            self.folder.path().join("machine.json"),
            self.description.to_string(),
        )
        .unwrap();
        let policy = Policy {
            handshake: Duration::from_secs(3),
            ..settings().policy
        };
        LocalHost::new(WorkerSettings {
            worker: script,
            policy,
            ..settings()
        })
        .unwrap()
    }

    /// A model file of its own, with the header of the test model.
    fn model(&self, name: &str) -> LocalModel {
        let path: PathBuf = self.folder.path().join(name);
        std::os::unix::fs::symlink(model_path(), &path).unwrap();
        model_at(path)
    }
}

/// Checks that a reply comes, and returns how the model differs from what was wished.
async fn answers(host: &LocalHost, model: &LocalModel, options: LoadOptions) -> Vec<LoadNote> {
    let provider = host.provider_with(model, 4_096, options);
    let outcome = reply(&*provider, request(chat(&["Hello"]), 8)).await;
    assert_eq!(outcome.text, "It works.", "{outcome:?}");
    host.status().loaded.unwrap().notes
}

fn tells_of_a_crash(notes: &[LoadNote]) {
    let [
        LoadNote::WithoutGraphics {
            reason: LoadReason::Crashed { detail },
        },
    ] = notes
    else {
        panic!("{notes:?}")
    };
    assert!(detail.starts_with("SIGABRT"), "{detail}");
}

fn gpu_layers(host: &LocalHost) -> u32 {
    host.status().loaded.unwrap().gpu_layers
}

#[tokio::test]
async fn all_layers_that_fit_are_on_the_device() {
    let machine = Machine::new();
    let (host, model) = (machine.host(), machine.model("a.gguf"));
    assert_eq!(answers(&host, &model, LoadOptions::default()).await, []);
    let loaded = host.status().loaded.unwrap();
    assert_eq!(
        (loaded.gpu_layers, loaded.layers, loaded.context),
        (31, 31, 4_096)
    );
    let card = loaded
        .devices
        .iter()
        .find(|device| device.name == "Vulkan0")
        .unwrap();
    assert_eq!(
        (card.description.as_str(), card.used, card.total),
        ("A card", 1_230, 8 * GIB)
    );
    assert_eq!(
        answers(
            &host,
            &model,
            LoadOptions {
                gpu_layers: Some(7),
                ..LoadOptions::default()
            }
        )
        .await,
        []
    );
    assert_eq!(
        gpu_layers(&host),
        7,
        "the user's number replaces it, and the model is loaded again"
    );
    answers(
        &host,
        &model,
        LoadOptions {
            gpu_layers: Some(0),
            ..LoadOptions::default()
        },
    )
    .await;
    assert_eq!(gpu_layers(&host), 0);
}

#[tokio::test]
async fn full_device_gets_fewer_layers() {
    let machine = Machine::new().with("max_layers", 10);
    let host = machine.host();
    let notes = answers(&host, &machine.model("a.gguf"), LoadOptions::default()).await;
    let reason = LoadReason::OutOfMemory;
    assert_eq!(
        notes,
        [LoadNote::FewerLayers {
            from: 31,
            to: 7,
            reason
        }]
    );
    assert_eq!(gpu_layers(&host), 7);
}

#[tokio::test]
async fn full_device_gets_fewer_experts_before_fewer_layers() {
    let machine = Machine::new().with("least_experts", 3);
    let (host, mixture) = (
        machine.host(),
        model_at(tiny_models::write("gpt-oss", machine.folder.path())),
    );
    let notes = answers(&host, &mixture, LoadOptions::default()).await;
    assert_eq!(
        notes,
        [LoadNote::MoreExperts {
            from: 0,
            to: 3,
            reason: LoadReason::OutOfMemory
        }]
    );
    let loaded = host.status().loaded.unwrap();
    assert_eq!((loaded.gpu_layers, loaded.processor_experts), (5, 3));

    let chosen = |experts| LoadOptions {
        processor_experts: Some(experts),
        ..LoadOptions::default()
    };
    for (experts, used) in [(4, 4), (900, 4), (3, 3)] {
        assert_eq!(answers(&host, &mixture, chosen(experts)).await, []);
        assert_eq!(host.status().loaded.unwrap().processor_experts, used);
    }
    let on_processor = LoadOptions {
        gpu_layers: Some(0),
        ..chosen(2)
    };
    assert_eq!(answers(&host, &mixture, on_processor).await, []);
    assert_eq!(host.status().loaded.unwrap().processor_experts, 0);
}

#[tokio::test]
async fn model_without_experts_moves_none() {
    let machine = Machine::new();
    let (host, model) = (machine.host(), machine.model("a.gguf"));
    let chosen = LoadOptions {
        processor_experts: Some(9),
        ..LoadOptions::default()
    };
    assert_eq!(answers(&host, &model, chosen).await, []);
    let loaded = host.status().loaded.unwrap();
    assert_eq!((loaded.gpu_layers, loaded.processor_experts), (31, 0));
}

#[tokio::test]
async fn dead_device_falls_back_to_the_processor() {
    let machine = Machine::new().with("driver", "dies at load");
    let (host, model) = (machine.host(), machine.model("a.gguf"));
    tells_of_a_crash(&answers(&host, &model, LoadOptions::default()).await);
    assert_eq!(gpu_layers(&host), 0);
    host.unload(&model).await;
    answers(&host, &model, LoadOptions::default()).await;
    assert_eq!(host.status().deaths, 1, "the device is not tried again");
}

#[tokio::test]
async fn device_that_dies_at_a_reply_costs_no_reply() {
    let machine = Machine::new().with("driver", "dies at a reply");
    let (host, model) = (machine.host(), machine.model("a.gguf"));
    tells_of_a_crash(&answers(&host, &model, LoadOptions::default()).await);
    for _ in 0..4 {
        answers(&host, &model, LoadOptions::default()).await;
        host.unload(&model).await;
    }
    assert_eq!(host.status().deaths, 1, "the device is not tried again");
    let other = LoadOptions {
        gpu_layers: Some(7),
        ..LoadOptions::default()
    };
    answers(&host, &model, other).await;
    assert_eq!(
        host.status().deaths,
        2,
        "other options are tried on the device"
    );
    answers(&host, &machine.model("b.gguf"), LoadOptions::default()).await;
    assert_eq!(
        host.status().deaths,
        3,
        "other models are tried on the device"
    );
}

#[tokio::test]
async fn reply_with_text_is_not_written_twice() {
    let machine = Machine::new().with("driver", "dies in a reply");
    let (host, model) = (machine.host(), machine.model("a.gguf"));
    let provider = host.provider_with(&model, 4_096, LoadOptions::default());
    let outcome = reply(&*provider, request(chat(&["Hello"]), 8)).await;
    assert_eq!(
        (outcome.text.as_str(), outcome.error().kind),
        ("It works.", ProviderErrorKind::WorkerDied)
    );
    let notes = answers(&host, &model, LoadOptions::default()).await;
    assert!(
        matches!(&notes[..], [LoadNote::WithoutGraphics { .. }]),
        "{notes:?}"
    );
    assert_eq!(host.status().deaths, 1);
}

#[tokio::test]
async fn killed_worker_is_not_the_fault_of_the_device() {
    for driver in ["is killed at load", "is killed at a reply"] {
        let machine = Machine::new().with("driver", driver);
        let (host, model) = (machine.host(), machine.model("a.gguf"));
        for deaths in 1..=2 {
            let provider = host.provider_with(&model, 4_096, LoadOptions::default());
            let outcome = reply(&*provider, request(chat(&["Hello"]), 8)).await;
            assert_eq!(
                outcome.error().kind,
                ProviderErrorKind::WorkerDied,
                "{driver}"
            );
            assert_eq!(host.status().deaths, deaths, "{driver}");
        }
    }
}

#[tokio::test]
async fn faulty_driver_costs_only_the_listing() {
    for (driver, told) in [
        ("hangs", "did not answer within"),
        ("crashes", "the driver found a bug"),
    ] {
        let machine = Machine::new().with("driver", driver);
        let host = machine.host();
        let notes = answers(&host, &machine.model("a.gguf"), LoadOptions::default()).await;
        let [LoadNote::WithoutGraphics { reason }] = &notes[..] else {
            panic!("{notes:?}")
        };
        assert!(reason.to_string().contains(told), "{reason}");
        assert_eq!(host.status().deaths, 0);
        assert!(matches!(host.list_devices().await, Devices::Failed(_)));
    }
}

#[tokio::test]
async fn small_memory_gets_a_smaller_context() {
    let machine = Machine::new()
        .with("devices", json!([]))
        .with("max_context", 1_500);
    let (host, model) = (machine.host(), machine.model("a.gguf"));
    let notes = answers(&host, &model, LoadOptions::default()).await;
    assert!(
        matches!(
            &notes[..],
            [LoadNote::SmallerContext {
                from: 4_096,
                to: 1_024,
                ..
            }]
        ),
        "{notes:?}"
    );
    assert_eq!(
        host.provider(&model, 4_096).context(),
        1_024,
        "later prompts are made for what fits"
    );
}

#[tokio::test]
async fn unknown_device_is_told_and_not_used() {
    let machine = Machine::new();
    let host = machine.host();
    let options = LoadOptions {
        device: Some("CUDA7".into()),
        ..LoadOptions::default()
    };
    let notes = answers(&host, &machine.model("a.gguf"), options).await;
    let reason = LoadReason::NoDevice {
        device: Some("CUDA7".into()),
    };
    assert_eq!(notes, [LoadNote::WithoutGraphics { reason }]);
}

#[tokio::test]
async fn invalid_adapter_is_refused_before_loading() {
    let machine = Machine::new();
    let (host, model) = (machine.host(), machine.model("a.gguf"));
    let path = model_path().to_str().unwrap().to_owned();
    let options = LoadOptions {
        adapters: vec![Adapter { path, weight: 1.0 }],
        ..LoadOptions::default()
    };
    let error = host.load(&model, 512, options).await.unwrap_err();
    assert_eq!(error.kind, ProviderErrorKind::Model);
    assert!(
        error.message.contains("is not an adapter (LoRA)"),
        "{error}"
    );
}

/// Names of the loaded model files, sorted.
fn loaded(host: &LocalHost) -> Vec<String> {
    let paths = host
        .statuses()
        .into_iter()
        .filter_map(|status| Some(status.loaded?.path));
    let mut names: Vec<_> = paths
        .map(|path| path.rsplit('/').next().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

#[tokio::test]
async fn least_recently_used_model_makes_room() {
    let machine = Machine::new().with("devices", json!([]));
    let host = machine.host();
    let [a, b, c] = ["a.gguf", "b.gguf", "c.gguf"].map(|name| machine.model(name));
    // Each takes 100 MB, and about 280 MB are reserved for the next one.
    host.set_limits(ModelLimits {
        memory: Some(450_000_000),
        idle: None,
    });
    answers(&host, &a, LoadOptions::default()).await;
    answers(&host, &b, LoadOptions::default()).await;
    assert_eq!(loaded(&host), ["a.gguf", "b.gguf"]);
    answers(&host, &a, LoadOptions::default()).await;
    answers(&host, &c, LoadOptions::default()).await;
    assert_eq!(
        loaded(&host),
        ["a.gguf", "c.gguf"],
        "b was not used for the longest time"
    );
    host.unload(&a).await;
    assert_eq!(loaded(&host), ["c.gguf"]);
    host.load(&b, 512, LoadOptions::default()).await.unwrap();
    assert_eq!(loaded(&host), ["b.gguf", "c.gguf"]);
    host.shutdown().await;
    assert_eq!(
        host.load(&b, 512, LoadOptions::default())
            .await
            .unwrap_err()
            .kind,
        ProviderErrorKind::Cut
    );
}

#[tokio::test]
async fn without_a_budget_one_model_is_loaded() {
    let machine = Machine::new().with("devices", json!([]));
    let host = machine.host();
    for name in ["a.gguf", "b.gguf"] {
        answers(&host, &machine.model(name), LoadOptions::default()).await;
        assert_eq!(loaded(&host), [name]);
    }
}

#[tokio::test]
async fn idle_model_is_unloaded() {
    let machine = Machine::new().with("devices", json!([]));
    let host = machine.host();
    answers(&host, &machine.model("a.gguf"), LoadOptions::default()).await;
    let pid = host.status().pid.unwrap();
    host.set_limits(ModelLimits {
        memory: None,
        idle: Some(Duration::from_millis(1)),
    });
    host.watch()
        .wait_for(|status| status.state == WorkerState::Absent)
        .await
        .unwrap();
    assert!(!is_running(pid));
}

#[tokio::test]
async fn models_answer_one_after_the_other() {
    let machine = Machine::new().with("devices", json!([]));
    let host = machine.host();
    host.set_limits(ModelLimits {
        memory: Some(10 * GIB),
        idle: None,
    });
    let [a, b] = ["a.gguf", "b.gguf"].map(|name| machine.model(name));
    let (first, second) = tokio::join!(
        answers(&host, &a, LoadOptions::default()),
        answers(&host, &b, LoadOptions::default())
    );
    assert_eq!((first, second), (Vec::new(), Vec::new()));
}

/// The real worker, without a graphics device.
#[tokio::test]
async fn real_worker_lists_its_devices_and_figures() {
    let host = host();
    let Devices::Known(devices) = host.list_devices().await else {
        panic!("no list")
    };
    let processor = devices
        .iter()
        .find(|device| device.kind == DeviceKind::Processor)
        .unwrap();
    assert!(
        processor.total > GIB && !processor.description.is_empty(),
        "{processor:?}"
    );
    let options = LoadOptions {
        threads: Some(1),
        batch: Some(32),
        cache_type: CacheType::Q8_0,
        gpu_layers: Some(0),
        ..LoadOptions::default()
    };
    let outcome = reply(
        &*host.provider_with(&model(), 512, options),
        request(chat(&["Hello"]), 4),
    )
    .await;
    assert!(outcome.end.is_ok(), "{outcome:?}");
    let loaded = host.status().loaded.unwrap();
    assert_eq!(
        (loaded.layers, loaded.gpu_layers, loaded.context),
        (31, 0, 512)
    );
    let [processor] = &loaded.devices[..] else {
        panic!("{loaded:?}")
    };
    let bytes = std::fs::metadata(model_path()).unwrap().len();
    assert!(
        processor.weights > bytes / 2 && processor.weights < bytes * 2,
        "{processor:?}"
    );
    // 512 tokens and 128 for helper jobs, in steps of 256 cells: 30 layers, 3 KV heads of 64
    // values, keys and values, 34 bytes for 32 values.
    let expected = 768 * 30 * 3 * 64 * 2 / 32 * 34;
    assert!(
        processor.cache.abs_diff(expected) < 10_000,
        "{} is logged in MiB with two digits",
        processor.cache
    );
}
