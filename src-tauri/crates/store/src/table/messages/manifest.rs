//! Manifests: JSON records of the prompts that led to swipes.

use std::collections::{HashMap, HashSet};

use domain::{CharacterId, ChatId, MessageId, SwipeId, Timestamp};
use rusqlite::{OptionalExtension, Row, params};
use uuid::Uuid;

use crate::access::{Manifests, ManifestsMut};
use crate::sql::Col;
use crate::{Before, RedactManifest, StoreError};

/// A manifest with the reply it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredManifest {
    pub message: MessageId,
    pub swipe: SwipeId,
    /// Text of the reply.
    pub text: String,
    pub model: Option<String>,
    pub created: Timestamp,
    pub json: String,
    pub figures: String,
}

/// The prompts that are stored in all manifests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PromptSpace {
    pub prompts: u64,
    /// Size of their JSON in bytes, without that of the figures.
    pub bytes: u64,
}

impl Manifests<'_> {
    /// The JSON of the prompt; empty if it was removed or never kept.
    pub fn get(&self, swipe: SwipeId) -> Result<Option<String>, StoreError> {
        let json = self
            .conn
            .prepare_cached("SELECT json FROM manifest WHERE swipe = ?1")?
            .query_row([Col(swipe)], |row| row.get(0))
            .optional()?;
        Ok(json)
    }

    /// The newest manifest of a chat, among its visible swipes.
    pub fn latest(&self, chat: ChatId) -> Result<Option<StoredManifest>, StoreError> {
        Ok(self.past(chat, i64::MAX, 1)?.pop())
    }

    /// The manifest of the turn before `swipe`, in the same chat.
    pub fn before(&self, swipe: SwipeId) -> Result<Option<StoredManifest>, StoreError> {
        let Some((chat, position)) = self.place(swipe)? else {
            return Ok(None);
        };
        Ok(self.past(chat, position, 1)?.pop())
    }

    /// Whether a prompt of the chat was removed or never kept.
    pub fn lacks_prompts(&self, chat: ChatId) -> Result<bool, StoreError> {
        self.lacks_prompts_below(chat, i64::MAX)
    }

    /// Whether a prompt before that of `swipe`, in the same chat, was removed or never kept.
    pub fn lacks_prompts_before(&self, swipe: SwipeId) -> Result<bool, StoreError> {
        match self.place(swipe)? {
            Some((chat, position)) => self.lacks_prompts_below(chat, position),
            None => Ok(false),
        }
    }

    fn lacks_prompts_below(&self, chat: ChatId, position: i64) -> Result<bool, StoreError> {
        let lacks = self
            .conn
            .prepare_cached(
                "SELECT 1 FROM message JOIN swipe ON swipe.message = message.id
                 JOIN manifest ON manifest.swipe = swipe.id
                 WHERE message.chat = ?1 AND message.position < ?2 AND octet_length(manifest.json) = 0",
            )?
            .exists(params![Col(chat), position])?;
        Ok(lacks)
    }

    /// The chat and the position of the message that a swipe belongs to.
    fn place(&self, swipe: SwipeId) -> Result<Option<(ChatId, i64)>, StoreError> {
        let place = self
            .conn
            .prepare_cached(
                "SELECT message.chat, message.position FROM swipe JOIN message ON message.id = swipe.message
                 WHERE swipe.id = ?1",
            )?
            .query_row([Col(swipe)], |row| Ok((row.get::<_, Col<ChatId>>(0)?.0, row.get(1)?)))
            .optional()?;
        Ok(place)
    }

    /// Number and size of all stored prompts.
    pub fn space(&self) -> Result<PromptSpace, StoreError> {
        // `octet_length` does not read the text.
        let space = self
            .conn
            .prepare_cached(
                "SELECT count(*), coalesce(sum(octet_length(json)), 0) FROM manifest
                 WHERE octet_length(json) > 0",
            )?
            .query_row([], |row| {
                Ok(PromptSpace {
                    prompts: row.get::<_, i64>(0)?.unsigned_abs(),
                    bytes: row.get::<_, i64>(1)?.unsigned_abs(),
                })
            })?;
        Ok(space)
    }

    /// The chats with stored prompts of replies that were made before `time`.
    pub fn chats_before(&self, time: Timestamp) -> Result<Vec<ChatId>, StoreError> {
        let chats = self
            .conn
            .prepare_cached(
                "SELECT DISTINCT message.chat FROM manifest
                 JOIN swipe ON swipe.id = manifest.swipe JOIN message ON message.id = swipe.message
                 WHERE swipe.created < ?1 AND octet_length(manifest.json) > 0",
            )?
            .query_map([Col(time)], |row| Ok(row.get::<_, Col<_>>(0)?.0))?
            .collect::<Result<_, _>>()?;
        Ok(chats)
    }

    /// The replies of a chat that were made before `time` and have a stored prompt.
    pub fn made_before(
        &self,
        chat: ChatId,
        time: Timestamp,
    ) -> Result<HashSet<SwipeId>, StoreError> {
        let swipes = self
            .conn
            .prepare_cached(
                "SELECT manifest.swipe FROM message JOIN swipe ON swipe.message = message.id
                 JOIN manifest ON manifest.swipe = swipe.id
                 WHERE message.chat = ?1 AND swipe.created < ?2 AND octet_length(manifest.json) > 0",
            )?
            .query_map(params![Col(chat), Col(time)], |row| {
                Ok(row.get::<_, Col<_>>(0)?.0)
            })?
            .collect::<Result<_, _>>()?;
        Ok(swipes)
    }

    /// Calls `visit` with the JSON of each stored prompt of a chat whose reply was made at or after
    /// `time`.
    pub fn visit_since(
        &self,
        chat: ChatId,
        time: Timestamp,
        mut visit: impl FnMut(SwipeId, &str),
    ) -> Result<(), StoreError> {
        let mut manifests = self.conn.prepare_cached(
            "SELECT manifest.swipe, manifest.json FROM message
             JOIN swipe ON swipe.message = message.id JOIN manifest ON manifest.swipe = swipe.id
             WHERE message.chat = ?1 AND swipe.created >= ?2 AND octet_length(manifest.json) > 0",
        )?;
        let mut rows = manifests.query(params![Col(chat), Col(time)])?;
        while let Some(row) = rows.next()? {
            let swipe = row.get::<_, Col<_>>(0)?.0;
            visit(swipe, row.get_ref(1)?.as_str().unwrap_or_default());
        }
        Ok(())
    }

    /// Returns up to `limit` manifests of visible swipes before the message at `before`
    /// (exclusive), newest first.
    pub fn past(
        &self,
        chat: ChatId,
        before: i64,
        limit: u32,
    ) -> Result<Vec<StoredManifest>, StoreError> {
        let rows = self
            .conn
            .prepare_cached(
                "SELECT message.id AS message, swipe.id AS swipe, swipe.text, swipe.model, swipe.created,
                     manifest.json, manifest.figures
                 FROM message
                 JOIN swipe ON swipe.message = message.id AND swipe.position = message.selected
                 JOIN manifest ON manifest.swipe = swipe.id
                 WHERE message.chat = ?1 AND message.position < ?2 AND message.deleted IS NULL AND manifest.json <> ''
                 ORDER BY message.position DESC LIMIT ?3",
            )?
            .query_map(params![Col(chat), before, limit], from_row)?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// Figures of the swipes that have a manifest.
    pub fn figures(&self, swipes: &[SwipeId]) -> Result<HashMap<SwipeId, String>, StoreError> {
        let mut statement = self
            .conn
            .prepare_cached("SELECT figures FROM manifest WHERE swipe = ?1")?;
        let mut found = HashMap::new();
        for swipe in swipes {
            let figures = statement
                .query_row([Col(*swipe)], |row| row.get(0))
                .optional()?;
            found.extend(figures.map(|figures| (*swipe, figures)));
        }
        Ok(found)
    }
}

