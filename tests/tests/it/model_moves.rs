//! Models on their way to another folder: whole, cancelled, interrupted, and with a full disk.

use std::fs;
use std::path::{Path, PathBuf};

use engine::Events;
use engine::api::{ApiError, Event, Model, ModelMove, MoveState};
use serde_json::json;
use tests::headless::Headless;
use tests::scripted_hub::{model_part, small_model};

/// An app with the model folders `old` and `new`, and one model in `old`.
struct App {
    app: Headless,
    model: Model,
}

impl App {
    async fn new() -> Self {
        let app = Headless::new().await;
        let folder = |name: &str| app.dir.path().join(name);
        for name in ["old/maker", "new"] {
            fs::create_dir_all(folder(name)).unwrap();
        }
        fs::write(folder("old/maker/tiny.gguf"), small_model("Tiny", 300_000)).unwrap();
        for name in ["old", "new"] {
            app.engine.add_model_folder(folder(name)).await.unwrap();
        }
        let model = app.engine.list_models().await.unwrap().remove(0);
        Self { app, model }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.app.dir.path().join(name)
    }

    fn folder(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    async fn start(&self) -> ModelMove {
        self.app
            .engine
            .move_model(self.model.id, self.folder("new"))
            .await
            .unwrap()
    }

    /// The only model, whose file must be intact.
    async fn intact(&self) -> Model {
        let mut models = self.app.engine.list_models().await.unwrap();
        assert_eq!(models.len(), 1, "{models:?}");
        let model = models.remove(0);
        let sha256 = self
            .app
            .engine
            .model_checksum(model.path.clone().into())
            .await
            .unwrap();
        assert_eq!(
            (model.id, sha256),
            (self.model.id, self.model.sha256.clone())
        );
        model
    }

    /// The model is in `new`, and nowhere else.
    async fn has_moved(&self) {
        let model = self.intact().await;
        assert_eq!(PathBuf::from(&model.path), self.path("new/maker/tiny.gguf"));
        assert_eq!(
            (files(&self.path("old")), files(&self.path("new"))),
            (vec![], vec!["tiny.gguf".to_owned()])
        );
        assert!(
            self.path("old").exists() && !self.path("old/maker").exists(),
            "only the empty subfolder is deleted"
        );
        assert!(self.app.engine.list_model_moves().await.unwrap().is_empty());
    }

    /// The model is in `old`, and nowhere else.
    async fn has_stayed(&self) {
        assert_eq!(self.intact().await.path, self.model.path);
        assert_eq!(
            (files(&self.path("old")), files(&self.path("new"))),
            (vec!["tiny.gguf".to_owned()], vec![])
        );
    }

    /// Ends the app, and starts it again as if it had been killed during a move: with the stored
    /// job, and with the folders as `meanwhile` leaves them. `switched` says whether the library
    /// uses the new file already.
    async fn killed(self, switched: bool, meanwhile: impl FnOnce(&Path, &Path)) -> Self {
        let Self { app, model } = self;
        let id = model.id.0;
        let path = |name: &str| app.dir.path().join(name);
        let (old, new, folder) = (
            path("old/maker/tiny.gguf"),
            path("new/maker/tiny.gguf"),
            path("new"),
        );
        let file = json!({ "from": old, "to": new, "bytes": model.bytes });
        let job = json!({ "model": id, "name": "tiny", "folder": folder, "files": [file], "sha256": model.sha256 });
        let app = app.restart_after(|dir| {
            let database = rusqlite::Connection::open(dir.join("inglenook.db")).unwrap();
            let put = "INSERT INTO model_move (model, json) VALUES (?1, ?2)";
            database
                .execute(put, (id.as_bytes(), job.to_string()))
                .unwrap();
            if switched {
                let path = new.display().to_string();
                database
                    .execute("UPDATE model SET path = ?1", [path])
                    .unwrap();
            }
            fs::create_dir_all(new.parent().unwrap()).unwrap();
            meanwhile(&old, &new);
        });
        Self {
            app: app.await,
            model,
        }
    }
}

/// All files below a folder, by name.
fn files(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.path().is_dir() {
            true => names.extend(files(&entry.path())),
            false => names.push(entry.file_name().to_string_lossy().into_owned()),
        }
    }
    names.sort();
    names
}

