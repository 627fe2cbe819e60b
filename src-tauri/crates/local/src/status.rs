//! State of the worker, for display.

use serde::Serialize;

use crate::load::LoadNote;

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
    /// The loaded model, and where it is.
    pub loaded: Option<LoadedModel>,
}

impl WorkerStatus {
    /// Bytes of this machine's memory that the loaded model takes.
    pub fn memory(&self) -> u64 {
        let devices = self.loaded.iter().flat_map(|loaded| &loaded.devices);
        devices
            .filter(|device| device.name.is_empty())
            .map(|device| device.used)
            .sum()
    }
}

/// A loaded model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LoadedModel {
    pub path: String,
    /// In tokens; 0 if only the vocabulary is loaded.
    pub context: u32,
    /// Number of layers, including the output layer.
    pub layers: u32,
    /// Layers on graphics devices.
    pub gpu_layers: u32,
    /// The first layers, whose experts stay in the memory of the processor.
    pub processor_experts: u32,
    pub devices: Vec<UsedDevice>,
    /// How it differs from what was wished.
    pub notes: Vec<LoadNote>,
}

/// Memory of a loaded model on one device, in bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UsedDevice {
    /// Name such as `Vulkan0`; empty for the processor.
    pub name: String,
    /// Product name; empty for the processor.
    pub description: String,
    pub weights: u64,
    pub cache: u64,
    pub compute: u64,
    /// Sum of the three.
    pub used: u64,
    /// All memory of a graphics device; 0 if unknown.
    pub total: u64,
}
