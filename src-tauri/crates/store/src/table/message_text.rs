//! The search in what was said. Triggers keep it as the chat is shown; see the migration.

use std::collections::HashMap;

use domain::ChatId;
use rusqlite::{Connection, params};

use crate::query::{Rows, sought};
use crate::sql::Col;
use crate::{Query, StoreError};

/// The messages of a chat before a position (exclusive).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    pub chat: ChatId,
    pub before: i64,
}

/// What was found of the words of a query.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FoundTexts {
    /// For each word that was looked for the messages that have it.
    pub hits: Vec<Vec<TextHit>>,
    /// How many words no message has, where one has another; those without spaces between them not counted.
    pub unknown: usize,
}

/// A message that has a word.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TextHit {
    /// Which of the stretches that were searched.
    pub stretch: usize,
    pub position: i64,
    /// BM25: more is better, 0 is least. Those of several words add up to what the message has of all of them.
    pub score: f64,
}

pub struct MessageTexts<'a> {
    pub(crate) conn: &'a Connection,
}

impl MessageTexts<'_> {
    /// The position behind the last message of a chat that has a text.
    pub fn end(&self, chat: ChatId) -> Result<i64, StoreError> {
        let sql = "SELECT coalesce(max(position), -1) + 1 FROM message_text WHERE chat = ?1";
        Ok(self.conn.prepare_cached(sql)?.query_row([Col(chat)], |row| row.get(0))?)
    }

    /// For each word of `query` the messages in `stretches` that have it (S2.15). Of its words only those that few messages
    /// have, if they are many.
    pub fn search(&self, stretches: &[Stretch], query: &Query) -> Result<FoundTexts, StoreError> {
        let places: HashMap<ChatId, (usize, i64)> =
            stretches.iter().enumerate().map(|(place, stretch)| (stretch.chat, (place, stretch.before))).collect();
        let mut found = FoundTexts::default();
        for (index, words) in [("message_words", &query.words), ("message_letters", &query.letters)] {
            let Some(sought) = sought(self.conn, index, words, Rows::ALL)? else { continue };
            let mut statement = self.conn.prepare_cached(&format!(
                "SELECT message_text.chat, message_text.position, -{index}.rank FROM {index}
                 JOIN message_text ON message_text.number = {index}.rowid
                 WHERE {index} MATCH ?1 AND {index}.rowid >= ?2"
            ))?;
            for word in &sought.words {
                let rows = statement.query_map(params![word, sought.rows.first], |row| {
                    Ok((row.get::<_, Col<ChatId>>(0)?.0, row.get::<_, i64>(1)?, row.get::<_, f64>(2)?))
                })?;
                let mut hits = Vec::new();
                for row in rows {
                    let (chat, position, score) = row?;
                    if let Some((stretch, before)) = places.get(&chat).copied()
                        && position < before
                    {
                        hits.push(TextHit { stretch, position, score });
                    }
                }
                found.hits.push(hits);
            }
            // Of scripts without spaces most runs of letters are no words.
            if index == "message_words" {
                found.unknown = sought.unknown + found.hits.iter().filter(|hits| hits.is_empty()).count();
            }
        }
        Ok(found)
    }
}
