//! Tests with the real worker and the real small models.

mod embedding_choice;
mod emotion_guess;
mod local_api;
mod local_prompts;
mod meanings;
mod meanings_of_things;
mod model_speeds;
#[cfg(target_os = "linux")]
mod package;
mod pictures;
mod recall_floor;
mod reuse;
mod thinking;
#[allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    reason = "shared with other crates"
)]
#[path = "../../../src/tiny_models/mod.rs"]
mod tiny_models;
mod token_choices;
mod tools;
mod turns;

use engine::{Engine, Options};

/// Opens an engine with the real worker and the default models.
async fn open_with(dir: &tempfile::TempDir, variables: &[(&str, &str)]) -> Engine {
    let models = tests::headless::models_dir();
    let options = Options {
        data_dir: dir.path().to_owned(),
        model_dirs: vec![models],
        worker: Some(tests::headless::worker()),
        without_keychain: true,
        environment: variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
        ..Options::default()
    };
    Engine::open(options)
        .await
        .unwrap_or_else(|error| panic!("{error}"))
}
