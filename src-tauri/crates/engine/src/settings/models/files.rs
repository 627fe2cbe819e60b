//! The library of local model files. Files stay in their folders; the library stores their paths.

use std::path::{Path, PathBuf};

use domain::ModelId;
use domain::model::LocalModel;
use local::gguf::{GgufError, GgufFault, GgufHeader};
use local::library::{self, Inspected};
use provider::hub::names::{split_part, strip_gguf};
use uuid::Uuid;

use crate::api::{self, ApiError, Changed, Fits, ModelRef};
use crate::base::error::{ApiResult, bad_input, internal};
use crate::base::panics;
use crate::settings::hub::fit_report::fits;
use crate::settings::model_handles::chat_template;
use crate::settings::models::Models;

impl Models {
    pub(crate) async fn list_models(&self) -> ApiResult<Vec<api::Model>> {
        let default = self.app_settings.settings().default_model;
        let models = self
            .base()
            .store()
            .read(|store| store.models().list())
            .await?;
        let mut seeing = Vec::with_capacity(models.len());
        for model in models {
            let reads_pictures = self.reads_pictures(&model).await?;
            seeing.push((model, reads_pictures));
        }
        let shown = move || {
            seeing
                .into_iter()
                .map(|(model, sees)| shown(model, default.as_ref(), sees))
                .collect()
        };
        tokio::task::spawn_blocking(shown)
            .await
            .map_err(|_| internal("the model files could not be read"))
    }

    /// Adds a GGUF file, which stays in its folder. The first model becomes the default.
    ///
    /// # Errors
    /// `BadInput` if the file is not a chat model.
    pub(crate) async fn add_model(&self, path: PathBuf) -> ApiResult<api::Model> {
        self.add_verified_model(path, None).await
    }

    /// Works like [`Self::add_model`]. `verified` are the size and the SHA-256 of the file, if the
    /// caller has just compared them.
    pub(crate) async fn add_verified_model(
        &self,
        path: PathBuf,
        verified: Option<(u64, String)>,
    ) -> ApiResult<api::Model> {
        self.add_named_model(path, None, verified).await
    }

    /// Works like [`Self::add_verified_model`], with a name for a file whose own name says nothing.
    pub(crate) async fn add_named_model(
        &self,
        path: PathBuf,
        name: Option<String>,
        verified: Option<(u64, String)>,
    ) -> ApiResult<api::Model> {
        let inspected = tokio::task::spawn_blocking(move || inspect(&path, verified))
            .await
            .map_err(|_| internal("a model file could not be read"))??;
        let known = self
            .base()
            .store()
            .read(|store| store.models().list())
            .await?;
        let same = known.iter().find(|model| model.sha256 == inspected.sha256);
        let mut model =
            inspected.into_model(same.map_or_else(|| ModelId(Uuid::now_v7()), |model| model.id));
        model.name = name
            .or_else(|| file_name(&model.path))
            .unwrap_or(model.name);
        let row = model.clone();
        let is_new = same.is_none();
        self.base()
            .store()
            .write(move |store| {
                if is_new {
                    store.models_mut().insert(&row)
                } else {
                    store.models_mut().update(&row)
                }
            })
            .await?;
        if self.app_settings.settings().default_model.is_none() {
            let default_model = Some(ModelRef::Local { id: model.id });
            self.app_settings
                .update_settings(api::SettingsChange {
                    default_model,
                    ..api::SettingsChange::default()
                })
                .await?;
        }
        self.base()
            .events()
            .changed(Changed::Models, Some(model.id.to_string()));
        let default = self.app_settings.settings().default_model;
        let sees = self.reads_pictures(&model).await?;
        Ok(shown(model, default.as_ref(), sees))
    }

    /// # Errors
    /// `Storage` if the file cannot be read.
    pub(crate) async fn model_checksum(&self, path: PathBuf) -> ApiResult<String> {
        let hashed = tokio::task::spawn_blocking(move || library::hash(&path, |_, _| {})).await;
        let hashed = hashed.map_err(|_| internal("a model file could not be read"))?;
        hashed
            .map(|(_, sha256)| sha256)
            .map_err(|error| ApiError::Storage {
                message: format!("The file cannot be read: {error}."),
                hint: "Check the disk, or add the model from its new place.".into(),
            })
    }

    /// Makes a model of the library the default for chats that choose none.
    pub(crate) async fn make_default(&self, id: ModelId) -> ApiResult<()> {
        let default_model = Some(ModelRef::Local { id });
        self.app_settings
            .update_settings(api::SettingsChange {
                default_model,
                ..api::SettingsChange::default()
            })
            .await?;
        Ok(())
    }

    /// Adds the model files in the folders that ship with the app to the library.
    pub(crate) async fn find_models(&self, folders: &[PathBuf]) -> ApiResult<()> {
        let known = self
            .base()
            .store()
            .read(|store| store.models().list())
            .await?;
        for file in folders.iter().flat_map(|folder| gguf_files(folder)) {
            if known.iter().any(|model| Path::new(&model.path) == file) {
                continue;
            }
            match self.add_model(file).await {
                Ok(model) => tracing::info!(model = model.name, "found a model"),
                Err(ApiError::BadInput { message, .. } | ApiError::Internal { message }) => {
                    tracing::info!(message, "skipped a file that is not a chat model");
                }
                Err(other) => return Err(other),
            }
        }
        Ok(())
    }

