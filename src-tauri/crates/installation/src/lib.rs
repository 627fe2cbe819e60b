//! Finds the folders of an installation: programs, internal files, models and data.
//!
//! A package manager installs `<prefix>/bin` and `<prefix>/lib/inglenook`. An installation that
//! updates itself has the same tree once per version, and launchers in its root folder:
//!
//! ```text
//! <root>/inglenook, nook             launchers, which start the version named in `current`
//! <root>/current                     for example `0.2.0`
//! <root>/portable                    only in the portable edition: data is in <root>/data
//! <root>/models/                     the bundled models, shared by all versions
//! <root>/versions/0.2.0/bin/         programs
//! <root>/versions/0.2.0/lib/inglenook/
//! ```

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use directories::{BaseDirs, ProjectDirs};

/// Folder with one folder per version, in the root of an installation that updates itself.
pub const VERSIONS: &str = "versions";

/// Variable that replaces all folders of bundled models.
const MODELS_VARIABLE: &str = "INGLENOOK_MODELS";

/// The folders around one program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installation {
    /// Folder of the program; test programs are one folder deeper.
    programs: PathBuf,
}

impl Installation {
    /// Returns the installation of the running program, or `None` if the system does not tell where
    /// it is.
    #[must_use]
    pub fn of_this_program() -> Option<Self> {
        Self::of(&env::current_exe().ok()?)
    }

    /// Returns the installation that contains `program`.
    #[must_use]
    pub fn of(program: &Path) -> Option<Self> {
        let folder = program.parent()?;
        let programs = if folder.ends_with("deps") {
            folder.parent()?
        } else {
            folder
        };
        Some(Self {
            programs: programs.to_owned(),
        })
    }

    /// Returns the folder of internal files.
    #[must_use]
    pub fn library(&self) -> PathBuf {
        let prefix = self.programs.parent().unwrap_or(&self.programs);
        prefix.join("lib").join("inglenook")
    }

    /// Returns the root of an installation that updates itself.
    #[must_use]
    pub fn root(&self) -> Option<&Path> {
        let versions = self.programs.parent()?.parent()?;
        (versions.file_name() == Some(OsStr::new(VERSIONS)))
            .then(|| versions.parent())
            .flatten()
    }

    /// Returns the data folder of the portable edition: beside the file `portable`, which is beside
    /// the program that the user starts.
    #[must_use]
    pub fn portable_data(&self) -> Option<PathBuf> {
        let beside = self.root().unwrap_or(&self.programs);
        beside
            .join("portable")
            .is_file()
            .then(|| beside.join("data"))
    }

    /// Returns the worker's path: beside the program, else among the internal files. If it exists
    /// nowhere, the path beside the program.
    #[must_use]
    pub fn worker(&self) -> PathBuf {
        let name = format!("inglenook-worker{}", env::consts::EXE_SUFFIX);
        let packaged = self.library().join(&name);
        let beside = self.programs.join(name);
        if !beside.is_file() && packaged.is_file() {
            packaged
        } else {
            beside
        }
    }

    /// Returns the path of the app with the window, which is beside the program.
    #[must_use]
    pub fn window(&self) -> PathBuf {
        let name = format!("inglenook{}", env::consts::EXE_SUFFIX);
        self.programs.join(name)
    }

    /// Returns the folders that may contain bundled models.
    fn models(&self) -> impl Iterator<Item = PathBuf> {
        let shared = self.root().map(|root| root.join("models"));
        std::iter::once(self.library().join("models")).chain(shared)
    }
}

/// Returns the data folder: of the portable edition, else of the user. `None` if the user has no
/// home folder.
#[must_use]
pub fn data_dir() -> Option<PathBuf> {
    Installation::of_this_program()
        .and_then(|installation| installation.portable_data())
        .or_else(user_data)
}

/// On Windows, roaming profiles are copied at each sign-in, so gigabytes of models do not belong
/// there.
fn user_data() -> Option<PathBuf> {
    let folders = ProjectDirs::from("org", "Inglenook", "Inglenook")?;
    Some(folders.data_local_dir().to_owned())
}

/// Returns the folders that may contain bundled models: only `INGLENOOK_MODELS` if it is set, else
/// those of the installation, then the download folder of `cargo xtask`.
#[must_use]
pub fn model_dirs() -> Vec<PathBuf> {
    if let Some(folder) = env::var_os(MODELS_VARIABLE).filter(|folder| !folder.is_empty()) {
        return vec![folder.into()];
    }
    let installed = Installation::of_this_program();
    let fetched = BaseDirs::new().map(|folders| folders.cache_dir().join("inglenook/models"));
    installed
        .iter()
        .flat_map(Installation::models)
        .chain(fetched)
        .collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn at(program: &Path) -> Installation {
        Installation::of(program).unwrap()
    }

    #[test]
    fn packaged_program_finds_its_internal_files() {
        let packaged = at(Path::new("/usr/bin/nook"));
        assert_eq!(packaged.library(), Path::new("/usr/lib/inglenook"));
        assert_eq!(packaged.window().parent(), Some(Path::new("/usr/bin")));
        assert_eq!(packaged.root(), None);
        let models: Vec<_> = packaged.models().collect();
        assert_eq!(models, [Path::new("/usr/lib/inglenook/models")]);
    }

    #[test]
    fn versions_share_the_models_of_their_root() {
        let version = at(Path::new("/stick/Inglenook/versions/0.2.0/bin/nook"));
        assert_eq!(version.root(), Some(Path::new("/stick/Inglenook")));
        let models: Vec<_> = version.models().collect();
        assert_eq!(
            models,
            [
                Path::new("/stick/Inglenook/versions/0.2.0/lib/inglenook/models"),
                Path::new("/stick/Inglenook/models"),
            ]
        );
    }

    #[test]
    fn worker_beside_the_program_comes_first() {
        let folder = tempfile::tempdir().unwrap();
        let programs = folder.path().join("bin");
        let library = folder.path().join("lib/inglenook");
        fs::create_dir_all(&programs).unwrap();
        fs::create_dir_all(&library).unwrap();
        let installation = at(&programs.join("nook"));
        let name = format!("inglenook-worker{}", env::consts::EXE_SUFFIX);
        let [beside, packaged] = [programs, library].map(|folder| folder.join(&name));
        assert_eq!(installation.worker(), beside);
        fs::write(&packaged, "").unwrap();
        assert_eq!(installation.worker(), packaged);
        fs::write(&beside, "").unwrap();
        assert_eq!(installation.worker(), beside);
    }

    #[test]
    fn test_programs_use_the_folder_above_theirs() {
        assert_eq!(
            at(Path::new("/target/debug/deps/it")),
            at(Path::new("/target/debug/nook"))
        );
    }

    #[test]
    fn portable_data_is_beside_the_launcher() {
        let root = tempfile::tempdir().unwrap();
        let installation = at(&root.path().join("versions/0.2.0/bin/nook"));
        assert_eq!(installation.portable_data(), None);
        fs::write(root.path().join("portable"), "").unwrap();
        assert_eq!(installation.portable_data(), Some(root.path().join("data")));
    }

    #[test]
    fn portable_data_is_beside_a_single_program() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("portable"), "").unwrap();
        let installation = at(&folder.path().join("nook"));
        assert_eq!(
            installation.portable_data(),
            Some(folder.path().join("data"))
        );
    }
}
