//! Full-text search over messages: their versions and earlier texts with every term.

use domain::chat::Role;
use domain::search_query::SearchTerm;
use domain::{ChatId, MessageId, SwipeId, Timestamp};
use rusqlite::{Row, named_params};

use crate::StoreError;
use crate::access::MessageSearch;
use crate::search::{Excerpt, fold, index_query};
use crate::sql::Col;
use crate::visibility::hidden_chats;

/// Conditions of a search besides its terms.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchFilter {
    /// Only this chat.
    pub chat: Option<ChatId>,
    /// Only chats whose title or whose character's name contains this text.
    pub title: Option<String>,
    pub author: Option<SearchAuthor>,
    /// Only messages at or after this time.
    pub since: Option<Timestamp>,
    /// Only messages before this time.
    pub until: Option<Timestamp>,
    /// Only messages with a picture.
    pub has_picture: bool,
    /// Only the versions that are shown.
    pub shown_only: bool,
}

/// The author of the messages to find.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SearchAuthor {
    User,
    /// A character or narrator whose name contains this text.
    Named(String),
}

/// A version of a message that matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundMessage {
    pub chat: ChatId,
    /// Title of the chat; empty if it has none.
    pub title: String,
    /// Name of the chat's character.
    pub character: String,
    pub message: MessageId,
    pub swipe: SwipeId,
    /// The version is the one that is shown.
    pub is_shown: bool,
    pub role: Role,
    /// Name of the speaker, if it is neither the user nor the chat's character.
    pub speaker: Option<String>,
    pub created: Timestamp,
    /// The time is unknown.
    pub undated: bool,
    pub excerpt: Excerpt,
}

/// Versions with every term.
const MATCHING: &str = "swipe_search JOIN swipe_number ON swipe_number.number = swipe_search.rowid
        AND swipe_search MATCH :query
    JOIN swipe ON swipe.id = swipe_number.swipe";
/// Earlier texts of versions with every term.
const EARLIER: &str =
    "search_item_words JOIN search_item ON search_item.number = search_item_words.rowid
        AND search_item_words MATCH 'kind : revision AND (' || :query || ')'
    JOIN swipe ON swipe.id = search_item.owner";
/// All versions, for a search that has only filters.
const ALL: &str = "swipe_number JOIN swipe ON swipe.id = swipe_number.swipe AND :query IS NULL";

/// The shown version of the message at the position `:query` of `:chat`.
const SHOWN_AT: &str = "(SELECT swipe.* FROM message AS place
        JOIN swipe ON swipe.message = place.id AND swipe.position = place.selected
        WHERE place.chat = :chat AND place.position = CAST(:query AS INTEGER)) AS swipe";

