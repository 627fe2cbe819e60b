//! SQL for rows of memories, and the conditions for valid and active ones.

use domain::memory::{ArchiveReason, ArchivedState, Memory, MemoryScope};
use domain::{CharacterId, ChatId, LorebookId, PersonaId};
use rusqlite::Row;
use rusqlite::types::Value;

use crate::sql::Col;
use crate::visibility::{hidden_characters, hidden_chats};

macro_rules! stands {
    ($memory:literal) => {
        concat!(
            $memory,
            ".deleted IS NULL AND NOT EXISTS (
    SELECT 1 FROM lorebook WHERE lorebook.id = ",
            $memory,
            ".world AND lorebook.deleted IS NOT NULL) AND NOT EXISTS (
    SELECT 1 FROM memory_source
    JOIN message ON message.id = memory_source.message
    JOIN chat ON chat.id = message.chat
    LEFT JOIN swipe ON swipe.message = message.id AND swipe.position = message.selected
    WHERE memory_source.memory = ",
            $memory,
            ".number
        AND (message.deleted IS NOT NULL OR message.hidden OR chat.deleted IS NOT NULL
            OR swipe.id IS NOT memory_source.swipe OR chat.id IN (",
            hidden_chats!(),
            "))) AND ifnull(",
            $memory,
            ".character NOT IN (",
            hidden_characters!(),
            "), 1) AND ifnull(",
            $memory,
            ".chat NOT IN (",
            hidden_chats!(),
            "), 1)"
        )
    };
}

/// SQL condition for a valid memory: neither it nor its world is deleted, neither its character nor
/// its chat is hidden, and all of its sources are present, unchanged, not in hidden chats and not
/// hidden from the model.
pub(crate) const VALID: &str = stands!("memory");

/// SQL condition for an active memory: valid and not archived. A merged or superseded memory is
/// active again when its replacement is no longer valid.
pub(crate) const ACTIVE: &str = concat!(
    stands!("memory"),
    " AND (memory.archived IS NULL OR memory.archived IN ('merged', 'superseded') AND NOT EXISTS (
        SELECT 1 FROM memory AS newer WHERE newer.number = memory.replaced_by AND ",
    stands!("newer"),
    "))"
);

/// The columns of [`from_row`], in its order. A turn reads hundreds of rows, and access by name is
/// slow.
pub(crate) const COLUMNS: &str = concat!(
    "memory.number, memory.id, memory.type, memory.scope, memory.character, memory.persona, memory.chat,
    memory.text, memory.importance, memory.pinned, memory.created, memory.updated, memory.origin, memory.confidence,
    memory.archived, memory.archived_at, memory.world,
    (SELECT newer.id FROM memory AS newer WHERE newer.number = memory.replaced_by AND ",
    stands!("newer"),
    ")"
);
/// Number of [`COLUMNS`]; additional columns of a query follow them.
pub(crate) const COLUMN_COUNT: usize = 18;

/// SQL expression for the kind of scope, as in [`MemoryScope::as_str`].
pub(crate) const SCOPE: &str = "iif(memory.world IS NULL, memory.scope, 'world')";

/// SQL condition: the memory has the scope of [`Owners`], in the first five parameters.
pub(crate) const OF_SCOPE: &str =
    "memory.scope = ?1 AND memory.character IS ?2 AND memory.persona IS ?3
    AND memory.chat IS ?4 AND memory.world IS ?5";

/// Column values of a scope. World memories are stored as profile memories with a world.
pub(crate) struct Owners {
    pub(crate) scope: &'static str,
    pub(crate) character: Option<Col<CharacterId>>,
    pub(crate) persona: Option<Col<PersonaId>>,
    pub(crate) chat: Option<Col<ChatId>>,
    pub(crate) world: Option<Col<LorebookId>>,
}

impl Owners {
    pub(crate) fn of(scope: MemoryScope) -> Self {
        let nobody = Self {
            scope: scope.as_str(),
            character: None,
            persona: None,
            chat: None,
            world: None,
        };
        match scope {
            MemoryScope::Profile => nobody,
            MemoryScope::Character(character) => Self {
                character: Some(Col(character)),
                ..nobody
            },
            MemoryScope::Pair { character, persona } => Self {
                character: Some(Col(character)),
                persona: persona.map(Col),
                ..nobody
            },
            MemoryScope::Chat(chat) => Self {
                chat: Some(Col(chat)),
                ..nobody
            },
            MemoryScope::World(world) => Self {
                scope: MemoryScope::Profile.as_str(),
                world: Some(Col(world)),
                ..nobody
            },
        }
    }
}

/// Reads the row number, and the memory without its sources, from [`COLUMNS`].
pub(crate) fn from_row(row: &Row<'_>) -> rusqlite::Result<(i64, Memory)> {
    let memory = Memory {
        id: row.get::<_, Col<_>>(1)?.0,
        kind: row.get::<_, Col<_>>(2)?.0,
        scope: scope(row)?,
        text: row.get(7)?,
        importance: row.get(8)?,
        pinned: row.get(9)?,
        sources: Vec::new(),
        merged_sources: Vec::new(),
        archived: archived(row)?,
        created: row.get::<_, Col<_>>(10)?.0,
        updated: row.get::<_, Col<_>>(11)?.0,
        origin: row.get::<_, Col<_>>(12)?.0,
        confidence: row.get(13)?,
    };
    Ok((row.get(0)?, memory))
}

/// Reads the archived state. A memory whose replacement is not valid is not archived.
fn archived(row: &Row<'_>) -> rusqlite::Result<Option<ArchivedState>> {
    let why = row.get::<_, Option<Col<_>>>(14)?.map(|Col(why)| why);
    let since = row.get::<_, Option<Col<_>>>(15)?.map(|Col(since)| since);
    let by = row.get::<_, Option<Col<_>>>(17)?.map(|Col(id)| id);
    let Some((why, since)) = why.zip(since) else {
        return Ok(None);
    };
    let gave_way = matches!(why, ArchiveReason::Merged | ArchiveReason::Superseded);
    Ok((by.is_some() || !gave_way).then_some(ArchivedState {
        reason: why,
        since,
        replaced_by: by,
    }))
}

pub(crate) fn scope(row: &Row<'_>) -> rusqlite::Result<MemoryScope> {
    let character = row.get::<_, Option<Col<_>>>(4)?.map(|Col(id)| id);
    let persona = row.get::<_, Option<Col<_>>>(5)?.map(|Col(id)| id);
    let chat = row.get::<_, Option<Col<_>>>(6)?.map(|Col(id)| id);
    let world = row.get::<_, Option<Col<_>>>(16)?.map(|Col(id)| id);
    let word: String = row.get(3)?;
    match (word.as_str(), character, chat, world) {
        ("profile", None, None, None) => Ok(MemoryScope::Profile),
        ("profile", None, None, Some(world)) => Ok(MemoryScope::World(world)),
        ("character", Some(character), None, None) => Ok(MemoryScope::Character(character)),
        ("pair", Some(character), None, None) => Ok(MemoryScope::Pair { character, persona }),
        ("chat", None, Some(chat), None) => Ok(MemoryScope::Chat(chat)),
        _ => Err(rusqlite::Error::InvalidColumnType(
            3,
            "scope".into(),
            Value::Text(word).data_type(),
        )),
    }
}
