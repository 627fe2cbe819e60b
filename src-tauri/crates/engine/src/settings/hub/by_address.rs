//! Downloads model files into the data folder.

use std::path::Path;

use provider::download::{DownloadError, DownloadSource, download};

use crate::api::{self, ApiError, ProviderClass};
use crate::base::error::{ApiResult, bad_input, internal};
use crate::settings::hub::Hub;

/// Folder of downloaded models, inside the data folder.
const FOLDER: &str = "models";

impl Hub {
    /// Downloads a GGUF file and adds it to the library. An interrupted download resumes. A file
    /// that is not a model, or does not match the checksum (SHA-256 in hexadecimal), is deleted.
    /// `progress` receives the bytes so far, and the total if the server states it.
    ///
    /// # Errors
    /// `BadInput` for an invalid address, a file that already exists, and a file that is not the
    /// expected model; `Provider` if the download fails; `Storage` if the file cannot be written.
    pub(crate) async fn get_model(
        &self,
        address: &str,
        sha256: Option<&str>,
        progress: impl Fn(u64, Option<u64>),
    ) -> ApiResult<api::Model> {
        let source = DownloadSource::parse(address)?;
        let name = source
            .file_name()
            .filter(|name| name.to_ascii_lowercase().ends_with(".gguf"))
            .ok_or_else(|| {
                bad_input(
                    "This is not the address of a model file: it does not end in .gguf.",
                    "Copy the file's own address.",
                )
            })?;
        let wanted = sha256.map(checksum).transpose()?;
        let folder = self.base().store().dir().join(FOLDER);
        let place = folder.join(&name);
        let part = folder.join(format!("{name}.part"));
        if place.exists() {
            let message = format!("{} already exists.", place.display());
            return Err(bad_input(message, "Add that file, or move it away first."));
        }
        tokio::fs::create_dir_all(&folder)
            .await
            .map_err(|source| not_kept(&folder, &source))?;
        download(&source, &part, progress).await?;
        if let Some(wanted) = wanted {
            self.refuse_other(&part, &wanted).await?;
        }
        tokio::fs::rename(&part, &place)
            .await
            .map_err(|source| not_kept(&place, &source))?;
        let added = self.models().add_model(place.clone()).await;
        if added.is_err() {
            tokio::fs::remove_file(&place)
                .await
                .map_err(|source| not_kept(&place, &source))?;
        }
        added
    }

    async fn refuse_other(&self, part: &Path, wanted: &str) -> ApiResult<()> {
        let file = part.to_owned();
        let found = tokio::task::spawn_blocking(move || local::library::hash_file(&file)).await;
        let found = found.map_err(|_| internal("a model file could not be read"))?;
        let found = found.map_err(|source| not_kept(part, &source))?;
        if found == wanted {
            return Ok(());
        }
        tokio::fs::remove_file(part)
            .await
            .map_err(|source| not_kept(part, &source))?;
        let message = format!("The file has a different checksum, {found}. It was deleted.");
        Err(bad_input(
            message,
            "Compare the address and the checksum with the publisher's.",
        ))
    }
}

fn checksum(text: &str) -> ApiResult<String> {
    let text = text.trim().to_ascii_lowercase();
    if text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(text);
    }
    Err(bad_input(
        "This is not a SHA-256 checksum.",
        "Enter 64 digits, 0 to 9 and a to f.",
    ))
}

fn not_kept(path: &Path, source: &std::io::Error) -> ApiError {
    ApiError::Storage {
        message: format!("{} cannot be written: {source}", path.display()),
        hint: "Free some space on the disk, or make the folder writable, then try again.".into(),
    }
}

impl From<DownloadError> for ApiError {
    fn from(error: DownloadError) -> Self {
        let message = error.to_string();
        match error {
            DownloadError::Address { .. } => bad_input(message, "Copy the file's own address."),
            DownloadError::Refused { .. } => Self::Provider {
                message,
                hint: "Open the address in a browser: the file may be gone, or need a login."
                    .into(),
                class: ProviderClass::NotFound,
            },
            DownloadError::Broken { source, .. } => {
                if let Some(source) = source {
                    tracing::warn!(error = ?source, "a download broke");
                }
                let hint =
                    "Start the download again: it resumes if the server supports that.".into();
                Self::Provider {
                    message,
                    hint,
                    class: ProviderClass::Unreachable,
                }
            }
            DownloadError::Expired { .. } => Self::Provider {
                message,
                hint: "Start the download again: it resumes with a new link.".into(),
                class: ProviderClass::Unreachable,
            },
            DownloadError::File { path, source } => not_kept(&path, &source),
            DownloadError::Full { .. } => Self::Storage {
                message: "The disk is full. What was downloaded is deleted.".into(),
                hint: "Free some space on the disk, then try again.".into(),
            },
            DownloadError::Size { .. }
            | DownloadError::Stopped { .. }
            | DownloadError::TooLong { .. } => bad_input(message, "Start the download again."),
        }
    }
}
