//! Parses the command line and the environment, and finds the app's folders.

use std::env;
use std::path::{Path, PathBuf};

use clap::Parser;
use engine::Options;
use sha2::{Digest, Sha256};

use crate::renderer::DmabufRenderer;

/// The command line of the window.
#[derive(Debug, Parser)]
#[command(
    name = "inglenook",
    version,
    about = "Private character chat on your own machine"
)]
pub(crate) struct AppArguments {
    /// Keep all data in this folder instead of the user's data folder.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Use of WebKitGTK's DMABUF renderer, which often stays blank with NVIDIA's own driver (Linux
    /// only).
    #[arg(long, value_name = "WHEN", value_enum, default_value_t)]
    pub(crate) dmabuf_renderer: DmabufRenderer,
    /// Cards and models to import.
    pub(crate) files: Vec<PathBuf>,
}

impl AppArguments {
    /// Returns the data folder from the command line or the environment.
    pub(crate) fn custom_data_dir(&self) -> Option<PathBuf> {
        self.data_dir
            .clone()
            .or_else(|| variable("INGLENOOK_DATA_DIR"))
    }
}

/// Returns the options with the places of the engine's files.
///
/// # Errors
/// No folder was given, and the user has no home folder.
pub(crate) fn options(arguments: &AppArguments) -> Result<Options, NoHome> {
    let data_dir = match arguments.custom_data_dir() {
        Some(folder) => std::path::absolute(&folder).unwrap_or(folder),
        None => directories::ProjectDirs::from("org", "Inglenook", "Inglenook")
            .ok_or(NoHome)?
            .data_dir()
            .to_owned(),
    };
    let exe = env::current_exe().ok();
    Ok(Options {
        data_dir,
        model_dirs: model_dirs(
            exe.as_deref(),
            variable("INGLENOOK_MODELS"),
            directories::BaseDirs::new(),
        ),
        worker: worker(exe.as_deref(), variable("INGLENOOK_WORKER")),
        environment: engine::environment(),
        ..Options::default()
    })
}

/// Returns the session-bus name of the app instance for `folder`.
pub(crate) fn instance_name(folder: &Path) -> String {
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let hash = hex::encode(&Sha256::digest(folder.as_os_str().as_encoded_bytes())[..8]);
    format!("org.inglenook.app.data{hash}")
}

#[derive(Debug, thiserror::Error)]
#[error("this user has no home folder; start Inglenook with --data-dir FOLDER")]
pub(crate) struct NoHome;

fn model_dirs(
    exe: Option<&Path>,
    named: Option<PathBuf>,
    home: Option<directories::BaseDirs>,
) -> Vec<PathBuf> {
    let installed = exe.and_then(installed).map(|folder| folder.join("models"));
    let cached = home.map(|home| home.cache_dir().join("inglenook").join("models"));
    named.into_iter().chain(installed).chain(cached).collect()
}

/// Finds the worker binary; with `None` the engine searches for it.
fn worker(exe: Option<&Path>, named: Option<PathBuf>) -> Option<PathBuf> {
    let name = format!("inglenook-worker{}", env::consts::EXE_SUFFIX);
    let beside = exe.and_then(Path::parent).map(|folder| folder.join(&name));
    let installed = exe.and_then(installed).map(|folder| folder.join(&name));
    named.or_else(|| {
        [beside, installed]
            .into_iter()
            .flatten()
            .find(|path| path.is_file())
    })
}

/// Returns `lib/inglenook` next to the program's folder, where packages install internal files.
fn installed(exe: &Path) -> Option<PathBuf> {
    Some(exe.parent()?.parent()?.join("lib").join("inglenook"))
}

fn variable(name: &str) -> Option<PathBuf> {
    env::var_os(name)
        .filter(|value| !value.is_empty())
        .map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distinguishes_files_from_the_data_folder() {
        let arguments =
            AppArguments::parse_from(["inglenook", "--data-dir", "here", "Mira.png", "Tom.json"]);
        assert_eq!(arguments.data_dir, Some("here".into()));
        assert_eq!(
            arguments.files,
            [PathBuf::from("Mira.png"), "Tom.json".into()]
        );
        assert_eq!(arguments.dmabuf_renderer, DmabufRenderer::Auto);
    }

    #[test]
    fn each_data_folder_has_its_own_instance() {
        assert_eq!(
            instance_name(Path::new("/a/b")),
            instance_name(Path::new("/a/./b"))
        );
        assert_ne!(
            instance_name(Path::new("/a")),
            instance_name(Path::new("/b"))
        );
    }

    #[test]
    fn configured_models_precede_those_of_the_package() {
        let found = model_dirs(
            Some(Path::new("/usr/bin/inglenook")),
            Some("/named".into()),
            None,
        );
        assert_eq!(
            found,
            [PathBuf::from("/named"), "/usr/lib/inglenook/models".into()]
        );
    }

    #[test]
    fn uses_the_worker_next_to_the_program() {
        let folder = tempfile::tempdir().unwrap();
        let exe = folder.path().join("inglenook");
        assert_eq!(worker(Some(&exe), None), None);
        let beside = folder
            .path()
            .join(format!("inglenook-worker{}", env::consts::EXE_SUFFIX));
        std::fs::write(&beside, "").unwrap();
        assert_eq!(worker(Some(&exe), None), Some(beside));
        assert_eq!(
            worker(Some(&exe), Some("/named".into())),
            Some("/named".into())
        );
    }
}
