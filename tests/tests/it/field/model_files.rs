//! Files that are added as models but are not valid models.

use std::fs;

use engine::api::ApiError;
use tests::headless::Headless;

fn text(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes(), text.as_bytes()].concat()
}

/// A GGUF file with string metadata and one tensor of 64 numbers.
fn gguf(settings: &[(&str, &str)], tensor: &str) -> Vec<u8> {
    let mut file = [&b"GGUF"[..], &3_u32.to_le_bytes(), &1_u64.to_le_bytes()].concat();
    file.extend((settings.len() as u64).to_le_bytes());
    for (key, value) in settings {
        file.extend([text(key), 8_u32.to_le_bytes().to_vec(), text(value)].concat());
    }
    file.extend(text(tensor));
    file.extend([1_u32.to_le_bytes().to_vec(), 64_u64.to_le_bytes().to_vec()].concat());
    file.extend([0_u32.to_le_bytes().to_vec(), 0_u64.to_le_bytes().to_vec()].concat());
    file.resize(file.len().next_multiple_of(32) + 256, 0);
    file
}

/// Inserts a vocabulary of one token after the metadata.
fn with_vocabulary(mut file: Vec<u8>, settings: u64) -> Vec<u8> {
    let at = 24;
    let tokens = [
        text("tokenizer.ggml.tokens"),
        9_u32.to_le_bytes().to_vec(),
        8_u32.to_le_bytes().to_vec(),
    ]
    .concat();
    let tokens = [tokens, 1_u64.to_le_bytes().to_vec(), text("a")].concat();
    file[16..24].copy_from_slice(&(settings + 1).to_le_bytes());
    file.splice(at..at, tokens);
    file.resize(file.len() + 256, 0);
    file
}

#[tokio::test]
async fn model_without_template_reports_guessed_format() {
    let app = Headless::new().await;
    let named = ("general.name", "Mistral 7B Instruct");
    let settings = [
        ("general.architecture", "llama"),
        named,
        ("tokenizer.ggml.model", "llama"),
    ];
    let path = app.dir.path().join("Mistral-7B.gguf");
    fs::write(
        &path,
        with_vocabulary(gguf(&settings, "token_embd.weight"), 3),
    )
    .unwrap();
    let added = app.engine.add_model(path).await.unwrap();
    assert!(
        added
            .note
            .is_some_and(|note| note.contains("no chat template") && note.contains("is assumed"))
    );
    let health = app.engine.health().await.unwrap();
    let models = health
        .checks
        .iter()
        .find(|check| check.name == "model")
        .unwrap();
    assert!(
        models.ok && format!("{models:?}").contains("is assumed"),
        "{models:?}"
    );
}

#[tokio::test]
async fn refuses_models_for_other_tasks() {
    let app = Headless::new().await;
    let llama = [
        ("general.architecture", "llama"),
        ("tokenizer.ggml.model", "gpt2"),
    ];
    for (name, bytes, named) in [
        (
            "mmproj.gguf",
            gguf(&[("general.architecture", "clip")], "v.patch_embd.weight"),
            "reads pictures",
        ),
        (
            "lora.gguf",
            gguf(
                &[
                    ("general.architecture", "llama"),
                    ("general.type", "adapter"),
                ],
                "x.lora_a",
            ),
            "LoRA",
        ),
        (
            "control.gguf",
            gguf(&[("general.architecture", "controlvector")], "direction.1"),
            "control vector",
        ),
        (
            "whisper.gguf",
            gguf(
                &[("general.architecture", "whisper")],
                "encoder.conv1.weight",
            ),
            "Whisper",
        ),
        (
            "flux.gguf",
            gguf(&[("general.architecture", "flux")], "double_blocks.0.w"),
            "generates pictures",
        ),
        (
            "bert.gguf",
            gguf(
                &[("general.architecture", "nomic-bert")],
                "token_embd.weight",
            ),
            "embedding model",
        ),
        (
            "half.gguf",
            gguf(&llama, "token_embd.weight"),
            "no vocabulary",
        ),
        ("page.gguf", b"<!DOCTYPE html>".to_vec(), "a web page"),
        (
            "lfs.gguf",
            b"version https://git-lfs.github.com/spec/v1\n".to_vec(),
            "Git LFS pointer",
        ),
        (
            "cut.gguf",
            gguf(&llama, "token_embd.weight")[..60].to_vec(),
            "Download it again",
        ),
    ] {
        let path = app.dir.path().join(name);
        fs::write(&path, bytes).unwrap();
        let Err(ApiError::BadInput { message, .. }) = app.engine.add_model(path).await else {
            panic!("{name}")
        };
        assert!(message.contains(named), "{name}: {message}");
    }
    assert!(app.engine.list_models().await.unwrap().is_empty());
}
