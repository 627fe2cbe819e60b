//! Fetches the default models and verifies their checksums.

use crate::process::{command, root, run};
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// Environment variable with the folder of the default models, for the app, the tests and the
/// command line.
pub(crate) const FOLDER_VARIABLE: &str = "INGLENOOK_MODELS";

#[derive(Deserialize)]
struct Catalogue {
    models: Vec<ModelEntry>,
}

#[derive(Deserialize)]
struct ModelEntry {
    file: String,
    sha256: String,
    default: bool,
}

/// Size and time of a file when its checksum was last verified.
#[derive(Serialize, Deserialize, PartialEq, Eq)]
struct Stamp {
    sha256: String,
    bytes: u64,
    modified_nanos: u128,
}

type Stamps = BTreeMap<String, Stamp>;

/// Returns `$INGLENOOK_MODELS`, else `inglenook/models` in the user's cache. It is outside the
/// repository, so that a fresh clone need not download again.
///
/// # Errors
/// The user has no home folder.
pub(crate) fn folder() -> Result<PathBuf> {
    if let Some(folder) = env::var_os(FOLDER_VARIABLE).filter(|folder| !folder.is_empty()) {
        return std::path::absolute(folder).context("cannot use the folder in INGLENOOK_MODELS");
    }
    Ok(cache()?.join("models"))
}

/// Returns our folder in the user's cache.
///
/// # Errors
/// The user has no home folder.
pub(crate) fn cache() -> Result<PathBuf> {
    let cache = match env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .filter(|cache| cache.is_absolute())
    {
        Some(cache) => cache,
        None => env::home_dir()
            .context("this user has no home folder; set INGLENOOK_MODELS and HOME")?
            .join(".cache"),
    };
    Ok(cache.join("inglenook"))
}

/// Returns the paths of the default models. Missing or damaged ones are downloaded first.
///
/// # Errors
/// A model could not be downloaded; the download script has printed the reason.
pub(crate) fn ensure_defaults() -> Result<Vec<PathBuf>> {
    let folder = folder()?;
    let models = defaults()?;
    let stamps_path = folder.join(".verified.json");
    let mut stamps: Stamps = fs::read(&stamps_path)
        .ok()
        .and_then(|json| serde_json::from_slice(&json).ok())
        .unwrap_or_default();
    let mut changed = false;
    for model in &models {
        if !is_stamped(&stamps, model, &folder) {
            stamps.insert(model.file.clone(), ensure_model(model, &folder)?);
            changed = true;
        }
    }
    if changed {
        let json = serde_json::to_vec_pretty(&stamps)?;
        fs::write(&stamps_path, json)
            .with_context(|| format!("cannot write {}", stamps_path.display()))?;
    }
    Ok(models
        .iter()
        .map(|model| folder.join(&model.file))
        .collect())
}

fn defaults() -> Result<Vec<ModelEntry>> {
    let path = root().join("models/catalogue.json");
    let json = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let catalogue: Catalogue =
        serde_json::from_slice(&json).with_context(|| format!("{} is damaged", path.display()))?;
    Ok(catalogue
        .models
        .into_iter()
        .filter(|model| model.default)
        .collect())
}

fn is_stamped(stamps: &Stamps, model: &ModelEntry, folder: &Path) -> bool {
    let now = stamp(&folder.join(&model.file), &model.sha256).ok();
    now.is_some() && stamps.get(&model.file) == now.as_ref()
}

fn ensure_model(model: &ModelEntry, folder: &Path) -> Result<Stamp> {
    let path = folder.join(&model.file);
    match sha256(&path) {
        Ok(found) if found == model.sha256 => return stamp(&path, &model.sha256),
        Ok(_) => eprintln!("{} is damaged; downloading it again", path.display()),
        Err(_) => eprintln!("Downloading {} to {}", model.file, folder.display()),
    }
    let script = root().join("models/fetch.py");
    run(command("python3")
        .arg(script)
        .arg("--to")
        .arg(folder)
        .arg(&model.file))?;
    stamp(&path, &model.sha256)
}

fn stamp(path: &Path, sha256: &str) -> Result<Stamp> {
    let file = fs::metadata(path).with_context(|| format!("cannot inspect {}", path.display()))?;
    let modified_nanos = file.modified()?.duration_since(UNIX_EPOCH)?.as_nanos();
    Ok(Stamp {
        sha256: sha256.to_owned(),
        bytes: file.len(),
        modified_nanos,
    })
}

pub(crate) fn sha256(path: &Path) -> Result<String> {
    let mut digest = Sha256::new();
    let mut file =
        fs::File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    std::io::copy(&mut file, &mut digest)?;
    Ok(hex::encode(digest.finalize()))
}
