//! Imports single files of a group: the chat with its speakers, and the group file with the order
//! of turns.

use std::collections::HashMap;
use std::path::Path;

use domain::chat::{GroupSettings, MemberState};
use domain::chat_file::{ChatFile, ChatFileAuthor};
use domain::overrides::CardText;
use domain::{CharacterId, ChatId};
use serde_json::Value;

use crate::api::{ImportReport, Imported, Refused};
use crate::base::error::ApiResult;
use crate::import::groups::GroupImports;
use crate::import::sillytavern::cards::Cast;
use crate::import::sillytavern::folder::{composed, stem};
use crate::import::sillytavern::group_file::GroupFile;
use crate::import::sillytavern::groups::{FOLDER, Participants, take_part};
use crate::library::groups::next_turns::MAX_MEMBERS;

/// Begins the reason for refusing a group file whose chats were not imported yet.
pub(crate) const WITHOUT_CHAT: &str = "this is a SillyTavern group file";

/// A character of the library: its id, its name and the file that it was imported from.
struct Known {
    id: CharacterId,
    name: String,
    file: Option<String>,
}

impl GroupImports {
    /// The characters who speak in a chat of a group; `None` for a chat with one character.
    pub(crate) async fn participants(
        &self,
        chat: &ChatFile,
        with: Option<CharacterId>,
    ) -> ApiResult<Option<Participants>> {
        let speakers = speakers(chat);
        if speakers.len() < 2 {
            return Ok(None);
        }
        let known = self.known_characters().await?;
        let mut part = Participants::default();
        part.members.extend(with);
        for (avatar, name) in &speakers {
            let Some(id) = find(&known, avatar, name, &part.voices) else {
                continue;
            };
            if !part.members.contains(&id) {
                if part.members.len() > MAX_MEMBERS {
                    continue;
                }
                part.members.push(id);
            }
            if !avatar.is_empty() {
                part.voices.insert(composed(avatar), id);
            }
            part.voices.entry(composed(name)).or_insert(id);
        }
        Ok((!part.members.is_empty()).then_some(part))
    }

    async fn known_characters(&self) -> ApiResult<Vec<Known>> {
        let read = self.base().store().read(|store| {
            let names = store.characters().names()?.into_iter();
            names
                .map(|(id, name)| {
                    Ok(Known {
                        id,
                        name,
                        file: store.sources().file_of_character(id)?,
                    })
                })
                .collect()
        });
        let mut known: Vec<Known> = read.await?;
        // The first of two with one name is the one that was added first.
        known.sort_by_key(|one| one.id.0);
        Ok(known)
    }

    /// Applies a group file to the chats that it lists, which must be in the library.
    pub(crate) async fn import_group_file(
        &self,
        file: &str,
        value: &Value,
        report: &mut ImportReport,
    ) -> ApiResult<()> {
        let group = GroupFile::read(value);
        let mut chats = Vec::new();
        for stem in &group.chats {
            let names = [format!("{stem}.jsonl"), format!("{FOLDER}/{stem}.jsonl")];
            let found = self.base().store().read(move |store| {
                names
                    .iter()
                    .map(|name| store.sources().chat_from(name))
                    .collect::<Result<Vec<_>, _>>()
            });
            chats.extend(
                found
                    .await?
                    .into_iter()
                    .flatten()
                    .filter(|id| !chats.contains(id))
                    .collect::<Vec<ChatId>>(),
            );
        }
        if chats.is_empty() {
            report.refused.push(Refused {
                file: file.to_owned(),
                kind: "unsupported".into(),
                reason: without_chat(&group),
            });
            return Ok(());
        }
        let known = self.known_characters().await?;
        for chat in chats {
            self.apply_group(file, &group, chat, &known, report).await?;
        }
        Ok(())
    }

