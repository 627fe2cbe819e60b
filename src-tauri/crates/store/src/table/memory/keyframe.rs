//! Keyframes and their source texts. Triggers delete a keyframe as soon as one of its texts
//! changes; see the migration.

use domain::keyframe::Keyframe;
use domain::{CharacterId, ChatId, KeyframeId, MemoryId, Timestamp};
use rusqlite::{OptionalExtension, Row, params};

use crate::StoreError;
use crate::access::{Keyframes, KeyframesMut, MessageTexts};
use crate::sql::Col;
use crate::table::messages::source_text::SourceText;
use crate::visibility::HIDDEN_CHATS;

impl Keyframes<'_> {
    /// Keyframes of a chat that end at or after `position`, and the last `before` ones that end
    /// earlier; oldest first.
    pub fn around(
        &self,
        chat: ChatId,
        position: i64,
        before: u32,
    ) -> Result<Vec<Keyframe>, StoreError> {
        let mut rows: Vec<(i64, Keyframe)> = self
            .conn
            .prepare_cached(
                "SELECT * FROM (SELECT * FROM keyframe WHERE chat = ?1 AND last >= ?2)
                 UNION ALL SELECT * FROM (
                     SELECT * FROM keyframe WHERE chat = ?1 AND last < ?2 ORDER BY last DESC LIMIT ?3)",
            )?
            .query_map(params![Col(chat), position, before], from_row)?
            .collect::<Result<_, _>>()?;
        rows.sort_by_key(|(number, keyframe)| (keyframe.first, *number));
        rows.into_iter()
            .map(|(number, keyframe)| self.with_messages(number, keyframe))
            .collect()
    }

    /// All keyframes of a chat, oldest first.
    pub fn of_chat(&self, chat: ChatId) -> Result<Vec<Keyframe>, StoreError> {
        self.around(chat, i64::MIN, 0)
    }

    /// Returns the newest keyframe from `position` on that no model has summarized yet. It must be
    /// complete: it has `whole` messages, or another keyframe follows. Excludes keyframes that a
    /// model failed on.
    pub fn next_to_summarize(
        &self,
        chat: ChatId,
        position: i64,
        whole: u32,
    ) -> Result<Option<Keyframe>, StoreError> {
        let found = self
            .conn
            .prepare_cached(
                "SELECT * FROM keyframe WHERE chat = ?1 AND first >= ?2 AND fallback = 1 AND tried = 0
                     AND ((SELECT count(*) FROM keyframe_source WHERE keyframe_source.keyframe = keyframe.number) >= ?3
                         OR EXISTS (SELECT 1 FROM keyframe AS next
                             WHERE next.chat = keyframe.chat AND next.first > keyframe.last))
                 ORDER BY last DESC LIMIT 1",
            )?
            .query_row(params![Col(chat), position, whole], from_row)
            .optional()?;
        found
            .map(|(number, keyframe)| self.with_messages(number, keyframe))
            .transpose()
    }

    /// Keyframes of a character's chats that are not hidden and that no model has summarized, with
    /// the time of their last message. Returns up to `limit`, newest first.
    pub fn fallbacks(
        &self,
        character: CharacterId,
        limit: u32,
    ) -> Result<Vec<(Keyframe, Timestamp)>, StoreError> {
        let rows: Vec<((i64, Keyframe), Timestamp)> = self
            .conn
            .prepare_cached(&format!(
                "SELECT keyframe.*, message.created AS said FROM keyframe
                 JOIN chat ON chat.id = keyframe.chat
                 JOIN message ON message.chat = keyframe.chat AND message.position = keyframe.last
                 WHERE chat.character = ?1 AND chat.deleted IS NULL AND keyframe.fallback = 1
                     AND chat.id NOT IN ({HIDDEN_CHATS})
                 ORDER BY said DESC, keyframe.number DESC LIMIT ?2"
            ))?
            .query_map(params![Col(character), limit], |row| {
                Ok((from_row(row)?, row.get::<_, Col<_>>("said")?.0))
            })?
            .collect::<Result<_, _>>()?;
        rows.into_iter()
            .map(|((number, keyframe), said)| Ok((self.with_messages(number, keyframe)?, said)))
            .collect()
    }

    fn with_messages(&self, number: i64, keyframe: Keyframe) -> Result<Keyframe, StoreError> {
        let messages = self
            .conn
            .prepare_cached(
                "SELECT message_text.message FROM keyframe_source
                 JOIN message_text ON message_text.number = keyframe_source.text
                 WHERE keyframe_source.keyframe = ?1 ORDER BY message_text.position",
            )?
            .query_map([number], |row| Ok(row.get::<_, Col<_>>(0)?.0))?
            .collect::<Result<_, _>>()?;
        Ok(Keyframe {
            messages,
            ..keyframe
        })
    }
}

/// If the user has forgotten the summary of all messages of a keyframe, no model may summarize it
/// again.
const FORGOTTEN: &str = "UPDATE keyframe SET tried = 1 WHERE number = ?1 AND NOT EXISTS (
        SELECT 1 FROM keyframe_source WHERE keyframe = ?1 AND text NOT IN (SELECT text FROM summary_forgotten))";

