//! Models of other apps and of own folders, used in place.

use std::fs;
use std::path::Path;

use engine::api::ApiError;
use engine::{Clock, Engine, Options};
use tests::headless::NOW;
use tests::scripted_hub::{sha256, small_model};

fn write(path: &Path, content: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

async fn engine(data: &Path, home: &Path) -> Engine {
    let options = Options {
        data_dir: data.to_owned(),
        home: Some(home.to_owned()),
        without_keychain: true,
        clock: Clock::stopped(NOW),
        ..Options::default()
    };
    Engine::open(options)
        .await
        .unwrap_or_else(|error| panic!("{error}"))
}

#[tokio::test]
async fn models_of_other_apps_are_used_in_place() {
    let (data, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let studio = home
        .path()
        .join(".lmstudio/models/qwen/Qwen3-4B-GGUF/Qwen3-4B-Q4_K_M.gguf");
    write(&studio, &small_model("Qwen", 2_000));
    write(&studio.with_file_name("broken.gguf"), b"GGUF");
    let content = small_model("Llama", 2_000);
    let digest = sha256(&content);
    let ollama = home.path().join(".ollama/models");
    let manifest = format!(
        r#"{{"layers":[{{"mediaType":"application/vnd.ollama.image.model","digest":"sha256:{digest}","size":1}}]}}"#
    );
    write(
        &ollama.join("manifests/registry.ollama.ai/library/llama3.2/3b"),
        manifest.as_bytes(),
    );
    write(&ollama.join(format!("blobs/sha256-{digest}")), &content);

    let engine = engine(data.path(), home.path()).await;
    let apps = engine.find_other_models().await.unwrap();
    let names: Vec<_> = apps
        .iter()
        .map(|app| (app.app.as_str(), app.models.len()))
        .collect();
    assert_eq!(names, [("LM Studio", 2), ("Ollama", 1)]);
    let added = engine.add_other_models("LM Studio".into()).await.unwrap();
    assert_eq!(
        (added.added.as_slice(), added.refused.len()),
        (["Qwen3-4B-Q4_K_M".to_owned()].as_slice(), 1)
    );
    engine.add_other_models("Ollama".into()).await.unwrap();
    let models = engine.list_models().await.unwrap();
    let llama = models
        .iter()
        .find(|model| model.name == "llama3.2 3b")
        .unwrap();
    assert!(
        llama.path.contains("blobs/sha256-") && llama.sha256 == digest && !llama.missing,
        "{llama:?}"
    );
    assert_eq!(fs::read(&studio).unwrap(), small_model("Qwen", 2_000));
    assert!(!data.path().join("models").exists(), "nothing is copied");
    let rest = engine.find_other_models().await.unwrap();
    assert_eq!(
        rest.iter()
            .map(|app| app.models.clone())
            .collect::<Vec<_>>(),
        [["broken".to_owned()]]
    );
    assert!(matches!(
        engine.add_other_models("Nobody".into()).await,
        Err(ApiError::NotFound { .. })
    ));
    engine.shutdown().await;
}

#[tokio::test]
async fn model_folders_are_remembered() {
    let (data, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let folder = home.path().join("ggufs");
    write(
        &folder.join("deep/One-Q8_0.gguf"),
        &small_model("One", 1_000),
    );
    let engine = engine(data.path(), home.path()).await;
    assert!(matches!(
        engine.add_model_folder(folder.join("none")).await,
        Err(ApiError::BadInput { .. })
    ));
    let added = engine.add_model_folder(folder.clone()).await.unwrap();
    assert_eq!(added.added, ["One-Q8_0"]);
    let name = folder.display().to_string();
    let settings = engine.set_download_folder(name.clone()).await.unwrap();
    assert_eq!(
        (settings.folders.as_slice(), &settings.download_folder),
        ([name.clone()].as_slice(), &name)
    );
    assert!(matches!(
        engine.set_download_folder("/tmp".into()).await,
        Err(ApiError::BadInput { .. })
    ));
    let settings = engine.forget_model_folder(name.clone()).await.unwrap();
    assert!(settings.folders.is_empty() && settings.download_folder != name);
    assert_eq!(
        engine.list_models().await.unwrap().len(),
        1,
        "its models stay"
    );
    engine.shutdown().await;
}
