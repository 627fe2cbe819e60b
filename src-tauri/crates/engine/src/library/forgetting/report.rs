//! The part of a report about what was not removed.

use store::{Forgotten, Settled};

use crate::api::{ForgetRemainder, ForgetReport, RemainderKind};

impl ForgetReport {
    pub(super) fn of(forgotten: &Forgotten) -> Self {
        let mut report = Self {
            removed: forgotten.counts,
            ..Self::default()
        };
        let failures = [
            (RemainderKind::Files, &forgotten.files_left),
            (RemainderKind::BackupsUnnoted, &forgotten.backups_left),
            (RemainderKind::Traces, &forgotten.traces_left),
        ];
        for failure in failures {
            if let Some(reason) = failure.1 {
                report.leave(failure.0, reason);
            }
        }
        report
    }

    /// Notes one thing that was not removed.
    pub(super) fn leave(&mut self, kind: RemainderKind, detail: impl ToString) {
        self.left.push(ForgetRemainder {
            kind,
            count: 1,
            detail: detail.to_string(),
        });
    }

    /// Notes a number of things that were not removed, unless there are none.
    pub(super) fn leave_all(&mut self, kind: RemainderKind, count: u32) {
        if count > 0 {
            self.left.push(ForgetRemainder {
                kind,
                count,
                detail: String::new(),
            });
        }
    }

    pub(super) fn settle(&mut self, settled: &Settled) {
        self.backups = settled.removed as u32;
        for failed in &settled.failed {
            let detail = format!("{}: {}", failed.0.display(), failed.1);
            self.leave(RemainderKind::BackupLeft, detail);
        }
    }
}
