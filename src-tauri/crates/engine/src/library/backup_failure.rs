//! Why the last backup failed.

use std::sync::{Mutex, PoisonError};

/// Reason of the last backup failure, also if only the copy in the second folder failed.
#[derive(Default)]
pub(crate) struct BackupFailure(pub(crate) Mutex<Option<String>>);

impl BackupFailure {
    pub(crate) fn get(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set(&self, reason: Option<String>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = reason;
    }
}
