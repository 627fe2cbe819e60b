//! The user's private characters.

use domain::{CharacterId, ChatId, MemoryId};

use crate::StoreError;
use crate::access::{PrivateCharacters, PrivateCharactersMut};
use crate::sql::Col;

const CHATS: &str = "SELECT led.id FROM private_character
        CROSS JOIN chat AS led ON led.character = private_character.character
    UNION SELECT joined.chat FROM private_character
        CROSS JOIN chat_member AS joined ON joined.character = private_character.character";

impl PrivateCharacters<'_> {
    pub fn has(&self, character: CharacterId) -> Result<bool, StoreError> {
        let sql = "SELECT EXISTS (SELECT 1 FROM private_character WHERE character = ?1)";
        Ok(self
            .conn
            .prepare_cached(sql)?
            .query_row([Col(character)], |row| row.get(0))?)
    }

    /// The chats of all private characters, shown or not, and the groups with one as a member.
    pub fn chats(&self) -> Result<Vec<ChatId>, StoreError> {
        Ok(self
            .conn
            .prepare_cached(CHATS)?
            .query_map([], |row| Ok(row.get::<_, Col<_>>(0)?.0))?
            .collect::<Result<_, _>>()?)
    }

    /// The chats of one character, private or not, and the groups with it as a member.
    pub fn chats_with(&self, character: CharacterId) -> Result<Vec<ChatId>, StoreError> {
        let sql = "SELECT id FROM chat WHERE character = ?1
            UNION SELECT chat FROM chat_member WHERE character = ?1";
        Ok(self
            .conn
            .prepare_cached(sql)?
            .query_map([Col(character)], |row| Ok(row.get::<_, Col<_>>(0)?.0))?
            .collect::<Result<_, _>>()?)
    }

    /// The memories from private chats that other chats can recall while they are shown.
    pub fn shared_memories(&self) -> Result<Vec<MemoryId>, StoreError> {
        let sql = format!(
            "SELECT DISTINCT memory.id FROM message
             JOIN memory_source ON memory_source.message = message.id
             JOIN memory ON memory.number = memory_source.memory
             WHERE message.chat IN ({CHATS}) AND memory.chat IS NULL
                 AND ifnull(memory.character NOT IN (SELECT character FROM private_character), 1)"
        );
        Ok(self
            .conn
            .prepare_cached(&sql)?
            .query_map([], |row| Ok(row.get::<_, Col<_>>(0)?.0))?
            .collect::<Result<_, _>>()?)
    }
}

impl PrivateCharactersMut<'_> {
    /// # Errors
    /// `Conflict` if the character does not exist.
    pub fn add(&mut self, character: CharacterId) -> Result<(), StoreError> {
        let sql = "INSERT INTO private_character (character) VALUES (?1) ON CONFLICT DO NOTHING";
        self.conn.prepare_cached(sql)?.execute([Col(character)])?;
        Ok(())
    }

    pub fn remove(&mut self, character: CharacterId) -> Result<(), StoreError> {
        self.conn
            .prepare_cached("DELETE FROM private_character WHERE character = ?1")?
            .execute([Col(character)])?;
        Ok(())
    }
}
