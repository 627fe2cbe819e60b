//! Personas: the characters that the user plays.

use std::collections::HashMap;

use domain::PersonaId;
use domain::persona::{Persona, PersonaPlace, PersonaPosition};
use domain::prompt::PromptRole;
use rusqlite::{OptionalExtension, Row, params};

use crate::access::{Personas, PersonasMut};
use crate::sql::{Col, one};
use crate::{AssetHash, StoreError};

const COLUMNS: &str = "id, name, description, instructions, position, depth, role";

impl Personas<'_> {
    /// Sorted by name.
    pub fn list(&self) -> Result<Vec<Persona>, StoreError> {
        let rows = self
            .conn
            .prepare_cached(&format!(
                "SELECT {COLUMNS} FROM persona ORDER BY name COLLATE NOCASE, id"
            ))?
            .query_map([], from_row)?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    pub fn get(&self, id: PersonaId) -> Result<Option<Persona>, StoreError> {
        let row = self
            .conn
            .prepare_cached(&format!("SELECT {COLUMNS} FROM persona WHERE id = ?1"))?
            .query_row([Col(id)], from_row)
            .optional()?;
        Ok(row)
    }

    /// Pictures of the personas that have one.
    pub fn pictures(&self) -> Result<HashMap<PersonaId, AssetHash>, StoreError> {
        let rows = self
            .conn
            .prepare_cached("SELECT id, picture FROM persona WHERE picture IS NOT NULL")?
            .query_map([], |row| {
                Ok((row.get::<_, Col<_>>(0)?.0, row.get::<_, Col<_>>(1)?.0))
            })?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }
}

impl PersonasMut<'_> {
    pub fn insert(&mut self, persona: &Persona) -> Result<(), StoreError> {
        self.run(
            &format!("INSERT INTO persona ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"),
            persona,
        )
    }

    pub fn update(&mut self, persona: &Persona) -> Result<(), StoreError> {
        let sql =
            "UPDATE persona SET name = ?2, description = ?3, instructions = ?4, position = ?5, depth = ?6, role = ?7
                   WHERE id = ?1";
        self.run(sql, persona)
    }

    fn run(&mut self, sql: &str, persona: &Persona) -> Result<(), StoreError> {
        let Persona {
            id,
            name,
            description,
            instructions,
            place,
        } = persona;
        let position = place.position.as_str();
        let role = place.role.as_str();
        let row = params![
            Col(*id),
            name,
            description,
            instructions,
            position,
            place.depth,
            role
        ];
        let rows = self.conn.prepare_cached(sql)?.execute(row)?;
        one(rows, "persona")
    }

    /// # Errors
    /// `NotFound` if the persona does not exist, `Conflict` if the asset does not exist.
    pub fn set_picture(
        &mut self,
        id: PersonaId,
        picture: Option<AssetHash>,
    ) -> Result<(), StoreError> {
        let rows = self
            .conn
            .prepare_cached("UPDATE persona SET picture = ?2 WHERE id = ?1")?
            .execute(params![Col(id), picture.map(Col)])?;
        one(rows, "persona")
    }

    /// Deletes a persona permanently. Its chats continue without a persona.
    pub fn delete(&mut self, id: PersonaId) -> Result<(), StoreError> {
        let rows = self
            .conn
            .prepare_cached("DELETE FROM persona WHERE id = ?1")?
            .execute([Col(id)])?;
        one(rows, "persona")
    }
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<Persona> {
    Ok(Persona {
        id: row.get::<_, Col<_>>(0)?.0,
        name: row.get(1)?,
        description: row.get(2)?,
        instructions: row.get(3)?,
        place: PersonaPlace {
            position: PersonaPosition::parse(&row.get::<_, String>(4)?),
            depth: row.get(5)?,
            role: match row.get::<_, String>(6)?.as_str() {
                "user" => PromptRole::User,
                "character" => PromptRole::Character,
                _ => PromptRole::System,
            },
        },
    })
}