    async fn apply_group(
        &self,
        file: &str,
        group: &GroupFile,
        id: ChatId,
        known: &[Known],
        report: &mut ImportReport,
    ) -> ApiResult<()> {
        let mut warnings = vec![
            "the members, their order of turns and who is muted are those of this group file"
                .to_owned(),
        ];
        let mut taken = HashMap::new();
        let mut cast = Cast::new();
        for member in &group.members {
            if let Some(id) = find(known, member, &stem(Path::new(member)), &taken) {
                taken.insert(composed(member), id);
                cast.insert(stem(Path::new(member)), id);
            }
        }
        let part = take_part(group, &cast, &mut warnings);
        let chat = self.library().chat_lookup.chat(id).await?;
        let others: Vec<CharacterId> = part
            .members
            .iter()
            .copied()
            .filter(|member| *member != chat.character)
            .collect();
        let members = self
            .base()
            .store()
            .read(move |store| store.groups().members(id))
            .await?;
        let missed = others
            .iter()
            .copied()
            .filter(|member| !members.contains(member));
        let all: Vec<CharacterId> = members
            .iter()
            .copied()
            .chain(missed)
            .take(MAX_MEMBERS)
            .collect();
        self.base()
            .store()
            .write(move |store| store.groups_mut().set_members(id, &all))
            .await?;
        self.keep_group(
            id,
            group.keeping(part.missing),
            part.muted,
            group.scenario.clone(),
        )
        .await?;
        self.base()
            .events()
            .changed(crate::api::Changed::Chats, Some(id.to_string()));
        report.imported.push(Imported {
            kind: "group".into(),
            id: id.to_string(),
            name: chat.title,
            file: file.to_owned(),
            warnings,
        });
        Ok(())
    }
}

/// Picture files and names of the characters who speak. Only groups name the picture files; without
/// them the chat must not name one character for all.
fn speakers(chat: &ChatFile) -> Vec<(String, String)> {
    let mut speakers: Vec<(String, String)> = Vec::new();
    for said in chat
        .messages
        .iter()
        .filter(|said| said.by == ChatFileAuthor::Character)
    {
        let is_known = |(avatar, name): &(String, String)| {
            if said.avatar.is_empty() {
                *name == said.name
            } else {
                *avatar == said.avatar
            }
        };
        if !said.name.is_empty() && !speakers.iter().any(is_known) {
            speakers.push((said.avatar.clone(), said.name.clone()));
        }
    }
    let is_group = speakers.iter().any(|(avatar, _)| !avatar.is_empty());
    if is_group { speakers } else { Vec::new() }
}

/// The character of the library with this picture file, or else with this name. `taken` are the
/// voices that belong to others, so that two characters of one name stay two.
fn find(
    known: &[Known],
    avatar: &str,
    name: &str,
    taken: &HashMap<String, CharacterId>,
) -> Option<CharacterId> {
    let is_free = |one: &&Known| {
        !taken
            .iter()
            .any(|(voice, id)| *id == one.id && voice != &composed(name))
    };
    let by_file = || {
        known
            .iter()
            .find(|one| !avatar.is_empty() && one.file.as_deref() == Some(avatar))
    };
    let called = |wanted: &str| {
        let wanted = composed(wanted).to_lowercase();
        known
            .iter()
            .filter(is_free)
            .find(|one| composed(&one.name).to_lowercase() == wanted)
    };
    by_file()
        .or_else(|| called(name))
        .or_else(|| called(&stem(Path::new(avatar))))
        .map(|one| one.id)
}

fn without_chat(group: &GroupFile) -> String {
    let chats = group
        .chats
        .iter()
        .map(|chat| format!("{chat}.jsonl"))
        .collect::<Vec<_>>();
    let first = chats
        .first()
        .map_or_else(|| "its chat".to_owned(), |chat| format!("its chat {chat}"));
    let members = group
        .members
        .iter()
        .map(|file| stem(Path::new(file)))
        .collect::<Vec<_>>()
        .join(", ");
    format!(
        "{WITHOUT_CHAT}: it says that {members} take part and how they take turns, but it has no \
         messages. Import {first} first, then this file"
    )
}

impl GroupImports {
    /// Stores how the members of an imported group take turns, who is muted, and the scenario of
    /// the group.
    pub(crate) async fn keep_group(
        &self,
        chat: ChatId,
        settings: GroupSettings,
        muted: Vec<CharacterId>,
        scenario: String,
    ) -> ApiResult<()> {
        let write = self.base().store().write(move |store| {
            store.groups_mut().set_settings(chat, &settings)?;
            if !scenario.is_empty() {
                store
                    .chat_texts_mut()
                    .set(chat, CardText::Scenario, Some(&scenario))?;
            }
            let state = MemberState {
                muted: true,
                away: false,
            };
            muted
                .into_iter()
                .try_for_each(|member| store.groups_mut().set_state(chat, member, state))
        });
        Ok(write.await?)
    }
}