impl KeyframesMut<'_> {
    /// Stores a keyframe made from `told`, the texts of its messages, and replaces a previous
    /// version. Returns false if one of the texts has changed meanwhile or is part of another
    /// keyframe.
    pub fn put(&mut self, keyframe: &Keyframe, told: &[SourceText]) -> Result<bool, StoreError> {
        let mut covered = self.conn.prepare_cached(
            "SELECT 1 FROM keyframe_source JOIN keyframe ON keyframe.number = keyframe_source.keyframe
             WHERE keyframe_source.text = ?1 AND keyframe.id <> ?2",
        )?;
        if !(MessageTexts { conn: self.conn }).all_unchanged(told)? {
            return Ok(false);
        }
        for text in told {
            if covered.exists(params![text.number, Col(keyframe.id)])? {
                return Ok(false);
            }
        }
        let number: i64 = self
            .conn
            .prepare_cached(
                "INSERT INTO keyframe (id, chat, first, last, summary, analysis, rating, characters, fallback, created)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
                 ON CONFLICT (id) DO UPDATE SET first = ?3, last = ?4, summary = ?5, analysis = ?6, rating = ?7,
                     characters = ?8, fallback = ?9, tried = 0
                 RETURNING number",
            )?
            .query_row(
                params![
                    Col(keyframe.id),
                    Col(keyframe.chat),
                    keyframe.first,
                    keyframe.last,
                    keyframe.summary,
                    keyframe.analysis,
                    keyframe.rating,
                    names(keyframe),
                    keyframe.fallback,
                    Col(keyframe.created),
                ],
                |row| row.get(0),
            )?;
        let mut source = self.conn.prepare_cached(
            "INSERT OR IGNORE INTO keyframe_source (keyframe, text) VALUES (?1, ?2)",
        )?;
        for text in told {
            source.execute([number, text.number])?;
        }
        self.conn.prepare_cached(FORGOTTEN)?.execute([number])?;
        Ok(true)
    }

    /// Deletes the keyframes that a summary memory was made from, and permanently bars a new
    /// summary of their messages. If needed, first sentences replace it.
    pub fn forget_summary(&mut self, summary: MemoryId) -> Result<(), StoreError> {
        for sql in [
            "INSERT OR IGNORE INTO summary_forgotten (text)
                 SELECT message_text.number FROM memory
                 JOIN memory_source ON memory_source.memory = memory.number
                 JOIN message_text ON message_text.message = memory_source.message
                 WHERE memory.id = ?1 AND memory.origin = 'keyframe'",
            "DELETE FROM keyframe WHERE fallback = 0 AND number IN (
                 SELECT keyframe_source.keyframe FROM memory
                 JOIN memory_source ON memory_source.memory = memory.number
                 JOIN message_text ON message_text.message = memory_source.message
                 JOIN keyframe_source ON keyframe_source.text = message_text.number
                 WHERE memory.id = ?1 AND memory.origin = 'keyframe')",
        ] {
            self.conn.prepare_cached(sql)?.execute([Col(summary)])?;
        }
        Ok(())
    }

    /// Replaces first sentences with a model's summary. Prompts that contain the old text stay
    /// unchanged, because it is still correct. Returns false if the keyframe no longer exists.
    pub fn rewrite(&mut self, keyframe: &Keyframe) -> Result<bool, StoreError> {
        let rows = self
            .conn
            .prepare_cached(
                "UPDATE keyframe SET summary = ?2, analysis = ?3, rating = ?4, characters = ?5, fallback = ?6
                 WHERE id = ?1",
            )?
            .execute(params![
                Col(keyframe.id),
                keyframe.summary,
                keyframe.analysis,
                keyframe.rating,
                names(keyframe),
                keyframe.fallback,
            ])?;
        Ok(rows == 1)
    }

    /// Records that a model failed on a keyframe, so that none tries again.
    pub fn mark_failed(&mut self, id: KeyframeId) -> Result<(), StoreError> {
        self.conn
            .prepare_cached("UPDATE keyframe SET tried = 1 WHERE id = ?1")?
            .execute([Col(id)])?;
        Ok(())
    }
}

fn names(keyframe: &Keyframe) -> String {
    serde_json::to_string(&keyframe.characters).unwrap_or_else(|_| "[]".to_owned())
}

/// Reads the row number, and the keyframe without its messages.
fn from_row(row: &Row<'_>) -> rusqlite::Result<(i64, Keyframe)> {
    let characters: String = row.get("characters")?;
    let keyframe = Keyframe {
        id: row.get::<_, Col<_>>("id")?.0,
        chat: row.get::<_, Col<_>>("chat")?.0,
        messages: Vec::new(),
        first: row.get("first")?,
        last: row.get("last")?,
        summary: row.get("summary")?,
        analysis: row.get("analysis")?,
        rating: row.get("rating")?,
        characters: serde_json::from_str(&characters).unwrap_or_default(),
        fallback: row.get("fallback")?,
        created: row.get::<_, Col<_>>("created")?.0,
    };
    Ok((row.get("number")?, keyframe))
}
