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
