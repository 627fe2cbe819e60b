//! Crates that are linked into the programs, as `cargo metadata` and `Cargo.lock` list them.

use super::component::Component;
use super::{parts, texts};
use crate::process::{cargo, output, root};
use anyhow::{Context, Result};
use serde::Deserialize;
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

/// Our programs in the packages.
const PROGRAMS: [&str; 4] = ["inglenook", "launcher", "nook", "worker"];

/// Crates of others in this repository.
const COPIED: [&str; 1] = ["libsqlite3-sys"];

/// Build dependencies that contain the C code of a library which is linked.
const SOURCES: [&str; 1] = ["sqlite3mc-src"];

#[derive(Deserialize)]
struct CargoMetadata {
    packages: Vec<CargoPackage>,
    resolve: ResolvedGraph,
}

#[derive(Deserialize)]
struct CargoPackage {
    id: String,
    name: String,
    version: String,
    license: Option<String>,
    license_file: Option<PathBuf>,
    authors: Vec<String>,
    manifest_path: PathBuf,
    /// `None` for a crate of this repository.
    source: Option<String>,
}

#[derive(Deserialize)]
struct ResolvedGraph {
    nodes: Vec<ResolvedPackage>,
}

#[derive(Deserialize)]
struct ResolvedPackage {
    id: String,
    deps: Vec<ResolvedDependency>,
}

#[derive(Deserialize)]
struct ResolvedDependency {
    /// Name of the library, with `_` instead of `-`.
    name: String,
    pkg: String,
    dep_kinds: Vec<DependencyKind>,
}

#[derive(Deserialize)]
struct DependencyKind {
    /// `dev`, `build`, or `None` for a dependency that is linked.
    kind: Option<String>,
}

/// Lists the crates in programs for `target` and the code inside them that has other authors.
///
/// # Errors
/// `cargo metadata` fails, or a crate is not in cargo's cache.
pub(super) fn packages(target: &str) -> Result<Vec<Component>> {
    let json = output(
        cargo("metadata")
            .args(["--locked", "--format-version", "1"])
            .args(["--filter-platform", target]),
    )
    .context("`cargo metadata --locked` failed; run it to see why")?;
    let metadata: CargoMetadata =
        serde_json::from_str(&json).context("cannot read the output of `cargo metadata`")?;
    let lock = fs::read_to_string(root().join("Cargo.lock")).context("cannot read Cargo.lock")?;
    let sums = checksums(&lock);
    let linked = linked(&metadata, &PROGRAMS)?;
    let mut components = Vec::new();
    for package in &metadata.packages {
        if package.is_of_others() && linked.contains(package.id.as_str()) {
            let component = component(package, &sums)?;
            components.extend(parts::of(&component, package.folder()?)?);
            components.push(component);
        }
    }
    Ok(components)
}

/// Returns the ids of the packages that `programs` reach by dependencies that are linked.
fn linked<'m>(metadata: &'m CargoMetadata, programs: &[&str]) -> Result<BTreeSet<&'m str>> {
    let mut open: Vec<&str> = Vec::new();
    for program in programs {
        let mut ours = metadata.packages.iter().filter(|it| it.source.is_none());
        let package = ours
            .find(|package| package.name == *program)
            .with_context(|| format!("the workspace has no package {program}"))?;
        open.push(&package.id);
    }
    let nodes = metadata.resolve.nodes.iter();
    let nodes: HashMap<&str, &ResolvedPackage> =
        nodes.map(|node| (node.id.as_str(), node)).collect();
    let mut linked = BTreeSet::new();
    while let Some(id) = open.pop() {
        let is_new = linked.insert(id);
        if let Some(node) = nodes.get(id).filter(|_| is_new) {
            open.extend(node.linked_dependencies());
        }
    }
    Ok(linked)
}

impl ResolvedPackage {
    fn linked_dependencies(&self) -> impl Iterator<Item = &str> {
        let is_linked = |dependency: &&ResolvedDependency| {
            let mut kinds = dependency.dep_kinds.iter();
            let name = dependency.name.replace('_', "-");
            SOURCES.contains(&name.as_str()) || kinds.any(|it| it.kind.is_none())
        };
        self.deps
            .iter()
            .filter(is_linked)
            .map(|dependency| dependency.pkg.as_str())
    }
}