impl ManifestsMut<'_> {
    /// Stores a manifest. A continued reply keeps only the manifest of its last request. With an
    /// empty `json`, only the figures are kept.
    pub fn insert(&mut self, swipe: SwipeId, json: &str, figures: &str) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO manifest (swipe, json, figures) VALUES (?1, ?2, ?3)
                 ON CONFLICT (swipe) DO UPDATE SET json = excluded.json, figures = excluded.figures",
            )?
            .execute(params![Col(swipe), json, figures])?;
        Ok(())
    }

    /// Replaces the prompt of a reply; its figures stay. An empty `json` removes the prompt.
    pub fn set_json(&mut self, swipe: SwipeId, json: &str) -> Result<(), StoreError> {
        self.conn
            .prepare_cached("UPDATE manifest SET json = ?2 WHERE swipe = ?1")?
            .execute(params![Col(swipe), json])?;
        Ok(())
    }

    /// Removes all prompts and keeps the figures. Returns how many there were. The database file
    /// still contains their text until [`Store::erase_removed_text`](crate::Store).
    pub fn remove_all(&mut self) -> Result<usize, StoreError> {
        let removed = self
            .conn
            .prepare_cached("UPDATE manifest SET json = '' WHERE octet_length(json) > 0")?
            .execute([])?;
        Ok(removed)
    }

    /// Removes quoted text from all manifests that may quote removed text: messages deleted at or
    /// before `before`, messages in chats deleted by then, and edited messages.
    pub(crate) fn forget(
        &mut self,
        before: Before,
        without_words: RedactManifest,
    ) -> Result<(), StoreError> {
        let mut gone = RemovedContent::default();
        let mut rows = self.conn.prepare_cached(
            "SELECT message.id, message.chat, message.position, chat.character
             FROM message JOIN chat ON chat.id = message.chat
             WHERE message.deleted <= ?1 OR chat.deleted <= ?2 OR message.id IN (SELECT id FROM rewritten)",
        )?;
        let mut rows = rows.query([Col(before.rest), Col(before.trash)])?;
        // A prompt quotes messages before its reply, and the reply itself if it was continued.
        let mut own = self.conn.prepare_cached(
            "SELECT 1 FROM manifest JOIN swipe ON swipe.id = manifest.swipe
             WHERE swipe.message = ?1 AND instr(manifest.json, ?2)",
        )?;
        while let Some(row) = rows.next()? {
            let id = row.get::<_, Col<MessageId>>(0)?.0;
            let chat = row.get::<_, Col<_>>(1)?.0;
            let position = row.get(2)?;
            let went_on = own.exists(params![Col(id), id.to_string()])?;
            note_first(
                &mut gone.first,
                chat,
                if went_on { position } else { position + 1 },
            );
            gone.messages.insert(id.0);
            gone.characters.insert(row.get::<_, Col<_>>(3)?.0);
        }
        for (chat, position) in self.quoted(&gone)? {
            note_first(&mut gone.first, chat, position);
        }
        gone.first
            .iter()
            .try_for_each(|(chat, position)| self.redact_from(*chat, *position, without_words))
    }

    /// Returns the first position in other chats that quotes one of these messages. Chats of one
    /// character can recall each other, and only their manifests show that.
    fn quoted(&self, gone: &RemovedContent) -> Result<Vec<(ChatId, i64)>, StoreError> {
        let mut manifests = self.conn.prepare_cached(
            "SELECT message.chat, message.position, manifest.json FROM manifest
             JOIN swipe ON swipe.id = manifest.swipe JOIN message ON message.id = swipe.message
             JOIN chat ON chat.id = message.chat
             WHERE chat.character = ?1 AND instr(manifest.json, '\"excerpt\"')",
        )?;
        let mut quoted = Vec::new();
        for character in &gone.characters {
            let mut rows = manifests.query([Col(*character)])?;
            while let Some(row) = rows.next()? {
                let json = row.get_ref(2)?.as_str().unwrap_or_default();
                if keys_of_messages(json).any(|message| gone.messages.contains(&message)) {
                    quoted.push((row.get::<_, Col<ChatId>>(0)?.0, row.get(1)?));
                }
            }
        }
        Ok(quoted)
    }

    /// Removes quoted text from the manifests that quote these memories and documents, and from all
    /// later ones of the same chats, which may depend on them.
    pub(crate) fn redact_quotes(
        &mut self,
        quoted: &[Uuid],
        without_words: RedactManifest,
    ) -> Result<(), StoreError> {
        let mut quoting = self.conn.prepare_cached(
            "SELECT message.chat, min(message.position) FROM manifest
             JOIN swipe ON swipe.id = manifest.swipe JOIN message ON message.id = swipe.message
             WHERE instr(manifest.json, ?1) GROUP BY message.chat",
        )?;
        let mut first = HashMap::new();
        for id in quoted {
            let mut rows = quoting.query([id.to_string()])?;
            while let Some(row) = rows.next()? {
                note_first(&mut first, row.get::<_, Col<_>>(0)?.0, row.get(1)?);
            }
        }
        first
            .into_iter()
            .try_for_each(|(chat, position)| self.redact_from(chat, position, without_words))
    }

    /// Removes quoted text from the manifests of a chat, starting at `position`.
    fn redact_from(
        &self,
        chat: ChatId,
        position: i64,
        without_words: RedactManifest,
    ) -> Result<(), StoreError> {
        let mut manifests = self.conn.prepare_cached(
            "SELECT manifest.swipe, manifest.json FROM manifest
             JOIN swipe ON swipe.id = manifest.swipe JOIN message ON message.id = swipe.message
             WHERE message.chat = ?1 AND message.position >= ?2",
        )?;
        let mut bare: Vec<(SwipeId, String)> = Vec::new();
        let mut rows = manifests.query(params![Col(chat), position])?;
        while let Some(row) = rows.next()? {
            if let Some(json) = without_words(row.get_ref(1)?.as_str().unwrap_or_default()) {
                bare.push((row.get::<_, Col<_>>(0)?.0, json));
            }
        }
        let mut put = self
            .conn
            .prepare_cached("UPDATE manifest SET json = ?2 WHERE swipe = ?1")?;
        bare.iter()
            .try_for_each(|(swipe, json)| put.execute(params![Col(*swipe), json]).map(drop))?;
        Ok(())
    }
}

