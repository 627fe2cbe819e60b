//! Licences of software, models and data of others, as packages contain them.

use std::path::{Path, PathBuf};

use installation::Installation;

use crate::api::ApiError;
use crate::base::error::{ApiResult, internal};
use crate::base::files::read_capped;

/// File among the internal files of an installation. `cargo xtask bundle` writes it.
const FILE: &str = "third-party-licences.txt";
/// Maximum size of the file, in bytes.
const MAX_BYTES: usize = 8 << 20;

/// The list of licences of this build.
pub(crate) struct Licences {
    file: Option<PathBuf>,
}

impl Licences {
    pub(super) fn of_this_program() -> Self {
        let installation = Installation::of_this_program();
        Self {
            file: installation.map(|installation| installation.library().join(FILE)),
        }
    }

    /// Returns the licences as one text, or `None` if this build has none.
    ///
    /// # Errors
    /// `Storage` if the file cannot be read or is larger than [`MAX_BYTES`].
    pub(crate) async fn third_party_licences(&self) -> ApiResult<Option<String>> {
        let Some(file) = self.file.clone() else {
            return Ok(None);
        };
        tokio::task::spawn_blocking(move || read(&file))
            .await
            .unwrap_or_else(|_| Err(internal("the licences could not be read")))
    }
}

fn read(file: &Path) -> ApiResult<Option<String>> {
    if !file.is_file() {
        return Ok(None);
    }
    let bytes = read_capped(file, MAX_BYTES, "a list of licences").map_err(|(_, reason)| {
        ApiError::Storage {
            message: format!("{} cannot be shown: {reason}.", file.display()),
            hint: "Install Inglenook again.".to_owned(),
        }
    })?;
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn installed_list_is_returned_as_text() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(FILE);
        fs::write(&file, "lamp 1.0.0\n\nMIT License").unwrap();
        let text = read(&file).unwrap();
        assert_eq!(text.as_deref(), Some("lamp 1.0.0\n\nMIT License"));
    }

    #[test]
    fn oversized_list_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        let file = fs::File::create(&path).unwrap();
        file.set_len(MAX_BYTES as u64 + 1).unwrap();
        let error = read(&path).unwrap_err();
        assert!(error.to_string().contains("at most 8 MiB"), "{error}");
    }

    #[tokio::test]
    async fn build_without_a_list_has_no_licences() {
        let folder = tempfile::tempdir().unwrap();
        let missing = Licences {
            file: Some(folder.path().join(FILE)),
        };
        assert_eq!(missing.third_party_licences().await.unwrap(), None);
        let nowhere = Licences { file: None };
        assert_eq!(nowhere.third_party_licences().await.unwrap(), None);
    }
}
