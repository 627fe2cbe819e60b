//! The last vision report of each chat. It is kept in memory only: nothing of it is stored before a
//! turn includes it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::ChatId;

use crate::api::VisionStatus;

#[derive(Clone, Default)]
pub(crate) struct Vision {
    reports: Arc<Mutex<Reports>>,
}

#[derive(Default)]
struct Reports {
    of: HashMap<ChatId, LastReport>,
    next: u64,
}

struct LastReport {
    number: u64,
    status: VisionStatus,
    /// No turn has included it yet.
    is_new: bool,
}

/// A report that no turn has included yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NewReport {
    number: u64,
    pub(crate) status: VisionStatus,
}

impl Vision {
    /// Replaces the last report of the chat.
    pub(crate) fn report(&self, chat: ChatId, status: VisionStatus) {
        let mut reports = self.lock();
        let number = reports.next;
        reports.next += 1;
        reports.of.insert(
            chat,
            LastReport {
                number,
                status,
                is_new: true,
            },
        );
    }

    pub(crate) fn status(&self, chat: ChatId) -> Option<VisionStatus> {
        self.lock().of.get(&chat).map(|last| last.status.clone())
    }

    /// The report that the next turn includes.
    pub(crate) fn new_report(&self, chat: ChatId) -> Option<NewReport> {
        let reports = self.lock();
        let last = reports.of.get(&chat).filter(|last| last.is_new)?;
        Some(NewReport {
            number: last.number,
            status: last.status.clone(),
        })
    }

    /// A turn has included the report. A newer one stays new.
    pub(crate) fn included(&self, chat: ChatId, report: &NewReport) {
        if let Some(last) = self
            .lock()
            .of
            .get_mut(&chat)
            .filter(|last| last.number == report.number)
        {
            last.is_new = false;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Reports> {
        self.reports.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn status(text: &str) -> VisionStatus {
        VisionStatus {
            state: None,
            text: text.to_owned(),
            at: String::new(),
        }
    }

    #[test]
    fn a_report_is_new_until_a_turn_includes_it() {
        let vision = Vision::default();
        let chat = ChatId(Uuid::from_u128(1));
        assert_eq!(vision.new_report(chat), None);
        vision.report(chat, status("waves"));
        let first = vision.new_report(chat).unwrap();
        vision.report(chat, status("leaves"));
        vision.included(chat, &first);
        let second = vision.new_report(chat).unwrap();
        assert_eq!(
            second.status.text, "leaves",
            "a report during a turn waits for the next one"
        );
        vision.included(chat, &second);
        assert_eq!(vision.new_report(chat), None);
        assert_eq!(
            vision.status(chat).unwrap().text,
            "leaves",
            "the status stays on the screen"
        );
    }
}
