//! Prepares finished packages for publication: checksums, the signed manifest of the update channel,
//! and the notes of the version.
//!
//! The signatures are minisign's. The secret key is in the file that `INGLENOOK_UPDATE_SECRET_KEY`
//! names; without it the test key of the repository is used, whose signatures no released program
//! accepts.

use crate::models;
use crate::process::{command, root, run};
use crate::system::{self, Need};
use anyhow::{Context, Result, bail};
use clap::Args;
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub(crate) struct Options {
    /// Folder with all packages of this version.
    #[arg(long)]
    packages: PathBuf,
    /// Address under which the packages will be published, without the file's name.
    #[arg(long)]
    address: String,
    /// Update channel.
    #[arg(long, default_value = "stable")]
    channel: String,
}

const KEY_VARIABLE: &str = "INGLENOOK_UPDATE_SECRET_KEY";
const TEST_KEY: &str = "src-tauri/crates/updates/keys/test.key";

/// Writes `SHA256SUMS`, `<channel>.json`, their signatures, and `notes.md` next to the packages.
///
/// # Errors
/// The folder has no update archive, the changelog has no section for the version, or signing fails.
pub(crate) fn release(options: &Options) -> Result<()> {
    system::ensure(&[Need::Release])?;
    let version = env!("CARGO_PKG_VERSION");
    let notes = notes_of(&changelog()?, version)
        .with_context(|| format!("the changelog has no section for {version}"))?;
    let packages = Packages::list(&options.packages)?;
    let manifest = manifest(options, version, &notes, &packages)?;
    let in_folder = |name: &str| options.packages.join(name);
    let files = [
        (in_folder("SHA256SUMS"), packages.checksums()),
        (
            in_folder(&format!("{}.json", options.channel)),
            serde_json::to_string_pretty(&manifest)?,
        ),
    ];
    for (path, text) in &files {
        fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
        sign(path)?;
    }
    fs::write(in_folder("notes.md"), notes)?;
    eprintln!("{} is ready for publication", options.packages.display());
    Ok(())
}

struct Package {
    name: String,
    bytes: u64,
    sha256: String,
}

struct Packages(Vec<Package>);

/// Other files in the folder are results of an earlier run.
const ENDINGS: [&str; 6] = [".deb", ".rpm", ".tar.zst", ".zip", ".exe", ".dmg"];

impl Packages {
    fn list(folder: &Path) -> Result<Self> {
        let entries =
            fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
        let mut packages = Vec::new();
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if ENDINGS.iter().any(|ending| name.ends_with(ending)) {
                packages.push(Package {
                    name,
                    bytes: entry.metadata()?.len(),
                    sha256: models::sha256(&entry.path())?,
                });
            }
        }
        packages.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Self(packages))
    }

    /// Returns one line per package, as `sha256sum` writes it.
    fn checksums(&self) -> String {
        let lines = self.0.iter();
        lines
            .map(|package| format!("{}  {}\n", package.sha256, package.name))
            .collect()
    }

    /// Returns the update archives by platform, such as `linux-x86_64`.
    fn updates(&self, version: &str, address: &str) -> Map<String, Value> {
        let prefix = format!("inglenook-{version}-");
        let platform = |name: &str| -> Option<String> {
            let (platform, _) = name.strip_prefix(&prefix)?.split_once("-update.")?;
            Some(platform.to_owned())
        };
        let archives = self.0.iter().filter_map(|package| {
            let archive = json!({
                "url": format!("{}/{}", address.trim_end_matches('/'), package.name),
                "size": package.bytes,
                "sha256": package.sha256,
            });
            Some((platform(&package.name)?, archive))
        });
        archives.collect()
    }
}

/// Programs refuse a manifest with a lower serial than the last one they saw, so it is the time of
/// publication in seconds.
fn manifest(options: &Options, version: &str, notes: &str, packages: &Packages) -> Result<Value> {
    let archives = packages.updates(version, &options.address);
    if archives.is_empty() {
        bail!(
            "{} has no archive `inglenook-{version}-<platform>-update.*`",
            options.packages.display()
        );
    }
    let now = Timestamp::now();
    Ok(json!({
        "product": "inglenook",
        "channel": options.channel,
        "serial": now.as_second(),
        "version": version,
        "published": now.strftime("%FT%TZ").to_string(),
        "notes": { "en": notes },
        "archives": archives,
    }))
}

fn changelog() -> Result<String> {
    let path = root().join("src-tauri/docs/CHANGELOG.md");
    fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
}

/// Returns the text of the section whose heading contains the version.
fn notes_of(changelog: &str, version: &str) -> Option<String> {
    let mut sections = changelog.split("\n## ").skip(1);
    let section = sections.find(|section| {
        let heading = section.lines().next().unwrap_or_default();
        heading
            .split(|separator: char| !(separator.is_ascii_alphanumeric() || separator == '.'))
            .any(|word| word == version)
    })?;
    let (_, text) = section.split_once('\n')?;
    Some(text.trim().to_owned())
}

fn sign(path: &Path) -> Result<()> {
    let key = std::env::var_os(KEY_VARIABLE).map(PathBuf::from);
    if key.is_none() {
        eprintln!("{KEY_VARIABLE} is not set: signing with the test key, for trials only");
    }
    let key = key.unwrap_or_else(|| root().join(TEST_KEY));
    run(command("minisign").arg("-SWm").arg(path).arg("-s").arg(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_the_section_of_the_version() {
        let changelog = "# Changelog\n\n## Unreleased (0.2.0)\n\nNew.\n\n### More\n\nText.\n\n## 0.1.0\n\nOld.\n";
        assert_eq!(
            notes_of(changelog, "0.2.0").as_deref(),
            Some("New.\n\n### More\n\nText.")
        );
        assert_eq!(notes_of(changelog, "0.1.0").as_deref(), Some("Old."));
        assert_eq!(notes_of(changelog, "0.1"), None);
    }

    #[test]
    fn manifest_lists_update_archives_only() {
        let package = |name: &str| Package {
            name: name.into(),
            bytes: 7,
            sha256: "ab".into(),
        };
        let packages = Packages(vec![
            package("inglenook-0.1.0-linux-x86_64-portable.tar.zst"),
            package("inglenook-0.1.0-linux-x86_64-update.tar.zst"),
            package("inglenook_0.1.0_amd64.deb"),
        ]);
        let archives = packages.updates("0.1.0", "https://example.org/v0.1.0/");
        assert_eq!(
            Value::Object(archives),
            json!({ "linux-x86_64": {
                "url": "https://example.org/v0.1.0/inglenook-0.1.0-linux-x86_64-update.tar.zst",
                "size": 7,
                "sha256": "ab",
            }})
        );
    }
}
