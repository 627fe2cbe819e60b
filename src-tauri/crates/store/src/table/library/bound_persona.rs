//! Personas of characters: new chats with a character begin with its persona.

use std::collections::HashMap;

use domain::{CharacterId, PersonaId};
use rusqlite::{OptionalExtension, params};

use crate::StoreError;
use crate::access::{BoundPersonas, BoundPersonasMut};
use crate::sql::Col;
use crate::visibility::HIDDEN_CHARACTERS;

impl BoundPersonas<'_> {
    pub fn of(&self, character: CharacterId) -> Result<Option<PersonaId>, StoreError> {
        let row = self
            .conn
            .prepare_cached("SELECT persona FROM bound_persona WHERE character = ?1")?
            .query_row([Col(character)], |row| Ok(row.get::<_, Col<_>>(0)?.0))
            .optional()?;
        Ok(row)
    }

    /// The characters of each persona that are neither deleted nor hidden, sorted by name.
    pub fn all(&self) -> Result<HashMap<PersonaId, Vec<CharacterId>>, StoreError> {
        let mut statement = self.conn.prepare_cached(&format!(
            "SELECT bound_persona.persona, character.id FROM bound_persona
             JOIN character ON character.id = bound_persona.character
             WHERE character.deleted IS NULL AND character.id NOT IN ({HIDDEN_CHARACTERS})
             ORDER BY character.name COLLATE NOCASE, character.id"
        ))?;
        let rows = statement.query_map([], |row| {
            Ok((row.get::<_, Col<_>>(0)?.0, row.get::<_, Col<_>>(1)?.0))
        })?;
        let mut all: HashMap<PersonaId, Vec<CharacterId>> = HashMap::new();
        for row in rows {
            let (persona, character) = row?;
            all.entry(persona).or_default().push(character);
        }
        Ok(all)
    }
}

impl BoundPersonasMut<'_> {
    /// Sets or removes the persona of a character.
    ///
    /// # Errors
    /// `Conflict` if the character or the persona does not exist.
    pub fn set(
        &mut self,
        character: CharacterId,
        persona: Option<PersonaId>,
    ) -> Result<(), StoreError> {
        let Some(persona) = persona else {
            self.conn
                .prepare_cached("DELETE FROM bound_persona WHERE character = ?1")?
                .execute([Col(character)])?;
            return Ok(());
        };
        self.conn
            .prepare_cached(
                "INSERT INTO bound_persona (character, persona) VALUES (?1, ?2)
                 ON CONFLICT (character) DO UPDATE SET persona = excluded.persona",
            )?
            .execute(params![Col(character), Col(persona)])?;
        Ok(())
    }
}
