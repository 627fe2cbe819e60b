//! Imports cards, lorebooks, chats and model files. Model files stay in their folder. The content
//! decides the file type, regardless of the file name.

use std::path::{Path, PathBuf};

use domain::archive::MAX_ARCHIVE;
use domain::card::{self, Card, Warning};
use domain::lorebook;
use store::{AssetHash, Character};

use crate::api::{ApiError, ImportReport, Imported, Refused, Skipped};
use crate::base::error::{ApiResult, internal};
use crate::base::files;
use crate::base::files::read_capped;
use crate::import::files::FileImports;
use crate::import::files::known_files::Json;
use crate::import::sillytavern::card_notes::{
    NO_CARD, git_lfs_pointer, notes, picture_of, refusal,
};
use crate::library::characters::cards::card_of;

const ARCHIVE: &str = "application/zip";
/// Extensions of files that may be cards.
const CARDS: [&str; 7] = ["png", "apng", "json", "charx", "byaf", "yaml", "yml"];
/// Extensions of files that can only be chats.
pub(crate) const CHATS: [&str; 2] = ["jsonl", "txt"];
/// Extensions of files that may be archives. A card with its pictures and sounds may be larger than
/// a card alone.
const ARCHIVES: [&str; 6] = ["charx", "byaf", "jpg", "jpeg", "zip", "exe"];

impl FileImports {
    /// Imports a file whose content is already loaded, such as an upload.
    ///
    /// # Errors
    /// Fails only if the database does.
    pub(crate) async fn import_bytes(
        &self,
        file_name: String,
        bytes: Vec<u8>,
    ) -> ApiResult<ImportReport> {
        let report = self.import_one_of_many(file_name, bytes).await?;
        self.import_reports.report_import(&report).await;
        Ok(report)
    }

    /// Imports one file of a selection, like [`Self::import_bytes`] but without its own report. The
    /// caller combines the results and calls
    /// [`ImportReports::keep_import_report`](crate::import::reports::ImportReports::keep_import_report).
    ///
    /// # Errors
    /// Fails only if the database does.
    pub(crate) async fn import_one_of_many(
        &self,
        file_name: String,
        bytes: Vec<u8>,
    ) -> ApiResult<ImportReport> {
        let mut report = ImportReport::default();
        let ending = Path::new(&file_name)
            .extension()
            .unwrap_or_default()
            .to_ascii_lowercase();
        if CHATS.iter().any(|known| ending == *known) {
            self.chat_imports
                .import_chat(file_name, bytes, None, &mut report)
                .await?;
        } else {
            self.import_card(file_name, bytes, &mut report).await?;
        }
        report.clean_names();
        Ok(report)
    }

    /// Imports one file. A file that the user did not name, but that is in a chosen folder, is
    /// ignored if its type is not supported.
    pub(crate) async fn import_path(
        &self,
        path: &Path,
        asked_for: bool,
        report: &mut ImportReport,
    ) -> ApiResult<()> {
        let name = path
            .file_name()
            .unwrap_or(path.as_os_str())
            .to_string_lossy()
            .into_owned();
        let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
        if ending == "gguf" {
            return self.import_model(path, name, report).await;
        }
        if ending == "jsonl" || (asked_for && ending == "txt") {
            return self.chat_imports.import_chat_file(path, None, report).await;
        }
        if !asked_for && !CARDS.iter().any(|known| ending == *known) {
            return Ok(());
        }
        let file = path.to_owned();
        let (limit, what) = match ending.to_str() {
            Some(ending) if ARCHIVES.contains(&ending) => (MAX_ARCHIVE, "an archive"),
            Some("json") => (lorebook::MAX_FILE, "a JSON file"),
            _ => (card::MAX_FILE, "a card"),
        };
        let read = tokio::task::spawn_blocking(move || read_capped(&file, limit, what));
        match read
            .await
            .map_err(|_| internal("a file could not be read"))?
        {
            Ok(bytes) => {
                let before = report.refused.len();
                self.import_card(name, bytes, report).await?;
                // Folders contain ordinary pictures too, so these are skipped instead of refused.
                let of_this = report.refused.len() > before;
                let is_plain = |last: &mut Refused| of_this && !asked_for && last.kind == NO_CARD;
                if let Some(refused) = report.refused.pop_if(is_plain) {
                    let Refused { file, reason, .. } = refused;
                    report.skipped.push(Skipped {
                        id: String::new(),
                        file,
                        reason,
                    });
                }
                Ok(())
            }
            Err((kind, reason)) => {
                report.refused.push(Refused {
                    file: name,
                    kind: kind.into(),
                    reason,
                });
                Ok(())
            }
        }
    }

    async fn import_model(
        &self,
        path: &Path,
        file: String,
        report: &mut ImportReport,
    ) -> ApiResult<()> {
        match self.config().models.add_model(path.to_owned()).await {
            Ok(model) => report.imported.push(Imported {
                kind: "model".into(),
                id: model.id.to_string(),
                name: model.name,
                file,
                warnings: Vec::new(),
            }),
            Err(ApiError::BadInput { message, .. }) => {
                report.refused.push(Refused {
                    file,
                    kind: "model".into(),
                    reason: message,
                });
            }
            Err(other) => return Err(other),
        }
        Ok(())
    }

    async fn import_card(
        &self,
        file: String,
        bytes: Vec<u8>,
        report: &mut ImportReport,
    ) -> ApiResult<()> {
        match self.import_bundle(&file, bytes, report).await? {
            Some(bytes) => self.import_one(file, bytes, report).await,
            None => Ok(()),
        }
    }

