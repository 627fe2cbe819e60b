//! The warnings about the user's data that are in force. They survive restarts as a setting.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::api::{DataWarning, DataWarningKind};

/// Key of the setting.
pub(crate) const SETTING: &str = "data_warnings";

/// At most one warning of each kind.
#[derive(Default)]
pub(crate) struct DataWarningList(Mutex<Vec<DataWarning>>);

impl DataWarningList {
    /// The warnings of earlier sessions. An unreadable setting has none.
    pub(crate) fn load(json: Option<&String>) -> Self {
        let stored = json
            .and_then(|json| serde_json::from_str(json).ok())
            .unwrap_or_default();
        Self(Mutex::new(stored))
    }

    pub(crate) fn all(&self) -> Vec<DataWarning> {
        self.list().clone()
    }

    pub(crate) fn get(&self, kind: DataWarningKind) -> Option<DataWarning> {
        self.list()
            .iter()
            .find(|warning| warning.kind == kind)
            .cloned()
    }

    /// Sets a warning, which keeps the time of the first one of its kind. Returns whether this is
    /// news.
    pub(crate) fn set(&self, warning: DataWarning) -> bool {
        let mut list = self.list();
        match list.iter_mut().find(|known| known.kind == warning.kind) {
            Some(known) => {
                let same = (known.count, &known.detail) == (warning.count, &warning.detail);
                *known = DataWarning {
                    since: std::mem::take(&mut known.since),
                    ..warning
                };
                !same
            }
            None => {
                list.push(warning);
                list.sort_by_key(|warning| warning.kind);
                true
            }
        }
    }

    /// Returns whether there was such a warning.
    pub(crate) fn clear(&self, kind: DataWarningKind) -> bool {
        let mut list = self.list();
        let before = list.len();
        list.retain(|warning| warning.kind != kind);
        list.len() < before
    }

    fn list(&self) -> MutexGuard<'_, Vec<DataWarning>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warning(kind: DataWarningKind, count: u32, since: &str) -> DataWarning {
        DataWarning {
            kind,
            count,
            detail: String::new(),
            since: since.into(),
        }
    }

    #[test]
    fn one_warning_of_each_kind_keeps_its_first_time() {
        let list = DataWarningList::default();
        assert!(list.set(warning(DataWarningKind::PicturesLost, 1, "Monday")));
        assert!(!list.set(warning(DataWarningKind::PicturesLost, 1, "Tuesday")));
        assert!(list.set(warning(DataWarningKind::PicturesLost, 2, "Friday")));
        assert!(list.set(warning(DataWarningKind::LogLost, 3, "Friday")));
        let json = serde_json::to_string(&list.all()).unwrap();
        let again = DataWarningList::load(Some(&json));
        let expected = [
            warning(DataWarningKind::LogLost, 3, "Friday"),
            warning(DataWarningKind::PicturesLost, 2, "Monday"),
        ];
        assert_eq!(again.all(), expected);
        assert!(again.clear(DataWarningKind::LogLost) && !again.clear(DataWarningKind::LogLost));
        assert!(
            DataWarningList::load(Some(&"{".to_owned()))
                .all()
                .is_empty()
        );
    }
}
