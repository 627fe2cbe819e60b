//! The Debian package, unpacked into an empty folder: it is complete and works without a network.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn package() -> PathBuf {
    let target = std::env::current_exe()
        .unwrap()
        .ancestors()
        .nth(3)
        .unwrap()
        .to_owned();
    let folder = target.join("package/debug");
    let packages = fs::read_dir(&folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path());
    let mut packages: Vec<_> = packages
        .filter(|path| path.extension().is_some_and(|ending| ending == "deb"))
        .collect();
    packages.pop().unwrap_or_else(|| {
        panic!(
            "no package in {}: run `cargo xtask bundle --debug`",
            folder.display()
        )
    })
}

fn unpacked() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let unpacked = Command::new("dpkg-deb")
        .arg("-x")
        .arg(package())
        .arg(root.path())
        .status()
        .unwrap();
    assert!(unpacked.success());
    root
}

/// Runs the packaged command line in an empty network namespace, with a home folder without models.
fn nook(root: &Path, home: &Path, arguments: &[&str]) -> Vec<Value> {
    let output = Command::new("unshare")
        .args(["--map-root-user", "--net", "--"])
        .arg(root.join("usr/bin/nook"))
        .args(["--json", "--data-dir"])
        .arg(home.join("data"))
        .args(arguments)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", home)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success(),
        "{text}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn unpacked_package_works_without_network() {
    let (root, home) = (unpacked(), tempfile::tempdir().unwrap());
    let lines = nook(
        root.path(),
        home.path(),
        &[
            "chat",
            "--character",
            "Mira",
            "--max-tokens",
            "12",
            "--message",
            "Hello!",
        ],
    );
    assert!(
        lines.iter().any(|line| line["event"] == "token"),
        "{lines:?}"
    );
    let end = lines.last().unwrap();
    assert_eq!(end["event"], "end");
    assert!(end["usage"]["generated"].as_u64().unwrap() > 0, "{end}");
}

#[test]
fn package_contains_app_model_and_web_ui() {
    let root = unpacked();
    let wanted = [
        "usr/bin/inglenook",
        "usr/lib/inglenook/inglenook-worker",
        "usr/lib/inglenook/models/SmolLM2-135M-Instruct.Q4_1.gguf",
        "usr/lib/inglenook/ui/index.html",
        "usr/share/applications/org.inglenook.app.desktop",
        "usr/share/man/man1/nook.1.gz",
        "usr/share/bash-completion/completions/nook",
        "usr/lib/inglenook/third-party-licences.txt",
        "usr/share/doc/inglenook/LICENCES.md",
        "usr/share/doc/inglenook/OFL-Literata.txt",
    ];
    let missing: Vec<_> = wanted
        .iter()
        .filter(|path| !root.path().join(path).exists())
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}
