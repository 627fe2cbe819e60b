//! What people bring: cards, lorebooks, chats, and model files that stay where they are.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use domain::archive::{ArchiveError, MAX_ARCHIVE};
use domain::card::{self, Card, CardError};
use store::{AssetHash, Character};

use crate::Engine;
use crate::api::{ApiError, Event, ImportReport, Imported, Refused, Skipped};
use crate::characters::card_of;
use crate::error::{Answer, internal};
use crate::import_cards::picture_of;
use crate::import_lorebook::is_lorebook;

const ARCHIVE: &str = "application/zip";
/// Endings of files that may be cards.
const CARDS: [&str; 7] = ["png", "apng", "json", "charx", "byaf", "yaml", "yml"];
/// Endings of files that may be archives: a card with its pictures and sounds may be larger than a card alone.
const ARCHIVES: [&str; 4] = ["charx", "byaf", "jpg", "jpeg"];
/// Files taken from one folder at the most.
const MAX_FILES: usize = 10_000;

impl Engine {
    /// Imports files, and the files right inside folders. Every file ends up in the report: imported, skipped because it is
    /// here already, or refused with a reason; none of them stops the others. Listeners hear of it as well.
    ///
    /// # Errors
    /// Only if the database refuses.
    pub async fn import_paths(&self, paths: Vec<PathBuf>) -> Answer<ImportReport> {
        let mut report = ImportReport::default();
        for (path, asked_for) in files(paths) {
            self.import_path(&path, asked_for, &mut report).await?;
        }
        self.events().announce(Event::Imported { report: report.clone() });
        Ok(report)
    }

    /// Imports a file whose content is already here, such as an upload. `file_name` is for the report only.
    ///
    /// # Errors
    /// Only if the database refuses.
    pub async fn import_bytes(&self, file_name: String, bytes: Vec<u8>) -> Answer<ImportReport> {
        let mut report = ImportReport::default();
        if file_name.to_ascii_lowercase().ends_with(".jsonl") {
            self.import_chat(file_name, bytes, None, &mut report).await?;
        } else {
            self.import_card(file_name, bytes, &mut report).await?;
        }
        self.events().announce(Event::Imported { report: report.clone() });
        Ok(report)
    }

    /// A file that only lies in a chosen folder is passed over if it is of another kind.
    pub(crate) async fn import_path(&self, path: &Path, asked_for: bool, report: &mut ImportReport) -> Answer<()> {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
        if ending == "gguf" {
            return self.import_model(path, name, report).await;
        }
        if ending == "jsonl" {
            return self.import_chat_file(path, None, report).await;
        }
        if !asked_for && !CARDS.iter().any(|known| ending == *known) {
            return Ok(());
        }
        let file = path.to_owned();
        let limit = if ARCHIVES.iter().any(|known| ending == *known) { MAX_ARCHIVE } else { card::MAX_FILE };
        let read = tokio::task::spawn_blocking(move || read_capped(&file, limit, "a card"));
        match read.await.map_err(|_| internal("a file could not be read"))? {
            Ok(bytes) => self.import_card(name, bytes, report).await,
            Err((kind, reason)) => {
                report.refused.push(Refused { file: name, kind: kind.into(), reason });
                Ok(())
            }
        }
    }

    async fn import_model(&self, path: &Path, file: String, report: &mut ImportReport) -> Answer<()> {
        match self.add_model(path.to_owned()).await {
            Ok(model) => report.imported.push(Imported {
                kind: "model".into(),
                id: model.id,
                name: model.name,
                file,
                warnings: Vec::new(),
            }),
            Err(ApiError::BadInput { message, .. }) => {
                report.refused.push(Refused { file, kind: "model".into(), reason: message });
            }
            Err(other) => return Err(other),
        }
        Ok(())
    }

