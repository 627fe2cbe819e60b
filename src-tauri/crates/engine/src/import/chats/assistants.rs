//! Imports the conversations that ChatGPT, Claude and Gemini export. They belong to a character
//! with the name of the assistant, unless the user chose one.

use std::collections::{HashMap, HashSet};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use domain::archive::{Archive, MAX_MEMBER};
use domain::card::Card;
use domain::chat_file::{AssistantExport, ChatFile, Losses, Talk, read_assistant};
use domain::{CharacterId, ChatId, file_kind, lenient_json};
use serde_json::json;
use store::AssetHash;

use crate::api::{ImportReport, Imported, Refused, Skipped};
use crate::base::error::{ApiResult, internal};
use crate::import::chats::ChatImports;
use crate::import::chats::chat::EMPTY;
use crate::import::chats::losses::differences;
use crate::import::chats::new_chat::NewChat;
use crate::import::chats::talks::Titles;
use crate::library::assets::pictures::MAX_PICTURE_BYTES;

/// Total size of the pictures that are read from one archive, in bytes.
const MAX_ALL_PICTURES: usize = 256 << 20;

/// Picture files by their names, as far as an archive has them.
pub(crate) type Pictures = HashMap<String, Vec<u8>>;

/// The conversations and pictures in an archive.
pub(crate) struct PackedExport {
    parts: Vec<(String, AssistantExport)>,
    pictures: Pictures,
    /// Number of files that are neither conversations nor their pictures.
    others: usize,
}

impl ChatImports {
    /// Imports the conversations as chats of `with`, or of the character with the assistant's name.
    pub(crate) async fn import_assistant(
        &self,
        file: String,
        AssistantExport { app, talks, unread }: AssistantExport,
        with: Option<CharacterId>,
        pictures: &Pictures,
        report: &mut ImportReport,
    ) -> ApiResult<()> {
        if talks.is_empty() {
            let reason = format!("this export of {app} has no conversation with messages");
            report.refused.push(Refused {
                file,
                kind: EMPTY.into(),
                reason,
            });
            return Ok(());
        }
        let character = match with {
            Some(id) => id,
            None => self.assistant(app, &file, report).await?,
        };
        let first = report.imported.len();
        let mut titles = Titles::default();
        for talk in talks {
            self.import_talk(&file, talk, character, (&mut titles, pictures), report)
                .await?;
        }
        if let Some(row) = report.imported.get_mut(first).filter(|_| unread > 0) {
            row.warnings
                .push(format!("{unread} conversations of the file have no messages that can be read and are left out"));
        }
        Ok(())
    }

    /// The character with the assistant's name, which is created if there is none.
    async fn assistant(
        &self,
        app: &str,
        file: &str,
        report: &mut ImportReport,
    ) -> ApiResult<CharacterId> {
        let names = self
            .base()
            .store()
            .read(|store| store.characters().names())
            .await?;
        if let Some((id, _)) = names.into_iter().find(|(_, name)| name == app) {
            return Ok(id);
        }
        let about = format!("{app} is an AI assistant. It answers helpfully and precisely.");
        let card = json!({ "spec": "chara_card_v2", "spec_version": "2.0", "data": { "name": app, "description": about } });
        let (card, _) = Card::read(card.to_string().as_bytes())
            .map_err(|error| internal(&error.to_string()))?;
        let added = self
            .library()
            .characters
            .add_character(&card, None, None)
            .await?;
        report.imported.push(Imported {
            kind: "character".into(),
            id: added.id.to_string(),
            name: added.name,
            file: file.to_owned(),
            warnings: vec![
                "it was added for the imported conversations; its replies come from the model that you choose"
                    .to_owned(),
            ],
        });
        Ok(added.id)
    }

