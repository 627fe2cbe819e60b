//! Memories as a file: written whole, and read again here or on another machine (memory.md, section 4).

use std::collections::{BTreeMap, HashSet};

use domain::memory::{Archived, ArchivedAs, CERTAIN, Memory, MemoryOrigin, MemoryScope, MemoryType};
use domain::{CharacterId, ChatId, LorebookId, MemoryId, MessageId, PersonaId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::{Read, StoreError, Write};
use uuid::Uuid;

use super::panel::checked;
use super::untold;
use crate::Engine;
use crate::api::{self, MemoryImport};
use crate::characters::{Exported, file_name};
use crate::error::{Answer, bad_input, internal};

/// Memories of one file at the most.
const MOST: usize = 50_000;

/// The file.
#[derive(Serialize, Deserialize)]
struct MemoryFile {
    items: Vec<api::Memory>,
    /// What the lorebooks of its worlds are called, by their ids: elsewhere the same book has another one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    worlds: BTreeMap<String, String>,
}

/// Whom a file is taken in for.
struct Taking {
    character: CharacterId,
    persona: Option<PersonaId>,
    /// Of the file.
    worlds: BTreeMap<String, String>,
    /// The lorebooks that are here.
    books: Vec<(LorebookId, String)>,
}

impl Taking {
    /// The lorebook that a file means: it, or else one of its name.
    fn world(&self, id: &str) -> Option<LorebookId> {
        let is_it = |book: &&(LorebookId, String)| id.parse() == Ok(book.0);
        let has_its_name = |book: &&(LorebookId, String)| self.worlds.get(id) == Some(&book.1);
        let book = self.books.iter().find(is_it).or_else(|| self.books.iter().find(has_its_name));
        book.map(|(id, _)| *id)
    }
}

/// What became of a memory of a file.
enum Taken {
    New,
    Known,
}

impl Engine {
    /// Everything that counts with a character, as JSON.
    pub async fn export_memories(&self, character: String) -> Answer<Exported> {
        let name = self.character(character.parse()?).await?.name;
        let items = self.every_memory(character).await?;
        let books = self.store().read(|store| store.lorebooks().names()).await?;
        let used: HashSet<&str> = items.iter().filter_map(|item| item.world.as_deref()).collect();
        let books = books.into_iter().map(|(id, name)| (id.to_string(), name));
        let worlds = books.filter(|(id, _)| used.contains(id.as_str())).collect();
        let mut bytes = serde_json::to_vec_pretty(&MemoryFile { items, worlds })
            .map_err(|error| internal(&format!("the memories cannot be written: {error}")))?;
        bytes.push(b'\n');
        let file_name = file_name(&format!("{name} memories"), "json");
        Ok(Exported { file_name, mime: "application/json", bytes, warnings: Vec::new() })
    }

    /// Takes in the memories of a file for a character. What is there already stays as it is; what was forgotten and not purged
    /// yet is back. Of another machine's chats and messages the words alone come in.
    ///
    /// # Errors
    /// `BadInput` if the file holds no memories, or too many.
    pub async fn import_memories(&self, character: String, json: String) -> Answer<MemoryImport> {
        let character = self.character(character.parse()?).await?.id;
        let persona = self.persona_of(None).await?.id;
        let file = parsed(&json).map_err(|error| {
            bad_input(format!("This is no file of memories: {error}."), "Choose one that was exported here.")
        })?;
        if file.items.len() > MOST {
            return Err(bad_input(format!("The file has more than {MOST} memories."), "Take it apart into several."));
        }
        let imported = self.store().write(move |store| {
            let persona = Some(persona).filter(|id| !id.0.is_nil());
            let taking = Taking { character, persona, worlds: file.worlds, books: store.lorebooks().names()? };
            take(store, file.items, &taking)
        });
        let imported = imported.await?;
        self.memories_changed("");
        Ok(imported)
    }
}

/// Files of older versions say less: whoever takes one in vouches for it.
fn parsed(json: &str) -> serde_json::Result<MemoryFile> {
    let mut file: Value = serde_json::from_str(json)?;
    let items = file.get_mut("items").and_then(Value::as_array_mut).into_iter().flatten();
    for item in items.filter_map(Value::as_object_mut) {
        item.entry("origin").or_insert_with(|| MemoryOrigin::User.as_str().into());
        item.entry("confidence").or_insert_with(|| CERTAIN.into());
        item.entry("echoes").or_insert_with(|| Value::Array(Vec::new()));
    }
    serde_json::from_value(file)
}

fn take(store: &mut Write<'_>, items: Vec<api::Memory>, taking: &Taking) -> Result<MemoryImport, StoreError> {
    let mut imported = MemoryImport::default();
    let (mut taken, mut archived) = (HashSet::new(), Vec::new());
    for item in items {
        let line = format!("\u{201c}{}\u{201d}", item.text.chars().take(80).collect::<String>());
        let of_world = item.scope == api::MemoryScope::World;
        match read(store, item, taking)? {
            Ok(memory) => match keep(store, &memory)? {
                Taken::New => {
                    imported.added += 1;
                    if of_world && !matches!(memory.scope, MemoryScope::World(_)) {
                        imported.worldless.push(line);
                    }
                    taken.insert(memory.id);
                    archived.extend(memory.archived.map(|of| (memory, of)));
                }
                Taken::Known => imported.known += 1,
            },
            Err(why) => imported.refused.push(format!("{line}: {why}")),
        }
    }
    for (memory, of) in archived {
        // What did not come in takes nobody's place.
        if of.by.is_none_or(|by| taken.contains(&by) && by != memory.id) {
            store.memories_mut().archive(&memory, of)?;
        }
    }
    Ok(imported)
}

/// A memory of a file as it is to be kept, or why it is not.
fn read(store: &Read<'_>, item: api::Memory, taking: &Taking) -> Result<Result<Memory, String>, StoreError> {
    let text = match checked(&item.text) {
        Ok(text) => text,
        Err(error) => return Ok(Err(error.to_string())),
    };
    let (Ok(created), Ok(updated)) = (moment(&item.created), moment(&item.updated)) else {
        return Ok(Err("its dates cannot be read".to_owned()));
    };
    let mut sources = Vec::new();
    let own = item.sources.iter().filter(|source| !item.echoes.contains(source));
    for source in own.filter_map(|id| id.parse::<MessageId>().ok()) {
        if store.messages().get(source)?.is_some() {
            sources.push(source);
        }
    }
    Ok(Ok(Memory {
        id: item.id.parse().unwrap_or_else(|_| MemoryId(Uuid::now_v7())),
        kind: MemoryType::of(&item.kind),
        scope: scope(store, &item, taking)?,
        text,
        importance: item.importance.clamp(1, 10) as u8,
        pinned: item.pinned,
        sources,
        origin: MemoryOrigin::ALL.into_iter().find(|origin| origin.as_str() == item.origin).unwrap_or_default(),
        confidence: item.confidence.clamp(1, 10) as u8,
        echoes: Vec::new(),
        archived: item.archived.and_then(archived),
        created,
        updated,
    }))
}

/// `None` where a file says what nothing here would have written.
fn archived(of: api::Archived) -> Option<Archived> {
    let why = ArchivedAs::ALL.into_iter().find(|why| why.as_str() == of.why)?;
    let by = of.by.and_then(|id| id.parse::<MemoryId>().ok());
    let gave_way = matches!(why, ArchivedAs::Merged | ArchivedAs::Superseded);
    let since = moment(&of.since).ok()?;
    (gave_way == by.is_some()).then_some(Archived { why, since, by })
}

/// Where it counts here: with the character that it was taken in for.
fn scope(store: &Read<'_>, item: &api::Memory, taking: &Taking) -> Result<MemoryScope, StoreError> {
    let character = taking.character;
    let known = match item.persona.as_deref().and_then(|id| id.parse::<PersonaId>().ok()) {
        Some(id) => store.personas().get(id)?.map(|known| known.id),
        None => None,
    };
    let with = MemoryScope::Pair { character, persona: known.or(taking.persona) };
    Ok(match item.scope {
        api::MemoryScope::Profile => MemoryScope::Profile,
        api::MemoryScope::Character => MemoryScope::Character(character),
        api::MemoryScope::Pair => with,
        api::MemoryScope::Chat => {
            let chat = item.chat.as_deref().and_then(|id| id.parse::<ChatId>().ok());
            let known = chat.map(|id| store.chats().get(id)).transpose()?.flatten();
            known.map_or(with, |chat| MemoryScope::Chat(chat.id))
        }
        api::MemoryScope::World => {
            let world = item.world.as_deref().and_then(|id| taking.world(id));
            world.map_or(MemoryScope::Character(character), MemoryScope::World)
        }
    })
}

fn keep(store: &mut Write<'_>, memory: &Memory) -> Result<Taken, StoreError> {
    if store.memories().get(memory.id)?.is_some() {
        return Ok(Taken::Known);
    }
    if store.memories().exists(memory.id)? {
        untold::remember_again(store, memory.id)?;
        // Its words may be gone meanwhile; then it is kept without them.
        if store.memories().get(memory.id)?.is_some() {
            return Ok(Taken::New);
        }
        let bare = Memory { id: MemoryId(Uuid::now_v7()), sources: Vec::new(), ..memory.clone() };
        store.memories_mut().insert(&bare)?;
        return Ok(Taken::New);
    }
    store.memories_mut().insert(memory)?;
    Ok(Taken::New)
}

fn moment(written: &str) -> Result<Timestamp, jiff::Error> {
    written.parse::<jiff::Timestamp>().map(|at| Timestamp(at.as_millisecond()))
}
