//! Chats of several, as SillyTavern keeps them: files that say who takes part, and files of what was said. Here each becomes a
//! chat of the first member's, in which the others take part.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use domain::chat_file::{By, ChatFile};
use domain::lorebook::Binding;
use domain::{CharacterId, ChatId, lenient_json};
use serde_json::Value;

use crate::Engine;
use crate::api::{ImportReport, Imported, Skipped};
use crate::error::{Answer, internal};
use crate::group::MAX_MEMBERS;
use crate::import::read_capped;
use crate::import_cards::Cast;
use crate::import_chat::{Read, differences, not_taken, read_chat, refuse, title};
use crate::import_worlds::{Wishes, metadata};
use crate::importing::Run;
use crate::new_chat::NewChat;
use crate::tavern::{Tavern, composed, file_name, stem};

/// Maximum number of missing chats to name.
const NAMED: usize = 8;
/// Bytes of a file that says who takes part.
const MAX_GROUP: usize = 4 << 20;
/// Where chats of groups lie; it stands before their names, which a chat of one may have as well.
const FOLDER: &str = "group chats";

/// Who takes part, by the names of their pictures' files.
#[derive(Debug, Default, PartialEq, Eq)]
struct Group {
    name: String,
    members: Vec<String>,
    muted: Vec<String>,
    /// The stems of its chats' files.
    chats: Vec<String>,
    world: Option<String>,
}

impl Group {
    fn read(value: &Value) -> Self {
        let texts = |key: &str| -> Vec<String> {
            let all = value.get(key).and_then(Value::as_array).into_iter().flatten();
            all.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let mut chats: Vec<String> = texts("chats");
        chats.extend(text("chat_id"));
        let chats = chats.iter().map(|chat| composed(chat)).collect();
        Self {
            name: text("name").unwrap_or_default().trim().to_owned(),
            members: texts("members").iter().map(|file| composed(file)).collect(),
            muted: texts("disabled_members"),
            chats,
            world: value.pointer("/chat_metadata/world_info").and_then(Value::as_str).map(str::to_owned),
        }
    }

    /// Warning about chats of the group that are not in `there`.
    fn missing(&self, there: &HashSet<String>) -> Option<String> {
        let mut missing: Vec<&str> =
            self.chats.iter().filter(|chat| !there.contains(*chat)).map(String::as_str).collect();
        missing.sort_unstable();
        missing.dedup();
        if !self.chats.iter().any(|chat| there.contains(chat)) {
            return Some("nothing was said in this group, and here a group is a chat".to_owned());
        }
        let names = missing.iter().take(NAMED).map(|chat| format!("{chat}.jsonl")).collect::<Vec<_>>().join(", ");
        let count = missing.len();
        (count > 0).then(|| format!("{count} chats that this group names are not in the folder: {names}"))
    }

    /// One whose file is gone: whoever says something takes part.
    fn heard_in(chat: &ChatFile) -> Self {
        let mut members = Vec::new();
        for said in chat.messages.iter().filter(|said| said.by == By::Character && !said.avatar.is_empty()) {
            if !members.contains(&said.avatar) {
                members.push(said.avatar.clone());
            }
        }
        Self { members, ..Self::default() }
    }
}

impl Engine {
    pub(crate) async fn import_groups_of(
        &self,
        tavern: &Tavern,
        cast: &Cast,
        wishes: &mut Wishes,
        run: &mut Run,
        report: &mut ImportReport,
    ) -> Answer<()> {
        let files = tavern.groups.clone();
        let read = tokio::task::spawn_blocking(move || files.iter().map(|file| read_group(file)).collect::<Vec<_>>());
        let mut groups = Vec::new();
        for read in read.await.map_err(|_| internal("a group could not be read"))? {
            match read {
                Ok(group) => groups.push(group),
                Err((file, kind, reason)) => refuse(report, file, kind, reason),
            }
        }
        for path in &tavern.group_chats {
            if run.cancelled() {
                return Ok(());
            }
            let group = groups.iter().find(|group| group.chats.contains(&stem(path)));
            if let Some((chat, linked)) = self.import_group_chat(path, group, cast, report).await? {
                wishes.add(linked.as_ref(), Binding::Chat(chat));
            }
            run.step();
        }
        let there: HashSet<String> = tavern.group_chats.iter().map(|path| stem(path)).collect();
        for group in &groups {
            if let Some(reason) = group.missing(&there) {
                report.skipped.push(Skipped { id: String::new(), file: group.name.clone(), reason });
            }
        }
        Ok(())
    }

