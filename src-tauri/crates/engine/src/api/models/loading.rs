//! How local models are loaded: devices, memory, adapters, speed.

use domain::ModelId;
pub use local::{LoadNote, LoadReason};
use serde::{Deserialize, Serialize};
use specta::Type;

/// A device that can compute models.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ComputeDevice {
    /// Name for the setting `gpu_device`, such as `Vulkan0`.
    pub name: String,
    /// Product name.
    pub description: String,
    /// Name of the backend, such as `Vulkan` or `CUDA`.
    pub backend: String,
    pub kind: ComputeDeviceKind,
    /// In bytes.
    #[specta(type = f64)]
    pub total: u64,
    /// In bytes.
    #[specta(type = f64)]
    pub free: u64,
}

/// The kind of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum ComputeDeviceKind {
    Processor,
    /// A graphics card with memory of its own.
    Discrete,
    /// Graphics that share the memory of the processor.
    Integrated,
    /// A helper of the processor, such as a matrix library.
    Accelerator,
}

/// The devices of this machine.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ComputeDevices {
    pub devices: Vec<ComputeDevice>,
    /// Why they could not be listed. The processor computes alone then.
    pub failure: Option<LoadReason>,
}

/// The state of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum ModelActivity {
    Unloaded,
    Loading,
    Idle,
    /// A reply is being generated.
    Busy,
}

/// Whether and where a local model is loaded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ModelState {
    /// Id of the model.
    pub id: ModelId,
    pub activity: ModelActivity,
    /// In tokens; 0 unless it is loaded.
    pub context: u32,
    /// Number of layers, including the output layer.
    pub layers: u32,
    /// Layers on graphics devices.
    pub gpu_layers: u32,
    /// The first layers of a mixture of experts, whose experts stay in the memory of the processor.
    pub processor_experts: u32,
    pub devices: Vec<ModelMemory>,
    /// How it differs from what was wished.
    pub notes: Vec<LoadNote>,
    /// `null`: the model reads no pictures.
    pub projector: Option<ModelProjector>,
    /// The user has chosen that the model reads no pictures.
    pub reads_no_pictures: bool,
    /// Adapters whose effects add up.
    pub adapters: Vec<ModelAdapter>,
}

/// Memory of a loaded model on one device, in bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ModelMemory {
    /// Product name of a graphics device; empty for the processor.
    pub device: String,
    #[specta(type = f64)]
    pub weights: u64,
    /// KV cache.
    #[specta(type = f64)]
    pub cache: u64,
    #[specta(type = f64)]
    pub compute: u64,
    /// All memory of the device; 0 if unknown.
    #[specta(type = f64)]
    pub total: u64,
}

/// An adapter (LoRA) that changes a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ModelAdapter {
    /// File name.
    pub name: String,
    pub path: String,
    /// Factor of its effect, 0 to 2; 1 is the effect of its training.
    pub weight: f32,
    /// The file is no longer where it was.
    pub missing: bool,
}

/// The file that reads pictures for a model (mmproj).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ModelProjector {
    /// File name.
    pub name: String,
    pub path: String,
    #[specta(type = f64)]
    pub bytes: u64,
    /// The file is no longer where it was.
    pub missing: bool,
    /// The app has found it in the model's folder.
    pub automatic: bool,
}

/// The result of a speed test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct SpeedTest {
    /// In the order of the measurements.
    pub runs: Vec<SpeedRun>,
    /// Position of the settings that the model keeps.
    pub best: u32,
}

/// One measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct SpeedRun {
    pub threads: u32,
    /// Tokens per batch; `null` is the app's choice.
    pub batch: Option<u32>,
    /// Layers on graphics devices.
    pub gpu_layers: u32,
    /// Tokens per second while a prompt is read.
    pub prompt: f32,
    /// Tokens per second of a reply.
    pub reply: f32,
}
