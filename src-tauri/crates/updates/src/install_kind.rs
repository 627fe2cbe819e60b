//! How this installation gets a new version.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use installation::Installation;

use crate::folders::VersionFolders;

/// File among the internal files of a package. It names the package manager.
const PACKAGE: &str = "package";
/// Flatpak puts this file into each of its sandboxes.
const FLATPAK: &str = "/.flatpak-info";
/// Bytes to read of the file [`PACKAGE`].
const MAX_NAME: u64 = 32;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InstallKind {
    /// It has launchers and folders of versions, and updates itself.
    Versions(VersionFolders),
    Package(PackageManager),
    /// A build from source.
    Source,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PackageManager {
    Deb,
    Rpm,
    Flatpak,
}

impl InstallKind {
    /// Returns the kind of the installation that contains `program`.
    #[must_use]
    pub fn of(program: &Path) -> Self {
        Self::find(program, Path::new(FLATPAK))
    }

    fn find(program: &Path, flatpak: &Path) -> Self {
        if flatpak.exists() {
            return Self::Package(PackageManager::Flatpak);
        }
        if let Some(folders) = VersionFolders::of(program) {
            return Self::Versions(folders);
        }
        package(program).map_or(Self::Source, Self::Package)
    }
}

impl PackageManager {
    /// The command that installs `version`.
    #[must_use]
    pub fn command(self, version: &str) -> String {
        match self {
            Self::Deb => format!("sudo apt install ./inglenook_{version}_amd64.deb"),
            Self::Rpm => format!("sudo dnf install ./inglenook-{version}.x86_64.rpm"),
            Self::Flatpak => "flatpak update org.inglenook.app".to_owned(),
        }
    }
}

fn package(program: &Path) -> Option<PackageManager> {
    let file = Installation::of(program)?.library().join(PACKAGE);
    let mut name = String::new();
    File::open(file)
        .ok()?
        .take(MAX_NAME)
        .read_to_string(&mut name)
        .ok()?;
    match name.trim() {
        "deb" => Some(PackageManager::Deb),
        "rpm" => Some(PackageManager::Rpm),
        "flatpak" => Some(PackageManager::Flatpak),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn package_names_its_manager() {
        let prefix = tempfile::tempdir().unwrap();
        let program = prefix.path().join("bin/nook");
        let library = prefix.path().join("lib/inglenook");
        let no_flatpak = prefix.path().join("no-flatpak");
        let kind = || InstallKind::find(&program, &no_flatpak);
        assert_eq!(kind(), InstallKind::Source);
        fs::create_dir_all(&library).unwrap();
        for (name, expected) in [
            ("deb\n", InstallKind::Package(PackageManager::Deb)),
            ("rpm", InstallKind::Package(PackageManager::Rpm)),
            ("snap", InstallKind::Source),
        ] {
            fs::write(library.join("package"), name).unwrap();
            assert_eq!(kind(), expected, "{name}");
        }
        let flatpak = prefix.path().join("flatpak-info");
        fs::write(&flatpak, "").unwrap();
        assert_eq!(
            InstallKind::find(&program, &flatpak),
            InstallKind::Package(PackageManager::Flatpak)
        );
    }

    #[test]
    fn folder_of_a_version_updates_itself() {
        let no_flatpak = Path::new("/no/flatpak");
        let own = InstallKind::find(Path::new("/stick/versions/0.2.0/bin/nook"), no_flatpak);
        assert!(matches!(own, InstallKind::Versions(_)), "{own:?}");
        for other in ["/stick/versions/new/bin/nook", "/stick/0.2.0/bin/nook"] {
            let kind = InstallKind::find(Path::new(other), no_flatpak);
            assert_eq!(kind, InstallKind::Source, "{other}");
        }
    }

    #[test]
    fn command_names_the_version() {
        assert_eq!(
            PackageManager::Deb.command("0.2.0"),
            "sudo apt install ./inglenook_0.2.0_amd64.deb"
        );
        assert_eq!(
            PackageManager::Rpm.command("0.2.0"),
            "sudo dnf install ./inglenook-0.2.0.x86_64.rpm"
        );
    }
}
