//! The package of Fedora and openSUSE.

use super::facts::{self, Release};
use super::tree::PackagedFile;
use crate::process::{command, run};
use anyhow::{Context, Result};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Packs the files below `stage/usr` into `package`.
///
/// # Errors
/// `rpmbuild` fails.
pub(super) fn pack(
    release: &Release,
    files: &[PackagedFile],
    stage: &Path,
    package: &Path,
) -> Result<()> {
    let top = stage.with_extension("rpmbuild");
    fs::create_dir_all(&top)?;
    let spec = top.join("inglenook.spec");
    fs::write(&spec, specification(release, files, stage))?;
    run(command("rpmbuild")
        .arg("-bb")
        .arg("--quiet")
        .arg("--define")
        .arg(format!("_topdir {}", top.display()))
        .arg(&spec)
        .env("SOURCE_DATE_EPOCH", release.date.to_string()))?;
    let built = built_package(&top.join("RPMS"))?;
    fs::rename(&built, package).with_context(|| format!("cannot move {}", built.display()))?;
    Ok(fs::remove_dir_all(top)?)
}

fn built_package(folder: &Path) -> Result<PathBuf> {
    let architecture = fs::read_dir(folder)?
        .next()
        .context("rpmbuild made nothing")??;
    let package = fs::read_dir(architecture.path())?
        .next()
        .context("rpmbuild made no package")??;
    Ok(package.path())
}

/// Settings for a tree that is already built: no stripping, no debug packages, reproducible times.
/// The libraries of the worker are private, so nothing else may depend on them.
const SETTINGS: &str = "\
%global debug_package %{nil}
%global __os_install_post %{nil}
%global _build_id_links none
%global _binary_payload w6.xzdio
%global use_source_date_epoch_as_buildtime 1
%global clamp_mtime_to_source_date_epoch 1
%global _buildhost localhost
%global __provides_exclude_from ^/usr/lib/inglenook/.*$
%global __requires_exclude ^lib(llama|ggml|mtmd)
";

fn specification(release: &Release, files: &[PackagedFile], stage: &Path) -> String {
    let mut spec = SETTINGS.to_owned();
    let _ = write!(
        spec,
        "Name: inglenook\nVersion: {}\nRelease: 1\nSummary: {}\nLicense: MIT OR Apache-2.0\n\n\
         %description\n{}\n\n%install\ncp -a {}/. %{{buildroot}}/\n\n%files\n%defattr(-,root,root)\n",
        release.version,
        facts::SUMMARY,
        facts::DESCRIPTION.join("\n"),
        stage.display(),
    );
    for file in files {
        let _ = writeln!(spec, "\"/usr/{}\"", file.to.display());
    }
    spec.push_str("%dir /usr/lib/inglenook\n");
    spec
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specification_lists_every_file() {
        let release = Release {
            version: "1.2.3".into(),
            date: 0,
            is_debug: false,
        };
        let files =
            ["bin/nook", "lib/inglenook/models/a b.gguf"].map(|to| PackagedFile::new(to, "/built"));
        let spec = specification(&release, &files, Path::new("/stage"));
        assert!(spec.contains("\nVersion: 1.2.3\n"));
        assert!(spec.contains("\ncp -a /stage/. %{buildroot}/\n"));
        assert!(spec.contains("\n\"/usr/bin/nook\"\n\"/usr/lib/inglenook/models/a b.gguf\"\n"));
    }
}