/// Joins a version with its message; deleted messages, chats and characters are left out, and
/// hidden chats.
const FOUND: &str = concat!(
    "JOIN message ON message.id = swipe.message
    JOIN chat ON chat.id = message.chat
    JOIN character ON character.id = chat.character
    LEFT JOIN message_speaker ON message_speaker.message = message.id
    WHERE message.deleted IS NULL AND chat.deleted IS NULL AND character.deleted IS NULL
        AND chat.id NOT IN (",
    hidden_chats!(),
    ")
        AND (:chat IS NULL OR message.chat = :chat)
        AND (:title IS NULL OR instr(search_name(chat.title), :title) > 0
            OR instr(search_name(character.name), :title) > 0)
        AND (:is_user IS NULL OR (message.role = 'user') = :is_user)
        AND (:name IS NULL OR instr(search_name(ifnull(message_speaker.name, character.name)), :name) > 0)
        AND (:since IS NULL OR message.created >= :since) AND (:until IS NULL OR message.created < :until)
        AND (NOT :has_picture OR EXISTS (SELECT 1 FROM message_picture WHERE message_picture.message = message.id))
        AND (NOT :shown_only OR swipe.position = message.selected)"
);

/// The parts of a query that differ between versions and earlier texts.
struct Select {
    from: &'static str,
    text: &'static str,
    order: &'static str,
}

impl MessageSearch<'_> {
    /// At most `limit` versions after the first `skip`, the last added first. Without terms, only
    /// the filter applies.
    pub fn find(
        &self,
        terms: &[SearchTerm],
        filter: &SearchFilter,
        skip: u32,
        limit: u32,
    ) -> Result<Vec<FoundMessage>, StoreError> {
        let Some((select, query)) = versions(terms) else {
            return Ok(Vec::new());
        };
        self.rows(&select, query, filter, (skip, limit), |row| {
            from_row(row, terms)
        })
    }

    /// At most `limit` earlier texts of messages with every term, the last replaced first. Without
    /// terms, nothing is found.
    pub fn find_earlier(
        &self,
        terms: &[SearchTerm],
        filter: &SearchFilter,
        limit: u32,
    ) -> Result<Vec<FoundMessage>, StoreError> {
        let query = index_query(terms);
        if query.is_none() {
            return Ok(Vec::new());
        }
        let select = Select {
            from: EARLIER,
            text: "search_item.text",
            order: "search_item_words.rowid",
        };
        self.rows(&select, query, filter, (0, limit), |row| {
            from_row(row, terms)
        })
    }

    /// The messages whose shown version has every term, in the order of their chat. Of more than
    /// `limit`, the last added ones. Without terms, only the filter applies.
    pub fn in_order(
        &self,
        terms: &[SearchTerm],
        filter: &SearchFilter,
        limit: u32,
    ) -> Result<Vec<MessageId>, StoreError> {
        let Some((select, query)) = versions(terms) else {
            return Ok(Vec::new());
        };
        let filter = SearchFilter {
            shown_only: true,
            ..filter.clone()
        };
        let place = |row: &Row<'_>| Ok((row.get("position")?, row.get::<_, Col<_>>("message")?.0));
        let mut found: Vec<(i64, MessageId)> =
            self.rows(&select, query, &filter, (0, limit), place)?;
        found.sort_unstable_by_key(|(position, _)| *position);
        Ok(found.into_iter().map(|(_, message)| message).collect())
    }

    /// Shown versions by their chat and position. Those that no longer exist or do not fit the
    /// filter are left out.
    pub fn at(
        &self,
        places: &[(ChatId, i64)],
        filter: &SearchFilter,
    ) -> Result<Vec<FoundMessage>, StoreError> {
        let select = Select {
            from: SHOWN_AT,
            text: "swipe.text",
            order: "swipe.id",
        };
        let mut found = Vec::new();
        for (chat, position) in places {
            let filter = SearchFilter {
                chat: Some(*chat),
                ..filter.clone()
            };
            found.extend(self.rows(
                &select,
                Some(position.to_string()),
                &filter,
                (0, 1),
                |row| from_row(row, &[]),
            )?);
        }
        Ok(found)
    }

    fn rows<T>(
        &self,
        Select { from, text, order }: &Select,
        query: Option<String>,
        filter: &SearchFilter,
        (skip, limit): (u32, u32),
        row: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let mut statement = self.conn.prepare_cached(&format!(
            "SELECT chat.id AS chat, chat.title, character.name AS character, message.id AS message, message.position,
                swipe.id AS swipe, swipe.position = message.selected AS is_shown, message.role,
                message_speaker.name AS speaker, message.created, message.undated, {text} AS text
            FROM {from} {FOUND} ORDER BY {order} DESC LIMIT :limit OFFSET :skip"
        ))?;
        let (is_user, name) = match &filter.author {
            None => (None, None),
            Some(SearchAuthor::User) => (Some(true), None),
            Some(SearchAuthor::Named(name)) => (Some(false), Some(fold(name))),
        };
        let rows = statement.query_map(
            named_params! {
                ":query": query,
                ":chat": filter.chat.map(Col),
                ":title": filter.title.as_deref().map(fold),
                ":is_user": is_user,
                ":name": name,
                ":since": filter.since.map(Col),
                ":until": filter.until.map(Col),
                ":has_picture": filter.has_picture,
                ":shown_only": filter.shown_only,
                ":limit": limit,
                ":skip": skip,
            },
            row,
        )?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

/// The columns to select for the terms, and the query of the index; `None` if the terms contain no
/// letter or digit.
fn versions(terms: &[SearchTerm]) -> Option<(Select, Option<String>)> {
    let query = index_query(terms);
    let (from, order) = match query {
        Some(_) => (MATCHING, "swipe_search.rowid"),
        None if terms.is_empty() => (ALL, "swipe_number.number"),
        None => return None,
    };
    Some((
        Select {
            from,
            text: "swipe.text",
            order,
        },
        query,
    ))
}

fn from_row(row: &Row<'_>, terms: &[SearchTerm]) -> rusqlite::Result<FoundMessage> {
    Ok(FoundMessage {
        chat: row.get::<_, Col<_>>("chat")?.0,
        title: row.get("title")?,
        character: row.get("character")?,
        message: row.get::<_, Col<_>>("message")?.0,
        swipe: row.get::<_, Col<_>>("swipe")?.0,
        is_shown: row.get("is_shown")?,
        role: row.get::<_, Col<_>>("role")?.0,
        speaker: row.get("speaker")?,
        created: row.get::<_, Col<_>>("created")?.0,
        undated: row.get("undated")?,
        excerpt: Excerpt::of(row.get_ref("text")?.as_str()?, terms),
    })
}
