//! State of the worker, for display.

use serde::Serialize;

/// State of the worker.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum WorkerState {
    /// No worker has been needed yet.
    #[default]
    Absent,
    /// The process is starting, or a model is loading.
    Starting,
    /// A model is loaded.
    Idle,
    /// A reply is running.
    Busy,
    /// The worker died; the next request starts a new one.
    Dead,
}

/// A snapshot of the worker.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkerStatus {
    pub state: WorkerState,
    /// Process id while the process runs.
    pub pid: Option<u32>,
    /// Path of the loaded model.
    pub model: Option<String>,
    /// Context size of the loaded model in tokens; 0 if only its vocabulary is loaded.
    pub context: u32,
    /// Number of queued requests.
    pub waiting: usize,
    /// Deaths since the host was created.
    pub deaths: u32,
    /// Cause of the last death.
    pub last_death: Option<String>,
}
