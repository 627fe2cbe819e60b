//! The search in what was said. Triggers keep it as the chat is shown; see the migration.

use std::collections::HashMap;

use domain::{ChatId, MessageId};
use rusqlite::{Connection, params};

use crate::query::{Rows, Sought, sought};
use crate::sql::Col;
use crate::{Query, StoreError};

/// A message that has some of the words.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TextHit {
    pub message: MessageId,
    pub position: i64,
    /// BM25: more is better, 0 is least. Compared only within one search.
    pub score: f64,
}

pub struct MessageTexts<'a> {
    pub(crate) conn: &'a Connection,
}

impl MessageTexts<'_> {
    /// The messages of a chat before `position` (exclusive) that fit `query` best, at most `limit`, best first; of those
    /// that fit as well the newest (S2.15). Of its words only those that few messages have, if they are many.
    pub fn search(&self, chat: ChatId, position: i64, query: &Query, limit: u32) -> Result<Vec<TextHit>, StoreError> {
        let mut hits: HashMap<MessageId, TextHit> = HashMap::new();
        for (index, words) in [("message_words", &query.words), ("message_letters", &query.letters)] {
            let Some(Sought { text, rows }) = sought(self.conn, index, words, Rows::ALL)? else { continue };
            let sql = format!(
                "SELECT message_text.message, message_text.position, -{index}.rank FROM {index}
                 JOIN message_text ON message_text.number = {index}.rowid
                 WHERE {index} MATCH ?1 AND {index}.rowid >= ?5 AND message_text.chat = ?2 AND message_text.position < ?3
                 ORDER BY {index}.rank LIMIT ?4"
            );
            let mut statement = self.conn.prepare_cached(&sql)?;
            let found = statement.query_map(params![text, Col(chat), position, limit, rows.first], |row| {
                Ok(TextHit { message: row.get::<_, Col<_>>(0)?.0, position: row.get(1)?, score: row.get(2)? })
            })?;
            for hit in found {
                let hit = hit?;
                hits.entry(hit.message).and_modify(|known| known.score += hit.score).or_insert(hit);
            }
        }
        let mut hits: Vec<TextHit> = hits.into_values().collect();
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.position.cmp(&a.position)));
        hits.truncate(limit as usize);
        Ok(hits)
    }
}
