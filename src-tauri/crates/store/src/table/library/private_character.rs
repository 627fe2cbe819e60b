//! The user's private characters.

use domain::CharacterId;

use crate::StoreError;
use crate::access::{PrivateCharacters, PrivateCharactersMut};
use crate::sql::Col;

impl PrivateCharacters<'_> {
    pub fn has(&self, character: CharacterId) -> Result<bool, StoreError> {
        let sql = "SELECT EXISTS (SELECT 1 FROM private_character WHERE character = ?1)";
        Ok(self
            .conn
            .prepare_cached(sql)?
            .query_row([Col(character)], |row| row.get(0))?)
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
