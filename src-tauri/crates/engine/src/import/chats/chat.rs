//! Imports chats of SillyTavern for characters of the library. The module `talks` imports chats of
//! other apps.

use std::path::{Path, PathBuf};

use domain::chat_file::{
    self, AssistantExport, ChatFile, ChatFileError, DetectedChats, Losses, OtherChats, RisuChat,
    Transcript, detect_chats,
};
use domain::{CharacterId, ChatId, PersonaId, file_kind, lenient_json};

use crate::api::{ImportReport, Imported, Refused, Skipped};
use crate::base::error::{ApiResult, internal};
use crate::base::files::read_capped;
use crate::import::chats::ChatImports;
use crate::import::chats::assistants::Pictures;
use crate::import::chats::losses::differences;
use crate::import::chats::new_chat::NewChat;
use crate::import::chats::titles::{ending, title, without_name, without_time};
use crate::import::sillytavern::card_notes::git_lfs_pointer;
use crate::import::sillytavern::folder::{composed, file_name};
use crate::import::sillytavern::group_file::GroupFile;
use crate::import::sillytavern::groups::Participants;
use crate::library::chats::bookmarks::import_links;

/// Refusal kind of a chat without messages.
pub(crate) const EMPTY: &str = "empty";

impl ChatImports {
    /// Imports chat files of SillyTavern or another app, or text transcripts, as chats of
    /// `character`, regardless of the names in the files. Also notifies listeners.
    ///
    /// # Errors
    /// `NotFound` if there is no such character.
    pub(crate) async fn import_chats_with(
        &self,
        character: CharacterId,
        files: Vec<PathBuf>,
    ) -> ApiResult<ImportReport> {
        let with = self.library().characters.character(character).await?.id;
        let mut report = ImportReport::default();
        for file in files {
            self.import_chat_file(&file, Some(with), &mut report)
                .await?;
        }
        report.clean_names();
        self.import_reports.report_import(&report).await;
        Ok(report)
    }

    /// Works like [`Self::import_chats_with`], for a file whose content is already loaded.
    ///
    /// # Errors
    /// `NotFound` if there is no such character.
    pub(crate) async fn import_chat_with(
        &self,
        character: CharacterId,
        file: String,
        bytes: Vec<u8>,
    ) -> ApiResult<ImportReport> {
        let mut report = self.import_one_chat_of_many(character, file, bytes).await?;
        report.clean_names();
        self.import_reports.report_import(&report).await;
        Ok(report)
    }

    /// Imports one chat file of a selection, like [`Self::import_chat_with`]. The caller reports
    /// all files together.
    ///
    /// # Errors
    /// `NotFound` if the character does not exist.
    pub(crate) async fn import_one_chat_of_many(
        &self,
        character: CharacterId,
        file: String,
        bytes: Vec<u8>,
    ) -> ApiResult<ImportReport> {
        let with = self.library().characters.character(character).await?.id;
        let mut report = ImportReport::default();
        self.import_chat(file, bytes, Some(with), &mut report)
            .await?;
        Ok(report)
    }

    pub(crate) async fn import_chat_file(
        &self,
        file: &Path,
        with: Option<CharacterId>,
        report: &mut ImportReport,
    ) -> ApiResult<()> {
        let path = file.to_owned();
        let name = file_name(file);
        let read =
            tokio::task::spawn_blocking(move || read_capped(&path, chat_file::MAX_FILE, "a chat"))
                .await;
        match read.map_err(|_| internal("a file could not be read"))? {
            Ok(bytes) => self.import_chat(name, bytes, with, report).await,
            Err((kind, reason)) => {
                refuse(report, name, kind, reason);
                Ok(())
            }
        }
    }

