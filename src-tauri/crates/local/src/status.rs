//! What a screen shows of the worker.

use serde::Serialize;

/// What the worker is doing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum State {
    /// None has been needed yet.
    #[default]
    Absent,
    /// The process starts, or a model is loaded.
    Starting,
    /// A model is loaded and waits.
    Idle,
    /// It reads a prompt or writes a reply.
    Busy,
    /// It died; the next request starts another.
    Dead,
}

/// A look at the worker.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    pub state: State,
    /// Of the running process.
    pub pid: Option<u32>,
    /// Path of the loaded model.
    pub model: Option<String>,
    /// Context size of the loaded model in tokens; 0 where only its vocabulary is loaded.
    pub context: u32,
    /// Requests that wait for the running one.
    pub waiting: usize,
    /// Deaths since the host was made.
    pub deaths: u32,
    /// How the last one died.
    pub last_death: Option<String>,
}