    async fn import_card(&self, file: String, bytes: Vec<u8>, report: &mut ImportReport) -> Answer<()> {
        // A template has a name as well, and the oldest cards have little more.
        if let Some(imported) = self.import_template(&file, &bytes).await? {
            report.imported.push(imported);
            return Ok(());
        }
        // So has a lorebook.
        if is_lorebook(&bytes) && self.import_lorebook(&file, &bytes, None, report).await?.is_some() {
            return Ok(());
        }
        if is_named_preset(&bytes)
            && let Some(imported) = self.import_preset(&file, &bytes).await?
        {
            report.imported.extend(imported);
            return Ok(());
        }
        let (card, warnings) = match Card::read(&bytes) {
            Ok(read) => read,
            Err(error) => {
                match self.import_preset(&file, &bytes).await? {
                    Some(imported) => report.imported.extend(imported),
                    // A picture may hold a lorebook as well.
                    None if self.import_lorebook(&file, &bytes, None, report).await?.is_some() => {}
                    None => {
                        report.refused.push(Refused { file, kind: refusal(&error).into(), reason: error.to_string() });
                    }
                }
                return Ok(());
            }
        };
        if let Some(known) = self.known(&bytes, &card).await? {
            let reason = format!("{} is in the library already", known.name);
            report.skipped.push(Skipped { id: known.id.to_string(), file, reason });
            return Ok(());
        }
        let mut warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
        let picture = picture_of(&bytes, &card, &mut warnings).await;
        let mime = mime(&bytes);
        let character = self.add_character(card.clone(), picture, Some((bytes, mime))).await?;
        warnings.extend(self.import_sampling(&character, &card).await?);
        report.imported.push(Imported {
            kind: "character".into(),
            id: character.id.to_string(),
            name: character.name.clone(),
            file: file.clone(),
            warnings,
        });
        if mime == ARCHIVE {
            self.import_scenarios(&file, &character, &card, report).await?;
        }
        Ok(())
    }

    /// The character that came from the very same file and was not changed since.
    async fn known(&self, bytes: &[u8], card: &Card) -> Answer<Option<Character>> {
        let hash = AssetHash::of(bytes);
        let same = self.store().read(move |store| store.characters().from_source(hash)).await?;
        Ok(same.into_iter().find(|each| card_of(each).is_ok_and(|known| known == *card)))
    }
}

/// What a card's file is kept as.
fn mime(card: &[u8]) -> &'static str {
    match card {
        [0x89, b'P', b'N', b'G', ..] => "image/png",
        [b'P', b'K', ..] => ARCHIVE,
        // A picture in front of an archive is never shown as one.
        [0xff, 0xd8, ..] => "application/octet-stream",
        _ => "application/json",
    }
}

/// SillyTavern's presets for instruct, context and system prompt have a name, and a name is enough for the oldest cards.
fn is_named_preset(bytes: &[u8]) -> bool {
    let Ok(serde_json::Value::Object(fields)) = serde_json::from_slice(bytes) else { return false };
    let has = |names: &[&str]| names.iter().any(|name| fields.contains_key(*name));
    has(&["input_sequence", "story_string", "content"])
        && !has(&["spec", "data", "description", "first_mes", "char_name"])
}

/// The files right inside a folder, in the order of their names; none if it cannot be read.
fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut inside: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    inside.sort();
    inside.truncate(MAX_FILES);
    inside
}

/// The files to import, and whether each was named itself.
fn files(paths: Vec<PathBuf>) -> Vec<(PathBuf, bool)> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            files.extend(files_in(&path).into_iter().map(|path| (path, false)));
        } else {
            files.push((path, true));
        }
    }
    files.truncate(MAX_FILES);
    files
}

/// Reads a file that may be anything, up to `limit` bytes, which `kind` may have.
pub(crate) fn read_capped(path: &Path, limit: usize, kind: &str) -> Result<Vec<u8>, (&'static str, String)> {
    let unreadable = |error: std::io::Error| ("unreadable", format!("the file cannot be read: {error}"));
    let about = fs::metadata(path).map_err(unreadable)?;
    if !about.is_file() {
        return Err(("unreadable", "it is no file".to_owned()));
    }
    if about.len() > limit as u64 {
        let (size, limit) = (about.len() >> 20, limit >> 20);
        return Err(("tooLarge", format!("the file has {size} MiB; {kind} may have {limit}")));
    }
    let mut bytes = Vec::with_capacity(about.len() as usize);
    // Capped once more: it may grow while it is read.
    let file = fs::File::open(path).map_err(unreadable)?;
    file.take(limit as u64).read_to_end(&mut bytes).map_err(unreadable)?;
    Ok(bytes)
}

/// The class of a refusal, as the faces know it.
fn refusal(error: &CardError) -> &'static str {
    match error {
        CardError::UnknownFormat { .. } => "unknownFormat",
        CardError::TooLarge { .. } | CardError::TooComplex { .. } => "tooLarge",
        CardError::Truncated { .. } | CardError::BrokenPng { .. } => "damaged",
        CardError::NoCard => "noCard",
        CardError::Archive(error) => match error {
            ArchiveError::TooLarge { .. }
            | ArchiveError::TooManyMembers { .. }
            | ArchiveError::MemberTooLarge { .. }
            | ArchiveError::TotalTooLarge { .. }
            | ArchiveError::Ratio { .. } => "tooLarge",
            ArchiveError::Damaged { .. } => "damaged",
            _ => "unsafeArchive",
        },
        CardError::NoName { .. } | CardError::NameTooLong { .. } => "noName",
        _ => "malformed",
    }
}
