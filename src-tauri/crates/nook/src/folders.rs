//! Where things are, unless the command line says otherwise.

use std::env;
use std::path::PathBuf;

use directories::{BaseDirs, ProjectDirs};

use crate::failure::Failure;

const MODELS_VARIABLE: &str = "INGLENOOK_MODELS";

/// The desktop app's data folder on this platform.
pub(crate) fn data() -> Result<PathBuf, Failure> {
    ProjectDirs::from("org", "Inglenook", "Inglenook")
        .map(|dirs| dirs.data_dir().to_owned())
        .ok_or_else(|| Failure::because("storage", "this user has no home folder; name a folder with --data-dir"))
}

/// Where the models that ship with the app may be: the folder that `INGLENOOK_MODELS` names and no other; else beside the
/// installed program, then the folder that `cargo xtask` fetches them to.
pub(crate) fn models() -> Vec<PathBuf> {
    if let Some(folder) = env::var_os(MODELS_VARIABLE).filter(|folder| !folder.is_empty()) {
        return vec![folder.into()];
    }
    let program = env::current_exe().ok();
    let installed =
        program.as_deref().and_then(|program| Some(program.parent()?.parent()?.join("lib/inglenook/models")));
    let fetched = BaseDirs::new().map(|dirs| dirs.cache_dir().join("inglenook/models"));
    installed.into_iter().chain(fetched).collect()
}
