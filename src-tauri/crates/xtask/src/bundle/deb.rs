//! The package of Debian and Ubuntu, made with their own tools.

use super::facts::{self, Release};
use crate::process::{command, run};
use anyhow::{Context, Result, bail};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Packs the files below `stage/usr` into `package`.
///
/// # Errors
/// A tool of dpkg fails.
pub(super) fn pack(release: &Release, stage: &Path, package: &Path) -> Result<()> {
    let depends = dependencies(stage)?;
    let control = stage.join("DEBIAN");
    fs::create_dir_all(&control)?;
    let text = control_file(release, &depends, installed_kibibytes(&stage.join("usr"))?);
    fs::write(control.join("control"), text)?;
    let packed = run(command("dpkg-deb")
        .args(["--root-owner-group", "--build"])
        .args(compression(release.is_debug))
        .args([stage, package])
        .env("SOURCE_DATE_EPOCH", release.date.to_string()));
    fs::remove_dir_all(control)?;
    packed
}

/// The package of the debug build is unpacked at once by its test.
fn compression(is_debug: bool) -> &'static [&'static str] {
    if is_debug {
        &["-Znone"]
    } else {
        &["-Zxz", "-z9"]
    }
}

fn control_file(release: &Release, depends: &str, kibibytes: u64) -> String {
    let mut text = String::new();
    let fields = [
        ("Package", "inglenook"),
        ("Version", &release.version),
        ("Architecture", architecture()),
        ("Maintainer", "The Inglenook authors <inglenook@localhost>"),
        ("Installed-Size", &kibibytes.to_string()),
        ("Depends", depends),
        ("Section", "misc"),
        ("Priority", "optional"),
        ("Description", facts::SUMMARY),
    ];
    for (name, value) in fields {
        let _ = writeln!(text, "{name}: {value}");
    }
    for line in facts::DESCRIPTION {
        let _ = writeln!(text, " {line}");
    }
    text
}

pub(super) fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

/// Returns the packages, with versions, that the programs are linked with.
fn dependencies(stage: &Path) -> Result<String> {
    let folder = stage.with_extension("shlibdeps");
    fs::create_dir_all(folder.join("debian"))?;
    fs::write(
        folder.join("debian/control"),
        "Source: inglenook\n\nPackage: inglenook\nArchitecture: any\n",
    )?;
    let library = stage.join(facts::LIBRARY_IN_USR);
    let output = command("dpkg-shlibdeps")
        .current_dir(&folder)
        .args(["-O", "--ignore-missing-info"])
        .arg(format!("-l{}", library.display()))
        .args(programs(&stage.join("usr"))?)
        .output()
        .context("cannot start dpkg-shlibdeps")?;
    fs::remove_dir_all(&folder)?;
    let text = String::from_utf8_lossy(&output.stdout);
    match text.trim().strip_prefix("shlibs:Depends=") {
        Some(depends) if output.status.success() => Ok(depends.to_owned()),
        _ => bail!(
            "dpkg-shlibdeps failed: {}",
            String::from_utf8_lossy(&output.stderr)
        ),
    }
}

/// Returns the programs and libraries, which are linked with other libraries.
fn programs(prefix: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for folder in ["bin", "lib/inglenook", "lib/inglenook/graphics"] {
        let Ok(entries) = fs::read_dir(prefix.join(folder)) else {
            continue;
        };
        for entry in entries {
            let path = entry?.path();
            if is_elf(&path) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

fn is_elf(path: &Path) -> bool {
    use std::io::Read as _;
    let mut start = [0; 4];
    fs::File::open(path)
        .and_then(|mut file| file.read_exact(&mut start))
        .is_ok()
        && start == *b"\x7fELF"
}

/// Each file occupies whole kibibytes, as Debian's policy counts them.
fn installed_kibibytes(folder: &Path) -> Result<u64> {
    let mut sum = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        sum += if metadata.is_dir() {
            1 + installed_kibibytes(&entry.path())?
        } else {
            metadata.len().div_ceil(1024)
        };
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_file_has_a_description_of_several_lines() {
        let release = Release {
            version: "1.2.3".into(),
            date: 0,
            is_debug: false,
        };
        let text = control_file(&release, "libc6 (>= 2.34)", 12);
        assert!(text.starts_with("Package: inglenook\nVersion: 1.2.3\n"));
        assert!(text.contains("\nDepends: libc6 (>= 2.34)\n"));
        let description = text.split_once("Description: ").unwrap().1;
        assert!(
            description
                .lines()
                .skip(1)
                .all(|line| line.starts_with(' '))
        );
    }
}
