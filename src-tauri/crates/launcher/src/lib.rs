//! Starts the current version of an installation that updates itself.
//!
//! An update never replaces the launcher. It adds a folder in `versions` and then replaces the file
//! `current`, so an interruption at any moment leaves a version that starts. If the current version
//! is damaged, the launcher starts the previous one, then any complete one, the newest first.

use std::cmp::Reverse;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs, io};

/// Starts the program `name` of the current version with the arguments of this process.
///
/// On Unix it replaces this process and returns only if no version starts. Elsewhere it returns the
/// exit code of the program.
#[must_use]
pub fn start(name: &str) -> ExitCode {
    let root = match env::current_exe() {
        Ok(launcher) => launcher.parent().unwrap_or(Path::new("")).to_owned(),
        Err(error) => return fail(&format!("cannot find the folder of this program: {error}")),
    };
    let arguments: Vec<OsString> = env::args_os().skip(1).collect();
    let mut failure = format!(
        "no complete version in {}; install Inglenook again, your data stays where it is",
        root.join("versions").display()
    );
    for program in programs(&root, name) {
        match run(Command::new(&program).args(&arguments)) {
            Ok(code) => return code,
            Err(error) => failure = format!("cannot start {}: {error}", program.display()),
        }
    }
    fail(&failure)
}

fn fail(message: &str) -> ExitCode {
    eprintln!("Inglenook: {message}");
    ExitCode::FAILURE
}

/// Returns the program `name` of each complete version, in the order of preference.
fn programs(root: &Path, name: &str) -> Vec<PathBuf> {
    let file = format!("{name}{}", env::consts::EXE_SUFFIX);
    let mut versions: Vec<String> = ["current", "previous"]
        .iter()
        .filter_map(|pointer| named_version(&root.join(pointer)))
        .collect();
    for version in installed_versions(root) {
        if !versions.contains(&version) {
            versions.push(version);
        }
    }
    versions
        .iter()
        .map(|version| root.join("versions").join(version))
        .filter(|folder| folder.join("complete").is_file())
        .map(|folder| folder.join("bin").join(&file))
        .filter(|program| program.is_file())
        .collect()
}

/// Reads the version that a pointer file names; a name that could leave the folder is ignored.
fn named_version(pointer: &Path) -> Option<String> {
    let name = fs::read_to_string(pointer).ok()?.trim().to_owned();
    is_version(&name).then_some(name)
}

fn is_version(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_digit())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b".-+".contains(&byte))
}

/// Lists the folders of versions, the newest first.
fn installed_versions(root: &Path) -> Vec<String> {
    let entries = fs::read_dir(root.join("versions"));
    let mut names: Vec<String> = entries
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| is_version(name))
        .collect();
    names.sort_by_cached_key(|name| Reverse(numbers(name)));
    names
}

/// Returns the numbers in a version, so that 0.10.0 comes after 0.9.0.
fn numbers(version: &str) -> Vec<u64> {
    version
        .split(|character: char| !character.is_ascii_digit())
        .filter_map(|number| number.parse().ok())
        .collect()
}

#[cfg(unix)]
fn run(command: &mut Command) -> io::Result<ExitCode> {
    use std::os::unix::process::CommandExt as _;
    Err(command.exec())
}

#[cfg(not(unix))]
fn run(command: &mut Command) -> io::Result<ExitCode> {
    let status = command.status()?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn install(root: &Path, version: &str) -> PathBuf {
        let folder = root.join("versions").join(version);
        fs::create_dir_all(folder.join("bin")).unwrap();
        fs::write(folder.join("complete"), "").unwrap();
        let program = folder
            .join("bin")
            .join(format!("nook{}", env::consts::EXE_SUFFIX));
        fs::write(&program, "").unwrap();
        program
    }

    #[test]
    fn current_version_comes_first() {
        let root = tempfile::tempdir().unwrap();
        let [old, new, newest] =
            ["0.9.0", "0.10.0", "0.11.0"].map(|version| install(root.path(), version));
        fs::write(root.path().join("current"), "0.10.0\n").unwrap();
        fs::write(root.path().join("previous"), "0.9.0\n").unwrap();
        assert_eq!(programs(root.path(), "nook"), [new, old, newest]);
    }

    #[test]
    fn incomplete_version_is_skipped() {
        let root = tempfile::tempdir().unwrap();
        let old = install(root.path(), "0.1.0");
        install(root.path(), "0.2.0");
        fs::remove_file(root.path().join("versions/0.2.0/complete")).unwrap();
        fs::write(root.path().join("current"), "0.2.0").unwrap();
        assert_eq!(programs(root.path(), "nook"), [old]);
    }

    #[test]
    fn newest_version_starts_without_a_pointer() {
        let root = tempfile::tempdir().unwrap();
        let [old, new] = ["0.9.0", "0.10.0"].map(|version| install(root.path(), version));
        assert_eq!(programs(root.path(), "nook"), [new, old]);
    }

    #[test]
    fn pointer_cannot_leave_the_folder() {
        let root = tempfile::tempdir().unwrap();
        install(root.path(), "0.1.0");
        for name in ["../../evil", "/evil", "0.1.0/..", "", "..\\evil", "C:evil"] {
            fs::write(root.path().join("current"), name).unwrap();
            assert_eq!(named_version(&root.path().join("current")), None, "{name}");
        }
    }

    #[test]
    fn partial_download_is_no_version() {
        let root = tempfile::tempdir().unwrap();
        let only = install(root.path(), "0.1.0");
        install(root.path(), "0.2.0");
        let versions = root.path().join("versions");
        fs::rename(versions.join("0.2.0"), versions.join("0.2.0.partial")).unwrap();
        fs::remove_file(versions.join("0.2.0.partial/complete")).unwrap();
        assert_eq!(programs(root.path(), "nook"), [only]);
    }
}
