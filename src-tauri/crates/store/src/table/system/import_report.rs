//! Reports of imports. Only the newest ones are kept.

use domain::Timestamp;
use rusqlite::{OptionalExtension, Row, params};
use uuid::Uuid;

use crate::StoreError;
use crate::access::{ImportReports, ImportReportsMut};
use crate::sql::Col;

/// Maximum number of reports.
const KEPT: u32 = 50;

/// A report without its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportRecord {
    pub id: Uuid,
    pub created: Timestamp,
    pub imported: u32,
    pub skipped: u32,
    pub refused: u32,
    pub cancelled: bool,
}

impl ImportReports<'_> {
    /// The newest first.
    pub fn list(&self) -> Result<Vec<ImportRecord>, StoreError> {
        let rows = self
            .conn
            .prepare_cached(
                "SELECT id, created, imported, skipped, refused, cancelled FROM import_report ORDER BY created DESC, id DESC",
            )?
            .query_map([], from_row)?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// The JSON of a report.
    pub fn get(&self, id: Uuid) -> Result<Option<String>, StoreError> {
        let json = self
            .conn
            .prepare_cached("SELECT json FROM import_report WHERE id = ?1")?
            .query_row([id.as_bytes()], |row| row.get(0))
            .optional()?;
        Ok(json)
    }
}

impl ImportReportsMut<'_> {
    /// Stores a report, and removes the oldest ones beyond the limit.
    pub fn insert(&mut self, record: &ImportRecord, json: &str) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO import_report (id, created, imported, skipped, refused, cancelled, json) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?
            .execute(params![
                record.id.as_bytes(),
                Col(record.created),
                record.imported,
                record.skipped,
                record.refused,
                record.cancelled,
                json,
            ])?;
        self.conn
            .prepare_cached(
                "DELETE FROM import_report WHERE id NOT IN \
                 (SELECT id FROM import_report ORDER BY created DESC, id DESC LIMIT ?1)",
            )?
            .execute([KEPT])?;
        Ok(())
    }
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<ImportRecord> {
    let id: Vec<u8> = row.get("id")?;
    Ok(ImportRecord {
        id: Uuid::from_slice(&id).map_err(rusqlite::types::FromSqlError::other)?,
        created: row.get::<_, Col<_>>("created")?.0,
        imported: row.get("imported")?,
        skipped: row.get("skipped")?,
        refused: row.get("refused")?,
        cancelled: row.get("cancelled")?,
    })
}
