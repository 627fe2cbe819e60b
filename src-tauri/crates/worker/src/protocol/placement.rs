//! Loaded models, and the devices that compute them.

use serde::{Deserialize, Serialize};

/// The loaded model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadedModelInfo {
    /// Context size in tokens; 0 if only the vocabulary is loaded.
    pub context: u32,
    /// Number of tokens in the vocabulary.
    pub vocab: u32,
    /// Vector length; 0 unless the model was loaded for embeddings.
    pub dimensions: u32,
    /// The model requires a beginning-of-sequence token. A prompt has the sum of its segments'
    /// tokens, plus 1 if its first control segment does not begin with that token.
    pub bos: bool,
    #[serde(default)]
    pub placement: Placement,
}

/// The devices and memory of a loaded model, as llama.cpp reports them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    /// Number of layers, including the output layer; 0 if only the vocabulary is loaded.
    pub layers: u32,
    /// Layers on graphics devices.
    pub gpu_layers: u32,
    /// Memory by device. The processor is the device without a name.
    pub memory: Vec<DeviceMemory>,
}

/// Bytes of a loaded model on one device.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceMemory {
    /// Name such as `Vulkan0`; empty for the processor.
    pub device: String,
    pub weights: u64,
    /// KV cache and recurrent state.
    pub cache: u64,
    pub compute: u64,
}

impl DeviceMemory {
    pub fn total(&self) -> u64 {
        self.weights
            .saturating_add(self.cache)
            .saturating_add(self.compute)
    }
}

/// A device that can compute models. `inglenook-worker --devices` prints a list of them as JSON and
/// exits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// Name for [`Tuning::device`], such as `Vulkan0`.
    pub name: String,
    /// Product name.
    pub description: String,
    /// Name of the backend, such as `Vulkan` or `CUDA`.
    pub backend: String,
    pub kind: DeviceKind,
    /// Bytes.
    pub total: u64,
    /// Bytes that other programs do not use.
    pub free: u64,
}

/// Kind of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeviceKind {
    Processor,
    /// A graphics card with memory of its own.
    Discrete,
    /// Graphics that share the memory of the processor.
    Integrated,
    /// A helper of the processor, such as a matrix library.
    Accelerator,
}
