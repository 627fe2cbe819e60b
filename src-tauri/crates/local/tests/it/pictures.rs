//! Pictures, with a real worker and a tiny model with a tiny projector.

use std::io::Cursor;
use std::path::PathBuf;
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use domain::model::LocalModel;
use domain::prompt::{PromptPicture, Segment};
use image::{DynamicImage, ImageFormat, Rgb, RgbImage};
use local::{
    LoadOptions, LocalHost, LocalProvider, WorkerSettings, paired_projector, picture_size,
};
use provider::{ProviderErrorKind, Request};
use tempfile::TempDir;

use crate::support::*;
use crate::tiny_models;

const CONTEXT: u32 = 1_024;

/// A folder with a tiny model and the file that reads pictures for it.
struct Pair {
    folder: TempDir,
    model: LocalModel,
}

impl Pair {
    fn new(architecture: &str, kind: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let model = model_at(tiny_models::write(architecture, folder.path()));
        tiny_models::write_projector(kind, tiny_models::WIDTH, folder.path());
        Self {
            folder,
            model: LocalModel {
                context: 4_096,
                ..model
            },
        }
    }

    fn projector(&self) -> PathBuf {
        let path = std::path::Path::new(&self.model.path);
        paired_projector(path, &local::gguf::read(path).unwrap()).unwrap()
    }

    fn options(&self) -> LoadOptions {
        let projector = self.projector().to_str().unwrap().to_owned();
        LoadOptions {
            projector: Some(projector),
            ..LoadOptions::default()
        }
    }

    fn provider(&self, host: &LocalHost) -> Arc<LocalProvider> {
        host.provider_with(&self.model, CONTEXT, self.options())
    }

    fn host(&self) -> LocalHost {
        LocalHost::new(WorkerSettings {
            state_dir: Some(self.folder.path().join("cache")),
            ..settings()
        })
        .unwrap()
    }
}

fn png(width: u32, height: u32, colour: u8) -> Vec<u8> {
    let pixels = RgbImage::from_fn(width, height, |x, y| {
        Rgb([colour, (x * 3) as u8, (y * 5) as u8])
    });
    let mut bytes = Cursor::new(Vec::new());
    DynamicImage::ImageRgb8(pixels)
        .write_to(&mut bytes, ImageFormat::Png)
        .unwrap();
    bytes.into_inner()
}

/// A picture before the text of the message with this index.
fn picture(message: usize, file: &[u8]) -> PromptPicture {
    let url = format!("data:image/png;base64,{}", BASE64_STANDARD.encode(file));
    PromptPicture {
        message,
        segment: Some(3 + 3 * message + 1),
        url,
    }
}

fn asked(segments: Vec<Segment>, pictures: Vec<PromptPicture>) -> Request {
    let mut request = request(segments, 8);
    request.prompt.pictures = pictures;
    request
}

#[tokio::test]
async fn picture_is_counted_exactly_and_read_once() {
    for (architecture, kind) in [
        ("llama", "mlp"),
        ("gemma3", "gemma3"),
        ("qwen2vl", "qwen2vl_merger"),
    ] {
        let pair = Pair::new(architecture, kind);
        let (file, prompt) = (
            png(100, 60, 9),
            chat(&["What is in this picture of the quay?"]),
        );
        let host = pair.host();
        let size = picture_size(&file).unwrap();
        let counted = host
            .count_pictures(&pair.model, CONTEXT, pair.options(), vec![size])
            .await
            .unwrap();
        let texts: u32 = host.count(&pair.model, &prompt).await.unwrap().iter().sum();
        let first = reply(
            &*pair.provider(&host),
            asked(prompt.clone(), vec![picture(0, &file)]),
        )
        .await;
        let usage = first.usage();
        assert_eq!(usage.prompt, Some(texts + counted[0]), "{architecture}");
        assert_eq!(usage.evaluated, usage.prompt, "{architecture}");
        let swipe = reply(
            &*pair.provider(&host),
            asked(prompt.clone(), vec![picture(0, &file)]),
        )
        .await;
        assert!(
            swipe.usage().evaluated < Some(30),
            "{architecture}: {:?}",
            swipe.usage()
        );
        assert_eq!(swipe.text, first.text, "{architecture}");
        let other = reply(
            &*pair.provider(&host),
            asked(prompt.clone(), vec![picture(0, &png(100, 60, 200))]),
        )
        .await;
        assert!(
            other.usage().evaluated >= Some(counted[0]),
            "{architecture}: {:?}",
            other.usage()
        );
        let again = reply(
            &*pair.provider(&host),
            asked(prompt.clone(), vec![picture(0, &file)]),
        )
        .await;
        assert_eq!(again.text, first.text, "{architecture}");
        host.shutdown().await;

        let restarted = pair.host();
        let resumed = reply(
            &*pair.provider(&restarted),
            asked(prompt, vec![picture(0, &file)]),
        )
        .await;
        assert!(
            resumed.usage().evaluated < Some(30),
            "{architecture}: {:?}",
            resumed.usage()
        );
        assert_eq!(resumed.text, first.text, "{architecture}");
    }
}

