//! Whole turns with pictures on a local model: a tiny one with random weights, and a tiny
//! projector.

use std::path::{Path, PathBuf};

use domain::{CharacterId, ChatId, ModelId};
use engine::api::{
    CharacterFields, EndReason, Message, ModelProjector, Picture, SettingOwner, SettingValue,
    WhatIf,
};
use engine::{Clock, Engine, Options};
use image::{DynamicImage, ImageFormat, Rgb, RgbImage};
use tempfile::TempDir;
use tests::headless::{NOW, ended, selected_text, worker};

use crate::real_model::tiny_models;

/// An app with a tiny model in a folder of its own, and a chat with a character that has only a
/// name.
struct App {
    engine: Engine,
    dir: TempDir,
    model: ModelId,
    character: CharacterId,
    chat: ChatId,
}

impl App {
    async fn new(projector: Option<&str>) -> Self {
        Self::with_model(|folder| {
            if let Some(kind) = projector {
                tiny_models::write_projector(kind, tiny_models::WIDTH, folder);
            }
            tiny_models::write("qwen2vl", folder)
        })
        .await
    }

    /// A model that answers with the letter of a picture's colour.
    async fn seeing() -> Self {
        Self::with_model(tiny_models::write_seeing_pair).await
    }

    /// `write` puts the files of a model into a folder.
    async fn with_model(write: impl FnOnce(&Path) -> PathBuf) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("files");
        std::fs::create_dir(&folder).unwrap();
        let file = write(&folder);
        let engine = open(&dir).await;
        let model = engine.add_model(file).await.unwrap().id;
        let fields = CharacterFields {
            name: "Mira".into(),
            ..CharacterFields::default()
        };
        let character = engine.create_character(fields).await.unwrap().id;
        let chat = engine.new_chat(character).await.unwrap().id;
        for (key, value) in [
            ("read_ahead", SettingValue::Switch(false)),
            ("max_tokens", SettingValue::Whole(8)),
        ] {
            engine
                .set_setting(SettingOwner::Global, key.into(), Some(value))
                .await
                .unwrap();
        }
        Self {
            engine,
            dir,
            model,
            character,
            chat,
        }
    }

    async fn projector(&self) -> Option<ModelProjector> {
        let states = self.engine.model_states().await.unwrap();
        states
            .into_iter()
            .find(|one| one.id == self.model)
            .unwrap()
            .projector
    }

    async fn restart(self) -> Self {
        let Self { engine, dir, .. } = self;
        engine.shutdown().await;
        drop(engine);
        Self {
            engine: open(&dir).await,
            dir,
            ..self
        }
    }

    fn folder(&self) -> PathBuf {
        self.dir.path().join("files")
    }

    async fn picture(&self, colour: u8) -> Picture {
        self.attach(RgbImage::from_fn(120, 80, |x, y| {
            Rgb([colour, (x * 2) as u8, (y * 3) as u8])
        }))
        .await
    }

    async fn attach(&self, pixels: RgbImage) -> Picture {
        let mut bytes = std::io::Cursor::new(Vec::new());
        DynamicImage::ImageRgb8(pixels)
            .write_to(&mut bytes, ImageFormat::Png)
            .unwrap();
        self.engine
            .add_picture_bytes("quay.png".into(), bytes.into_inner())
            .await
            .unwrap()
    }

    async fn start_chat(&mut self) {
        self.chat = self.engine.new_chat(self.character).await.unwrap().id;
    }

    async fn show(&self, text: &str, pictures: Vec<Picture>) -> Message {
        let mut events = self.engine.subscribe();
        self.engine
            .send_pictures(self.chat, text.to_owned(), pictures)
            .await
            .unwrap();
        let (reply, reason) = ended(&mut events, self.chat).await;
        assert!(
            matches!(reason, EndReason::Stop | EndReason::Length),
            "{reason:?}"
        );
        reply.unwrap()
    }

    async fn tokens(&self, reply: &Message) -> (u32, u32, bool) {
        let swipe = &reply.swipes[reply.selected as usize];
        let report = self.engine.manifest(swipe.id).await.unwrap();
        let figures = swipe.figures.as_ref().unwrap();
        (
            report.tokens.total,
            figures.prompt.unwrap(),
            report.tokens.exact,
        )
    }
}

async fn open(dir: &TempDir) -> Engine {
    let options = Options {
        data_dir: dir.path().join("data"),
        worker: Some(worker()),
        without_keychain: true,
        clock: Clock::stopped(NOW),
        ..Options::default()
    };
    Engine::open(options)
        .await
        .unwrap_or_else(|error| panic!("{error}"))
}

