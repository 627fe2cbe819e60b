//! Model files of other apps on this machine. They are used in place and never changed or copied.
//!
//! Places and formats: LM Studio keeps `PUBLISHER/REPOSITORY/FILE.gguf`, Jan `MODEL/model.gguf`,
//! llama.cpp flat files in its cache. Ollama keeps manifests by name, which name files by their
//! SHA-256 (`blobs/sha256-...`).

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::api::{self, ApiError};
use crate::base::error::{ApiResult, internal, not_found};
use crate::base::files;
use crate::settings::hub::Hub;
use crate::settings::models::files::readable;

/// Maximum bytes of an Ollama manifest.
const MAX_MANIFEST: u64 = 1 << 20;

/// A model file of another app.
#[derive(Debug, Clone, PartialEq, Eq)]
struct OtherModel {
    name: String,
    path: PathBuf,
}

struct OtherApp {
    name: &'static str,
    folder: PathBuf,
    models: Vec<OtherModel>,
}

impl Hub {
    /// The apps that have model files on this machine which are not in the library.
    pub(crate) async fn find_other_models(&self) -> ApiResult<Vec<api::OtherAppModels>> {
        let known = self.known_paths().await?;
        let apps = self.other_apps().await?;
        let shown = |app: OtherApp| {
            let new: Vec<_> = app
                .models
                .into_iter()
                .filter(|model| !known.contains(&model.path))
                .collect();
            let bytes = new
                .iter()
                .filter_map(|model| Some(fs::metadata(&model.path).ok()?.len()))
                .sum();
            let models = new.into_iter().map(|model| model.name).collect::<Vec<_>>();
            api::OtherAppModels {
                app: app.name.to_owned(),
                folder: app.folder.display().to_string(),
                models,
                bytes,
            }
        };
        Ok(apps
            .into_iter()
            .map(shown)
            .filter(|app| !app.models.is_empty())
            .collect())
    }

    /// Adds the models of another app to the library, without copying them.
    ///
    /// # Errors
    /// `NotFound` if the app has none.
    pub(crate) async fn add_other_models(&self, app: String) -> ApiResult<api::AddedModels> {
        let apps = self.other_apps().await?;
        let models: Vec<_> = apps
            .into_iter()
            .filter(|one| one.name == app)
            .flat_map(|one| one.models)
            .collect();
        if models.is_empty() {
            return Err(not_found("folder"));
        }
        self.add_all(models).await
    }

    /// Adds the GGUF files below a folder to the library, without copying them.
    pub(crate) async fn add_models_below(&self, folder: &Path) -> ApiResult<api::AddedModels> {
        let folder = folder.to_owned();
        let models = tokio::task::spawn_blocking(move || gguf_below(&folder)).await;
        self.add_all(models.map_err(|_| internal("a folder could not be read"))?)
            .await
    }

    /// Name of the other app in whose folder a file is.
    pub(crate) async fn app_of_file(&self, path: &Path) -> ApiResult<Option<&'static str>> {
        let apps = self.other_apps().await?;
        Ok(apps
            .into_iter()
            .find(|app| path.starts_with(&app.folder))
            .map(|app| app.name))
    }

    async fn add_all(&self, models: Vec<OtherModel>) -> ApiResult<api::AddedModels> {
        let known = self.known_paths().await?;
        let mut result = api::AddedModels::default();
        for model in models
            .into_iter()
            .filter(|model| !known.contains(&model.path))
        {
            match self
                .models()
                .add_named_model(model.path, Some(model.name.clone()), None)
                .await
            {
                Ok(added) => result.added.push(added.name),
                Err(ApiError::BadInput { message, .. }) => result.refused.push(message),
                Err(other) => return Err(other),
            }
        }
        Ok(result)
    }

    async fn known_paths(&self) -> ApiResult<Vec<PathBuf>> {
        let models = self
            .base()
            .store()
            .read(|store| store.models().list())
            .await?;
        Ok(models
            .into_iter()
            .map(|model| PathBuf::from(model.path))
            .collect())
    }

    async fn other_apps(&self) -> ApiResult<Vec<OtherApp>> {
        let Some(home) = self.base().home() else {
            return Ok(Vec::new());
        };
        let moved = Moved {
            ollama: self.base().folder_of_variable("OLLAMA_MODELS"),
            llama: self.base().folder_of_variable("LLAMA_CACHE"),
        };
        tokio::task::spawn_blocking(move || find(&home, moved))
            .await
            .map_err(|_| internal("other apps could not be found"))
    }
}

