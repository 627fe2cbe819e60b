//! Imports SillyTavern's group chats. One kind of file lists the members, another holds the
//! messages. Each becomes a chat of the first member, with the others as participants.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use domain::chat_file::{ChatFile, ChatFileAuthor};
use domain::lorebook::Binding;
use domain::{CharacterId, ChatId};
use serde_json::Value;

use crate::api::{ImportReport, Imported, Skipped};
use crate::base::error::{ApiResult, internal};
use crate::import::chats::chat::{ChatRead, not_taken, read_chat, refuse};
use crate::import::chats::losses::differences;
use crate::import::chats::new_chat::NewChat;
use crate::import::chats::titles::{title, without_time};
use crate::import::reports::progress::ImportRun;
use crate::import::sillytavern::FolderImports;
use crate::import::sillytavern::cards::Cast;
use crate::import::sillytavern::folder::{SillyTavernFolder, composed, file_name, stem};
use crate::import::sillytavern::group_file::{GroupFile, read_group};
use crate::import::sillytavern::worlds::{WantedBindings, metadata};
use crate::library::groups::next_turns::MAX_MEMBERS;

/// Maximum number of missing chats to name.
pub(super) const NAMED: usize = 8;
/// Folder of the group chats. It precedes the names of their sources, because another chat may have
/// the same file name.
pub(crate) const FOLDER: &str = "group chats";

impl FolderImports {
    pub(crate) async fn import_groups_of(
        &self,
        tavern: &SillyTavernFolder,
        cast: &Cast,
        wishes: &mut WantedBindings,
        run: &mut ImportRun,
        report: &mut ImportReport,
    ) -> ApiResult<()> {
        let files = tavern.groups.clone();
        let read = tokio::task::spawn_blocking(move || {
            files
                .iter()
                .map(|file| read_group(file))
                .collect::<Vec<_>>()
        });
        let mut groups = Vec::new();
        for read in read
            .await
            .map_err(|_| internal("a group could not be read"))?
        {
            match read {
                Ok(group) => groups.push(group),
                Err((file, kind, reason)) => refuse(report, file, kind, reason),
            }
        }
        for path in &tavern.group_chats {
            if run.cancelled() {
                return Ok(());
            }
            let group = groups
                .iter()
                .find(|group| group.chats.contains(&stem(path)));
            if let Some((chat, linked)) = self.import_group_chat(path, group, cast, report).await? {
                wishes.add(linked.as_ref(), Binding::Chat(chat));
            }
            run.step();
        }
        let there: HashSet<String> = tavern.group_chats.iter().map(|path| stem(path)).collect();
        for group in &groups {
            if let Some(reason) = group.missing(&there) {
                report.skipped.push(Skipped {
                    id: String::new(),
                    file: group.name.clone(),
                    reason,
                });
            }
        }
        Ok(())
    }

    /// Imports a chat of a group. Returns it with the lorebook that it is linked to.
    async fn import_group_chat(
        &self,
        path: &Path,
        group: Option<&GroupFile>,
        cast: &Cast,
        report: &mut ImportReport,
    ) -> ApiResult<Option<(ChatId, Option<Value>)>> {
        let file = file_name(path);
        let own = path.to_owned();
        let key = format!("{FOLDER}/{file}");
        let known = key.clone();
        let known = self
            .base()
            .store()
            .read(move |store| store.sources().chat_from(&known))
            .await?;
        let read = move || {
            let linked =
                metadata(&own).and_then(|mut about| about.get_mut("world_info").map(Value::take));
            (linked, known.is_none().then(|| read_chat(&own)))
        };
        let read = tokio::task::spawn_blocking(read).await;
        let (linked, read) = read.map_err(|_| internal("a chat could not be read"))?;
        let linked = linked.or_else(|| group?.world.clone().map(Value::from));
        let chat = match (known, read) {
            (Some(known), _) => {
                let reason = "this group chat was imported before".to_owned();
                report.skipped.push(Skipped {
                    id: known.to_string(),
                    file,
                    reason,
                });
                Some(known)
            }
            (None, Some(Ok(read))) => {
                self.take_group_chat((file, key), read, group, cast, report)
                    .await?
            }
            (None, Some(Err((kind, reason)))) => {
                not_taken(report, file, kind, reason);
                None
            }
            (None, None) => None,
        };
        Ok(chat.map(|chat| (chat, linked)))
    }