    async fn import_talk(
        &self,
        file: &str,
        talk: Talk,
        character: CharacterId,
        (titles, pictures): (&mut Titles, &Pictures),
        report: &mut ImportReport,
    ) -> ApiResult<()> {
        let title = titles.free(&talk.title, file);
        if self.skips_chat(file, character, &title, report).await? {
            return Ok(());
        }
        let main = self
            .keep_talk(file, (&title, talk.main), character, pictures, report)
            .await?;
        if let Some(row) = report
            .imported
            .last_mut()
            .filter(|_| talk.unread_branches > 0)
        {
            let kept = talk.branches.len();
            row.warnings.push(format!(
                "{} more branches of the conversation are left out: {kept} is the limit",
                talk.unread_branches
            ));
        }
        let messages = self
            .base()
            .store()
            .read(move |store| store.messages().page(main, None, u32::MAX))
            .await?;
        for (number, branch) in (1..).zip(talk.branches) {
            let title = titles.free(&format!("{title} (branch {number})"), file);
            let common = branch.common.min(messages.len());
            let at = common
                .checked_sub(1)
                .and_then(|last| messages.get(last))
                .map(|message| message.id);
            let id = self
                .keep_talk(file, (&title, branch.chat), character, pictures, report)
                .await?;
            self.base()
                .store()
                .write(move |store| store.branch_links_mut().link(id, main, at))
                .await?;
        }
        Ok(())
    }

    async fn keep_talk(
        &self,
        file: &str,
        (title, chat): (&str, ChatFile),
        character: CharacterId,
        pictures: &Pictures,
        report: &mut ImportReport,
    ) -> ApiResult<ChatId> {
        let mut warnings = differences(&chat, &Losses::default());
        let (stored, missing) = self.store_pictures(&chat, pictures).await?;
        match missing {
            0 => {}
            1 => warnings.push(
                "1 file of the conversation is not in this export and is left out".to_owned(),
            ),
            count => warnings.push(format!(
                "{count} files of the conversation are not in this export and are left out"
            )),
        }
        let new = NewChat {
            title: title.to_owned(),
            pictures: stored,
            ..NewChat::of(chat, character, None)
        };
        let id = self.keep_chat(new).await?;
        let kind = "chat".to_owned();
        let name = title.to_owned();
        report.imported.push(Imported {
            kind,
            id: id.to_string(),
            name,
            file: file.to_owned(),
            warnings,
        });
        Ok(id)
    }

    /// Stores the pictures of a chat. Returns them by name, and the number of those that are
    /// missing or unreadable.
    async fn store_pictures(
        &self,
        chat: &ChatFile,
        pictures: &Pictures,
    ) -> ApiResult<(HashMap<String, (AssetHash, String)>, usize)> {
        let mut stored = HashMap::new();
        let mut missing = 0;
        for name in chat.messages.iter().flat_map(|said| &said.pictures) {
            if stored.contains_key(name) {
                continue;
            }
            let bytes = match name
                .strip_prefix("data:")
                .and_then(|uri| uri.split_once(";base64,"))
            {
                Some((_, data)) => BASE64_STANDARD.decode(data).ok(),
                None => pictures.get(name).cloned(),
            };
            let Some(bytes) = bytes else {
                missing += 1;
                continue;
            };
            let label = if name.starts_with("data:") {
                "picture"
            } else {
                name
            };
            match self
                .library()
                .assets
                .add_picture_bytes(label.to_owned(), bytes)
                .await
            {
                Ok(picture) => match picture.hash.parse() {
                    Ok(hash) => _ = stored.insert(name.clone(), (hash, picture.name)),
                    Err(_) => missing += 1,
                },
                Err(_) => missing += 1,
            }
        }
        Ok((stored, missing))
    }

