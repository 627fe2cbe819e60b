//! Background pictures imported from another app. Their bytes are assets, and none is stored twice.

use domain::Timestamp;
use rusqlite::{Connection, params};

use crate::sql::Col;
use crate::{AssetHash, StoreError};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Background {
    pub asset: AssetHash,
    /// File name.
    pub name: String,
    pub created: Timestamp,
}

pub struct Backgrounds<'a> {
    pub(crate) conn: &'a Connection,
}

impl Backgrounds<'_> {
    /// Sorted by name.
    pub fn list(&self) -> Result<Vec<Background>, StoreError> {
        let rows = self
            .conn
            .prepare_cached("SELECT asset, name, created FROM background ORDER BY name COLLATE NOCASE, asset")?
            .query_map([], |row| {
                let (asset, created) = (row.get::<_, Col<_>>(0)?.0, row.get::<_, Col<_>>(2)?.0);
                Ok(Background { asset, name: row.get(1)?, created })
            })?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }
}

pub struct BackgroundsMut<'a> {
    pub(crate) conn: &'a Connection,
}

impl BackgroundsMut<'_> {
    /// Adds a background; returns `false` if its content is already stored under any name.
    pub fn add(&mut self, background: &Background) -> Result<bool, StoreError> {
        let Background { asset, name, created } = background;
        let rows = self
            .conn
            .prepare_cached("INSERT INTO background (asset, name, created) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING")?
            .execute(params![Col(*asset), name, Col(*created)])?;
        Ok(rows > 0)
    }
}