    /// The chat, and the lorebook that it is linked with.
    async fn import_group_chat(
        &self,
        path: &Path,
        group: Option<&Group>,
        cast: &Cast,
        report: &mut ImportReport,
    ) -> Answer<Option<(ChatId, Option<Value>)>> {
        let (file, own) = (file_name(path), path.to_owned());
        let key = format!("{FOLDER}/{file}");
        let known = key.clone();
        let known = self.store().read(move |store| store.sources().chat_from(&known)).await?;
        let read = move || {
            let linked = metadata(&own).and_then(|mut about| about.get_mut("world_info").map(Value::take));
            (linked, known.is_none().then(|| read_chat(&own)))
        };
        let read = tokio::task::spawn_blocking(read).await;
        let (linked, read) = read.map_err(|_| internal("a chat could not be read"))?;
        let linked = linked.or_else(|| group?.world.clone().map(Value::from));
        let chat = match (known, read) {
            (Some(known), _) => {
                let reason = "this chat of a group is here already".to_owned();
                report.skipped.push(Skipped { id: known.to_string(), file, reason });
                Some(known)
            }
            (None, Some(Ok(read))) => self.take_group_chat((file, key), read, group, cast, report).await?,
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
        (chat, losses): Read,
        group: Option<&Group>,
        cast: &Cast,
        report: &mut ImportReport,
    ) -> Answer<Option<ChatId>> {
        let mut warnings = differences(&chat, &losses);
        let heard;
        let group = match group {
            Some(group) => group,
            None => {
                warnings.push("no group has this chat; whoever says something in it takes part".to_owned());
                heard = Group::heard_in(&chat);
                &heard
            }
        };
        let mut part = take_part(group, cast, &mut warnings);
        let Some(character) = part.members.first().copied() else {
            let reason = "nobody who takes part is among the characters".to_owned();
            refuse(report, file, "noCharacter", reason);
            return Ok(None);
        };
        self.know_by_name(&mut part).await?;
        let nameless = part.unheard(&chat);
        if !nameless.is_empty() {
            let names = nameless.join(", ");
            warnings.push(format!("nobody here is {names}: what they say stands under their names"));
        }
        let persona = self.persona_named(&chat.user, &mut warnings).await?;
        let several = group.chats.iter().collect::<HashSet<_>>().len() > 1;
        let title = match group.name.as_str() {
            "" => title(&file),
            name if several => title(&format!("{name}, {file}")),
            name => title(&format!("{name}.jsonl")),
        };
        let members = part.members.split_off(1);
        let new = NewChat {
            title: title.clone(),
            source: Some(key),
            members,
            voices: part.voices,
            ..NewChat::of(chat, character, persona)
        };
        let id = self.keep_chat_and_note(new, &mut warnings).await?;
        report.imported.push(Imported { kind: "chat".into(), id: id.to_string(), name: title, file, warnings });
        Ok(Some(id))
    }

    /// Old messages name who says them and no picture.
    async fn know_by_name(&self, part: &mut Part) -> Answer<()> {
        for id in part.members.clone() {
            let name = self.character(id).await?.name;
            part.voices.entry(composed(&name)).or_insert(id);
        }
        Ok(())
    }
}

/// Who takes part here.
struct Part {
    members: Vec<CharacterId>,
    /// By pictures' files and by names.
    voices: HashMap<String, CharacterId>,
}

impl Part {
    /// The names of those who say something and are nobody here.
    fn unheard<'c>(&self, chat: &'c ChatFile) -> Vec<&'c str> {
        let mut names = Vec::new();
        for said in chat.messages.iter().filter(|said| said.by == By::Character && !said.name.is_empty()) {
            let known = [&said.avatar, &said.name].into_iter().any(|voice| self.voices.contains_key(&composed(voice)));
            if !known && !names.contains(&said.name.as_str()) {
                names.push(&said.name);
            }
        }
        names
    }
}

fn take_part(group: &Group, cast: &Cast, warnings: &mut Vec<String>) -> Part {
    let mut part = Part { members: Vec::new(), voices: HashMap::new() };
    for file in &group.members {
        match cast.get(&stem(Path::new(file))) {
            Some(id) if part.members.contains(id) => _ = part.voices.insert(file.clone(), *id),
            Some(id) if part.members.len() <= MAX_MEMBERS => {
                part.members.push(*id);
                part.voices.insert(file.clone(), *id);
            }
            Some(_) => warnings.push(format!("{file} does not take part: {MAX_MEMBERS} others can at the most")),
            None => warnings.push(format!("{file} takes part, but is not among the characters")),
        }
    }
    if !group.muted.is_empty() {
        let muted = group.muted.join(", ");
        warnings.push(format!("{muted} had to be silent in this group; here whoever takes part speaks"));
    }
    part
}

fn read_group(path: &Path) -> Result<Group, (String, &'static str, String)> {
    let file = file_name(path);
    let bytes = match read_capped(path, MAX_GROUP, "a group") {
        Ok(bytes) => bytes,
        Err((kind, reason)) => return Err((file, kind, reason)),
    };
    match lenient_json::read(&bytes).map(|(value, _)| value) {
        Ok(value @ Value::Object(_)) => Ok(Group::read(&value)),
        Ok(_) => Err((file, "malformed", "this is no group".to_owned())),
        Err(error) => Err((file, "malformed", error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use uuid::Uuid;

    use super::*;

    fn id(number: u128) -> CharacterId {
        CharacterId(Uuid::from_u128(number))
    }

    #[test]
    fn who_is_not_among_the_characters_is_told() {
        let group = Group::read(&json!({ "name": " Table ", "members": ["Ada.png", "Zed.png", "Bo.png", "Ada.png"],
            "disabled_members": ["Bo.png"], "chats": ["1"], "chat_id": "2", "chat_metadata": { "world_info": "Sea" } }));
        assert_eq!(
            (group.name.as_str(), group.chats.join(" "), group.world.as_deref()),
            ("Table", "1 2".into(), Some("Sea"))
        );
        let mut warnings = Vec::new();
        let cast = Cast::from([("Ada".to_owned(), id(1)), ("Bo".to_owned(), id(2))]);
        let part = take_part(&group, &cast, &mut warnings);
        assert_eq!(part.members, [id(1), id(2)]);
        assert_eq!(warnings.len(), 2);
        assert!(warnings[0].starts_with("Zed.png takes part") && warnings[1].starts_with("Bo.png had"), "{warnings:?}");
    }

    #[test]
    fn whatever_a_group_says_it_is_read() {
        for odd in [json!({}), json!({ "members": 7, "chats": [1, null], "name": [] })] {
            assert_eq!(Group::read(&odd), Group::default());
        }
    }
}
