//! Links between chats in SillyTavern's files. A branch or a checkpoint is a chat file of its own
//! that names the main chat in `chat_metadata.main_chat`. The message of the main chat names a
//! checkpoint in `extra.bookmark_link` and branches in `extra.branches`. Names are file names
//! without ending.

use std::collections::{HashMap, HashSet};

use domain::chat_file::{ChatFile, ChatFileMessage};
use domain::{CharacterId, ChatId, MessageId, Timestamp};
use serde_json::{Map, Value, json};
use store::{ReadTransaction, StoreError, WriteTransaction};

use crate::library::characters::cards::file_name;

const METADATA: &str = "chat_metadata";
const MAIN_CHAT: &str = "main_chat";
const EXTRA: &str = "extra";
const CHECKPOINT: &str = "bookmark_link";
const BRANCHES: &str = "branches";
const ENDING: &str = "jsonl";
/// Maximum length of a name, in characters.
const MAX_NAME: usize = 200;
/// Maximum number of linked chats that one message names.
const MAX_LINKS: usize = 500;

/// The links of a chat, with the names of the other chats' files.
#[derive(Default)]
pub(crate) struct Bookmarks {
    /// The chat was imported, so its own header names its main chat. A branch has a copy of the
    /// header of another chat.
    imported: bool,
    main_chat: Option<String>,
    checkpoints: HashMap<MessageId, String>,
    branches: HashMap<MessageId, Vec<String>>,
}

impl Bookmarks {
    pub(crate) fn read(store: &ReadTransaction<'_>, chat: ChatId) -> Result<Self, StoreError> {
        let mut found = Self {
            imported: store.sources().file_of(chat)?.is_some(),
            ..Self::default()
        };
        if let Some(origin) = store
            .branch_links()
            .origin(chat)?
            .filter(|origin| !origin.deleted)
        {
            found.main_chat = Some(stem(store, origin.chat, &origin.title)?);
        }
        found.checkpoints = store
            .checkpoints()
            .of(chat)?
            .into_iter()
            .map(|mark| (mark.message, mark.name))
            .collect();
        for branch in store.branch_links().of(chat)? {
            if let Some(message) = branch.message {
                found.branches.entry(message).or_default().push(stem(
                    store,
                    branch.chat,
                    &branch.title,
                )?);
            }
        }
        Ok(found)
    }

    /// Writes the main chat into the header of the export. A name from the imported file stays.
    pub(crate) fn complete_chat(&self, file: &mut ChatFile) {
        let about = file.header.entry(METADATA).or_insert_with(|| json!({}));
        if let (Some(name), Some(about)) = (&self.main_chat, about.as_object_mut())
            && !(self.imported && about.contains_key(MAIN_CHAT))
        {
            about.insert(MAIN_CHAT.to_owned(), json!(name));
        }
    }

    /// Writes the links of a message into its shown version. Links from the imported file stay.
    pub(crate) fn complete_message(&self, id: MessageId, said: &mut ChatFileMessage) {
        let checkpoint = self.checkpoints.get(&id);
        let branches = self.branches.get(&id);
        let Some(version) = said.versions.get_mut(said.selected) else {
            return;
        };
        if checkpoint.is_none() && branches.is_none() {
            return;
        }
        let extra = version
            .unused_fields
            .entry(EXTRA)
            .or_insert_with(|| json!({}));
        let Some(extra) = extra.as_object_mut() else {
            return;
        };
        if let Some(name) = checkpoint {
            extra.entry(CHECKPOINT).or_insert_with(|| json!(name));
        }
        let link = extra.get(CHECKPOINT).cloned();
        let new = branches
            .into_iter()
            .flatten()
            .map(|name| json!(name))
            .filter(|name| Some(name) != link.as_ref());
        let new: Vec<Value> = new.collect();
        if new.is_empty() {
            return;
        }
        if let Some(known) = extra
            .entry(BRANCHES)
            .or_insert_with(|| json!([]))
            .as_array_mut()
        {
            let missing: Vec<Value> = new
                .into_iter()
                .filter(|name| !known.contains(name))
                .collect();
            known.extend(missing);
        }
    }
}

/// The name that other files call this chat: of the file that it was imported from, else of its own
/// export.
fn stem(store: &ReadTransaction<'_>, chat: ChatId, title: &str) -> Result<String, StoreError> {
    let file = store
        .sources()
        .file_of(chat)?
        .unwrap_or_else(|| file_name(title, ENDING));
    Ok(without_ending(&file).to_owned())
}

fn without_ending(file: &str) -> &str {
    file.rsplit_once('.').map_or(file, |(stem, _)| stem)
}

/// The names of chats that a message links to.
struct MessageLinks {
    message: MessageId,
    checkpoint: Option<String>,
    branches: Vec<String>,
}

