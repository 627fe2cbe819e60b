//! Chats, with their participants and context windows.

use domain::chat::{Chat, WindowState};
use domain::model::ModelChoice;
use domain::{CharacterId, ChatId, PersonaId, Timestamp};
use rusqlite::{OptionalExtension, Row, ToSql, params};

use super::branches::BRANCHES;
use crate::access::{Chats, ChatsMut};
use crate::sql::{Col, one};
use crate::table::library::folder::Place;
use crate::visibility::HIDDEN_CHATS;
use crate::{AssetHash, StoreError};

/// A chat as the chat list shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatSummary {
    pub id: ChatId,
    pub title: String,
    pub character: CharacterId,
    pub character_name: String,
    pub character_picture: Option<AssetHash>,
    /// Name and picture of the first other participant of a group.
    pub other_member: Option<(String, Option<AssetHash>)>,
    /// The first 200 characters of the last message; `None` in an empty chat.
    pub last_line: Option<String>,
    pub message_count: u32,
    pub created: Timestamp,
    pub updated: Timestamp,
    pub place: Place,
}

impl Chats<'_> {
    /// Chats that are neither deleted nor hidden, of characters that are not deleted; last changed
    /// first.
    pub fn list(&self) -> Result<Vec<ChatSummary>, StoreError> {
        let rows = self
            .conn
            .prepare_cached(&format!(
                "SELECT chat.id, chat.title, chat.character, character.name AS character_name, character.picture,
                     other.name AS other_name, other.picture AS other_picture,
                     chat.created, chat.updated, chat_place.folder, chat_place.pinned, chat_place.archived,
                     (SELECT count(*) FROM message WHERE message.chat = chat.id AND message.deleted IS NULL)
                         AS message_count,
                     (SELECT substr(swipe.text, 1, 200)
                      FROM message
                      JOIN swipe ON swipe.message = message.id AND swipe.position = message.selected
                      WHERE message.chat = chat.id AND message.deleted IS NULL AND message.hidden = 0
                      ORDER BY message.position DESC LIMIT 1) AS last_line
                 FROM chat JOIN character ON character.id = chat.character
                 LEFT JOIN character AS other ON other.id =
                     (SELECT one.id FROM chat_member JOIN character AS one ON one.id = chat_member.character
                      WHERE chat_member.chat = chat.id AND one.deleted IS NULL
                      ORDER BY chat_member.position LIMIT 1)
                 LEFT JOIN chat_place ON chat_place.item = chat.id
                 WHERE chat.deleted IS NULL AND character.deleted IS NULL AND chat.id NOT IN ({HIDDEN_CHATS})
                 ORDER BY chat.updated DESC, chat.id DESC"
            ))?
            .query_map([], summary_from_row)?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// `None` if the chat does not exist or is hidden, or it or its character is deleted.
    pub fn get(&self, id: ChatId) -> Result<Option<Chat>, StoreError> {
        let row = self
            .conn
            .prepare_cached(&format!(
                "SELECT chat.* FROM chat JOIN character ON character.id = chat.character
                 WHERE chat.id = ?1 AND chat.deleted IS NULL AND character.deleted IS NULL
                     AND chat.id NOT IN ({HIDDEN_CHATS})"
            ))?
            .query_row([Col(id)], from_row)
            .optional()?;
        Ok(row)
    }

    /// Other one-to-one chats of the same persona and character, last changed first, excluding
    /// branches of the same chat ([`Chats::branches`]). With `or_unset`, chats without a persona
    /// are included.
    pub fn of_pair(
        &self,
        chat: &Chat,
        persona: Option<PersonaId>,
        or_unset: bool,
        limit: u32,
    ) -> Result<Vec<ChatId>, StoreError> {
        let chats = self
            .conn
            .prepare_cached(&format!(
                "SELECT id FROM chat
                 WHERE character = ?2 AND deleted IS NULL AND (persona IS ?3 OR (?4 AND persona IS NULL)) AND id <> ?1
                     AND NOT EXISTS (SELECT 1 FROM chat_member WHERE chat_member.chat = chat.id)
                     AND id NOT IN ({BRANCHES})
                 ORDER BY updated DESC LIMIT ?5"
            ))?
            .query_map(params![Col(chat.id), Col(chat.character), persona.map(Col), or_unset, limit], |row| {
                Ok(row.get::<_, Col<_>>(0)?.0)
            })?
            .collect::<Result<_, _>>()?;
        Ok(chats)
    }

    /// Ids of the chats of a character, or of all chats.
    pub fn ids(&self, character: Option<CharacterId>) -> Result<Vec<ChatId>, StoreError> {
        let rows = self
            .conn
            .prepare_cached(
                "SELECT id FROM chat WHERE deleted IS NULL AND (?1 IS NULL OR character = ?1)",
            )?
            .query_map([character.map(Col)], |row| Ok(row.get::<_, Col<_>>(0)?.0))?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// Like [`Self::ids`], including deleted chats that can be restored.
    pub fn ids_even_deleted(
        &self,
        character: Option<CharacterId>,
    ) -> Result<Vec<ChatId>, StoreError> {
        let rows = self
            .conn
            .prepare_cached("SELECT id FROM chat WHERE ?1 IS NULL OR character = ?1")?
            .query_map([character.map(Col)], |row| Ok(row.get::<_, Col<_>>(0)?.0))?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// Chats with this persona; `None` returns those without a persona.
    pub fn played_as(&self, persona: Option<PersonaId>) -> Result<Vec<ChatId>, StoreError> {
        let rows = self
            .conn
            .prepare_cached("SELECT id FROM chat WHERE persona IS ?1")?
            .query_map([persona.map(Col)], |row| Ok(row.get::<_, Col<_>>(0)?.0))?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// The character's last changed chat that is not hidden, to open it where the user left off.
    pub fn latest_of_character(&self, character: CharacterId) -> Result<Option<Chat>, StoreError> {
        let row = self
            .conn
            .prepare_cached(&format!(
                "SELECT * FROM chat WHERE character = ?1 AND deleted IS NULL AND id NOT IN ({HIDDEN_CHATS})
                 ORDER BY updated DESC, id DESC LIMIT 1"
            ))?
            .query_row([Col(character)], from_row)
            .optional()?;
        Ok(row)
    }

    /// The time of the last change in any chat.
    pub fn newest(&self) -> Result<Option<Timestamp>, StoreError> {
        let newest: Option<Col<Timestamp>> = self
            .conn
            .prepare_cached("SELECT max(updated) FROM chat")?
            .query_row([], |row| row.get(0))?;
        Ok(newest.map(|Col(time)| time))
    }

    /// Whether a chat began before `time`.
    pub fn any_before(&self, time: Timestamp) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM chat WHERE created < ?1 LIMIT 1";
        Ok(self.conn.prepare_cached(sql)?.exists([Col(time)])?)
    }

    /// The models that chats use, without repeats. The model of the most recently changed chat is
    /// first.
    pub fn chosen_models(&self) -> Result<Vec<ModelChoice>, StoreError> {
        let rows = self
            .conn
            .prepare_cached(
                "SELECT model FROM chat WHERE model IS NOT NULL AND deleted IS NULL GROUP BY model ORDER BY max(updated) DESC",
            )?
            .query_map([], |row| row.get::<_, Col<ModelChoice>>(0))?
            .map(|choice| choice.map(|choice| choice.0))
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }
}

impl ChatsMut<'_> {
    pub fn insert(&mut self, chat: &Chat) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO chat (id, character, persona, title, model, draft, window_epoch, window_anchor,
                     window_fingerprint, window_frozen, scene_after, variables, created, updated)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
            )?
            .execute(params![
                Col(chat.id),
                Col(chat.character),
                chat.persona.map(Col),
                chat.title,
                chat.model.map(Col),
                chat.draft,
                chat.window.epoch,
                chat.window.anchor.map(Col),
                chat.window.fingerprint,
                chat.window.frozen,
                chat.scene_after,
                chat.variables,
                Col(chat.created),
                Col(chat.updated),
            ])?;
        Ok(())
    }

    pub fn set_title(&mut self, id: ChatId, title: &str) -> Result<(), StoreError> {
        self.set(id, "UPDATE chat SET title = ?2 WHERE id = ?1", &title)
    }

    pub fn set_draft(&mut self, id: ChatId, draft: &str) -> Result<(), StoreError> {
        self.set(id, "UPDATE chat SET draft = ?2 WHERE id = ?1", &draft)
    }

    pub fn set_model(&mut self, id: ChatId, model: Option<ModelChoice>) -> Result<(), StoreError> {
        self.set(
            id,
            "UPDATE chat SET model = ?2 WHERE id = ?1",
            &model.map(Col),
        )
    }

    pub fn set_persona(
        &mut self,
        id: ChatId,
        persona: Option<PersonaId>,
    ) -> Result<(), StoreError> {
        self.set(
            id,
            "UPDATE chat SET persona = ?2 WHERE id = ?1",
            &persona.map(Col),
        )
    }

    /// Starts a scene after the message at `position`.
    pub fn set_scene(&mut self, id: ChatId, position: i64) -> Result<(), StoreError> {
        self.set(
            id,
            "UPDATE chat SET scene_after = ?2 WHERE id = ?1",
            &position,
        )
    }

    /// `json` contains the chat's macro variables.
    pub fn set_variables(&mut self, id: ChatId, json: &str) -> Result<(), StoreError> {
        self.set(id, "UPDATE chat SET variables = ?2 WHERE id = ?1", &json)
    }

    /// Updates the time of the last change, which never decreases.
    pub fn touch(&mut self, id: ChatId, when: Timestamp) -> Result<(), StoreError> {
        self.set(
            id,
            "UPDATE chat SET updated = max(updated, ?2) WHERE id = ?1",
            &Col(when),
        )
    }

    pub fn set_window(&mut self, id: ChatId, window: &WindowState) -> Result<(), StoreError> {
        let rows = self
            .conn
            .prepare_cached(
                "UPDATE chat SET window_epoch = ?2, window_anchor = ?3, window_fingerprint = ?4, window_frozen = ?5
                 WHERE id = ?1",
            )?
            .execute(params![Col(id), window.epoch, window.anchor.map(Col), window.fingerprint, window.frozen])?;
        one(rows, "chat")
    }

    /// Hides the chat until `restore` or a purge.
    pub fn soft_delete(&mut self, id: ChatId, when: Timestamp) -> Result<(), StoreError> {
        let sql = format!(
            "UPDATE chat SET deleted = ?2 WHERE id = ?1 AND deleted IS NULL AND id NOT IN ({HIDDEN_CHATS})"
        );
        self.set(id, &sql, &Col(when))
    }

    pub fn restore(&mut self, id: ChatId) -> Result<(), StoreError> {
        let rows = self
            .conn
            .prepare_cached("UPDATE chat SET deleted = NULL WHERE id = ?1")?
            .execute([Col(id)])?;
        one(rows, "chat")
    }

    /// Permanently removes chats deleted at or before `before`. Returns how many.
    pub(crate) fn purge(&mut self, before: Timestamp) -> Result<usize, StoreError> {
        Ok(self
            .conn
            .execute("DELETE FROM chat WHERE deleted <= ?1", [Col(before)])?)
    }

    fn set(&mut self, id: ChatId, sql: &str, value: &dyn ToSql) -> Result<(), StoreError> {
        let rows = self
            .conn
            .prepare_cached(sql)?
            .execute(params![Col(id), value])?;
        one(rows, "chat")
    }
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<Chat> {
    Ok(Chat {
        id: row.get::<_, Col<_>>("id")?.0,
        character: row.get::<_, Col<_>>("character")?.0,
        persona: row.get::<_, Option<Col<_>>>("persona")?.map(|Col(id)| id),
        title: row.get("title")?,
        model: row
            .get::<_, Option<Col<_>>>("model")?
            .map(|Col(choice)| choice),
        draft: row.get("draft")?,
        window: WindowState {
            epoch: row.get("window_epoch")?,
            anchor: row
                .get::<_, Option<Col<_>>>("window_anchor")?
                .map(|Col(id)| id),
            fingerprint: row.get("window_fingerprint")?,
            frozen: row.get("window_frozen")?,
        },
        scene_after: row.get("scene_after")?,
        variables: row.get("variables")?,
        created: row.get::<_, Col<_>>("created")?.0,
        updated: row.get::<_, Col<_>>("updated")?.0,
    })
}

fn summary_from_row(row: &Row<'_>) -> rusqlite::Result<ChatSummary> {
    let picture = row
        .get::<_, Option<Col<_>>>("other_picture")?
        .map(|Col(hash)| hash);
    Ok(ChatSummary {
        other_member: row
            .get::<_, Option<String>>("other_name")?
            .map(|name| (name, picture)),
        id: row.get::<_, Col<_>>("id")?.0,
        title: row.get("title")?,
        character: row.get::<_, Col<_>>("character")?.0,
        character_name: row.get("character_name")?,
        character_picture: row
            .get::<_, Option<Col<_>>>("picture")?
            .map(|Col(hash)| hash),
        last_line: row.get("last_line")?,
        message_count: row.get("message_count")?,
        created: row.get::<_, Col<_>>("created")?.0,
        updated: row.get::<_, Col<_>>("updated")?.0,
        place: Place::from_row(row)?,
    })
}
