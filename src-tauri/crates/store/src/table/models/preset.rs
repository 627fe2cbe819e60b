//! Presets: JSON documents such as templates and sampler values. The context crate defines their
//! contents.

use domain::{CharacterId, Timestamp};
use rusqlite::{OptionalExtension, Row, params};

use crate::StoreError;
use crate::access::{Presets, PresetsMut};
use crate::sql::{Col, one};

/// Kind of a preset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PresetKind {
    Template,
    Mode,
    RegexScript,
    ChatFormat,
}

impl PresetKind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Template => "template",
            Self::Mode => "mode",
            Self::RegexScript => "regexScript",
            Self::ChatFormat => "chatFormat",
        }
    }
}

/// A preset that the user created, changed or imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preset {
    pub kind: PresetKind,
    /// Unique within its kind. The key of a built-in preset replaces that preset.
    pub key: String,
    /// The character whose card contained it.
    pub character: Option<CharacterId>,
    pub name: String,
    /// Display order within its kind.
    pub position: i64,
    pub json: String,
    /// The foreign file it was converted from, unchanged.
    pub source: Option<String>,
    pub updated: Timestamp,
}

impl Presets<'_> {
    /// Sorted by position.
    pub fn list(&self, kind: PresetKind) -> Result<Vec<Preset>, StoreError> {
        let rows = self
            .conn
            .prepare_cached(
                "SELECT * FROM preset WHERE kind = ?1 ORDER BY position, name COLLATE NOCASE, key",
            )?
            .query_map([kind.as_str()], |row| from_row(row, kind))?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    pub fn get(&self, kind: PresetKind, key: &str) -> Result<Option<Preset>, StoreError> {
        let row = self
            .conn
            .prepare_cached("SELECT * FROM preset WHERE kind = ?1 AND key = ?2")?
            .query_row(params![kind.as_str(), key], |row| from_row(row, kind))
            .optional()?;
        Ok(row)
    }
}

impl PresetsMut<'_> {
    /// Adds a preset, or replaces the one with the same kind and key. Returns `Conflict` for
    /// invalid JSON.
    pub fn put(&mut self, preset: &Preset) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO preset (kind, key, character, name, position, json, source, updated)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
                 ON CONFLICT (kind, key) DO UPDATE SET character = excluded.character, name = excluded.name,
                     position = excluded.position, json = excluded.json, source = excluded.source,
                     updated = excluded.updated",
            )?
            .execute(params![
                preset.kind.as_str(),
                preset.key,
                preset.character.map(Col),
                preset.name,
                preset.position,
                preset.json,
                preset.source,
                Col(preset.updated),
            ])?;
        Ok(())
    }

    /// Deletes a preset permanently.
    pub fn delete(&mut self, kind: PresetKind, key: &str) -> Result<(), StoreError> {
        let rows = self
            .conn
            .prepare_cached("DELETE FROM preset WHERE kind = ?1 AND key = ?2")?
            .execute(params![kind.as_str(), key])?;
        one(rows, "preset")
    }
}

fn from_row(row: &Row<'_>, kind: PresetKind) -> rusqlite::Result<Preset> {
    Ok(Preset {
        kind,
        key: row.get("key")?,
        character: row.get::<_, Option<Col<_>>>("character")?.map(|Col(id)| id),
        name: row.get("name")?,
        position: row.get("position")?,
        json: row.get("json")?,
        source: row.get("source")?,
        updated: row.get::<_, Col<_>>("updated")?.0,
    })
}
