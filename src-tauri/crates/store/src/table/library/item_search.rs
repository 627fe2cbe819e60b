//! Full-text search over notes, memories, lorebook entries and characters.

use domain::search_query::SearchTerm;
use domain::{CharacterId, ChatId, LorebookId, MemoryId};
use rusqlite::types::FromSqlError;
use rusqlite::{OptionalExtension, Row, named_params};
use uuid::Uuid;

use crate::StoreError;
use crate::access::ItemSearch;
use crate::search::{Excerpt, card_texts, index_query};
use crate::sql::Col;
use crate::table::memory::row::VALID;
use crate::visibility::{HIDDEN_CHARACTERS, HIDDEN_CHATS, HIDDEN_LOREBOOKS, hidden_chats};

/// A group of searchable items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemKind {
    /// Author's notes, and texts of a chat that replace those of the card.
    Note,
    Memory,
    /// Entries of lorebooks and of the lorebooks in cards.
    Entry,
    Character,
}

/// A found item, and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ItemPlace {
    /// The author's note for all chats.
    Note,
    ChatNote(ChatId),
    CharacterNote(CharacterId),
    /// A chat's replacement of a field of the card.
    Override {
        chat: ChatId,
        field: String,
    },
    /// `chat` is a chat in whose memory panel it is.
    Memory {
        memory: MemoryId,
        chat: Option<ChatId>,
        character: Option<CharacterId>,
    },
    Entry {
        book: LorebookId,
        uid: String,
    },
    /// An entry of the lorebook in a card.
    CardEntry {
        character: CharacterId,
        uid: String,
    },
    /// `field` is the field of the card with the first match; empty for the name.
    Character {
        character: CharacterId,
        field: &'static str,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundItem {
    pub place: ItemPlace,
    /// Title of the entry or name of the character; empty for others.
    pub title: String,
    /// Name of the chat, character or lorebook it belongs to; empty if it belongs to none.
    pub context: String,
    pub excerpt: Excerpt,
}

/// Items with every term. `:query` has the terms and the kind.
const MATCHING: &str =
    "search_item_words JOIN search_item ON search_item.number = search_item_words.rowid
        AND search_item_words MATCH :query";
/// One item.
const ONE: &str = "(SELECT * FROM search_item WHERE kind = :kind AND owner = :owner AND part = :part) AS search_item";
/// The character of the searched chat.
const OF_CHAT: &str = "(SELECT chat.character FROM chat WHERE chat.id = :chat)";

impl ItemKind {
    pub const ALL: [Self; 4] = [Self::Note, Self::Memory, Self::Entry, Self::Character];

