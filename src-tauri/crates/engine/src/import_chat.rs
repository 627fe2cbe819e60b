//! Chats that other programs wrote, as chats of a character of the library: SillyTavern's here, others in `import_talk`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use domain::chat::{Chat, Role, Speaker, SwipeState, WindowState};
use domain::chat_file::{self, By, ChatFile, Said, Transcript, Version};
use domain::{CharacterId, ChatId, MessageId, PersonaId, SwipeId, Timestamp};
use store::{NewMessage, NewSwipe};
use uuid::Uuid;

use crate::Engine;
use crate::api::{Changed, ImportReport, Imported, Refused, Skipped};
use crate::error::{Answer, internal};
use crate::foreign_date;
use crate::import::read_capped;
use crate::import_talk::risuai_chats;
use crate::tavern::file_name;
use crate::words::Kept;

/// Characters of a title.
const MAX_TITLE: usize = 200;
/// Lines that a warning names.
const NAMED: usize = 8;

impl Engine {
    /// Imports files that SillyTavern or RisuAI wrote, or talks that were written down, as chats of `character`, whomever they
    /// name. Listeners hear of it as well.
    ///
    /// # Errors
    /// `NotFound` if there is no such character.
    pub async fn import_chats_with(&self, character: String, files: Vec<PathBuf>) -> Answer<ImportReport> {
        let with = self.character(character.parse()?).await?.id;
        let mut report = ImportReport::default();
        for file in files {
            self.import_chat_file(&file, Some(with), &mut report).await?;
        }
        self.report_import(&report).await;
        Ok(report)
    }

    /// As [`Engine::import_chats_with`], of a file whose content is already here.
    ///
    /// # Errors
    /// `NotFound` if there is no such character.
    pub async fn import_chat_with(&self, character: String, file: String, bytes: Vec<u8>) -> Answer<ImportReport> {
        let report = self.import_one_chat_of_many(character, file, bytes).await?;
        self.report_import(&report).await;
        Ok(report)
    }

    /// As [`Engine::import_chat_with`], of one file of a selection, which is reported with the others.
    ///
    /// # Errors
    /// `NotFound` if there is no such character.
    pub async fn import_one_chat_of_many(
        &self,
        character: String,
        file: String,
        bytes: Vec<u8>,
    ) -> Answer<ImportReport> {
        let with = self.character(character.parse()?).await?.id;
        let mut report = ImportReport::default();
        self.import_chat(file, bytes, Some(with), &mut report).await?;
        Ok(report)
    }

    pub(crate) async fn import_chat_file(
        &self,
        file: &Path,
        with: Option<CharacterId>,
        report: &mut ImportReport,
    ) -> Answer<()> {
        let (path, name) = (file.to_owned(), file_name(file));
        let read = tokio::task::spawn_blocking(move || read_capped(&path, chat_file::MAX_FILE, "a chat")).await;
        match read.map_err(|_| internal("a file could not be read"))? {
            Ok(bytes) => self.import_chat(name, bytes, with, report).await,
            Err((kind, reason)) => {
                refuse(report, name, kind, reason);
                Ok(())
            }
        }
    }

    /// Imports `bytes` as a chat of `with`; else of the character whom the file names.
    pub(crate) async fn import_chat(
        &self,
        file: String,
        bytes: Vec<u8>,
        with: Option<CharacterId>,
        report: &mut ImportReport,
    ) -> Answer<()> {
        let (bytes, risuai) = match ending(&file).as_str() {
            "jsonl" => (bytes, None),
            _ => {
                let look = tokio::task::spawn_blocking(move || (risuai_chats(&bytes), bytes)).await;
                let (found, bytes) = look.map_err(|_| internal("a chat could not be read"))?;
                (bytes, found)
            }
        };
        if let Some(found) = risuai {
            return self.import_risuai_chats(file, found, with, report).await;
        }
        if ending(&file) == "txt" {
            return match Transcript::read(&bytes) {
                Ok(talk) => self.import_transcript(file, talk, with, report).await,
                Err(error) => {
                    refuse(report, file, "unknownFormat", error.to_string());
                    Ok(())
                }
            };
        }
        let read = tokio::task::spawn_blocking(move || ChatFile::from_jsonl(&bytes)).await;
        match read.map_err(|_| internal("a chat could not be read"))? {
            Ok(read) => _ = self.take_chat(file, read, with, report).await?,
            Err(error) => refuse(report, file, "malformed", error.to_string()),
        }
        Ok(())
    }