/// Shows the colours of a picture to a model that says their letter.
#[tokio::test]
async fn model_sees_the_colours_of_pictures() {
    let folder = tempfile::tempdir().unwrap();
    let model = model_at(tiny_models::write_seeing_pair(folder.path()));
    let pair = Pair {
        folder,
        model: LocalModel {
            context: 4_096,
            ..model
        },
    };
    let (host, prompt) = (pair.host(), chat(&["Which colour is it?"]));
    let provider = pair.provider(&host);
    let (red, green, blue) = (Rgb([250, 20, 10]), Rgb([20, 240, 30]), Rgb([0, 10, 255]));
    let shown = [
        ("R", painted(red, (64, 64), ImageFormat::Png)),
        ("G", painted(green, (64, 64), ImageFormat::Png)),
        ("B", painted(blue, (64, 64), ImageFormat::Png)),
        ("G", painted(green, (300, 40), ImageFormat::Jpeg)),
        ("B", painted(blue, (60, 400), ImageFormat::WebP)),
        ("R", painted(red, (2_000, 1_500), ImageFormat::Jpeg)),
        ("B", painted(blue, (1, 1), ImageFormat::Png)),
    ];
    for (letter, file) in &shown {
        let seen = reply(&*provider, asked(prompt.clone(), vec![picture(0, file)])).await;
        seen.usage();
        assert_eq!(seen.text, *letter);
    }
    let unseen = reply(&*provider, asked(prompt, Vec::new())).await;
    unseen.usage();
    assert_eq!(unseen.text, "?");
}

fn painted(colour: Rgb<u8>, (width, height): (u32, u32), format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    DynamicImage::ImageRgb8(RgbImage::from_pixel(width, height, colour))
        .write_to(&mut bytes, format)
        .unwrap();
    bytes.into_inner()
}

#[tokio::test]
async fn prompt_without_pictures_loads_no_projector() {
    let pair = Pair::new("llama", "mlp");
    let host = host();
    let gone = LoadOptions {
        projector: Some("/nowhere.gguf".into()),
        ..LoadOptions::default()
    };
    let provider = host.provider_with(&pair.model, CONTEXT, gone);
    let plain = reply(&*provider, asked(chat(&["Hello."]), Vec::new())).await;
    assert_eq!(plain.end.as_ref().map(|_| ()).ok(), Some(()), "{plain:?}");
    let refused = reply(
        &*provider,
        asked(chat(&["Look."]), vec![picture(0, &png(9, 9, 1))]),
    )
    .await;
    assert_eq!(refused.error().kind, ProviderErrorKind::BadRequest);
    assert!(
        refused.error().message.contains("nowhere.gguf"),
        "{}",
        refused.error()
    );

    // A model that is loaded with its projector also answers without pictures.
    let seeing = pair.provider(&host);
    reply(
        &*seeing,
        asked(chat(&["Look."]), vec![picture(0, &png(9, 9, 1))]),
    )
    .await
    .usage();
    let pid = host.status().pid;
    let plain = reply(&*seeing, asked(chat(&["Look."]), Vec::new())).await;
    assert!(
        !plain
            .events
            .iter()
            .any(|event| matches!(event, provider::GenerationEvent::Loading { .. })),
        "{plain:?}"
    );
    assert_eq!(host.status().pid, pid);
}

#[tokio::test]
async fn unreadable_picture_costs_only_its_reply() {
    let pair = Pair::new("llama", "mlp");
    let host = host();
    let provider = pair.provider(&host);
    let whole = png(40, 40, 1);
    for broken in [&b""[..], b"<svg/>", &whole[..50], &whole[..whole.len() / 2]] {
        let refused = reply(
            &*provider,
            asked(chat(&["Look."]), vec![picture(0, broken)]),
        )
        .await;
        assert_eq!(
            refused.error().kind,
            ProviderErrorKind::BadRequest,
            "{:?}",
            refused.error()
        );
    }
    let nowhere = PromptPicture {
        segment: None,
        ..picture(0, &whole)
    };
    let refused = reply(&*provider, asked(chat(&["Look."]), vec![nowhere])).await;
    assert_eq!(refused.error().kind, ProviderErrorKind::BadRequest);
    let many = (0..40).map(|_| picture(0, &whole)).collect();
    let refused = reply(&*provider, asked(chat(&["Look."]), many)).await;
    assert_eq!(
        refused.error().kind,
        ProviderErrorKind::ContextOverflow,
        "{:?}",
        refused.error()
    );
    reply(
        &*provider,
        asked(chat(&["Look."]), vec![picture(0, &whole)]),
    )
    .await
    .usage();
}