/// Waits for the end of the only move, and returns whether the model has moved.
async fn ended(events: &mut Events) -> bool {
    loop {
        match events.next().await.expect("the engine lives") {
            Event::ModelMoveEnded { moved, .. } => return moved,
            Event::ModelMoving { moving } if moving.state == MoveState::Failed => {
                panic!("{moving:?}")
            }
            _ => {}
        }
    }
}

async fn failed(events: &mut Events) -> ModelMove {
    loop {
        match events.next().await.expect("the engine lives") {
            Event::ModelMoving { moving } if moving.state == MoveState::Failed => return moving,
            Event::ModelMoveEnded { .. } => panic!("it has ended"),
            _ => {}
        }
    }
}

#[tokio::test]
async fn moved_model_is_the_same_model() {
    let app = App::new().await;
    let mut events = app.app.engine.subscribe();
    let started = app.start().await;
    assert_eq!(
        (started.name.as_str(), started.total),
        ("tiny", app.model.bytes)
    );
    assert!(ended(&mut events).await);
    app.has_moved().await;
    assert!(app.intact().await.default, "it stays the default");
}

#[tokio::test]
async fn killed_move_goes_on_at_any_point() {
    let partial = |new: &Path| new.with_file_name("tiny.gguf.moving");
    type Meanwhile = Box<dyn FnOnce(&Path, &Path)>;
    let cases: [(&str, bool, Meanwhile); 6] = [
        ("before the copy", false, Box::new(|_, _| {})),
        (
            "during the copy",
            false,
            Box::new(move |old, new| {
                fs::write(partial(new), &fs::read(old).unwrap()[..100_000]).unwrap();
            }),
        ),
        (
            "at the end of the copy",
            false,
            Box::new(move |old, new| assert!(fs::copy(old, partial(new)).is_ok())),
        ),
        (
            "before the check",
            false,
            Box::new(|old, new| assert!(fs::copy(old, new).is_ok())),
        ),
        (
            "before the deletion",
            true,
            Box::new(|old, new| assert!(fs::copy(old, new).is_ok())),
        ),
        (
            "after the deletion",
            true,
            Box::new(|old, new| {
                fs::rename(old, new).unwrap();
                fs::remove_dir(old.parent().unwrap()).unwrap();
            }),
        ),
    ];
    for (at, switched, meanwhile) in cases {
        let app = App::new().await.killed(switched, meanwhile).await;
        app.intact().await;
        let open = app.app.engine.list_model_moves().await.unwrap();
        assert_eq!((open.len(), open[0].state), (1, MoveState::Queued), "{at}");
        let mut events = app.app.engine.subscribe();
        app.app.engine.resume_interrupted_moves();
        assert!(ended(&mut events).await, "{at}");
        app.has_moved().await;
    }
}

#[tokio::test]
async fn damaged_copy_is_deleted_and_made_again() {
    let damage = |_: &Path, new: &Path| {
        fs::write(new.with_file_name("tiny.gguf.moving"), vec![7; 100_000]).unwrap()
    };
    let app = App::new().await.killed(false, damage).await;
    let mut events = app.app.engine.subscribe();
    app.app.engine.resume_interrupted_moves();
    let end = failed(&mut events).await;
    assert!(
        end.reason.contains("checksum") && end.reason.contains("stays where it is"),
        "{end:?}"
    );
    app.has_stayed().await;
    app.start().await;
    assert!(ended(&mut events).await);
    app.has_moved().await;
}

#[tokio::test]
async fn killed_move_can_be_cancelled() {
    let half = |old: &Path, new: &Path| {
        fs::write(
            new.with_file_name("tiny.gguf.moving"),
            &fs::read(old).unwrap()[..100_000],
        )
        .unwrap();
    };
    let app = App::new().await.killed(false, half).await;
    app.app
        .engine
        .cancel_model_move(app.model.id)
        .await
        .unwrap();
    app.has_stayed().await;
    let moved = App::new()
        .await
        .killed(true, |old, new| assert!(fs::copy(old, new).is_ok()))
        .await;
    moved
        .app
        .engine
        .cancel_model_move(moved.model.id)
        .await
        .unwrap();
    moved.has_moved().await;
}

