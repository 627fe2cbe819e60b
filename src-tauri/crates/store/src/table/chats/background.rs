//! Pictures behind chats. Their bytes are assets, and none is stored twice.

use domain::Timestamp;
use rusqlite::params;

use crate::access::{Backgrounds, BackgroundsMut};
use crate::sql::Col;
use crate::{AssetHash, StoreError};

#[derive(Debug, Clone, PartialEq)]
pub struct Background {
    pub asset: AssetHash,
    /// File name.
    pub name: String,
    pub created: Timestamp,
    /// Luminance of the greys that bound its colours, from 0 to 1; `None` if it was not measured
    /// yet.
    pub luminance: Option<(f64, f64)>,
    /// Words of the scenes in which it is shown, separated by commas.
    pub scene_words: String,
}

impl Backgrounds<'_> {
    /// Sorted by name.
    pub fn list(&self) -> Result<Vec<Background>, StoreError> {
        let rows = self
            .conn
            .prepare_cached(
                "SELECT asset, name, created, darkest, lightest, scene_words FROM background
                 ORDER BY name COLLATE NOCASE, asset",
            )?
            .query_map([], |row| {
                let asset = row.get::<_, Col<_>>(0)?.0;
                let created = row.get::<_, Col<_>>(2)?.0;
                let luminance = row.get::<_, Option<f64>>(3)?.zip(row.get(4)?);
                Ok(Background {
                    asset,
                    name: row.get(1)?,
                    created,
                    luminance,
                    scene_words: row.get(5)?,
                })
            })?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }
}

impl BackgroundsMut<'_> {
    /// Adds a background; returns `false` if its content is already stored under any name.
    pub fn add(&mut self, background: &Background) -> Result<bool, StoreError> {
        let Background {
            asset,
            name,
            created,
            luminance,
            scene_words,
        } = background;
        let (darkest, lightest) = luminance.unzip();
        let rows = self
            .conn
            .prepare_cached(
                "INSERT INTO background (asset, name, created, darkest, lightest, scene_words)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING",
            )?
            .execute(params![
                Col(*asset),
                name,
                Col(*created),
                darkest,
                lightest,
                scene_words
            ])?;
        Ok(rows > 0)
    }

    pub fn set_luminance(
        &mut self,
        asset: AssetHash,
        luminance: (f64, f64),
    ) -> Result<(), StoreError> {
        let (darkest, lightest) = luminance;
        self.conn
            .prepare_cached("UPDATE background SET darkest = ?2, lightest = ?3 WHERE asset = ?1")?
            .execute(params![Col(asset), darkest, lightest])?;
        Ok(())
    }

    /// Returns whether the gallery contains it.
    pub fn set_scene_words(&mut self, asset: AssetHash, words: &str) -> Result<bool, StoreError> {
        let rows = self
            .conn
            .prepare_cached("UPDATE background SET scene_words = ?2 WHERE asset = ?1")?
            .execute(params![Col(asset), words])?;
        Ok(rows > 0)
    }

    /// Returns whether the gallery contained it.
    pub fn remove(&mut self, asset: AssetHash) -> Result<bool, StoreError> {
        Ok(self
            .conn
            .prepare_cached("DELETE FROM background WHERE asset = ?1")?
            .execute([Col(asset)])?
            > 0)
    }
}
