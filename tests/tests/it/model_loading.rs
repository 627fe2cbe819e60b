//! How local models are loaded, through the engine, on a worker whose machine is described in a
//! file.

#![cfg(unix)]

use std::os::unix::fs::PermissionsExt;

use domain::ModelId;
use engine::api::{
    ApiError, Event, LoadNote, LoadReason, ModelActivity, ModelRef, SettingOwner, SettingValue,
};
use engine::{Engine, Options};
use serde_json::json;
use tempfile::TempDir;

/// An app with one model, on a machine with a graphics card of 8 GB.
struct App {
    engine: Engine,
    dir: TempDir,
    model: ModelId,
}

impl App {
    async fn new(driver: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let card = json!({
            "name": "Vulkan0", "description": "A card", "backend": "Vulkan", "kind": "discrete",
            "total": 8_u64 << 30, "free": 8_u64 << 30,
        });
        let machine = json!({
            "protocol": worker::protocol::PROTOCOL, "driver": driver, "devices": [card],
            "max_layers": 1_000, "max_context": 1_000_000, "bytes": 100_000_000,
        });
        std::fs::write(dir.path().join("machine.json"), machine.to_string()).unwrap();
        let script = dir.path().join("worker");
        let source = include_str!("../../../src-tauri/crates/local/tests/it/scripted_worker.py");
        std::fs::write(&script, source).unwrap();
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
        let options = Options {
            data_dir: dir.path().join("data"),
            worker: Some(script),
            without_keychain: true,
            ..Options::default()
        };
        let engine = Engine::open(options)
            .await
            .unwrap_or_else(|error| panic!("{error}"));
        let file = tests::headless::models_dir().join("SmolLM2-135M-Instruct.Q4_1.gguf");
        let model = engine.add_model(file).await.unwrap().id;
        Self { engine, dir, model }
    }

    fn owner(&self) -> SettingOwner {
        SettingOwner::Model {
            model: ModelRef::Local { id: self.model },
        }
    }

    async fn set(&self, key: &str, value: SettingValue) -> Result<(), ApiError> {
        self.engine
            .set_setting(self.owner(), key.to_owned(), Some(value))
            .await
            .map(|_| ())
    }

    /// Loads the model and returns its layers on the card and its context.
    async fn load(&self) -> (u32, u32) {
        let state = self.engine.load_model(self.model).await.unwrap();
        assert_eq!(state.activity, ModelActivity::Idle);
        (state.gpu_layers, state.context)
    }
}

fn text(text: &str) -> SettingValue {
    SettingValue::Text(text.to_owned())
}

#[tokio::test]
async fn model_settings_reach_the_worker() {
    let app = App::new("works").await;
    assert_eq!(app.load().await, (31, 8_192), "all layers fit");
    app.set("gpu_layers", SettingValue::Whole(12))
        .await
        .unwrap();
    app.set("context_limit", SettingValue::Whole(2_048))
        .await
        .unwrap();
    assert_eq!(app.load().await, (12, 2_048));
    let state = app.engine.unload_model(app.model).await.unwrap();
    assert_eq!(
        (state.activity, state.context),
        (ModelActivity::Unloaded, 0)
    );
    let [state] = &app.engine.model_states().await.unwrap()[..] else {
        panic!("one model")
    };
    assert_eq!(state.activity, ModelActivity::Unloaded);
    let devices = app.engine.list_devices().await.unwrap();
    assert_eq!(
        (devices.failure, devices.devices[0].description.as_str()),
        (None, "A card")
    );
    let settings = app.engine.layered_settings(app.owner()).await.unwrap();
    let device = settings
        .settings
        .iter()
        .find(|setting| setting.key == "gpu_device")
        .unwrap();
    assert!(
        format!("{:?}", device.kind).contains("A card (Vulkan0)"),
        "{:?}",
        device.kind
    );
}