    pub(crate) async fn import_packed_assistant(
        &self,
        file: &str,
        PackedExport {
            parts,
            pictures,
            others,
        }: PackedExport,
        report: &mut ImportReport,
    ) -> ApiResult<()> {
        for (name, export) in parts {
            self.import_assistant(name, export, None, &pictures, report)
                .await?;
        }
        if others > 0 {
            let reason = match others {
                1 => "1 file of the export has no conversation and was skipped".to_owned(),
                count => {
                    format!("{count} files of the export have no conversations and were skipped")
                }
            };
            report.skipped.push(Skipped {
                id: String::new(),
                file: file.to_owned(),
                reason,
            });
        }
        Ok(())
    }
}

/// Whether the file may contain the conversations of an assistant's export.
fn has_conversations(name: &str) -> bool {
    let name = name
        .rsplit('/')
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    name.ends_with(".json") && (name.starts_with("conversations") || name.starts_with("myactivity"))
}

/// Reads the conversations in an archive and the pictures that they name; `None` for other
/// archives. Blocks.
pub(crate) fn packed_assistant(bytes: &[u8]) -> Option<PackedExport> {
    if !domain::archive::is_archive(bytes) {
        return None;
    }
    let mut archive = Archive::open(bytes).ok()?;
    let names: Vec<String> = archive.names().map(str::to_owned).collect();
    let mut parts = Vec::new();
    for name in names.iter().filter(|name| has_conversations(name)) {
        let Some(content) = archive.read(name, MAX_MEMBER).ok().flatten() else {
            continue;
        };
        let Ok((value, _)) = lenient_json::read_within(&content, file_kind::limits_of(&content))
        else {
            continue;
        };
        let file = name.rsplit('/').next().unwrap_or_default().to_owned();
        parts.extend(read_assistant(&value).map(|export| (file, export)));
    }
    if parts.is_empty() {
        return None;
    }
    let wanted: HashSet<&str> = parts
        .iter()
        .flat_map(|(_, export)| &export.talks)
        .flat_map(named)
        .collect();
    let mut pictures = Pictures::new();
    let mut size = 0;
    for name in &names {
        let base = name.rsplit('/').next().unwrap_or_default();
        let Some(key) = key_of(base, &wanted) else {
            continue;
        };
        let Some(content) = archive.read(name, MAX_PICTURE_BYTES as u64).ok().flatten() else {
            continue;
        };
        size += content.len();
        if size <= MAX_ALL_PICTURES {
            pictures.insert(key.to_owned(), content);
        }
    }
    let others = names
        .iter()
        .filter(|name| !name.ends_with('/'))
        .count()
        .saturating_sub(parts.len() + pictures.len());
    Some(PackedExport {
        parts,
        pictures,
        others,
    })
}

/// Names of the pictures of a conversation.
fn named(talk: &Talk) -> impl Iterator<Item = &str> {
    let chats = std::iter::once(&talk.main).chain(talk.branches.iter().map(|branch| &branch.chat));
    chats
        .flat_map(|chat| &chat.messages)
        .flat_map(|said| &said.pictures)
        .map(String::as_str)
}

/// The wanted name that belongs to a file: the same one, or the id with which the file's name
/// begins.
fn key_of<'w>(file: &str, wanted: &HashSet<&'w str>) -> Option<&'w str> {
    let begins = |key: &&&str| {
        let rest = file.strip_prefix(**key);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '.', '_', '#']))
    };
    wanted
        .get(file)
        .or_else(|| wanted.iter().find(begins))
        .copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_by_their_ids() {
        let wanted = HashSet::from(["file-AbC", "b.png", "file_0001"]);
        let key = |file| key_of(file, &wanted);
        assert_eq!(
            (
                key("file-AbC-photo.png"),
                key("b.png"),
                key("file_0001.dat")
            ),
            (Some("file-AbC"), Some("b.png"), Some("file_0001"))
        );
        assert_eq!((key("file-AbCd.png"), key("user.json")), (None, None));
        assert!(
            has_conversations("a/conversations.json")
                && has_conversations("Takeout/My Activity/Gemini Apps/MyActivity.json")
        );
        assert!(!has_conversations("user.json") && !has_conversations("conversations.txt"));
    }
}