impl CargoPackage {
    fn is_of_others(&self) -> bool {
        self.source.is_some() || COPIED.contains(&self.name.as_str())
    }

    fn folder(&self) -> Result<&Path> {
        self.manifest_path
            .parent()
            .with_context(|| format!("the package {} has no folder", self.name))
    }
}

fn component(package: &CargoPackage, sums: &HashMap<String, String>) -> Result<Component> {
    let folder = package.folder()?;
    let mut licence_files = texts::licence_files(folder)?;
    let named = package.license_file.iter().map(|file| folder.join(file));
    for file in named.filter(|file| file.is_file()) {
        if !licence_files.contains(&file) {
            licence_files.push(file);
        }
    }
    let CargoPackage { name, version, .. } = package;
    Ok(Component {
        version: Some(version.clone()),
        licence: package.license.clone(),
        authors: package.authors.clone(),
        purl: Some(format!("pkg:cargo/{name}@{}", version.replace('+', "%2B"))),
        sha256: sums.get(&format!("{name}@{version}")).cloned(),
        licence_files,
        ..Component::library(name)
    })
}

/// Returns the checksums in `Cargo.lock` by `name@version`.
fn checksums(lock: &str) -> HashMap<String, String> {
    let blocks = lock.split("[[package]]").skip(1);
    let sum = |block: &str| {
        let name = format!("{}@{}", field(block, "name")?, field(block, "version")?);
        Some((name, field(block, "checksum")?.to_owned()))
    };
    blocks.filter_map(sum).collect()
}

/// Returns the value of a line `name = "value"`.
fn field<'b>(block: &'b str, name: &str) -> Option<&'b str> {
    block.lines().find_map(|line| {
        let value = line.strip_prefix(name)?.strip_prefix(" = \"")?;
        value.strip_suffix('"')
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn package(name: &str, source: Option<&str>) -> Value {
        json!({
            "id": format!("{name} 1.0.0"),
            "name": name,
            "version": "1.0.0",
            "license": "MIT",
            "license_file": null,
            "authors": [],
            "manifest_path": format!("/crates/{name}/Cargo.toml"),
            "source": source,
        })
    }

    fn node(name: &str, dependencies: &[(&str, Value)]) -> Value {
        let deps = dependencies.iter().map(|(name, kind)| {
            json!({ "name": name, "pkg": format!("{name} 1.0.0"), "dep_kinds": [{ "kind": kind, "target": null }] })
        });
        json!({ "id": format!("{name} 1.0.0"), "deps": deps.collect::<Vec<_>>() })
    }

    #[test]
    fn tests_and_build_scripts_are_not_linked() {
        let metadata: CargoMetadata = serde_json::from_value(json!({
            "packages": [
                package("nook", None),
                package("lamp", Some("registry")),
                package("oil", Some("registry")),
            ],
            "resolve": { "nodes": [
                node("nook", &[("lamp", json!(null)), ("bench", json!("dev")), ("gen", json!("build"))]),
                node("lamp", &[("oil", json!(null)), ("nook", json!(null))]),
                node("oil", &[]),
                node("bench", &[]),
                node("gen", &[]),
            ] },
        }))
        .unwrap();
        let linked: Vec<_> = linked(&metadata, &["nook"]).unwrap().into_iter().collect();
        assert_eq!(linked, ["lamp 1.0.0", "nook 1.0.0", "oil 1.0.0"]);
    }

    #[test]
    fn missing_program_is_an_error() {
        let metadata: CargoMetadata = serde_json::from_value(json!({
            "packages": [package("nook", Some("registry"))],
            "resolve": { "nodes": [] },
        }))
        .unwrap();
        assert!(linked(&metadata, &["nook"]).is_err());
    }

    #[test]
    fn checksums_belong_to_a_version() {
        let lock = r#"version = 4

[[package]]
name = "lamp"
version = "1.0.0"
source = "registry+https://example.org"
checksum = "aa"

[[package]]
name = "lamp"
version = "2.0.0+extra"
checksum = "bb"

[[package]]
name = "nook"
version = "0.1.0"
dependencies = [
 "lamp 1.0.0",
]
"#;
        let sums = checksums(lock);
        assert_eq!(sums.len(), 2);
        assert_eq!(sums["lamp@1.0.0"], "aa");
        assert_eq!(sums["lamp@2.0.0+extra"], "bb");
    }
}