    /// Imports `bytes` as a chat of `with`, or else of the character that the file names.
    pub(crate) async fn import_chat(
        &self,
        file: String,
        bytes: Vec<u8>,
        with: Option<CharacterId>,
        report: &mut ImportReport,
    ) -> ApiResult<()> {
        if let Some(reason) = git_lfs_pointer(&bytes) {
            refuse(report, file, "unknownFormat", reason);
            return Ok(());
        }
        let kind = ending(&file);
        let look = tokio::task::spawn_blocking(move || look(&kind, &bytes)).await;
        match look.map_err(|_| internal("a chat could not be read"))? {
            DetectedChat::Chat(read) => _ = self.take_chat(file, *read, with, report).await?,
            DetectedChat::Risu(chats, unread) => {
                self.import_risuai_chats(file, (chats, unread), with, report)
                    .await?
            }
            DetectedChat::Other(chats) => {
                self.import_other_chats(file, chats, with, report).await?
            }
            DetectedChat::Assistant(export) => {
                self.import_assistant(file, export, with, &Pictures::new(), report)
                    .await?;
            }
            DetectedChat::Talk(talk) => self.import_transcript(file, talk, with, report).await?,
            DetectedChat::Refused(kind, reason) => refuse(report, file, kind, reason),
        }
        Ok(())
    }

    /// Stores a chat unless it already exists, and adds it to the report. Returns its id in both
    /// cases.
    pub(crate) async fn take_chat(
        &self,
        file: String,
        (chat, losses): ChatRead,
        with: Option<CharacterId>,
        report: &mut ImportReport,
    ) -> ApiResult<Option<ChatId>> {
        let mut part = self.group_imports.participants(&chat, with).await?;
        let heard = part.as_ref().and_then(|part| part.members.first().copied());
        let character = match with.or(heard) {
            Some(id) => id,
            None => match self.whose(&chat).await? {
                Ok(id) => id,
                Err(reason) => {
                    refuse(report, file, "noCharacter", reason);
                    return Ok(None);
                }
            },
        };
        if let Some(known) = self.known_chat(character, &file).await? {
            self.skip_chat(known, character, file, report).await?;
            return Ok(Some(known));
        }
        // The file may name another character, or none.
        let name = self.library().characters.character(character).await?.name;
        let title = without_name(without_time(&title(&file)), &name, &chat);
        let mut warnings = differences(&chat, &losses);
        let persona = self.persona_named(&chat.user, &mut warnings).await?;
        let named = title.clone();
        let source = Some(file.clone());
        let unheard = part
            .as_ref()
            .map(|part| part.unheard(&chat).join(", "))
            .filter(|names| !names.is_empty());
        warnings.extend(
            unheard.map(|names| {
                format!("the library has no {names}: their messages keep these names")
            }),
        );
        let Participants {
            members, voices, ..
        } = part.take().unwrap_or_default();
        let members: Vec<CharacterId> = members
            .into_iter()
            .filter(|member| *member != character)
            .collect();
        let is_group = !members.is_empty();
        let new = NewChat {
            title: named,
            source,
            members,
            voices,
            ..NewChat::of(chat, character, persona)
        };
        let id = self.keep_chat_and_note(new, &mut warnings).await?;
        if is_group {
            let GroupFile { settings, .. } = GroupFile::read(&serde_json::Value::Null);
            self.group_imports
                .keep_group(id, settings, Vec::new(), String::new())
                .await?;
        }
        let named = file.clone();
        let now = self.base().now();
        let link = move |store: &mut store::WriteTransaction<'_>| {
            import_links(store, id, character, &named, now)
        };
        self.base().store().write(link).await?;
        report.imported.push(Imported {
            kind: "chat".into(),
            id: id.to_string(),
            name: title,
            file,
            warnings,
        });
        Ok(Some(id))
    }

    /// Finds the persona with this name. If there is none, the chat keeps the name and a warning is
    /// added.
    pub(crate) async fn persona_named(
        &self,
        user: &str,
        warnings: &mut Vec<String>,
    ) -> ApiResult<Option<PersonaId>> {
        let wanted = composed(user).to_lowercase();
        let personas = self
            .base()
            .store()
            .read(|store| store.personas().list())
            .await?;
        let persona = personas
            .into_iter()
            .find(|one| composed(&one.name).to_lowercase() == wanted)
            .map(|one| one.id);
        if persona.is_none() && !user.is_empty() {
            warnings.push(format!(
                "no persona named \"{user}\", so the chat keeps this name; the chat's persona menu can create one"
            ));
        }
        Ok(persona)
    }

    /// The chat of `character` that was imported from this file, even if it was renamed, or that
    /// has the file's name.
    pub(crate) async fn known_chat(
        &self,
        character: CharacterId,
        file: &str,
    ) -> ApiResult<Option<ChatId>> {
        let (file, title) = (file.to_owned(), title(file));
        Ok(self
            .base()
            .store()
            .read(move |store| store.sources().chat(character, &file, &title))
            .await?)
    }

    pub(crate) async fn skip_chat(
        &self,
        known: ChatId,
        with: CharacterId,
        file: String,
        report: &mut ImportReport,
    ) -> ApiResult<()> {
        let reason = format!(
            "{} already has a chat of that name",
            self.library().characters.character(with).await?.name
        );
        report.skipped.push(Skipped {
            id: known.to_string(),
            file,
            reason,
        });
        Ok(())
    }

    /// The only character with the name that the chat gives. `Err` holds the reason why there is
    /// none.
    async fn whose(&self, chat: &ChatFile) -> ApiResult<Result<CharacterId, String>> {
        let name = &chat.character;
        let wanted = composed(name).to_lowercase();
        let names = self
            .base()
            .store()
            .read(|store| store.characters().names())
            .await?;
        let mut found = names
            .into_iter()
            .filter(|(_, one)| composed(one).to_lowercase() == wanted);
        Ok(match (found.next(), found.next()) {
            (Some((id, _)), None) => Ok(id),
            (None, _) => Err(format!(
                "there is no character \"{name}\" in the library; import the card first"
            )),
            _ => Err(format!(
                "several characters are named \"{name}\"; rename all but the one whose chat it is"
            )),
        })
    }
}