#[tokio::test]
async fn file_that_has_changed_is_not_moved() {
    let app = App::new().await;
    let mut events = app.app.engine.subscribe();
    let mut bytes = fs::read(&app.model.path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&app.model.path, &bytes).unwrap();
    app.start().await;
    let end = failed(&mut events).await;
    assert!(
        end.reason.contains("checksum") && end.hint.contains("has changed since it was added"),
        "{end:?}"
    );
    assert_eq!(
        (
            fs::read(&app.model.path).unwrap() == bytes,
            files(&app.path("new"))
        ),
        (true, vec![])
    );
    app.app
        .engine
        .cancel_model_move(app.model.id)
        .await
        .unwrap();
    assert!(app.app.engine.list_model_moves().await.unwrap().is_empty());
    assert!(matches!(
        app.app.engine.cancel_model_move(app.model.id).await,
        Err(ApiError::NotFound { .. })
    ));
}

#[tokio::test]
async fn nothing_is_moved_to_a_wrong_place() {
    let app = App::new().await;
    let refused = |folder: String| {
        let (engine, id) = (app.app.engine.clone(), app.model.id);
        async move { engine.move_model(id, folder).await.unwrap_err().to_string() }
    };
    let outside = refused(app.folder("elsewhere")).await;
    assert!(
        outside.contains("not one of the model folders"),
        "{outside}"
    );
    let same = refused(app.folder("old")).await;
    assert!(same.contains("already in that folder"), "{same}");
    fs::create_dir_all(app.path("new/maker")).unwrap();
    fs::write(app.path("new/maker/tiny.gguf"), "mine").unwrap();
    let occupied = refused(app.folder("new")).await;
    assert!(occupied.contains("already exists"), "{occupied}");
    assert_eq!(
        fs::read_to_string(app.path("new/maker/tiny.gguf")).unwrap(),
        "mine"
    );
    fs::remove_file(app.path("new/maker/tiny.gguf")).unwrap();
    app.has_stayed().await;
}

#[tokio::test]
async fn parts_of_a_split_model_move_together() {
    let app = App::new().await;
    for number in [1, 2, 3] {
        let part = model_part("Big", 60_000, Some((number, 3)));
        fs::write(
            app.path(&format!("old/Big-{number:05}-of-00003.gguf")),
            part,
        )
        .unwrap();
    }
    app.app
        .engine
        .add_model_folder(app.path("old"))
        .await
        .unwrap();
    let mut events = app.app.engine.subscribe();
    let started = app
        .app
        .engine
        .move_models_of_folder(app.folder("old"), app.folder("new"))
        .await
        .unwrap();
    assert_eq!(started.len(), 2, "all models of the folder");
    assert!(ended(&mut events).await && ended(&mut events).await);
    assert_eq!(
        (files(&app.path("old")), files(&app.path("new")).len()),
        (vec![], 4)
    );
    let models = app.app.engine.list_models().await.unwrap();
    for model in &models {
        let sha256 = app
            .app
            .engine
            .model_checksum(model.path.clone().into())
            .await
            .unwrap();
        assert!(
            !model.missing && sha256 == model.sha256 && model.path.starts_with(&app.folder("new")),
            "{model:?}"
        );
    }
    assert_eq!(models.len(), 2);
}

#[tokio::test]
async fn removed_model_ends_its_move() {
    let app = App::new().await;
    app.start().await;
    app.app.engine.remove_model(app.model.id).await.unwrap();
    assert!(app.app.engine.list_models().await.unwrap().is_empty());
    assert!(app.app.engine.list_model_moves().await.unwrap().is_empty());
    let left = [files(&app.path("old")), files(&app.path("new"))].concat();
    assert_eq!(left, ["tiny.gguf"], "one copy stays");
}