/// A hostile file may abort llama.cpp, which costs the process, and never more than the reply.
#[tokio::test]
async fn hostile_projector_costs_only_its_reply() {
    let pair = Pair::new("llama", "mlp");
    let whole = std::fs::read(pair.projector()).unwrap();
    let with = |key: &str, value: u32| {
        let at = whole
            .windows(key.len())
            .position(|window| window == key.as_bytes())
            .unwrap()
            + key.len()
            + 4;
        [&whole[..at], &value.to_le_bytes(), &whole[at + 4..]].concat()
    };
    let hostile = [
        whole[..whole.len() / 2].to_vec(),
        whole[..100].to_vec(),
        tiny_models::projector_bytes("mlp", tiny_models::WIDTH * 2),
        tiny_models::projector_bytes("gemma3", tiny_models::WIDTH / 2),
        with("vision.patch_size", 0),
        with("vision.image_size", 0),
        with("vision.image_size", 1 << 30),
        with("vision.attention.head_count", 0),
        with("vision.block_count", 3),
        std::fs::read(&pair.model.path).unwrap(),
        b"GGUF".to_vec(),
    ];
    let (host, path) = (host(), pair.folder.path().join("hostile.gguf"));
    for (index, bytes) in hostile.iter().enumerate() {
        std::fs::write(&path, bytes).unwrap();
        let projector = Some(path.to_str().unwrap().to_owned());
        let options = LoadOptions {
            projector,
            ..LoadOptions::default()
        };
        let provider = host.provider_with(&pair.model, CONTEXT, options);
        let refused = reply(
            &*provider,
            asked(chat(&["Look."]), vec![picture(0, &png(30, 30, 1))]),
        )
        .await;
        let kind = refused.error().kind;
        println!(
            "{index}: {kind:?}: {}",
            refused.error().message.lines().next().unwrap_or_default()
        );
        assert!(
            matches!(
                kind,
                ProviderErrorKind::BadRequest | ProviderErrorKind::WorkerDied
            ),
            "{index}: {refused:?}"
        );
        reply(&*provider, asked(chat(&["Hello."]), Vec::new()))
            .await
            .usage();
    }
    reply(
        &*pair.provider(&host),
        asked(chat(&["Look."]), vec![picture(0, &png(30, 30, 1))]),
    )
    .await
    .usage();
}

#[test]
fn projector_is_paired_by_name_and_size() {
    let pair = Pair::new("llama", "mlp");
    let paired = || {
        let path = std::path::Path::new(&pair.model.path);
        let found = paired_projector(path, &local::gguf::read(path).unwrap());
        found.map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
    };
    let add =
        |name: &str, bytes: Vec<u8>| std::fs::write(pair.folder.path().join(name), bytes).unwrap();
    std::fs::remove_file(pair.folder.path().join("mmproj-f32.gguf")).unwrap();
    assert_eq!(paired(), None);
    add(
        "mmproj-other-model-f16.gguf",
        tiny_models::projector_bytes("gemma3", tiny_models::WIDTH),
    );
    add(
        "mmproj-llama-f16.gguf",
        tiny_models::projector_bytes("gemma3", 2 * tiny_models::WIDTH),
    );
    add("mmproj-bf16.gguf", b"GGUF and nothing more".to_vec());
    add(
        "llama-lora.gguf",
        tiny_models::projector_bytes("gemma3", tiny_models::WIDTH),
    );
    assert_eq!(
        paired(),
        None,
        "of another model, of another size, damaged, and not named like one"
    );
    add(
        "mmproj-F16.gguf",
        tiny_models::projector_bytes("gemma3", tiny_models::WIDTH),
    );
    assert_eq!(paired().as_deref(), Some("mmproj-F16.gguf"));
    add(
        "llama.mmproj-q8_0.gguf",
        tiny_models::projector_bytes("gemma3", tiny_models::WIDTH),
    );
    assert_eq!(
        paired().as_deref(),
        Some("llama.mmproj-q8_0.gguf"),
        "its name has more in common"
    );
}
