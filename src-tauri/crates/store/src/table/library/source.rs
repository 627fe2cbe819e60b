//! Origins of imported items, so that a repeated import of another app's folder adds only new
//! items.

use domain::lorebook::Binding;
use domain::{CharacterId, ChatId, LorebookId};
use rusqlite::{OptionalExtension, params};

use super::lorebook::columns;
use crate::access::{LorebooksMut, Sources, SourcesMut};
use crate::sql::Col;
use crate::{AssetHash, StoreError};

impl Sources<'_> {
    /// The character imported from `file` in `folder`, unless it is deleted.
    pub fn character(&self, folder: &str, file: &str) -> Result<Option<CharacterId>, StoreError> {
        let id = self
            .conn
            .prepare_cached(
                "SELECT id FROM character_file JOIN character ON character.id = character_file.character
                 WHERE folder = ?1 AND file = ?2 AND deleted IS NULL",
            )?
            .query_row([folder, file], |row| Ok(row.get::<_, Col<_>>(0)?.0))
            .optional()?;
        Ok(id)
    }

    /// The name of a file that a character was imported from.
    pub fn file_of_character(&self, character: CharacterId) -> Result<Option<String>, StoreError> {
        let sql =
            "SELECT file FROM character_file WHERE character = ?1 ORDER BY folder, file LIMIT 1";
        Ok(self
            .conn
            .prepare_cached(sql)?
            .query_row([Col(character)], |row| row.get(0))
            .optional()?)
    }

    /// The oldest character imported from a file with this content. Excludes characters from
    /// another file of `folder`, because two copies in one folder are two characters.
    pub fn character_like(
        &self,
        folder: &str,
        content: AssetHash,
    ) -> Result<Option<CharacterId>, StoreError> {
        let id = self
            .conn
            .prepare_cached(
                "SELECT id FROM character
                 WHERE source = ?2 AND deleted IS NULL
                     AND NOT EXISTS (SELECT 1 FROM character_file WHERE character = id AND folder = ?1)
                 ORDER BY id LIMIT 1",
            )?
            .query_row(params![folder, Col(content)], |row| Ok(row.get::<_, Col<_>>(0)?.0))
            .optional()?;
        Ok(id)
    }

    /// The chat imported from `file`, with any character.
    pub fn chat_from(&self, file: &str) -> Result<Option<ChatId>, StoreError> {
        let id = self
            .conn
            .prepare_cached(
                "SELECT id FROM chat_file JOIN chat ON chat.id = chat_file.chat
                 WHERE file = ?1 AND deleted IS NULL ORDER BY id LIMIT 1",
            )?
            .query_row([file], |row| Ok(row.get::<_, Col<_>>(0)?.0))
            .optional()?;
        Ok(id)
    }

    /// The file that a chat was imported from.
    pub fn file_of(&self, chat: ChatId) -> Result<Option<String>, StoreError> {
        let sql = "SELECT file FROM chat_file WHERE chat = ?1";
        Ok(self
            .conn
            .prepare_cached(sql)?
            .query_row([Col(chat)], |row| row.get(0))
            .optional()?)
    }

    /// The oldest chat with `character` that was imported from `file` or has this `title`.
    pub fn chat(
        &self,
        character: CharacterId,
        file: &str,
        title: &str,
    ) -> Result<Option<ChatId>, StoreError> {
        let id = self
            .conn
            .prepare_cached(
                "SELECT id FROM chat LEFT JOIN chat_file ON chat_file.chat = chat.id
                 WHERE chat.character = ?1 AND chat.deleted IS NULL AND (chat_file.file = ?2 OR chat.title = ?3)
                 ORDER BY chat_file.file = ?2 DESC, id LIMIT 1",
            )?
            .query_row(params![Col(character), file, title], |row| Ok(row.get::<_, Col<_>>(0)?.0))
            .optional()?;
        Ok(id)
    }
}

impl SourcesMut<'_> {
    /// Records that `character` was imported from `file` in `folder`.
    pub fn set_character(
        &mut self,
        folder: &str,
        file: &str,
        character: CharacterId,
    ) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO character_file (folder, file, character) VALUES (?1, ?2, ?3)
                 ON CONFLICT (folder, file) DO UPDATE SET character = excluded.character",
            )?
            .execute(params![folder, file, Col(character)])?;
        Ok(())
    }

    /// Records that `chat` was imported from `file`.
    pub fn set_chat(&mut self, chat: ChatId, file: &str) -> Result<(), StoreError> {
        let sql = "INSERT INTO chat_file (chat, file) VALUES (?1, ?2)
                   ON CONFLICT (chat) DO UPDATE SET file = excluded.file";
        self.conn
            .prepare_cached(sql)?
            .execute(params![Col(chat), file])?;
        Ok(())
    }

    /// Binds a lorebook once. Returns `false` if that was done before, even if the user has removed
    /// the binding since.
    pub fn grant(&mut self, book: LorebookId, to: Binding) -> Result<bool, StoreError> {
        let (scope, owner) = columns(to);
        let new = self
            .conn
            .prepare_cached("INSERT OR IGNORE INTO lorebook_granted (lorebook, scope, owner) VALUES (?1, ?2, ?3)")?
            .execute(params![Col(book), scope, owner])?;
        if new == 1 {
            LorebooksMut { conn: self.conn }.add_binding(book, to)?;
        }
        Ok(new == 1)
    }
}