/// Folders that the user has moved, by the variables that the apps read themselves.
#[derive(Default)]
struct Moved {
    ollama: Option<PathBuf>,
    llama: Option<PathBuf>,
}

/// The folder of each app, by the operating system's customs and the app's own defaults.
fn find(home: &Path, moved: Moved) -> Vec<OtherApp> {
    let mut apps = Vec::new();
    let mut add = |name, folder: PathBuf, models: fn(&Path) -> Vec<OtherModel>| {
        let models = if folder.is_dir() {
            models(&folder)
        } else {
            Vec::new()
        };
        if !models.is_empty() {
            apps.push(OtherApp {
                name,
                folder,
                models,
            });
        }
    };
    for folder in [".lmstudio/models", ".cache/lm-studio/models"] {
        add("LM Studio", home.join(folder), gguf_below);
    }
    add(
        "Ollama",
        moved.ollama.unwrap_or_else(|| home.join(".ollama/models")),
        ollama,
    );
    let data = [
        ".config/Jan/data",
        ".local/share/Jan/data",
        "Library/Application Support/Jan/data",
        "AppData/Roaming/Jan/data",
        "jan",
    ];
    for folder in data {
        for models in ["llamacpp/models", "models"] {
            add("Jan", home.join(folder).join(models), gguf_below);
        }
    }
    if let Some(folder) = moved.llama {
        add("llama.cpp", folder, gguf_below);
    }
    for folder in [
        ".cache/llama.cpp",
        "Library/Caches/llama.cpp",
        "AppData/Local/llama.cpp",
    ] {
        add("llama.cpp", home.join(folder), gguf_below);
    }
    apps
}

/// All chat model files below a folder, by their names. Parts of split models after the first,
/// files that read pictures and adapters are left out.
fn gguf_below(folder: &Path) -> Vec<OtherModel> {
    use provider::hub::names::{FilePurpose, purpose, split_part, strip_gguf};
    let named = |path: PathBuf| {
        let file = path.file_name()?.to_str()?.to_owned();
        let stem = strip_gguf(&file)?;
        let part = split_part(&file);
        if part.as_ref().is_some_and(|part| part.number > 1) || purpose(&file) != FilePurpose::Model
        {
            return None;
        }
        let name = readable(part.map_or(stem, |part| part.stem));
        // Jan names every file `model.gguf`, and its folder after the model.
        let name = match name.as_str() {
            "model" => path.parent()?.file_name()?.to_string_lossy().into_owned(),
            _ => name,
        };
        Some(OtherModel { name, path })
    };
    files::below(folder)
        .files
        .into_iter()
        .filter_map(named)
        .collect()
}

#[derive(Deserialize)]
struct OllamaManifest {
    layers: Vec<OllamaLayer>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OllamaLayer {
    media_type: String,
    digest: String,
}

/// Reads Ollama's manifests: `manifests/REGISTRY/OWNER/NAME/TAG`.
fn ollama(folder: &Path) -> Vec<OtherModel> {
    let model = |path: PathBuf| {
        let mut names = path
            .components()
            .rev()
            .map(|part| part.as_os_str().to_string_lossy().into_owned());
        let tag = names.next()?;
        let name = names.next()?;
        if fs::metadata(&path).ok()?.len() > MAX_MANIFEST {
            return None;
        }
        let manifest: OllamaManifest = serde_json::from_slice(&fs::read(&path).ok()?).ok()?;
        let layer = manifest
            .layers
            .into_iter()
            .find(|layer| layer.media_type == "application/vnd.ollama.image.model")?;
        let hash = layer
            .digest
            .strip_prefix("sha256:")
            .filter(|hash| is_hash(hash))?;
        let blob = folder.join("blobs").join(format!("sha256-{hash}"));
        blob.is_file().then(|| OtherModel {
            name: format!("{name} {tag}"),
            path: blob,
        })
    };
    files::below(&folder.join("manifests"))
        .files
        .into_iter()
        .filter_map(model)
        .collect()
}

/// A manifest must not lead outside the folder of blobs.
fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn names(home: &Path) -> Vec<(&'static str, Vec<String>)> {
        names_with(home, Moved::default())
    }

