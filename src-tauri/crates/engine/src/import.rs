//! What people bring: cards, lorebooks, chats, and model files that stay where they are.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use domain::archive::{ArchiveError, MAX_ARCHIVE};
use domain::card::{self, Card, CardError};
use store::{AssetHash, Character};

use crate::Engine;
use crate::api::{ApiError, ImportReport, Imported, Refused, Skipped};
use crate::characters::card_of;
use crate::error::{Answer, internal};
use crate::folders;
use crate::import_lorebook::{beyond_limits, is_lorebook};
use crate::import_talk::risuai_chats;
use crate::picture::{self, Picture};

const ARCHIVE: &str = "application/zip";
/// Endings of files that may be cards.
const CARDS: [&str; 7] = ["png", "apng", "json", "charx", "byaf", "yaml", "yml"];
/// Endings of files that are chats, or nothing.
const CHATS: [&str; 2] = ["jsonl", "txt"];
/// The class of a picture without a card.
const NO_CARD: &str = "noCard";
/// Endings of files that may be archives: a card with its pictures and sounds may be larger than a card alone.
const ARCHIVES: [&str; 4] = ["charx", "byaf", "jpg", "jpeg"];

impl Engine {
    /// Imports files, and those in folders, however deep. Every file ends up in the report: imported, skipped because it is
    /// here already, or refused with a reason; none of them stops the others. Listeners hear of it as well.
    ///
    /// # Errors
    /// Only if the database refuses.
    pub async fn import_paths(&self, paths: Vec<PathBuf>) -> Answer<ImportReport> {
        let mut report = ImportReport::default();
        let found = tokio::task::spawn_blocking(move || files(paths)).await;
        let (files, left_out) = found.map_err(|_| internal("a folder could not be read"))?;
        for (path, asked_for) in files {
            self.import_path(&path, asked_for, &mut report).await?;
        }
        report.skipped.extend(left_out);
        self.report_import(&report).await;
        Ok(report)
    }

    /// Imports a file whose content is already here, such as an upload. `file_name` is for the report only.
    ///
    /// # Errors
    /// Only if the database refuses.
    pub async fn import_bytes(&self, file_name: String, bytes: Vec<u8>) -> Answer<ImportReport> {
        let report = self.import_one_of_many(file_name, bytes).await?;
        self.report_import(&report).await;
        Ok(report)
    }

    /// As [`Engine::import_bytes`], of one file of a selection: whoever sends the files reports them together, with
    /// [`Engine::keep_import_report`].
    ///
    /// # Errors
    /// Only if the database refuses.
    pub async fn import_one_of_many(&self, file_name: String, bytes: Vec<u8>) -> Answer<ImportReport> {
        let mut report = ImportReport::default();
        let ending = Path::new(&file_name).extension().unwrap_or_default().to_ascii_lowercase();
        if CHATS.iter().any(|known| ending == *known) {
            self.import_chat(file_name, bytes, None, &mut report).await?;
        } else {
            self.import_card(file_name, bytes, &mut report).await?;
        }
        Ok(report)
    }