/// A chat, and the data that reading dropped or changed.
pub(crate) type ChatRead = (ChatFile, Losses);

/// Detected kind of a file.
enum DetectedChat {
    Chat(Box<ChatRead>),
    Risu(Vec<RisuChat>, usize),
    Other(OtherChats),
    Assistant(AssistantExport),
    Talk(Transcript),
    /// Kind and reason of the refusal.
    Refused(&'static str, String),
}

/// Detects and reads any kind of chat file. Blocks.
fn look(ending: &str, bytes: &[u8]) -> DetectedChat {
    if ending == "txt" {
        return match Transcript::read(bytes) {
            Ok(talk) => DetectedChat::Talk(talk),
            Err(error) => DetectedChat::Refused("unknownFormat", error.to_string()),
        };
    }
    let lines = match ChatFile::from_jsonl(bytes) {
        Ok(read) => return DetectedChat::Chat(Box::new(read)),
        Err(error) => error,
    };
    match chats_in(bytes) {
        Some(DetectedChats::Risu(chats, unread)) => DetectedChat::Risu(chats, unread),
        Some(DetectedChats::Other(chats)) => DetectedChat::Other(chats),
        Some(DetectedChats::Assistant(export)) => DetectedChat::Assistant(export),
        Some(DetectedChats::Unsupported(what)) => {
            DetectedChat::Refused("unsupported", unsupported(what))
        }
        Some(DetectedChats::Lines) | None => {
            DetectedChat::Refused(refusal(&lines), lines.to_string())
        }
    }
}

/// Reads the chats in a file that is one JSON value.
fn chats_in(bytes: &[u8]) -> Option<DetectedChats> {
    detect_chats(
        &lenient_json::read_within(bytes, file_kind::limits_of(bytes))
            .ok()?
            .0,
    )
}

pub(crate) fn unsupported(what: &str) -> String {
    format!("this is {what}, which is not supported")
}

fn refusal(error: &ChatFileError) -> &'static str {
    match error {
        ChatFileError::Empty => EMPTY,
        _ => "malformed",
    }
}

/// Reads a chat file. `Err` holds the kind and the reason of a refusal. Blocks.
pub(crate) fn read_chat(path: &Path) -> Result<ChatRead, (&'static str, String)> {
    let bytes = read_capped(path, chat_file::MAX_FILE, "a chat")?;
    ChatFile::from_jsonl(&bytes).map_err(|error| (refusal(&error), error.to_string()))
}

/// Skips a chat without messages, which is a leftover in a folder. Refuses any other file.
pub(crate) fn not_taken(report: &mut ImportReport, file: String, kind: &str, reason: String) {
    match kind {
        EMPTY => report.skipped.push(Skipped {
            id: String::new(),
            file,
            reason,
        }),
        kind => refuse(report, file, kind, reason),
    }
}

pub(crate) fn refuse(report: &mut ImportReport, file: String, kind: &str, reason: String) {
    report.refused.push(Refused {
        file,
        kind: kind.to_owned(),
        reason,
    });
}

#[cfg(test)]
mod tests;
