//! Memories as a file: written whole, and read again here or on another machine (memory.md, section 4).

use std::collections::HashSet;

use domain::memory::{Archived, ArchivedAs, CERTAIN, Memory, MemoryOrigin, MemoryScope, MemoryType};
use domain::{CharacterId, ChatId, MemoryId, MessageId, PersonaId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::{StoreError, Write};
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
        let mut bytes = serde_json::to_vec_pretty(&MemoryFile { items })
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
            let mut imported = MemoryImport::default();
            let (mut taken, mut archived) = (HashSet::new(), Vec::new());
            for item in file.items {
                let line = item.text.chars().take(80).collect::<String>();
                match read(store, item, character, Some(persona).filter(|id| !id.0.is_nil()))? {
                    Ok(memory) => match keep(store, &memory)? {
                        Taken::New => {
                            imported.added += 1;
                            taken.insert(memory.id);
                            archived.extend(memory.archived.map(|of| (memory, of)));
                        }
                        Taken::Known => imported.known += 1,
                    },
                    Err(why) => imported.refused.push(format!("\u{201c}{line}\u{201d}: {why}")),
                }
            }
            for (memory, of) in archived {
                // What did not come in takes nobody's place.
                if of.by.is_none_or(|by| taken.contains(&by) && by != memory.id) {
                    store.memories_mut().archive(&memory, of)?;
                }
            }
            Ok(imported)
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

/// A memory of a file as it is to be kept, or why it is not.
fn read(
    store: &Write<'_>,
    item: api::Memory,
    character: CharacterId,
    persona: Option<PersonaId>,
) -> Result<Result<Memory, String>, StoreError> {
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
        scope: scope(store, &item, character, persona)?,
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
fn scope(
    store: &Write<'_>,
    item: &api::Memory,
    character: CharacterId,
    persona: Option<PersonaId>,
) -> Result<MemoryScope, StoreError> {
    let known = match item.persona.as_deref().and_then(|id| id.parse::<PersonaId>().ok()) {
        Some(id) => store.personas().get(id)?.map(|known| known.id),
        None => None,
    };
    let with = MemoryScope::Pair { character, persona: known.or(persona) };
    Ok(match item.scope {
        api::MemoryScope::Profile => MemoryScope::Profile,
        api::MemoryScope::Character => MemoryScope::Character(character),
        api::MemoryScope::Pair => with,
        api::MemoryScope::Chat => {
            let chat = item.chat.as_deref().and_then(|id| id.parse::<ChatId>().ok());
            let known = chat.map(|id| store.chats().get(id)).transpose()?.flatten();
            known.map_or(with, |chat| MemoryScope::Chat(chat.id))
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