#[tokio::test]
async fn invalid_loading_settings_are_refused() {
    let app = App::new("works").await;
    let told = |result: Result<(), ApiError>| result.unwrap_err().to_string();
    let refusal = told(app.set("gpu_layers", SettingValue::Whole(5_000)).await);
    assert!(
        refusal.contains("a whole number from 0 to 1000, or auto"),
        "{refusal}"
    );
    let refusal = told(app.set("kv_cache_type", text("q2")).await);
    assert!(refusal.contains("one of f16, q8_0"), "{refusal}");
    app.set("kv_cache_type", text("q8_0")).await.unwrap();
    let refusal = told(app.set("flash_attention", text("off")).await);
    assert!(
        refusal.contains("a KV cache of type q8_0 needs flash attention"),
        "{refusal}"
    );
    let file = app.dir.path().join("adapter.gguf");
    std::fs::write(&file, "GGUF but not for long").unwrap();
    let error = app
        .engine
        .add_model_adapter(app.model, file)
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("The adapter cannot be used"), "{error}");
    let model = tests::headless::models_dir().join("SmolLM2-135M-Instruct.Q4_1.gguf");
    let error = app
        .engine
        .add_model_adapter(app.model, model)
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("is not an adapter (LoRA)"), "{error}");
    let error = app
        .engine
        .set_adapter_weight(app.model, "/x".into(), f32::NAN)
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("from 0 to 2"), "{error}");
}

#[tokio::test]
async fn failed_device_is_announced_with_the_reason() {
    let app = App::new("dies at load").await;
    let mut events = app.engine.subscribe();
    assert_eq!(app.load().await, (0, 8_192), "the processor computes alone");
    let (model, notes) = loop {
        if let Some(Event::LoadedDifferently { model, notes }) = events.next().await {
            break (model, notes);
        }
    };
    assert_eq!(model, "SmolLM2-135M-Instruct.Q4_1");
    let [
        LoadNote::WithoutGraphics {
            reason: LoadReason::Crashed { detail },
        },
    ] = &notes[..]
    else {
        panic!("{notes:?}")
    };
    assert!(detail.contains("SIGABRT"), "{detail}");
}

#[tokio::test]
async fn driver_that_crashes_is_reported_in_health() {
    let app = App::new("crashes").await;
    assert_eq!(app.load().await.0, 0);
    let health = app.engine.health().await.unwrap();
    let graphics = health
        .checks
        .iter()
        .find(|check| check.name == "graphics")
        .unwrap();
    assert!(
        !graphics.ok && graphics.reason.contains("the driver found a bug"),
        "{graphics:?}"
    );
}

#[tokio::test]
async fn speed_test_keeps_the_fastest_settings() {
    let app = App::new("works").await;
    let test = app.engine.measure_model(app.model).await.unwrap();
    assert!(
        test.runs.len() >= 2
            && test
                .runs
                .iter()
                .all(|run| run.prompt > 0.0 && run.reply > 0.0),
        "{test:?}"
    );
    assert_eq!(
        test.best, 0,
        "all are equally fast, so the app's own choice stays"
    );
    let settings = app.engine.layered_settings(app.owner()).await.unwrap();
    for key in ["compute_threads", "gpu_layers"] {
        let setting = settings
            .settings
            .iter()
            .find(|setting| setting.key == key)
            .unwrap();
        assert_eq!(setting.value, text("auto"), "{key}");
    }
}

#[tokio::test]
async fn speed_test_leaves_a_device_slower_than_the_processor() {
    let app = App::new("is slow").await;
    app.set("gpu_layers", SettingValue::Whole(20))
        .await
        .unwrap();
    let test = app.engine.measure_model(app.model).await.unwrap();
    let layers: Vec<_> = test.runs.iter().map(|run| run.gpu_layers).collect();
    assert_eq!(
        (&layers[..2], layers[test.best as usize]),
        (&[31, 0][..], 0),
        "{test:?}"
    );
    assert!(
        layers[2..].iter().all(|layers| *layers == 0),
        "further runs are without the device: {layers:?}"
    );
    assert_eq!(app.load().await.0, 0, "the setting is kept");
}