    async fn take_group_chat(
        &self,
        (file, key): (String, String),
        (chat, losses): ChatRead,
        group: Option<&GroupFile>,
        cast: &Cast,
        report: &mut ImportReport,
    ) -> ApiResult<Option<ChatId>> {
        let mut warnings = differences(&chat, &losses);
        let heard;
        let group = match group {
            Some(group) => group,
            None => {
                warnings.push(
                    "no group file lists this chat, so its speakers are the participants"
                        .to_owned(),
                );
                heard = GroupFile::heard_in(&chat);
                &heard
            }
        };
        let mut part = take_part(group, cast, &mut warnings);
        let Some(character) = part.members.first().copied() else {
            let reason = "none of the participants is in the library".to_owned();
            refuse(report, file, "noCharacter", reason);
            return Ok(None);
        };
        self.know_by_name(&mut part).await?;
        let nameless = part.unheard(&chat);
        if !nameless.is_empty() {
            let names = nameless.join(", ");
            warnings.push(format!(
                "the library has no {names}: their messages keep these names"
            ));
        }
        let persona = self
            .chat_imports
            .persona_named(&chat.user, &mut warnings)
            .await?;
        let several = group.chats.iter().collect::<HashSet<_>>().len() > 1;
        let title = match group.name.as_str() {
            "" => without_time(&title(&file)).to_owned(),
            name if several => without_time(&title(&format!("{name}, {file}"))).to_owned(),
            name => title(&format!("{name}.jsonl")),
        };
        let members = part.members.split_off(1);
        let settings = group.keeping(part.missing);
        let muted = part.muted;
        let scenario = group.scenario.clone();
        let new = NewChat {
            title: title.clone(),
            source: Some(key),
            members,
            voices: part.voices,
            ..NewChat::of(chat, character, persona)
        };
        let id = self
            .chat_imports
            .keep_chat_and_note(new, &mut warnings)
            .await?;
        self.group_imports
            .keep_group(id, settings, muted, scenario)
            .await?;
        report.imported.push(Imported {
            kind: "chat".into(),
            id: id.to_string(),
            name: title,
            file,
            warnings,
        });
        Ok(Some(id))
    }

    /// Older messages contain the speaker's name, but no picture file.
    async fn know_by_name(&self, part: &mut Participants) -> ApiResult<()> {
        for id in part.members.clone() {
            let name = self.library().characters.character(id).await?.name;
            part.voices.entry(composed(&name)).or_insert(id);
        }
        Ok(())
    }
}

/// Participants of a chat that are in the library.
#[derive(Default)]
pub(crate) struct Participants {
    pub(crate) members: Vec<CharacterId>,
    /// Characters by picture file and by name.
    pub(crate) voices: HashMap<String, CharacterId>,
    pub(crate) muted: Vec<CharacterId>,
    /// Files of members that are not in the library, or too many.
    pub(crate) missing: Vec<String>,
}

impl Participants {
    /// Names of speakers who are not in the library.
    pub(crate) fn unheard<'c>(&self, chat: &'c ChatFile) -> Vec<&'c str> {
        let mut names = Vec::new();
        for said in chat
            .messages
            .iter()
            .filter(|said| said.by == ChatFileAuthor::Character && !said.name.is_empty())
        {
            let known = [&said.avatar, &said.name]
                .into_iter()
                .any(|voice| self.voices.contains_key(&composed(voice)));
            if !known && !names.contains(&said.name.as_str()) {
                names.push(&said.name);
            }
        }
        names
    }
}

pub(crate) fn take_part(
    group: &GroupFile,
    cast: &Cast,
    warnings: &mut Vec<String>,
) -> Participants {
    let mut part = Participants::default();
    for file in &group.members {
        match cast.get(&stem(Path::new(file))) {
            Some(id) if part.members.contains(id) => _ = part.voices.insert(file.clone(), *id),
            Some(id) if part.members.len() <= MAX_MEMBERS => {
                part.members.push(*id);
                part.voices.insert(file.clone(), *id);
            }
            _ if part.missing.contains(file) => {}
            found => {
                part.missing.push(file.clone());
                warnings.push(match found {
                    Some(_) => {
                        format!("{file} is left out: a chat can have {MAX_MEMBERS} others at most")
                    }
                    None => format!("{file} takes part, but is not in the library"),
                });
            }
        }
    }
    let muted = group.muted.iter().filter_map(|file| part.voices.get(file));
    part.muted = muted.copied().collect();
    part
}

#[cfg(test)]
mod tests;
