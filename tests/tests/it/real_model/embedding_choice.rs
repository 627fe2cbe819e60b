//! Another embedding model than the bundled one: everything is embedded again, and vectors of two
//! models never meet.

use std::path::{Path, PathBuf};

use engine::api::{ApiError, EmbeddingModel};
use engine::{Clock, Engine, Options};
use provider::fake::FakeProvider;
use tests::headless::{NOW, fact, models_dir};

const BUNDLED: &str = "all-MiniLM-L6-v2";

async fn open(dir: &Path) -> Engine {
    let options = Options {
        data_dir: dir.join("data"),
        model_dirs: vec![models_dir()],
        worker: Some(tests::headless::worker()),
        without_keychain: true,
        clock: Clock::stopped(NOW),
        provider: Some(std::sync::Arc::new(FakeProvider::new())),
        ..Options::default()
    };
    Engine::open(options)
        .await
        .unwrap_or_else(|error| panic!("{error}"))
}

/// A copy of the bundled encoder under another name, which is another model for the app.
fn other_model(dir: &Path) -> PathBuf {
    let files = std::fs::read_dir(models_dir())
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let is_encoder = |path: &PathBuf| {
        path.file_name()
            .unwrap()
            .to_string_lossy()
            .starts_with(BUNDLED)
    };
    let copy = dir.join("own.gguf");
    std::fs::copy(
        files
            .filter(|path| path.extension().is_some_and(|kind| kind == "gguf"))
            .find(is_encoder)
            .unwrap(),
        &copy,
    )
    .unwrap();
    copy
}

/// The models of all stored vectors.
fn models_of_vectors(dir: &Path) -> Vec<String> {
    let database = rusqlite::Connection::open(dir.join("data/inglenook.db")).unwrap();
    let sql = "SELECT model FROM message_vector UNION SELECT model FROM meaning ORDER BY 1";
    let mut statement = database.prepare(sql).unwrap();
    statement
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect()
}

fn name(model: &EmbeddingModel) -> &str {
    model.name.as_deref().unwrap()
}

#[tokio::test]
async fn another_embedding_model_embeds_everything_again() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path()).await;
    let chat = engine.startup().await.unwrap().chat.unwrap();
    let character = engine.whole_chat(chat).await.unwrap().character;
    engine
        .save_memory(fact(character, "My sister Nora keeps bees.", 5))
        .await
        .unwrap();
    engine.learn().await.unwrap();
    let before = models_of_vectors(dir.path());
    assert!(
        before.len() == 1 && before[0].starts_with(BUNDLED),
        "{before:?}"
    );
    let bundled = engine.embedding_choice().await.unwrap();
    assert!(
        name(&bundled).starts_with(BUNDLED) && bundled.path.is_none() && bundled.left == 0,
        "{bundled:?}"
    );

    let own = other_model(dir.path());
    let chosen = engine.choose_embedding_model(own.clone()).await.unwrap();
    assert_eq!(
        (name(&chosen), chosen.path.as_deref()),
        ("own", own.to_str())
    );
    assert!(chosen.left > 0, "everything is to be embedded again");
    let meanwhile = models_of_vectors(dir.path());
    assert!(
        meanwhile.iter().all(|model| model.starts_with("own.gguf")),
        "{meanwhile:?}"
    );
    engine.learn().await.unwrap();
    let after = models_of_vectors(dir.path());
    assert!(
        after.len() == 1 && after[0].starts_with("own.gguf"),
        "{after:?}"
    );
    assert_eq!(engine.embedding_choice().await.unwrap().left, 0);
    engine.shutdown().await;
    drop(engine);

    let engine = open(dir.path()).await;
    assert_eq!(
        name(&engine.embedding_choice().await.unwrap()),
        "own",
        "the choice survives a restart"
    );
    let back = engine.use_bundled_embedding_model().await.unwrap();
    assert!(
        name(&back).starts_with(BUNDLED) && back.path.is_none() && back.left > 0,
        "{back:?}"
    );
    engine.learn().await.unwrap();
    assert_eq!(models_of_vectors(dir.path()), before);
    engine.shutdown().await;
}

#[tokio::test]
async fn only_embedding_models_are_accepted() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path()).await;
    let damaged = dir.path().join("damaged.gguf");
    let whole = std::fs::read(other_model(dir.path())).unwrap();
    std::fs::write(&damaged, &whole[..whole.len() / 2]).unwrap();
    let chat_model = models_dir().join("SmolLM2-135M-Instruct.Q4_1.gguf");
    for (file, reason) in [
        (chat_model, "is a model that writes replies"),
        (damaged, "is incomplete"),
        (dir.path().join("none.gguf"), "cannot be read"),
    ] {
        let refused = engine.choose_embedding_model(file).await.unwrap_err();
        let ApiError::BadInput { message, hint } = &refused else {
            panic!("{refused:?}")
        };
        assert!(message.contains(reason) && !hint.is_empty(), "{refused:?}");
    }
    assert!(
        name(&engine.embedding_choice().await.unwrap()).starts_with(BUNDLED),
        "nothing has changed"
    );
    engine.shutdown().await;
}

/// The worker refuses or survives every mutated encoder, and the one before stays in use.
#[tokio::test]
async fn mutated_embedding_models_are_refused_or_used() {
    let rounds: usize =
        std::env::var("INGLENOOK_MUTATIONS").map_or(8, |rounds| rounds.parse().unwrap());
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path()).await;
    let whole = std::fs::read(other_model(dir.path())).unwrap();
    let file = dir.path().join("mutated.gguf");
    for round in 0..rounds {
        let mut bytes = whole.clone();
        let at = round * 7_919 % 4_000;
        bytes[at] = bytes[at].wrapping_add([1, 0x80, 0x7f, 0xff][round % 4]);
        std::fs::write(&file, &bytes).unwrap();
        let _ = engine.choose_embedding_model(file.clone()).await;
        let back = engine.use_bundled_embedding_model().await.unwrap();
        assert!(name(&back).starts_with(BUNDLED));
    }
    engine
        .choose_embedding_model(other_model(dir.path()))
        .await
        .unwrap();
    engine.shutdown().await;
}
