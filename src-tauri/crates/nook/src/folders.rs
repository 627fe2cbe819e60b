//! Default folders.

use std::env;
use std::path::PathBuf;

use directories::{BaseDirs, ProjectDirs};

use crate::failure::CommandError;

const MODELS_VARIABLE: &str = "INGLENOOK_MODELS";

/// The desktop app's data folder on this platform.
pub(crate) fn data() -> Result<PathBuf, CommandError> {
    ProjectDirs::from("org", "Inglenook", "Inglenook")
        .map(|dirs| dirs.data_dir().to_owned())
        .ok_or_else(|| {
            CommandError::because(
                "storage",
                "this user has no home folder; set a folder with --data-dir",
            )
        })
}

/// Returns the folders that may contain the models shipped with the app: only `INGLENOOK_MODELS` if
/// set, else the folder next to the installed program, then the download folder of `cargo xtask`.
pub(crate) fn models() -> Vec<PathBuf> {
    if let Some(folder) = env::var_os(MODELS_VARIABLE).filter(|folder| !folder.is_empty()) {
        return vec![folder.into()];
    }
    let program = env::current_exe().ok();
    let installed = program
        .as_deref()
        .and_then(|program| Some(program.parent()?.parent()?.join("lib/inglenook/models")));
    let fetched = BaseDirs::new().map(|dirs| dirs.cache_dir().join("inglenook/models"));
    installed.into_iter().chain(fetched).collect()
}
