//! Stores import reports so that the user can open them again.

use store::ImportRecord;
use uuid::Uuid;

use crate::api::{self, ApiError, Event, ImportReport};
use crate::base::clock::rfc3339;
use crate::base::error::{ApiResult, bad_input, not_found};
use crate::import::reports::ImportReports;

/// Maximum number of lines of each kind in a stored report. The counts in the list include all
/// lines.
const LINES: usize = 2_000;

impl ImportReports {
    /// Stored reports, newest first.
    pub(crate) async fn list_import_reports(&self) -> ApiResult<Vec<api::ImportRecord>> {
        let records = self
            .base()
            .store()
            .read(|store| store.import_reports().list())
            .await?;
        let shown = |record: ImportRecord| api::ImportRecord {
            id: record.id.to_string(),
            created: rfc3339(record.created),
            imported: record.imported,
            skipped: record.skipped,
            refused: record.refused,
            cancelled: record.cancelled,
        };
        Ok(records.into_iter().map(shown).collect())
    }

    /// # Errors
    /// `NotFound` if newer reports have replaced it.
    pub(crate) async fn get_import_report(&self, id: String) -> ApiResult<ImportReport> {
        let id = Uuid::parse_str(&id)
            .map_err(|_| bad_input("This is not an id.", "Use an id from the list."))?;
        let json = self
            .base()
            .store()
            .read(move |store| store.import_reports().get(id))
            .await?;
        json.and_then(|json| serde_json::from_str(&json).ok())
            .ok_or_else(|| not_found("report"))
    }

    /// Stores the combined report of files that were imported one by one, and notifies listeners.
    pub(crate) async fn keep_import_report(&self, report: ImportReport) -> ApiResult<()> {
        self.report_import(&report).await;
        Ok(())
    }

    /// Stores a report and notifies listeners. A storage error does not fail the completed import.
    pub(crate) async fn report_import(&self, report: &ImportReport) {
        self.store_report(report).await;
        self.base().events().announce(Event::Imported {
            report: report.clone(),
        });
    }

    pub(crate) async fn store_report(&self, report: &ImportReport) {
        if report.imported.is_empty() && report.skipped.is_empty() && report.refused.is_empty() {
            return;
        }
        if let Err(error) = self.try_store(report).await {
            tracing::warn!(%error, "the report of an import could not be stored");
        }
    }

    async fn try_store(&self, report: &ImportReport) -> Result<(), ApiError> {
        let count = |lines: usize| u32::try_from(lines).unwrap_or(u32::MAX);
        let record = ImportRecord {
            id: Uuid::now_v7(),
            created: self.base().now(),
            imported: count(report.imported.len()),
            skipped: count(report.skipped.len()),
            refused: count(report.refused.len()),
            cancelled: report.cancelled,
        };
        let mut kept = report.clone();
        kept.imported.truncate(LINES);
        kept.skipped.truncate(LINES);
        kept.refused.truncate(LINES);
        let json = serde_json::to_string(&kept)
            .map_err(|error| crate::base::error::internal(&error.to_string()))?;
        Ok(self
            .base()
            .store()
            .write(move |store| store.import_reports_mut().insert(&record, &json))
            .await?)
    }
}