    /// Value of the column `kind`. Notes have a second one, `override`.
    fn column(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Memory => "memory",
            Self::Entry => "entry",
            Self::Character => "character",
        }
    }

    /// Query of the index for the kind.
    fn query(self) -> &'static str {
        match self {
            Self::Note => "kind : (note OR override)",
            Self::Memory => "kind : memory",
            Self::Entry => "kind : entry",
            Self::Character => "kind : character",
        }
    }

    /// Selects those of `from` that are neither deleted nor hidden, with their columns for
    /// [`from_row`].
    fn sql(self, from: &str) -> String {
        match self {
            Self::Note => format!(
                "SELECT search_item.*, iif(chat.title <> '', chat.title, ifnull(character.name, '')) AS context
                FROM {from}
                LEFT JOIN chat ON chat.id = search_item.owner AND chat.deleted IS NULL
                LEFT JOIN character ON character.id = ifnull(chat.character, search_item.owner)
                    AND character.deleted IS NULL
                    AND character.id NOT IN ({HIDDEN_CHARACTERS}) AND ifnull(chat.id NOT IN ({HIDDEN_CHATS}), 1)
                WHERE (search_item.part = 'global' OR character.id IS NOT NULL)
                    AND (:chat IS NULL OR search_item.part = 'global' OR chat.id = :chat
                        OR chat.id IS NULL AND character.id = {OF_CHAT})"
            ),
            Self::Memory => format!(
                "SELECT search_item.*, coalesce(character.name, chat.title, '') AS context, {SHOWING_CHAT} AS chat,
                    memory.character
                FROM {from} JOIN memory ON memory.id = search_item.owner
                LEFT JOIN character ON character.id = memory.character
                LEFT JOIN chat ON chat.id = memory.chat
                WHERE {VALID} AND character.deleted IS NULL AND chat.deleted IS NULL
                    AND (:chat IS NULL OR chat.id = :chat OR character.id = {OF_CHAT} OR memory.scope = 'profile')"
            ),
            Self::Entry => format!(
                "SELECT search_item.*, coalesce(lorebook.name, character.name) AS context,
                    lorebook.id IS NULL AS of_card
                FROM {from}
                LEFT JOIN lorebook ON lorebook.id = search_item.owner AND lorebook.deleted IS NULL
                    AND lorebook.id NOT IN ({HIDDEN_LOREBOOKS})
                LEFT JOIN character ON character.id = search_item.owner AND character.deleted IS NULL
                    AND character.id NOT IN ({HIDDEN_CHARACTERS})
                WHERE (lorebook.id IS NOT NULL OR character.id IS NOT NULL)
                    AND (:chat IS NULL OR character.id = {OF_CHAT} OR EXISTS (
                        SELECT 1 FROM lorebook_binding AS bound WHERE bound.lorebook = lorebook.id
                            AND (bound.scope = 'global' OR bound.owner IN (:chat, {OF_CHAT}))))"
            ),
            Self::Character => format!(
                "SELECT search_item.*, '' AS context, character.card_json
                FROM {from} JOIN character ON character.id = search_item.owner AND character.deleted IS NULL
                WHERE character.id NOT IN ({HIDDEN_CHARACTERS}) AND (:chat IS NULL OR character.id = {OF_CHAT})"
            ),
        }
    }
}

