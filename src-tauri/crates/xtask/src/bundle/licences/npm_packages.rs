//! npm packages of the web UI. The lock file marks those that only the build uses as `dev`.

use super::component::Component;
use super::texts;
use crate::process::root;
use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

#[derive(Deserialize)]
struct NpmLock {
    /// By the path below `ui`; the path of `ui` itself is empty.
    packages: BTreeMap<String, LockedPackage>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct LockedPackage {
    version: String,
    license: Value,
    dev: bool,
    dev_optional: bool,
    optional: bool,
}

/// Lists the packages that the built UI may contain.
///
/// # Errors
/// The lock file is damaged, or `npm ci` has not installed a package.
pub(super) fn packages() -> Result<Vec<Component>> {
    let ui = root().join("ui");
    let lock = fs::read_to_string(ui.join("package-lock.json"))
        .context("cannot read ui/package-lock.json")?;
    let lock: NpmLock =
        serde_json::from_str(&lock).context("ui/package-lock.json has another format")?;
    let bundled = lock.packages.iter().filter(|entry| entry.1.is_bundled());
    bundled
        .filter_map(|(path, package)| {
            let name = path.rsplit_once("node_modules/")?.1;
            Some(component(name, package, &ui.join(path)))
        })
        .collect()
}

impl LockedPackage {
    fn is_bundled(&self) -> bool {
        !self.dev && !self.dev_optional
    }
}

fn component(name: &str, package: &LockedPackage, folder: &Path) -> Result<Component> {
    // npm leaves out optional packages of other platforms.
    let licence_files = if package.optional && !folder.is_dir() {
        Vec::new()
    } else {
        texts::licence_files(folder).context("run `npm ci` in the folder `ui`")?
    };
    Ok(Component {
        version: Some(package.version.clone()),
        licence: package.license.as_str().map(str::to_owned),
        authors: author(folder).into_iter().collect(),
        purl: Some(purl(name, &package.version)),
        licence_files,
        ..Component::library(name)
    })
}

fn purl(name: &str, version: &str) -> String {
    format!("pkg:npm/{}@{version}", name.replace('@', "%40"))
}

/// The author in `package.json`, which is a text or an object with a name.
fn author(folder: &Path) -> Option<String> {
    let json = fs::read(folder.join("package.json")).ok()?;
    let package: Value = serde_json::from_slice(&json).ok()?;
    let author = &package["author"];
    author
        .as_str()
        .or_else(|| author["name"].as_str())
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_of_the_build_alone_are_left_out() {
        let lock: NpmLock = serde_json::from_str(
            r#"{ "packages": {
                "": { "name": "ui", "devDependencies": {} },
                "node_modules/lamp": { "version": "1.0.0", "license": "MIT" },
                "node_modules/vite": { "version": "8.0.0", "dev": true },
                "node_modules/typed": { "version": "6.0.0", "devOptional": true }
            } }"#,
        )
        .unwrap();
        let bundled: Vec<&str> = lock
            .packages
            .iter()
            .filter(|entry| entry.1.is_bundled())
            .map(|entry| entry.0.as_str())
            .collect();
        assert_eq!(bundled, ["", "node_modules/lamp"]);
    }

    #[test]
    fn scope_is_escaped_in_the_package_url() {
        assert_eq!(
            purl("@tauri-apps/api", "2.12.5"),
            "pkg:npm/%40tauri-apps/api@2.12.5"
        );
    }
}