    fn names_with(home: &Path, moved: Moved) -> Vec<(&'static str, Vec<String>)> {
        find(home, moved)
            .into_iter()
            .map(|app| {
                (
                    app.name,
                    app.models.into_iter().map(|model| model.name).collect(),
                )
            })
            .collect()
    }

    #[test]
    fn finds_models_of_other_apps() {
        let home = tempfile::tempdir().unwrap();
        let at = |path: &str| home.path().join(path);
        assert!(names(home.path()).is_empty());
        write(
            &at(".lmstudio/models/qwen/Qwen3-4B-GGUF/Qwen3-4B-Q4_K_M.gguf"),
            "",
        );
        write(
            &at(".lmstudio/models/qwen/Qwen3-4B-GGUF/mmproj-f16.gguf"),
            "",
        );
        write(&at(".lmstudio/models/big/Big-00001-of-00002.gguf"), "");
        write(&at(".lmstudio/models/big/Big-00002-of-00002.gguf"), "");
        write(
            &at(".local/share/Jan/data/llamacpp/models/llama3-1b/model.gguf"),
            "",
        );
        write(
            &at(".cache/llama.cpp/ggml-org_gemma-3-1b-it-GGUF_gemma-3-1b-it-Q4_K_M.gguf"),
            "",
        );
        let hash = "a".repeat(64);
        let manifest = |digest: &str| {
            format!(
                r#"{{"layers":[{{"mediaType":"application/vnd.ollama.image.license","digest":"x"}},
                {{"mediaType":"application/vnd.ollama.image.model","digest":"{digest}"}}]}}"#
            )
        };
        let library = ".ollama/models/manifests/registry.ollama.ai/library";
        write(
            &at(&format!("{library}/llama3.2/3b")),
            &manifest(&format!("sha256:{hash}")),
        );
        write(
            &at(&format!("{library}/gone/latest")),
            &manifest(&format!("sha256:{}", "b".repeat(64))),
        );
        write(
            &at(&format!("{library}/evil/latest")),
            &manifest("sha256:../../../../etc/passwd"),
        );
        write(&at(&format!("{library}/broken/latest")), "{");
        write(&at(&format!(".ollama/models/blobs/sha256-{hash}")), "");
        assert_eq!(
            names(home.path()),
            [
                (
                    "LM Studio",
                    vec!["Big".to_owned(), "Qwen3-4B-Q4_K_M".to_owned()]
                ),
                ("Ollama", vec!["llama3.2 3b".to_owned()]),
                ("Jan", vec!["llama3-1b".to_owned()]),
                (
                    "llama.cpp",
                    vec!["ggml-org_gemma-3-1b-it-GGUF_gemma-3-1b-it-Q4_K_M".to_owned()]
                ),
            ]
        );
    }

    #[test]
    fn finds_models_in_moved_folders() {
        let home = tempfile::tempdir().unwrap();
        let disk = tempfile::tempdir().unwrap();
        let hash = "c".repeat(64);
        let manifest = format!(
            r#"{{"layers":[{{"mediaType":"application/vnd.ollama.image.model","digest":"sha256:{hash}"}}]}}"#
        );
        write(
            &disk
                .path()
                .join("ollama/manifests/registry.ollama.ai/library/gemma3/1b"),
            &manifest,
        );
        write(&disk.path().join(format!("ollama/blobs/sha256-{hash}")), "");
        write(&disk.path().join("cache/Tiny-Q8_0.gguf"), "");
        let moved = Moved {
            ollama: Some(disk.path().join("ollama")),
            llama: Some(disk.path().join("cache")),
        };
        assert_eq!(
            names_with(home.path(), moved),
            [
                ("Ollama", vec!["gemma3 1b".to_owned()]),
                ("llama.cpp", vec!["Tiny-Q8_0".to_owned()])
            ]
        );
    }
}