/// A chat in whose memory panel a memory is: its own, that of its source, or the latest of its
/// character or of all.
const SHOWING_CHAT: &str = concat!(
    "coalesce(memory.chat,
    (SELECT message.chat FROM memory_source JOIN message ON message.id = memory_source.message
        WHERE memory_source.memory = memory.number LIMIT 1),
    (SELECT latest.id FROM chat AS latest WHERE latest.character = memory.character AND latest.deleted IS NULL
        AND latest.id NOT IN (",
    hidden_chats!(),
    ") ORDER BY latest.updated DESC LIMIT 1),
    (SELECT latest.id FROM chat AS latest WHERE memory.character IS NULL AND latest.deleted IS NULL
        AND latest.id NOT IN (",
    hidden_chats!(),
    ") ORDER BY latest.updated DESC LIMIT 1))"
);

impl ItemSearch<'_> {
    /// At most `limit` items of a kind with every term, the last indexed first; with `chat` only
    /// those that apply in this chat. Without terms, nothing is found.
    pub fn find(
        &self,
        kind: ItemKind,
        terms: &[SearchTerm],
        chat: Option<ChatId>,
        limit: u32,
    ) -> Result<Vec<FoundItem>, StoreError> {
        let Some(query) = index_query(terms) else {
            return Ok(Vec::new());
        };
        let sql = format!(
            "{} ORDER BY search_item_words.rowid DESC LIMIT :limit",
            kind.sql(MATCHING)
        );
        let query = format!("{} AND ({query})", kind.query());
        let found = self
            .conn
            .prepare_cached(&sql)?
            .query_map(
                named_params! { ":query": query, ":chat": chat.map(Col), ":limit": limit },
                |row| from_row(row, kind, terms),
            )?
            .collect::<Result<_, _>>()?;
        Ok(found)
    }

    /// The memory with this row number; `None` if it is not valid, or does not apply in `chat`.
    pub fn memory(
        &self,
        number: i64,
        chat: Option<ChatId>,
    ) -> Result<Option<FoundItem>, StoreError> {
        let mut id = self
            .conn
            .prepare_cached("SELECT id FROM memory WHERE number = ?1")?;
        let id: Option<[u8; 16]> = id.query_row([number], |row| row.get(0)).optional()?;
        id.map_or(Ok(None), |id| self.one(ItemKind::Memory, id, "", chat))
    }

    /// The embedded lorebook entry with this row number; `None` if its lorebook is deleted, or does
    /// not apply in `chat`.
    pub fn entry(
        &self,
        number: i64,
        chat: Option<ChatId>,
    ) -> Result<Option<FoundItem>, StoreError> {
        let mut key = self
            .conn
            .prepare_cached("SELECT book, uid FROM lore_entry WHERE number = ?1")?;
        let key: Option<([u8; 16], String)> = key
            .query_row([number], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        key.map_or(Ok(None), |(book, uid)| {
            self.one(ItemKind::Entry, book, &uid, chat)
        })
    }

    /// The memory or entry of `owner` with this `part`.
    fn one(
        &self,
        of: ItemKind,
        owner: [u8; 16],
        part: &str,
        chat: Option<ChatId>,
    ) -> Result<Option<FoundItem>, StoreError> {
        let params = named_params! { ":kind": of.column(), ":owner": owner, ":part": part, ":chat": chat.map(Col) };
        let mut statement = self.conn.prepare_cached(&of.sql(ONE))?;
        Ok(statement
            .query_row(params, |row| from_row(row, of, &[]))
            .optional()?)
    }
}

fn from_row(row: &Row<'_>, kind: ItemKind, terms: &[SearchTerm]) -> rusqlite::Result<FoundItem> {
    let part: String = row.get("part")?;
    let mut excerpt = Excerpt::of(row.get_ref("text")?.as_str()?, terms);
    let place = match kind {
        ItemKind::Note => note(row, part)?,
        ItemKind::Memory => ItemPlace::Memory {
            memory: MemoryId(owner(row)?),
            chat: row.get::<_, Option<Col<_>>>("chat")?.map(|Col(chat)| chat),
            character: row
                .get::<_, Option<Col<_>>>("character")?
                .map(|Col(character)| character),
        },
        ItemKind::Entry if row.get("of_card")? => ItemPlace::CardEntry {
            character: CharacterId(owner(row)?),
            uid: part,
        },
        ItemKind::Entry => ItemPlace::Entry {
            book: LorebookId(owner(row)?),
            uid: part,
        },
        ItemKind::Character => {
            let field = card_match(row.get_ref("card_json")?.as_str()?, terms);
            let character = CharacterId(owner(row)?);
            let field = field.map_or("", |(field, found)| {
                excerpt = found;
                field
            });
            ItemPlace::Character { character, field }
        }
    };
    Ok(FoundItem {
        place,
        title: row.get("title")?,
        context: row.get("context")?,
        excerpt,
    })
}

/// The first field of a card with a match.
fn card_match(json: &str, terms: &[SearchTerm]) -> Option<(&'static str, Excerpt)> {
    let texts = card_texts(json)
        .into_iter()
        .map(|(field, text)| (field, Excerpt::of(&text, terms)));
    texts
        .into_iter()
        .find(|(_, excerpt)| !excerpt.matches.is_empty())
}

fn note(row: &Row<'_>, part: String) -> rusqlite::Result<ItemPlace> {
    if row.get_ref("kind")?.as_str()? == "override" {
        return Ok(ItemPlace::Override {
            chat: ChatId(owner(row)?),
            field: part,
        });
    }
    match part.as_str() {
        "chat" => Ok(ItemPlace::ChatNote(ChatId(owner(row)?))),
        "character" => Ok(ItemPlace::CharacterNote(CharacterId(owner(row)?))),
        _ => Ok(ItemPlace::Note),
    }
}

fn owner(row: &Row<'_>) -> rusqlite::Result<Uuid> {
    Uuid::from_slice(row.get_ref("owner")?.as_blob()?)
        .map_err(|error| FromSqlError::other(error).into())
}
