//! State of a folder import: one at a time, its progress, and how to cancel it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use crate::api::{ApiError, Changed, Event, ImportProgress, ImportReport, ImportStage};
use crate::base::error::ApiResult;
use crate::base::events::Announcer;
use crate::import::reports::ImportReports;

/// Minimum interval between progress events.
const NEWS: Duration = Duration::from_millis(100);
/// Minimum interval between list updates. Each update makes the UI load a list again.
const LISTS: Duration = Duration::from_secs(3);

/// The current import, if any.
#[derive(Clone, Default)]
pub(crate) struct Importing {
    current: Arc<Mutex<Option<Current>>>,
}

struct Current {
    progress: ImportProgress,
    cancel: CancellationToken,
}

/// A running import. Dropping it allows the next one and announces the end.
pub(crate) struct ImportRun {
    importing: Importing,
    events: Announcer,
    cancel: CancellationToken,
    progress: ImportProgress,
    told: Instant,
    listed: Instant,
    report: Option<ImportReport>,
}

impl ImportReports {
    /// Progress of the folder import, if one is running.
    pub(crate) async fn import_progress(&self) -> ApiResult<Option<ImportProgress>> {
        Ok(self
            .importing()
            .lock()
            .as_ref()
            .map(|current| current.progress))
    }

    /// Cancels the folder import after its current item. Imported items stay.
    pub(crate) async fn cancel_import(&self) -> ApiResult<()> {
        self.importing().cancel();
        Ok(())
    }
}

impl Importing {
    /// # Errors
    /// `Busy` while another one runs.
    pub(crate) fn begin(&self, events: &Announcer) -> ApiResult<ImportRun> {
        let mut current = self.lock();
        if current.is_some() {
            return Err(ApiError::Busy {
                message: "Another folder is being imported.".into(),
                hint: "Wait until it is done, or cancel it.".into(),
            });
        }
        let progress = ImportProgress::default();
        let cancel = CancellationToken::new();
        let now = Instant::now();
        *current = Some(Current {
            progress,
            cancel: cancel.clone(),
        });
        drop(current);
        events.announce(Event::Importing { progress });
        let importing = self.clone();
        let events = events.clone();
        Ok(ImportRun {
            importing,
            events,
            cancel,
            progress,
            told: now,
            listed: now,
            report: None,
        })
    }

    pub(crate) fn cancel(&self) {
        if let Some(current) = &*self.lock() {
            current.cancel.cancel();
        }
    }

    pub(crate) fn none(&self) -> bool {
        self.lock().is_none()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Current>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ImportRun {
    /// Sets the total number of items.
    pub(crate) fn expect(&mut self, total: usize) {
        self.progress.total = u32::try_from(total).unwrap_or(u32::MAX);
        self.tell();
    }

    pub(crate) fn enter(&mut self, stage: ImportStage) {
        self.progress.stage = stage;
        self.tell();
    }

    /// Counts one finished item.
    pub(crate) fn step(&mut self) {
        self.progress.done = (self.progress.done + 1).min(self.progress.total);
        if self.told.elapsed() >= NEWS {
            self.tell();
        }
        if self.listed.elapsed() >= LISTS {
            self.list();
        }
    }

    pub(crate) fn cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Sets the report that listeners receive when the run is dropped.
    pub(crate) fn end(mut self, report: &ImportReport) {
        self.tell();
        self.list();
        self.report = Some(report.clone());
    }

    fn tell(&mut self) {
        self.told = Instant::now();
        if let Some(current) = &mut *self.importing.lock() {
            current.progress = self.progress;
        }
        self.events.announce(Event::Importing {
            progress: self.progress,
        });
    }

    fn list(&mut self) {
        self.listed = Instant::now();
        self.events.changed(Changed::Characters, None);
        self.events.changed(Changed::Chats, None);
    }
}

impl Drop for ImportRun {
    fn drop(&mut self) {
        *self.importing.lock() = None;
        self.events.announce(Event::ImportEnded {
            report: self.report.take(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn one_import_at_a_time_and_its_end_is_announced() {
        let importing = Importing::default();
        let events = Announcer::default();
        let mut heard = events.subscribe();
        let mut run = importing.begin(&events).unwrap();
        assert!(matches!(
            importing.begin(&events),
            Err(ApiError::Busy { .. })
        ));
        run.expect(2);
        run.enter(ImportStage::Chats);
        run.step();
        importing.cancel();
        assert!(run.cancelled());
        drop(run);
        let mut told = Vec::new();
        loop {
            match heard.next().await.unwrap() {
                Event::Importing { progress } => told.push((progress.total, progress.stage)),
                Event::ImportEnded { report } => {
                    assert_eq!(report, None);
                    break;
                }
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(
            told,
            [
                (0, ImportStage::Looking),
                (2, ImportStage::Looking),
                (2, ImportStage::Chats)
            ]
        );
        assert!(
            !importing.begin(&events).unwrap().cancelled(),
            "the next import is not cancelled"
        );
    }
}