/// Removed content that no stored prompt may quote.
#[derive(Default)]
struct RemovedContent {
    messages: HashSet<Uuid>,
    characters: HashSet<CharacterId>,
    /// For each chat, the first position whose prompt may quote it.
    first: HashMap<ChatId, i64>,
}

fn note_first(first: &mut HashMap<ChatId, i64>, chat: ChatId, position: i64) {
    first
        .entry(chat)
        .and_modify(|known| *known = position.min(*known))
        .or_insert(position);
}

/// Returns the ids of the messages that blocks of a manifest have as their source.
fn keys_of_messages(json: &str) -> impl Iterator<Item = Uuid> {
    const KEY: &str = "\"message:";
    let id = |(at, _): (usize, &str)| json.get(at + KEY.len()..at + KEY.len() + 36);
    json.match_indices(KEY)
        .filter_map(id)
        .filter_map(|id| Uuid::parse_str(id).ok())
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<StoredManifest> {
    Ok(StoredManifest {
        message: row.get::<_, Col<_>>("message")?.0,
        swipe: row.get::<_, Col<_>>("swipe")?.0,
        text: row.get("text")?,
        model: row.get("model")?,
        created: row.get::<_, Col<_>>("created")?.0,
        json: row.get("json")?,
        figures: row.get("figures")?,
    })
}
