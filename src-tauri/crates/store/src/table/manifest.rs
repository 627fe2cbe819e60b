//! Manifests: the record of the prompt that a swipe answered, as JSON.

use std::collections::HashMap;

use domain::{SwipeId, Timestamp};
use rusqlite::{Connection, OptionalExtension, params};

use crate::StoreError;
use crate::sql::Col;

pub struct Manifests<'a> {
    pub(crate) conn: &'a Connection,
}

impl Manifests<'_> {
    pub fn get(&self, swipe: SwipeId) -> Result<Option<String>, StoreError> {
        let json = self
            .conn
            .prepare_cached("SELECT json FROM manifest WHERE swipe = ?1")?
            .query_row([Col(swipe)], |row| row.get(0))
            .optional()?;
        Ok(json)
    }

    /// The figures of those `swipes` that have them.
    pub fn figures(&self, swipes: &[SwipeId]) -> Result<HashMap<SwipeId, String>, StoreError> {
        let mut statement = self.conn.prepare_cached("SELECT figures FROM manifest WHERE swipe = ?1")?;
        let mut found = HashMap::new();
        for swipe in swipes {
            let figures = statement.query_row([Col(*swipe)], |row| row.get(0)).optional()?;
            found.extend(figures.map(|figures| (*swipe, figures)));
        }
        Ok(found)
    }
}

pub struct ManifestsMut<'a> {
    pub(crate) conn: &'a Connection,
}

impl ManifestsMut<'_> {
    /// A reply that is continued gets the manifest of its last request.
    pub fn insert(&mut self, swipe: SwipeId, json: &str, figures: &str) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO manifest (swipe, json, figures) VALUES (?1, ?2, ?3)
                 ON CONFLICT (swipe) DO UPDATE SET json = excluded.json, figures = excluded.figures",
            )?
            .execute(params![Col(swipe), json, figures])?;
        Ok(())
    }

    /// Empties the manifests that may quote messages deleted at or before `before`: all of their chats. Figures stay.
    pub(crate) fn forget(&mut self, before: Timestamp) -> Result<(), StoreError> {
        self.conn.execute(
            "UPDATE manifest SET json = '' WHERE swipe IN (
                 SELECT swipe.id FROM swipe JOIN message ON message.id = swipe.message
                 WHERE message.chat IN (SELECT chat FROM message WHERE deleted <= ?1))",
            [Col(before)],
        )?;
        Ok(())
    }
}