    /// Imports a file that is not a bundle.
    pub(crate) async fn import_one(
        &self,
        file: String,
        bytes: Vec<u8>,
        report: &mut ImportReport,
    ) -> ApiResult<()> {
        if let Some(reason) = git_lfs_pointer(&bytes) {
            report.refused.push(Refused {
                file,
                kind: "unknownFormat".into(),
                reason,
            });
            return Ok(());
        }
        let read = move || {
            let json = Json::read(&bytes);
            (bytes, json)
        };
        let (bytes, json) = tokio::task::spawn_blocking(read)
            .await
            .map_err(|_| internal("a file could not be read"))?;
        match json {
            Ok(Some(json)) => {
                if self.import_known(&file, &bytes, json, report).await? {
                    return Ok(());
                }
            }
            Ok(None) => {}
            Err((kind, reason)) => {
                report.refused.push(Refused {
                    file,
                    kind: kind.into(),
                    reason,
                });
                return Ok(());
            }
        }
        let stem = Path::new(&file)
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let read = move || {
            let read = Card::read_named(&bytes, &stem);
            (bytes, read)
        };
        let (bytes, read) = tokio::task::spawn_blocking(read)
            .await
            .map_err(|_| internal("a card could not be read"))?;
        let (card, warnings) = match read {
            Ok(read) => read,
            Err(error) => {
                // A picture can contain a lorebook.
                if self
                    .prompt_imports
                    .import_lorebook(&file, &bytes, None, report)
                    .await?
                    .is_none()
                {
                    report.refused.push(Refused {
                        file,
                        kind: refusal(&error).into(),
                        reason: error.to_string(),
                    });
                }
                return Ok(());
            }
        };
        self.keep_card(file, bytes, card, &warnings, report).await
    }

    async fn keep_card(
        &self,
        file: String,
        bytes: Vec<u8>,
        card: Card,
        warnings: &[Warning],
        report: &mut ImportReport,
    ) -> ApiResult<()> {
        if let Some(known) = self.known(&bytes, &card).await? {
            // Its chats may be missing, because the app may have closed after storing the
            // character.
            if mime(&bytes) == ARCHIVE {
                drop(bytes);
                self.import_scenarios(&file, &known, &card, report).await?;
            }
            let reason = format!("{} is already in the library", known.name);
            report.skipped.push(Skipped {
                id: known.id.to_string(),
                file,
                reason,
            });
            return Ok(());
        }
        let mut warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
        let look = move || {
            let picture = picture_of(&bytes, &card);
            let notes = notes(&card);
            (bytes, card, picture, notes)
        };
        let looked = tokio::task::spawn_blocking(look).await;
        let (bytes, card, picture, notes) =
            looked.map_err(|_| internal("a picture could not be read"))?;
        warnings.extend(notes);
        let picture = picture.map_err(|why| warnings.push(why)).ok().flatten();
        let mime = mime(&bytes);
        let character = self
            .library()
            .characters
            .add_character(&card, picture, Some((bytes, mime)))
            .await?;
        warnings.extend(self.import_sampling(&character, &card).await?);
        report.imported.push(Imported {
            kind: "character".into(),
            id: character.id.to_string(),
            name: character.name.clone(),
            file: file.clone(),
            warnings,
        });
        if mime == ARCHIVE {
            self.import_scenarios(&file, &character, &card, report)
                .await?;
        }
        Ok(())
    }

    /// The character that was imported from the same file and has not changed since.
    async fn known(&self, bytes: &[u8], card: &Card) -> ApiResult<Option<Character>> {
        let hash = AssetHash::of(bytes);
        let same = self
            .base()
            .store()
            .read(move |store| store.characters().from_source(hash))
            .await?;
        Ok(same
            .into_iter()
            .find(|each| card_of(each).is_ok_and(|known| known == *card)))
    }
}

/// MIME type under which the file of a card is stored.
fn mime(card: &[u8]) -> &'static str {
    match card {
        [0x89, b'P', b'N', b'G', ..] => "image/png",
        [b'P', b'K', ..] => ARCHIVE,
        // Never label a picture or program with an embedded card as a picture.
        [0xff, 0xd8, ..] | [b'M', b'Z', ..] | [b'R', b'I', b'F', b'F', ..] => {
            "application/octet-stream"
        }
        _ => "application/json",
    }
}

/// The files to import, each with whether the user named it directly, and the skipped ones. Chats
/// come last, because they need their characters.
pub(crate) fn files(paths: Vec<PathBuf>) -> (Vec<(PathBuf, bool)>, Vec<Skipped>) {
    let mut files = Vec::new();
    let mut left_out = Vec::new();
    let skipped = |path: &Path, reason: String| {
        let file = path
            .file_name()
            .unwrap_or(path.as_os_str())
            .to_string_lossy()
            .into_owned();
        Skipped {
            id: String::new(),
            file,
            reason,
        }
    };
    for path in paths {
        if !path.is_dir() {
            files.push((path, true));
            continue;
        }
        let found = files::below(&path);
        files.extend(found.files.into_iter().map(|path| (path, false)));
        let link = |link: &PathBuf| {
            skipped(
                link,
                "links are not followed; choose the file itself".to_owned(),
            )
        };
        left_out.extend(found.links.iter().map(link));
        if found.left_out > 0 {
            let reason = format!(
                "{} more files are left out: the folder has too many files or levels",
                found.left_out
            );
            left_out.push(skipped(&path, reason));
        }
    }
    files.sort_by_key(|(path, _)| {
        path.extension()
            .is_some_and(|ending| CHATS.iter().any(|known| ending == *known))
    });
    (files, left_out)
}