    /// A file that only lies in a chosen folder is passed over if it is of another kind.
    pub(crate) async fn import_path(&self, path: &Path, asked_for: bool, report: &mut ImportReport) -> Answer<()> {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
        if ending == "gguf" {
            return self.import_model(path, name, report).await;
        }
        if ending == "jsonl" || (asked_for && ending == "txt") {
            return self.import_chat_file(path, None, report).await;
        }
        if !asked_for && !CARDS.iter().any(|known| ending == *known) {
            return Ok(());
        }
        let file = path.to_owned();
        let limit = if ARCHIVES.iter().any(|known| ending == *known) { MAX_ARCHIVE } else { card::MAX_FILE };
        let read = tokio::task::spawn_blocking(move || read_capped(&file, limit, "a card"));
        match read.await.map_err(|_| internal("a file could not be read"))? {
            Ok(bytes) => {
                let before = report.refused.len();
                self.import_card(name, bytes, report).await?;
                // Folders hold pictures of all kinds.
                let of_this = report.refused.len() > before;
                let is_plain = |last: &mut Refused| of_this && !asked_for && last.kind == NO_CARD;
                if let Some(refused) = report.refused.pop_if(is_plain) {
                    let Refused { file, reason, .. } = refused;
                    report.skipped.push(Skipped { id: String::new(), file, reason });
                }
                Ok(())
            }
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
        // Before anything is made of it: what would fill the memory is no file of any kind (S-4).
        if let Err(error) = if is_json(&bytes) { card::check_json(&bytes) } else { Ok(()) } {
            report.refused.push(Refused { file, kind: refusal(&error).into(), reason: error.to_string() });
            return Ok(());
        }
        // A template has a name as well, and the oldest cards have little more.
        if let Some(imported) = self.import_template(&file, &bytes).await? {
            report.imported.push(imported);
            return Ok(());
        }
        // So has a lorebook.
        if is_lorebook(&bytes) {
            if self.import_lorebook(&file, &bytes, None, report).await?.is_some() {
                return Ok(());
            }
            if let Some(reason) = beyond_limits(&bytes) {
                report.refused.push(Refused { file, kind: "tooLarge".into(), reason });
                return Ok(());
            }
        }
        if risuai_chats(&bytes).is_some() {
            return self.import_chat(file, bytes, None, report).await;
        }
        if self.import_quick_replies(&file, &bytes, report).await? {
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
            // Its chats may be missing: the app may have ended between the two.
            if mime(&bytes) == ARCHIVE {
                drop(bytes);
                self.import_scenarios(&file, &known, &card, report).await?;
            }
            let reason = format!("{} is in the library already", known.name);
            report.skipped.push(Skipped { id: known.id.to_string(), file, reason });
            return Ok(());
        }
        let mut warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
        let look = move || {
            let picture = picture_of(&bytes, &card);
            (bytes, card, picture)
        };
        let looked = tokio::task::spawn_blocking(look).await;
        let (bytes, card, picture) = looked.map_err(|_| internal("a picture could not be read"))?;
        let picture = picture.map_err(|why| warnings.push(why)).ok().flatten();
        let mime = mime(&bytes);
        let character = self.add_character(&card, picture, Some((bytes, mime))).await?;
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

/// The picture of a card; else why there is none, for a warning. Blocks.
pub(crate) fn picture_of(file: &[u8], card: &Card) -> Result<Option<Picture>, String> {
    match card::picture(file, card).map_err(|error| error.to_string())? {
        Some(found) => picture::decode(&found).map(Some).map_err(|error| error.to_string()),
        None => Ok(None),
    }
}

fn is_json(bytes: &[u8]) -> bool {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    matches!(text.trim_ascii_start().first(), Some(b'{' | b'['))
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

/// SillyTavern's presets for instruct, context and system prompt, and RisuAI's, have a name, and a name is enough for the oldest cards.
fn is_named_preset(bytes: &[u8]) -> bool {
    let Ok(serde_json::Value::Object(fields)) = serde_json::from_slice(bytes) else { return false };
    let has = |names: &[&str]| names.iter().any(|name| fields.contains_key(*name));
    has(&["input_sequence", "story_string", "content", "mainPrompt"])
        && !has(&["spec", "data", "description", "first_mes", "char_name"])
}

/// The files to import, and whether each was named itself; chats last, for they are somebody's. And what is left out.
fn files(paths: Vec<PathBuf>) -> (Vec<(PathBuf, bool)>, Vec<Skipped>) {
    let (mut files, mut left_out) = (Vec::new(), Vec::new());
    let skipped = |path: &Path, reason: String| {
        let file = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        Skipped { id: String::new(), file, reason }
    };
    for path in paths {
        if !path.is_dir() {
            files.push((path, true));
            continue;
        }
        let found = folders::below(&path);
        files.extend(found.files.into_iter().map(|path| (path, false)));
        let link =
            |link: &PathBuf| skipped(link, "it is a link, and may lead anywhere; name the file itself".to_owned());
        left_out.extend(found.links.iter().map(link));
        if found.left_out > 0 {
            let reason =
                format!("{} more files are left out: the folder has too many, or too deep ones", found.left_out);
            left_out.push(skipped(&path, reason));
        }
    }
    files.sort_by_key(|(path, _)| path.extension().is_some_and(|ending| CHATS.iter().any(|known| ending == *known)));
    (files, left_out)
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
        CardError::NoCard => NO_CARD,
        CardError::Locked => "locked",
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