/// Makes checkpoints of the bookmarks in an imported chat, and links it to its main chat and to its
/// branches, as far as they are imported already. Links of a chat that is imported later are made
/// then.
pub(crate) fn import_links(
    store: &mut WriteTransaction<'_>,
    chat: ChatId,
    character: CharacterId,
    file: &str,
    now: Timestamp,
) -> Result<(), StoreError> {
    for links in links_of(store, chat)? {
        if let Some(name) = &links.checkpoint {
            let name: String = name.chars().take(MAX_NAME).collect();
            store.checkpoints_mut().set(links.message, &name, now)?;
        }
        for name in links.checkpoint.iter().chain(&links.branches) {
            let branch = named(store, character, name)?;
            let main = branch
                .map(|branch| main_chat(store, branch))
                .transpose()?
                .flatten();
            if let (Some(branch), true) = (branch, main.as_deref() == Some(without_ending(file))) {
                link(store, branch, chat, Some(links.message))?;
            }
        }
    }
    let Some(name) = main_chat(store, chat)? else {
        return Ok(());
    };
    let Some(main) = named(store, character, &name)? else {
        return Ok(());
    };
    let own = without_ending(file);
    let names = |links: &MessageLinks| {
        links.checkpoint.as_deref() == Some(own) || links.branches.iter().any(|name| name == own)
    };
    let at = links_of(store, main)?
        .into_iter()
        .rfind(names)
        .map(|links| links.message);
    let at = at.map_or_else(|| last_common(store, chat, main), |at| Ok(Some(at)))?;
    link(store, chat, main, at)
}

/// Links a chat to its main chat, unless it has a link or the chats would form a circle.
fn link(
    store: &mut WriteTransaction<'_>,
    chat: ChatId,
    main: ChatId,
    at: Option<MessageId>,
) -> Result<(), StoreError> {
    let mut next = Some(main);
    let mut passed = HashSet::new();
    while let Some(before) = next {
        if before == chat || !passed.insert(before) {
            return Ok(());
        }
        next = store
            .branch_links()
            .origin(before)?
            .map(|origin| origin.chat);
    }
    match store.branch_links().origin(chat)? {
        Some(_) => Ok(()),
        None => store.branch_links_mut().link(chat, main, at),
    }
}

/// The last message of `main` before the chats differ.
fn last_common(
    store: &WriteTransaction<'_>,
    chat: ChatId,
    main: ChatId,
) -> Result<Option<MessageId>, StoreError> {
    let own = store.branch_links().steps(chat)?;
    let others = store.branch_links().steps(main)?;
    let same = own
        .iter()
        .zip(&others)
        .take_while(|(own, other)| own.key == other.key);
    Ok(same.last().map(|(_, other)| other.message))
}

fn named(
    store: &WriteTransaction<'_>,
    character: CharacterId,
    name: &str,
) -> Result<Option<ChatId>, StoreError> {
    store
        .sources()
        .chat(character, &format!("{name}.{ENDING}"), name)
}

fn main_chat(store: &WriteTransaction<'_>, chat: ChatId) -> Result<Option<String>, StoreError> {
    let kept = store
        .foreign()
        .chat(chat)?
        .map(|kept| object(&kept.json))
        .unwrap_or_default();
    let name = kept
        .get(METADATA)
        .and_then(|about| about.get(MAIN_CHAT))
        .and_then(Value::as_str);
    Ok(name
        .map(|name| name.trim().to_owned())
        .filter(|name| !name.is_empty()))
}

fn links_of(store: &WriteTransaction<'_>, chat: ChatId) -> Result<Vec<MessageLinks>, StoreError> {
    let kept = store.foreign().swipes(chat)?;
    let text = |value: Option<&Value>| {
        value
            .and_then(Value::as_str)
            .map(str::trim)
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
    };
    let mut found = Vec::new();
    for message in store
        .messages()
        .page(chat, None, u32::MAX)?
        .into_iter()
        .filter(|_| !kept.is_empty())
    {
        let Some(json) = kept.get(&message.swipe().id) else {
            continue;
        };
        let version = object(json);
        let Some(extra) = version.get(EXTRA) else {
            continue;
        };
        let named = extra
            .get(BRANCHES)
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        let branches: Vec<String> = named
            .filter_map(|name| text(Some(name)))
            .take(MAX_LINKS)
            .collect();
        let checkpoint = text(extra.get(CHECKPOINT));
        if checkpoint.is_some() || !branches.is_empty() {
            found.push(MessageLinks {
                message: message.id,
                checkpoint,
                branches,
            });
        }
    }
    Ok(found)
}

fn object(json: &str) -> Map<String, Value> {
    serde_json::from_str::<Value>(json)
        .ok()
        .and_then(|value| value.as_object().cloned())
        .unwrap_or_default()
}
