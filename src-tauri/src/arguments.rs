//! Parses the command line and the environment.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Parser, ValueEnum as _};
use engine::Options;
use installation::Installation;
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
    /// Do not let the keychain unlock encrypted data.
    #[arg(long, hide = true)]
    pub(crate) locked: bool,
    /// Lock the running app with this data folder, and start none.
    #[arg(long, hide = true)]
    pub(crate) lock: bool,
    /// Cards and models to import.
    pub(crate) files: Vec<PathBuf>,
}

impl AppArguments {
    /// Returns the data folder from the command line, the environment or the portable edition.
    pub(crate) fn custom_data_dir(&self) -> Option<PathBuf> {
        self.data_dir
            .clone()
            .or_else(|| variable("INGLENOOK_DATA_DIR"))
            .or_else(|| Installation::of_this_program()?.portable_data())
    }

    /// Returns the arguments of the next start with the same data folder, which asks about `files`.
    pub(crate) fn of_next_start(self, locked: bool, files: Vec<PathBuf>) -> Vec<OsString> {
        let Self {
            data_dir,
            dmabuf_renderer,
            // The next start has its own.
            locked: _,
            lock: _,
            files: _,
        } = self;
        let with_value = |name: &str, value: OsString| {
            let mut argument = OsString::from(name);
            argument.push("=");
            argument.push(value);
            argument
        };
        let data_dir = data_dir.map(|folder| with_value("--data-dir", folder.into()));
        let renderer = dmabuf_renderer
            .to_possible_value()
            .map(|value| with_value("--dmabuf-renderer", value.get_name().into()));
        let locked = locked.then(|| OsString::from("--locked"));
        let files = files.into_iter().map(PathBuf::into_os_string);
        [data_dir, renderer, locked]
            .into_iter()
            .flatten()
            .chain(files)
            .collect()
    }
}

/// Returns the options with the places of the engine's files.
///
/// # Errors
/// No folder was given, and the user has no home folder.
pub(crate) fn options(arguments: &AppArguments) -> Result<Options, NoHome> {
    let data_dir = match arguments.custom_data_dir() {
        Some(folder) => std::path::absolute(&folder).unwrap_or(folder),
        None => installation::data_dir().ok_or(NoHome)?,
    };
    Ok(Options {
        data_dir,
        model_dirs: installation::model_dirs(),
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
    fn next_start_keeps_the_folder_and_only_its_lock() {
        let own = ["inglenook", "--data-dir", "here", "--locked", "Mira.png"];
        let next = |locked, files: Vec<PathBuf>| {
            let arguments = AppArguments::parse_from(own).of_next_start(locked, files);
            AppArguments::parse_from([OsString::from("inglenook")].into_iter().chain(arguments))
        };
        let usual = next(false, vec![]);
        assert_eq!(usual.data_dir, Some("here".into()));
        assert_eq!(usual.dmabuf_renderer, DmabufRenderer::Auto);
        assert!(!usual.locked && !usual.lock && usual.files.is_empty());
        let locked = next(true, vec!["/cards/Tom.json".into()]);
        assert!(locked.locked);
        assert_eq!(locked.files, [PathBuf::from("/cards/Tom.json")]);
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
}
