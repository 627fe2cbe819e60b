//! Helpers shared by the whole-turn tests and benches.

pub mod generated_model;
pub mod headless;
pub mod learning;
pub mod model_file;
pub mod pdf;
pub mod planted;
pub mod recorder;
pub mod reuse;
pub mod scripted_hub;
pub mod speed;
pub mod tavern;

use std::path::Path;

use rusqlite::Connection;

/// Opens the database of a data folder that no engine has open, to change it behind the engine's
/// back.
pub fn open_database(dir: &Path) -> Connection {
    let database = Connection::open(dir.join("inglenook.db")).expect("the database opens");
    store::register_search_functions(&database).expect("functions are registered");
    database
}