fn evaluated(reply: &Message) -> u32 {
    reply.swipes[reply.selected as usize]
        .figures
        .as_ref()
        .unwrap()
        .evaluated
        .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn character_sees_the_colour_of_a_picture() {
    let mut app = App::seeing().await;
    for (letter, colour) in [
        ("B", Rgb([0, 0, 250])),
        ("G", Rgb([0, 250, 0])),
        ("R", Rgb([250, 0, 0])),
    ] {
        app.start_chat().await;
        let shown = app.attach(RgbImage::from_pixel(90, 60, colour)).await;
        let reply = app.show("Which colour is it?", vec![shown]).await;
        assert_eq!(selected_text(&reply), letter);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn picture_is_planned_exactly_and_read_once() {
    let app = App::new(Some("qwen2vl_merger")).await;
    assert!(app.engine.list_models().await.unwrap()[0].reads_pictures);
    let (quay, lamp) = (app.picture(9).await, app.picture(200).await);
    let preview = |pictures: Vec<Picture>| {
        let what_if = WhatIf {
            pictures,
            ..WhatIf::default()
        };
        app.engine
            .preview_prompt(app.chat, "What is this?".into(), what_if)
    };
    let (without, with) = (
        preview(Vec::new()).await.unwrap(),
        preview(vec![quay.clone()]).await.unwrap(),
    );
    let of_picture = with.tokens.total - without.tokens.total;
    assert!(of_picture > 20, "{of_picture} tokens");

    let first = app.show("What is this?", vec![quay.clone()]).await;
    let (planned, read, exact) = app.tokens(&first).await;
    assert_eq!((planned, read, exact), (with.tokens.total, planned, true));
    assert_eq!(evaluated(&first), read);

    let second = app.show("And this?", vec![lamp.clone()]).await;
    let (planned, read, _) = app.tokens(&second).await;
    assert_eq!(planned, read);
    assert!(
        evaluated(&second) < of_picture + 200,
        "read {} of {read}",
        evaluated(&second)
    );

    let mut events = app.engine.subscribe();
    app.engine.regenerate(app.chat).await.unwrap();
    let swipe = ended(&mut events, app.chat).await.0.unwrap();
    assert!(
        evaluated(&swipe) < of_picture,
        "a swipe reads no picture: {}",
        evaluated(&swipe)
    );

    let app = app.restart().await;
    let third = app.show("And now?", Vec::new()).await;
    let (planned, read, _) = app.tokens(&third).await;
    assert_eq!(planned, read);
    assert!(
        evaluated(&third) < of_picture + 200,
        "after a restart: {} of {read}",
        evaluated(&third)
    );
    assert!(!selected_text(&third).is_empty());
    app.engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn model_without_projector_gets_a_note() {
    let app = App::new(None).await;
    let picture = app.picture(9).await;
    let note = "[1 picture came with this. You cannot see it.]";
    let prompt = async |app: &App| {
        let what_if = WhatIf {
            pictures: vec![picture.clone()],
            ..WhatIf::default()
        };
        app.engine
            .preview_prompt(app.chat, "What is this?".into(), what_if)
            .await
            .unwrap()
            .text
    };
    assert!(prompt(&app).await.contains(note));
    let state = &app.engine.model_states().await.unwrap()[0];
    assert_eq!((&state.projector, state.reads_no_pictures), (&None, false));

    // A file that arrives in the folder is found, and can be switched off and replaced.
    let own = tiny_models::write_projector("qwen2vl_merger", tiny_models::WIDTH, &app.folder());
    assert!(!prompt(&app).await.contains(note));
    let state = app.engine.model_states().await.unwrap().remove(0);
    let projector = state.projector.unwrap();
    assert_eq!(
        (projector.name.as_str(), projector.automatic),
        ("mmproj-f32.gguf", true)
    );
    let state = app.engine.remove_model_projector(app.model).await.unwrap();
    assert!(state.projector.is_none() && state.reads_no_pictures);
    assert!(prompt(&app).await.contains(note));
    let state = app
        .engine
        .set_model_projector(app.model, own)
        .await
        .unwrap();
    assert!(!state.projector.unwrap().automatic);
    assert!(!prompt(&app).await.contains(note));

    let refused = async |bytes: Vec<u8>| {
        let file = app.dir.path().join("other.gguf");
        std::fs::write(&file, bytes).unwrap();
        app.engine
            .set_model_projector(app.model, file)
            .await
            .unwrap_err()
            .to_string()
    };
    let error = refused(tiny_models::projector_bytes(
        "gemma3",
        2 * tiny_models::WIDTH,
    ))
    .await;
    assert!(
        error.contains("embedding length of 128, and the model has 64"),
        "{error}"
    );
    let error = refused(tiny_models::bytes("llama")).await;
    assert!(
        error.contains("is not the part of a model that reads pictures"),
        "{error}"
    );
    app.engine.pair_model_projector(app.model).await.unwrap();
    app.engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn old_pictures_leave_the_window() {
    let app = App::new(Some("qwen2vl_merger")).await;
    let owner = || SettingOwner::Global;
    app.engine
        .set_setting(
            owner(),
            "context_limit".into(),
            Some(SettingValue::Whole(1_024)),
        )
        .await
        .unwrap();
    app.engine
        .set_setting(owner(), "memory".into(), Some(SettingValue::Switch(false)))
        .await
        .unwrap();
    for number in 0..30 {
        let reply = app
            .show("Look at this.", vec![app.picture(number).await])
            .await;
        let (planned, read, _) = app.tokens(&reply).await;
        assert!(
            planned == read && read < 1_024,
            "picture {number}: {planned} planned, {read} read"
        );
    }
    app.engine.shutdown().await;
}

#[tokio::test]
async fn moved_model_keeps_its_projector() {
    let app = App::new(Some("qwen2vl_merger")).await;
    let before = app.projector().await.unwrap();
    let target = app.dir.path().join("new");
    std::fs::create_dir(&target).unwrap();
    app.engine.add_model_folder(target.clone()).await.unwrap();
    let mut events = app.engine.subscribe();
    app.engine
        .move_model(app.model, target.display().to_string())
        .await
        .unwrap();
    while !app.engine.list_model_moves().await.unwrap().is_empty() {
        events.next().await.unwrap();
    }
    let model = app
        .engine
        .list_models()
        .await
        .unwrap()
        .into_iter()
        .find(|one| one.id == app.model)
        .unwrap();
    assert!(
        model.path.starts_with(&target.display().to_string()),
        "{model:?}"
    );
    let after = app.projector().await.unwrap();
    assert_eq!(
        (after.path, after.missing, after.automatic),
        (before.path, false, false)
    );
}
