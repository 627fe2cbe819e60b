//! Data for lists of characters, and search terms to find them. Both are derived from the cards, so
//! that lists and searches read no whole cards.

use domain::script::has_unspaced_script;
use domain::{CharacterId, Timestamp};
use rusqlite::{OptionalExtension, Row, params};

use super::folder::Place;
use crate::access::{Listings, ListingsMut};
use crate::search::fold;
use crate::sql::Col;
use crate::visibility::{HIDDEN_CHARACTERS, hidden_characters};
use crate::{AssetHash, StoreError, query};

/// Data of a card that lists show in addition to the name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    pub tagline: String,
    pub creator: String,
    pub tags: Vec<String>,
}

/// A character in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CharacterListItem {
    pub id: CharacterId,
    pub name: String,
    pub picture: Option<AssetHash>,
    pub created: Timestamp,
    pub favourite: bool,
    /// It can be hidden.
    pub private: bool,
    /// Time of the last change in any of its chats.
    pub last_chat: Option<Timestamp>,
    pub place: Place,
    /// `None` until the current version of the card was described.
    pub listing: Option<Listing>,
}

impl Listings<'_> {
    /// Characters that are neither deleted nor hidden, sorted by last chat, then by name.
    pub fn all(&self) -> Result<Vec<CharacterListItem>, StoreError> {
        Ok(self
            .conn
            .prepare_cached(ALL)?
            .query_map([], from_row)?
            .collect::<Result<_, _>>()?)
    }

    /// Characters that are neither deleted nor hidden, and whose current card was not described
    /// yet.
    pub fn undescribed(&self) -> Result<Vec<CharacterId>, StoreError> {
        let sql = format!(
            "SELECT id FROM character INDEXED BY character_listed
            WHERE deleted IS NULL AND NOT EXISTS (SELECT 1 FROM listing WHERE listing.character = character.id)
                AND id NOT IN ({HIDDEN_CHARACTERS})"
        );
        let mut statement = self.conn.prepare_cached(&sql)?;
        let rows = statement.query_map([], |row| Ok(row.get::<_, Col<_>>(0)?.0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Finds characters, except deleted and hidden ones, whose card contains all of `words`: as the
    /// start of a word, or, in scripts without spaces, as at least three letters anywhere. Returns
    /// none for an empty search.
    pub fn find(&self, words: &[String]) -> Result<Vec<CharacterId>, StoreError> {
        let words: Vec<String> = words.iter().map(|word| fold(word)).collect();
        let (plain, runs) = query::all_words(&words);
        let sql = match (plain.is_empty(), runs.is_empty()) {
            (true, true) => return Ok(Vec::new()),
            (false, true) => format!("{FIND} AND {WORDS} AND ?2 = ''"),
            (true, false) => format!("{FIND} AND {LETTERS} AND ?1 = ''"),
            (false, false) => format!("{FIND} AND {WORDS} AND {LETTERS}"),
        };
        let mut statement = self.conn.prepare_cached(&sql)?;
        let rows = statement.query_map([plain, runs], |row| Ok(row.get::<_, Col<_>>(0)?.0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

/// The hidden groups of other characters do not count for the last chat. They are compared by row
/// number, which the index of the times contains.
pub(crate) const ALL: &str = concat!(
    "
    SELECT character.id, character.name, character.picture, character.created,
        favourite.character IS NOT NULL AS favourite, listing.tagline, listing.creator, listing.tags,
        character_place.folder, character_place.pinned, character_place.archived,
        (SELECT max(updated) FROM chat
            WHERE chat.character = character.id AND chat.deleted IS NULL AND chat.rowid NOT IN (
                SELECT hidden.rowid FROM private_character
                CROSS JOIN chat_member ON chat_member.character = private_character.character
                CROSS JOIN chat AS hidden ON hidden.id = chat_member.chat WHERE NOT shows_private())) AS last_chat,
        EXISTS (SELECT 1 FROM private_character
            WHERE private_character.character = character.id) AS private
    FROM character INDEXED BY character_listed
    LEFT JOIN listing ON listing.character = character.id
    LEFT JOIN favourite ON favourite.character = character.id
    LEFT JOIN character_place ON character_place.item = character.id
    WHERE character.deleted IS NULL AND character.id NOT IN (",
    hidden_characters!(),
    ")
    ORDER BY last_chat DESC NULLS LAST, character.name COLLATE NOCASE, character.id"
);
const FIND: &str = concat!(
    "SELECT listing.character FROM listing
    JOIN character INDEXED BY character_listed ON character.id = listing.character
    WHERE character.deleted IS NULL AND character.id NOT IN (",
    hidden_characters!(),
    ")"
);
const WORDS: &str = "number IN (SELECT rowid FROM listing_words WHERE listing_words MATCH ?1)";
const LETTERS: &str =
    "number IN (SELECT rowid FROM listing_letters WHERE listing_letters MATCH ?2)";

impl ListingsMut<'_> {
    /// Stores the list data of a character, and indexes `text` for search. Ignores a character that
    /// no longer exists.
    pub fn describe(
        &mut self,
        id: CharacterId,
        listing: &Listing,
        text: &str,
    ) -> Result<(), StoreError> {
        self.conn
            .prepare_cached("DELETE FROM listing WHERE character = ?1")?
            .execute([Col(id)])?;
        let number = self
            .conn
            .prepare_cached(
                "INSERT INTO listing (character, tagline, creator, tags)
                 SELECT id, ?2, ?3, ?4 FROM character WHERE id = ?1 RETURNING number",
            )?
            .query_row(
                params![
                    Col(id),
                    listing.tagline,
                    listing.creator,
                    tags_json(&listing.tags)
                ],
                |row| row.get::<_, i64>(0),
            )
            .optional()?;
        let Some(number) = number else { return Ok(()) };
        let text = &fold(text);
        let index = |table: &str| {
            let sql = format!("INSERT INTO {table} (rowid, text) VALUES (?1, ?2)");
            self.conn
                .prepare_cached(&sql)?
                .execute(params![number, text])
        };
        index("listing_words")?;
        if has_unspaced_script(text) {
            index("listing_letters")?;
        }
        Ok(())
    }
}

fn tags_json(tags: &[String]) -> String {
    serde_json::Value::from(tags).to_string()
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<CharacterListItem> {
    let tags: Option<String> = row.get("tags")?;
    let listing = match tags {
        Some(tags) => Some(Listing {
            tagline: row.get("tagline")?,
            creator: row.get("creator")?,
            tags: serde_json::from_str(&tags).unwrap_or_default(),
        }),
        None => None,
    };
    Ok(CharacterListItem {
        id: row.get::<_, Col<_>>("id")?.0,
        name: row.get("name")?,
        picture: row
            .get::<_, Option<Col<_>>>("picture")?
            .map(|Col(hash)| hash),
        created: row.get::<_, Col<_>>("created")?.0,
        favourite: row.get("favourite")?,
        private: row.get("private")?,
        last_chat: row
            .get::<_, Option<Col<_>>>("last_chat")?
            .map(|Col(time)| time),
        place: Place::from_row(row)?,
        listing,
    })
}