    /// Keeps a chat unless it is known, and gives its id in either case; it is in the report.
    pub(crate) async fn take_chat(
        &self,
        file: String,
        (chat, unread): Read,
        with: Option<CharacterId>,
        report: &mut ImportReport,
    ) -> Answer<Option<ChatId>> {
        let character = match with {
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
        let title = title(&file);
        let mut warnings = differences(&chat, &unread);
        let persona = self.persona_named(&chat.user, &mut warnings).await?;
        let (named, source) = (title.clone(), Some(file.clone()));
        let id = self.keep_chat(NewChat { title: named, source, ..NewChat::of(chat, character, persona) }).await?;
        report.imported.push(Imported { kind: "chat".into(), id: id.to_string(), name: title, file, warnings });
        Ok(Some(id))
    }

    /// The persona of that name; that there is none is a warning.
    pub(crate) async fn persona_named(&self, user: &str, warnings: &mut Vec<String>) -> Answer<Option<PersonaId>> {
        let wanted = user.to_lowercase();
        let personas = self.store().read(|store| store.personas().list()).await?;
        let persona = personas.into_iter().find(|one| one.name.to_lowercase() == wanted).map(|one| one.id);
        if persona.is_none() && !user.is_empty() {
            let other = self.persona_of(None).await?.name;
            warnings.push(format!("there is no persona \"{user}\": what {user} says stands under \"{other}\""));
        }
        Ok(persona)
    }

    /// The chat with `character` that came from that file, whatever it is called now, or that has its name.
    pub(crate) async fn known_chat(&self, character: CharacterId, file: &str) -> Answer<Option<ChatId>> {
        let (file, title) = (file.to_owned(), title(file));
        Ok(self.store().read(move |store| store.sources().chat(character, &file, &title)).await?)
    }

    pub(crate) async fn skip_chat(
        &self,
        known: ChatId,
        with: CharacterId,
        file: String,
        report: &mut ImportReport,
    ) -> Answer<()> {
        let reason = format!("{} has a chat of that name already", self.character(with).await?.name);
        report.skipped.push(Skipped { id: known.to_string(), file, reason });
        Ok(())
    }

    /// The one character of the name that the chat gives; else the reason why there is none.
    async fn whose(&self, chat: &ChatFile) -> Answer<Result<CharacterId, String>> {
        let name = &chat.character;
        let wanted = name.to_lowercase();
        let names = self.store().read(|store| store.characters().names()).await?;
        let mut found = names.into_iter().filter(|(_, one)| one.to_lowercase() == wanted);
        Ok(match (found.next(), found.next()) {
            (Some((id, _)), None) => Ok(id),
            (None, _) => Err(format!("there is no character \"{name}\" in the library; import the card first")),
            _ => Err(format!("several characters are named \"{name}\"; rename all but the one whose chat it is")),
        })
    }

    /// Adds a chat that somebody else's app wrote, whole or not at all.
    pub(crate) async fn keep_chat(&self, new: NewChat) -> Answer<ChatId> {
        let NewChat { file, character, persona, title, source, members, voices } = new;
        let (id, now) = (ChatId(Uuid::now_v7()), self.now());
        let own = Own { id: character, name: self.character(character).await?.name, voices };
        let mut when = self.date(&file.created).unwrap_or(now);
        let created = when;
        let mut messages = Vec::new();
        for said in file.messages.into_iter().filter(|said| !said.note) {
            // One without a date is as old as the one before.
            when = self.date(&said.shown().sent).unwrap_or(when);
            messages.push(self.message_of(said, id, when, &own));
        }
        let chat = Chat {
            id,
            character,
            persona,
            title,
            model: None,
            draft: String::new(),
            window: WindowState::default(),
            scene_after: None,
            variables: Kept::default().to_json(),
            created,
            updated: when,
        };
        self.store()
            .write(move |store| {
                store.chats_mut().insert(&chat)?;
                if let Some(file) = &source {
                    store.sources_mut().set_chat(chat.id, file)?;
                }
                store.groups_mut().set_members(chat.id, &members)?;
                for (message, speaker) in &messages {
                    store.messages_mut().append(message)?;
                    if let Some(speaker) = speaker {
                        store.groups_mut().set_speaker(message.id, speaker)?;
                    }
                }
                store.chats_mut().touch(chat.id, chat.updated)
            })
            .await?;
        // The import of a folder tells of its chats itself, not of each.
        if self.importing().none() {
            self.events().changed(Changed::Chats, Some(id.to_string()));
        }
        Ok(id)
    }

    /// With who says it, where that is not the chat's own character.
    fn message_of(&self, said: Said, chat: ChatId, created: Timestamp, own: &Own) -> (NewMessage, Option<Speaker>) {
        let role = match said.by {
            By::User => Role::User,
            By::Character => Role::Character,
            By::Narrator => Role::Narrator,
        };
        let speaker = own.speaker(&said);
        let selected = u32::try_from(said.selected).unwrap_or_default();
        let swipe = |version: Version| NewSwipe {
            id: SwipeId(Uuid::now_v7()),
            created: self.date(&version.sent).unwrap_or(created),
            text: whole(version.text, &version.thoughts),
            state: SwipeState::Finished,
            model: Some(version.model).filter(|model| !model.is_empty()),
        };
        let swipes = said.versions.into_iter().map(swipe).collect();
        let id = MessageId(Uuid::now_v7());
        (NewMessage { id, chat, role, created, swipes, selected, context_block: None }, speaker)
    }

    fn date(&self, text: &str) -> Option<Timestamp> {
        foreign_date::read(text, self.clock())
    }
}

/// A chat of another app's, and whose it becomes.
pub(crate) struct NewChat {
    pub(crate) file: ChatFile,
    pub(crate) character: CharacterId,
    pub(crate) persona: Option<PersonaId>,
    pub(crate) title: String,
    /// The file that it has to itself.
    pub(crate) source: Option<String>,
    /// Those who take part besides the character.
    pub(crate) members: Vec<CharacterId>,
    /// Who says what: characters by the files of their pictures, and by their names.
    pub(crate) voices: HashMap<String, CharacterId>,
}

impl NewChat {
    /// A chat of two, without a name and a file.
    pub(crate) fn of(file: ChatFile, character: CharacterId, persona: Option<PersonaId>) -> Self {
        let (title, members, voices) = (String::new(), Vec::new(), HashMap::new());
        Self { file, character, persona, title, source: None, members, voices }
    }
}

/// The character whose chat it is, and everybody's voice.
struct Own {
    id: CharacterId,
    name: String,
    voices: HashMap<String, CharacterId>,
}

impl Own {
    /// Who says it, where that is not the chat's own character.
    fn speaker(&self, said: &Said) -> Option<Speaker> {
        if said.by != By::Character {
            return None;
        }
        let by_picture = self.voices.get(&said.avatar).filter(|_| !said.avatar.is_empty());
        match by_picture.or_else(|| self.voices.get(&said.name)) {
            Some(id) if *id == self.id => None,
            Some(id) => Some(Speaker { character: Some(*id), name: said.name.clone() }),
            None if said.name.is_empty() || said.name == self.name => None,
            None => Some(Speaker { character: None, name: said.name.clone() }),
        }
    }
}

/// A chat, and the numbers of the lines that hold no message.
pub(crate) type Read = (ChatFile, Vec<usize>);

/// Reads a chat's file; else the kind of the refusal, and its reason. Blocks.
pub(crate) fn read_chat(path: &Path) -> Result<Read, (&'static str, String)> {
    let bytes = read_capped(path, chat_file::MAX_FILE, "a chat")?;
    ChatFile::from_jsonl(&bytes).map_err(|error| ("malformed", error.to_string()))
}

/// What of the file is not in the chat, or otherwise.
pub(crate) fn differences(chat: &ChatFile, unread: &[usize]) -> Vec<String> {
    let mut told = Vec::new();
    let count = |is: fn(&Said) -> bool| chat.messages.iter().filter(|said| is(said)).count();
    match count(|said| said.note) {
        0 => {}
        notes => told.push(format!("{notes} notes that nobody said are left out")),
    }
    match count(|said| said.hidden) {
        0 => {}
        hidden => told.push(format!("{hidden} hidden messages are like all others here: sent while there is room")),
    }
    if !unread.is_empty() {
        let lines = unread.iter().take(NAMED).map(ToString::to_string).collect::<Vec<_>>().join(", ");
        told.push(format!("{} lines hold no message and are left out: {lines}", unread.len()));
    }
    told
}

/// With its thoughts in front, as a model writes them.
fn whole(text: String, thoughts: &str) -> String {
    if thoughts.is_empty() { text } else { format!("<think>\n{thoughts}\n</think>\n\n{text}") }
}

fn ending(file: &str) -> String {
    file.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).unwrap_or_default()
}

/// The file's name without its ending.
pub(crate) fn title(file: &str) -> String {
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem).trim();
    let title: String = stem.chars().take(MAX_TITLE).collect();
    if title.is_empty() { "Chat".to_owned() } else { title }
}

pub(crate) fn refuse(report: &mut ImportReport, file: String, kind: &str, reason: String) {
    report.refused.push(Refused { file, kind: kind.to_owned(), reason });
}
