//! Errors of requests that load a model.

use worker::protocol::ErrorCode;

/// Reason why a model was not loaded.
pub(crate) struct WorkerError {
    pub(crate) code: ErrorCode,
    pub(crate) message: String,
}
