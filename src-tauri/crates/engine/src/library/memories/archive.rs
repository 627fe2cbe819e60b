//! Exports memories to a file and imports them, here or on another machine.

use std::collections::{BTreeMap, HashSet};

use domain::memory::{
    ArchiveReason, ArchivedState, MAX_CONFIDENCE, Memory, MemoryOrigin, MemoryScope, MemoryType,
};
use domain::{CharacterId, LorebookId, MemoryId, PersonaId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::{ReadTransaction, StoreError, WriteTransaction};
use uuid::Uuid;

use crate::api::{self, MemoryImport};
use crate::base::error::{ApiResult, bad_input, internal};
use crate::library::characters::cards::{Exported, file_name};
use crate::library::memories::memory::checked;
use crate::library::memories::{Memories, exclusion};

/// Maximum number of memories in a file.
const MOST: usize = 50_000;

/// The file format.
#[derive(Serialize, Deserialize)]
struct MemoryFile {
    items: Vec<Value>,
    /// Names of the lorebooks by their ids. On another machine the same book has another id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    worlds: BTreeMap<String, String>,
}

/// The target of an import.
struct Taking {
    character: CharacterId,
    persona: Option<PersonaId>,
    /// The names of lorebooks in the file.
    worlds: BTreeMap<String, String>,
    /// The lorebooks in this library.
    books: Vec<(LorebookId, String)>,
}

impl Taking {
    /// The lorebook with that id, or else the one with the same name.
    fn world(&self, id: LorebookId) -> Option<LorebookId> {
        let is_it = |book: &&(LorebookId, String)| id == book.0;
        let mut names = self.worlds.iter();
        let name = names.find(|(key, _)| key.parse() == Ok(id));
        let name = name.map(|(_, name)| name);
        let has_its_name = |book: &&(LorebookId, String)| name == Some(&book.1);
        let book = self
            .books
            .iter()
            .find(is_it)
            .or_else(|| self.books.iter().find(has_its_name));
        book.map(|(id, _)| *id)
    }
}

/// The outcome for one memory.
enum KeepOutcome {
    New,
    Known,
}

impl Memories {
    /// All memories of a character, as JSON.
    pub(crate) async fn export_memories(&self, character: CharacterId) -> ApiResult<Exported> {
        let name = self.characters.character(character).await?.name;
        let items = self.every_memory(character).await?;
        let books = self
            .base()
            .store()
            .read(|store| store.lorebooks().names())
            .await?;
        let used: HashSet<LorebookId> = items.iter().filter_map(|item| item.world).collect();
        let books = books.into_iter().filter(|(id, _)| used.contains(id));
        let worlds = books.map(|(id, name)| (id.to_string(), name)).collect();
        let items = items
            .iter()
            .map(serde_json::to_value)
            .collect::<Result<_, _>>()
            .map_err(|error| internal(&format!("the memories cannot be written: {error}")))?;
        let mut bytes = serde_json::to_vec_pretty(&MemoryFile { items, worlds })
            .map_err(|error| internal(&format!("the memories cannot be written: {error}")))?;
        bytes.push(b'\n');
        let file_name = file_name(&format!("{name} memories"), "json");
        Ok(Exported {
            file_name,
            mime: "application/json",
            bytes,
            warnings: Vec::new(),
        })
    }

    /// Imports the memories of a file for a character. Existing ones stay as they are; one that was
    /// forgotten and not purged yet is restored. References to chats and messages that are not here
    /// are dropped.
    ///
    /// # Errors `BadInput` if the file is not a memory file, or has too many memories.
    pub(crate) async fn import_memories(
        &self,
        character: CharacterId,
        json: String,
    ) -> ApiResult<MemoryImport> {
        let character = self.characters.character(character).await?.id;
        let persona = self.personas.persona_of(None).await?.id;
        let file = parsed(&json).map_err(|error| {
            bad_input(
                format!("This is not a file of memories: {error}."),
                "Choose a file that Inglenook exported.",
            )
        })?;
        if file.items.len() > MOST {
            return Err(bad_input(
                format!("The file has more than {MOST} memories."),
                "Split it into several files.",
            ));
        }
        let readable = |item: &Value| api::Memory::deserialize(item).is_ok();
        if !file.items.is_empty() && !file.items.iter().any(readable) {
            return Err(bad_input(
                "This is not a file of memories: no item is a memory.",
                "Choose a file that Inglenook exported.",
            ));
        }
        let imported = self.base().store().write(move |store| {
            let persona = Some(persona).filter(|id| !id.0.is_nil());
            let taking = Taking {
                character,
                persona,
                worlds: file.worlds,
                books: store.lorebooks().names()?,
            };
            take(store, file.items, &taking)
        });
        let imported = imported.await?;
        self.memories_changed(None);
        Ok(imported)
    }
}

/// Files of older versions lack some fields. The user vouches for the file, so its memories are
/// treated as the user's own.
fn parsed(json: &str) -> serde_json::Result<MemoryFile> {
    let mut file: Value = serde_json::from_str(json)?;
    let items = file
        .get_mut("items")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten();
    for item in items.filter_map(Value::as_object_mut) {
        item.entry("origin")
            .or_insert_with(|| MemoryOrigin::User.as_str().into());
        item.entry("confidence")
            .or_insert_with(|| MAX_CONFIDENCE.into());
        item.entry("echoes")
            .or_insert_with(|| Value::Array(Vec::new()));
        drop_odd_ids(item);
    }
    serde_json::from_value(file)
}

/// Drops texts in the place of ids. A memory whose own id is odd gets a new one.
fn drop_odd_ids(item: &mut Map<String, Value>) {
    let is_id = |value: &Value| value.as_str().is_some_and(|id| Uuid::parse_str(id).is_ok());
    for field in ["character", "persona", "chat", "world"] {
        if item.get(field).is_some_and(|id| !is_id(id)) {
            item.remove(field);
        }
    }
    for field in ["sources", "echoes"] {
        if let Some(ids) = item.get_mut(field).and_then(Value::as_array_mut) {
            ids.retain(is_id);
        }
    }
    let archived = item.get_mut("archived").and_then(Value::as_object_mut);
    if let Some(archived) = archived.filter(|of| of.get("by").is_some_and(|by| !is_id(by))) {
        archived.remove("by");
    }
    if !item.get("id").is_some_and(is_id) {
        item.insert("id".to_owned(), Uuid::now_v7().to_string().into());
    }
}

fn take(
    store: &mut WriteTransaction<'_>,
    items: Vec<Value>,
    taking: &Taking,
) -> Result<MemoryImport, StoreError> {
    let mut imported = MemoryImport::default();
    let mut taken = HashSet::new();
    let mut archived = Vec::new();
    for (at, item) in items.into_iter().enumerate() {
        let item: api::Memory = match serde_json::from_value(item) {
            Ok(item) => item,
            Err(error) => {
                imported.refused.push(format!("memory {}: {error}", at + 1));
                continue;
            }
        };
        let line = format!(
            "\u{201c}{}\u{201d}",
            item.text.chars().take(80).collect::<String>()
        );
        let ids_by_world = item.scope == api::MemoryScope::World;
        match read(store, item, taking)? {
            Ok(memory) => match keep(store, &memory)? {
                KeepOutcome::New => {
                    imported.added += 1;
                    if ids_by_world && !matches!(memory.scope, MemoryScope::World(_)) {
                        imported.worldless.push(line);
                    }
                    taken.insert(memory.id);
                    archived.extend(memory.archived.map(|of| (memory, of)));
                }
                KeepOutcome::Known => imported.known += 1,
            },
            Err(why) => imported.refused.push(format!("{line}: {why}")),
        }
    }
    for (memory, of) in archived {
        // A memory whose replacement was not imported stays active.
        if of
            .replaced_by
            .is_none_or(|by| taken.contains(&by) && by != memory.id)
        {
            store.memories_mut().archive(&memory, of)?;
        }
    }
    Ok(imported)
}

/// A memory of the file as it will be stored, or the reason why it is refused.
fn read(
    store: &ReadTransaction<'_>,
    item: api::Memory,
    taking: &Taking,
) -> Result<Result<Memory, String>, StoreError> {
    let text = match checked(&item.text) {
        Ok(text) => text,
        Err(error) => return Ok(Err(error.to_string())),
    };
    let (Ok(created), Ok(updated)) = (moment(&item.created), moment(&item.updated)) else {
        return Ok(Err("its dates cannot be read".to_owned()));
    };
    let mut sources = Vec::new();
    let own = item.sources.iter().copied();
    for source in own.filter(|source| !item.echoes.contains(source)) {
        if store.messages().get(source)?.is_some() {
            sources.push(source);
        }
    }
    Ok(Ok(Memory {
        id: item.id,
        kind: MemoryType::of(&item.kind),
        scope: scope(store, &item, taking)?,
        text,
        importance: item.importance.clamp(1, 10) as u8,
        pinned: item.pinned,
        sources,
        origin: MemoryOrigin::ALL
            .into_iter()
            .find(|origin| origin.as_str() == item.origin)
            .unwrap_or_default(),
        confidence: item.confidence.clamp(1, 10) as u8,
        merged_sources: Vec::new(),
        archived: item.archived.and_then(archived),
        created,
        updated,
    }))
}

/// `None` if the file contains what this program would not have written.
fn archived(of: api::Archived) -> Option<ArchivedState> {
    let why = ArchiveReason::ALL
        .into_iter()
        .find(|why| why.as_str() == of.why)?;
    let gave_way = matches!(why, ArchiveReason::Merged | ArchiveReason::Superseded);
    let since = moment(&of.since).ok()?;
    (gave_way == of.by.is_some()).then_some(ArchivedState {
        reason: why,
        since,
        replaced_by: of.by,
    })
}

/// The scope here: that of the character that the file is imported for.
fn scope(
    store: &ReadTransaction<'_>,
    item: &api::Memory,
    taking: &Taking,
) -> Result<MemoryScope, StoreError> {
    let character = taking.character;
    let known = match item.persona {
        Some(id) => store.personas().get(id)?.map(|known| known.id),
        None => None,
    };
    let with = MemoryScope::Pair {
        character,
        persona: known.or(taking.persona),
    };
    Ok(match item.scope {
        api::MemoryScope::Profile => MemoryScope::Profile,
        api::MemoryScope::Character => MemoryScope::Character(character),
        api::MemoryScope::Pair => with,
        api::MemoryScope::Chat => {
            let known = item
                .chat
                .map(|id| store.chats().get(id))
                .transpose()?
                .flatten();
            known.map_or(with, |chat| MemoryScope::Chat(chat.id))
        }
        api::MemoryScope::World => {
            let world = item.world.and_then(|id| taking.world(id));
            world.map_or(MemoryScope::Character(character), MemoryScope::World)
        }
    })
}

fn keep(store: &mut WriteTransaction<'_>, memory: &Memory) -> Result<KeepOutcome, StoreError> {
    if store.memories().get(memory.id)?.is_some() {
        return Ok(KeepOutcome::Known);
    }
    if store.memories().exists(memory.id)? {
        exclusion::remember_again(store, memory.id)?;
        // A source message may be deleted by now. Then the memory is stored without its sources.
        if store.memories().get(memory.id)?.is_some() {
            return Ok(KeepOutcome::New);
        }
        let bare = Memory {
            id: MemoryId(Uuid::now_v7()),
            sources: Vec::new(),
            ..memory.clone()
        };
        store.memories_mut().insert(&bare)?;
        return Ok(KeepOutcome::New);
    }
    store.memories_mut().insert(memory)?;
    Ok(KeepOutcome::New)
}

fn moment(written: &str) -> Result<Timestamp, jiff::Error> {
    written
        .parse::<jiff::Timestamp>()
        .map(|at| Timestamp(at.as_millisecond()))
}