    /// Process id of the running worker, for tests and the health report.
    pub(crate) async fn worker_pid(&self) -> Option<u32> {
        self.local().status().pid
    }
}

/// Error for a file that is not a usable chat model.
pub(crate) fn unusable(why: &str) -> ApiError {
    bad_input(
        format!("The model cannot be used: {why}."),
        "Choose a GGUF file of a chat model, or download it again.",
    )
}

/// Error for a model whose file is no longer there.
pub(crate) fn file_gone(model: &LocalModel) -> ApiError {
    ApiError::Provider {
        message: format!(
            "{} cannot answer, because its file was not found: {}.",
            model.name, model.path
        ),
        hint: "Put the file back, or choose another model.".into(),
        class: api::ProviderClass::Model,
    }
}

/// Names a model after its file, which users recognise. Headers often contain the name of a
/// training run.
fn file_name(path: &str) -> Option<String> {
    let file = Path::new(path).file_name()?.to_string_lossy();
    let first = split_part(&file).map(|part| part.stem.to_owned());
    let stem = first.unwrap_or_else(|| strip_gguf(&file).unwrap_or(&file).to_owned());
    let name: String = readable(&stem)
        .chars()
        .filter(|letter| !letter.is_control())
        .take(120)
        .collect();
    Some(name).filter(|name| !name.trim().is_empty())
}

/// Replaces the dots between words by spaces, but keeps those of version numbers.
pub(crate) fn readable(stem: &str) -> String {
    let letters: Vec<char> = stem.chars().collect();
    let is_digit = |at: Option<usize>| {
        at.and_then(|at| letters.get(at))
            .is_some_and(char::is_ascii_digit)
    };
    let readable = |(at, letter): (usize, &char)| match letter {
        '.' if !(is_digit(at.checked_sub(1)) && is_digit(Some(at + 1))) => ' ',
        letter => *letter,
    };
    letters.iter().enumerate().map(readable).collect()
}

/// Checks the header first, because hashing gigabytes of a file that cannot chat is useless.
fn inspect(path: &Path, verified: Option<(u64, String)>) -> ApiResult<Inspected> {
    let header = local::gguf::read(path).map_err(|error| unusable(&error.to_string()))?;
    if header.embeds {
        return Err(unusable(&format!(
            "{} is an embedding model, which cannot chat",
            path.display()
        )));
    }
    let read = local::gguf::vocabulary(path);
    if matches!(
        &read,
        Err(GgufError {
            fault: GgufFault::NoVocabulary,
            ..
        })
    ) {
        let name = path.display();
        return Err(unusable(&format!(
            "{name} has no vocabulary, so it is part of a model or made for another program"
        )));
    }
    let inspected = match verified {
        Some((bytes, sha256)) => library::inspect_verified(path, bytes, sha256),
        None => library::inspect(path, |_, _| {}),
    };
    inspected.map_err(|error| unusable(&error.to_string()))
}

pub(crate) fn gguf_files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let is_gguf = |path: &PathBuf| {
        path.extension()
            .is_some_and(|ending| ending.eq_ignore_ascii_case("gguf"))
    };
    let mut files: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(is_gguf)
        .collect();
    files.sort();
    files
}

fn shown(model: LocalModel, default: Option<&ModelRef>, reads_pictures: bool) -> api::Model {
    let path = Path::new(&model.path);
    let context = library::default_context(model.context);
    let header = panics::or_plain(
        "a row of the models",
        || Some(local::gguf::read(path)),
        || None,
    );
    let note = header.as_ref().and_then(|header| note(path, header));
    let fit = header
        .and_then(Result::ok)
        .map(|header| library::fit(&header, model.bytes, context, library::available_memory()));
    api::Model {
        fits: fit.map_or(Fits::Yes, fits),
        missing: !path.exists(),
        note: note.filter(|_| path.exists()),
        default: default == Some(&ModelRef::Local { id: model.id }),
        id: model.id,
        name: model.name,
        path: model.path,
        bytes: model.bytes,
        sha256: model.sha256,
        architecture: model.architecture,
        context: model.context,
        reads_pictures,
    }
}

/// Notice about a model file before the user chats, for example that it cannot chat or that its
/// format is a guess.
fn note(path: &Path, header: &Result<GgufHeader, GgufError>) -> Option<String> {
    match header {
        Err(error) => Some(format!("This file {}.", error.fault)),
        Ok(header) if header.embeds => {
            Some("This is an embedding model, which cannot chat.".to_owned())
        }
        Ok(header) if header.chat_template.is_none() => Some(chat_template::guess_note(
            header,
            local::gguf::vocabulary(path).ok().as_ref(),
        )),
        Ok(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::readable;

    #[test]
    fn dots_of_version_numbers_stay_in_a_name() {
        assert_eq!(
            readable("SmolLM2-135M-Instruct.Q4_1"),
            "SmolLM2-135M-Instruct Q4_1"
        );
        assert_eq!(readable("qwen2.5-0.5b.Q8_0"), "qwen2.5-0.5b Q8_0");
        assert_eq!(readable(".a."), " a ");
    }
}
