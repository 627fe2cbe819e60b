//! Estimates how many layers of a model fit the memory of graphics devices.

use worker::protocol::{CacheType, Device, DeviceKind, Load};

use crate::devices::Devices;
use crate::gguf::GgufHeader;

/// Memory of a device that stays free for the desktop and for other programs: this share, and at least [`SPARE`].
const SPARE_SHARE: u64 = 12;
const SPARE: u64 = 384 << 20;
/// Compute buffers on a device: this many bytes, and a twentieth of the weights.
const COMPUTE: u64 = 192 << 20;

/// Figures of a model that decide about layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ModelSize {
    /// Number of repeating layers; the output layer comes on top.
    pub(crate) layers: u32,
    /// Bytes of all weights.
    pub(crate) weights: u64,
    /// Bytes of f16 KV cache per token, of all layers.
    pub(crate) cache_per_token: u64,
}

impl ModelSize {
    pub(crate) fn of(header: &GgufHeader, bytes: u64) -> Self {
        let cache_per_token = header.cache_bytes_per_token.unwrap_or(0);
        Self { layers: header.layers.unwrap_or(0), weights: bytes, cache_per_token }
    }

    /// Bytes of KV cache for `context` tokens and the room for helper jobs.
    pub(crate) fn cache(&self, context: u32, cache_type: CacheType) -> u64 {
        let cells = u64::from(context) + u64::from(Load::background_room(context));
        let full = self.cache_per_token.saturating_mul(cells);
        match cache_type {
            CacheType::F16 => full,
            // 34 bytes for 32 values.
            CacheType::Q8_0 => full / 64 * 34,
        }
    }
}

/// The part of a model that the graphics devices of this machine would compute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphicsFit {
    pub layers: u32,
    /// All layers, with the output layer.
    pub of: u32,
    /// Descriptions of the devices.
    pub devices: Vec<String>,
    /// Free memory of the devices, in bytes.
    pub free: u64,
}

/// Estimates the layers of a model file of `bytes` that `devices` would compute with `context` tokens. `None` without a
/// graphics device.
pub fn graphics_fit(header: &GgufHeader, bytes: u64, context: u32, devices: &Devices) -> Option<GraphicsFit> {
    let graphics = devices.graphics();
    let size = ModelSize::of(header, bytes);
    (!graphics.is_empty()).then(|| GraphicsFit {
        layers: layers_that_fit(size, size.cache(context, CacheType::F16), &graphics),
        of: size.layers + 1,
        devices: graphics.iter().map(|device| device.description.clone()).collect(),
        free: graphics.iter().map(|device| device.free).fold(0, u64::saturating_add),
    })
}

/// Bytes that models may use on discrete devices. Integrated ones share the memory of the machine.
pub fn graphics_memory(devices: &Devices) -> u64 {
    let discrete = devices.graphics().into_iter().filter(|device| device.kind == DeviceKind::Discrete);
    discrete.map(usable).fold(0, u64::saturating_add)
}

/// Free memory of a device without what stays free.
fn usable(device: &Device) -> u64 {
    device.free.saturating_sub((device.total / SPARE_SHARE).max(SPARE))
}

/// Returns the number of layers, including the output layer, whose weights and KV cache fit the free memory of `devices`.
pub(crate) fn layers_that_fit(size: ModelSize, cache: u64, devices: &[&Device]) -> u32 {
    let all = size.layers + 1;
    if size.layers == 0 {
        return 0;
    }
    let compute = COMPUTE.saturating_add(size.weights / 20);
    let room = devices.iter().map(|device| usable(device).saturating_sub(compute)).fold(0, u64::saturating_add);
    // The output layer and the token table are about as large as one layer in most models, and larger in small ones.
    let per_layer = (size.weights.saturating_add(cache) / u64::from(size.layers)).max(1);
    u32::try_from(room / per_layer).unwrap_or(u32::MAX).min(all)
}

#[cfg(test)]
mod tests {
    use worker::protocol::DeviceKind;

    use super::*;

    const GIB: u64 = 1 << 30;

    fn card(free: u64) -> Device {
        let name = || String::from("Vulkan0");
        Device { name: name(), description: name(), backend: name(), kind: DeviceKind::Discrete, total: 8 * GIB, free }
    }

    /// An 8B model at Q4: 32 layers, 5 GB of weights, 128 KiB of cache per token.
    const LARGE: ModelSize = ModelSize { layers: 32, weights: 5_000_000_000, cache_per_token: 131_072 };

    #[test]
    fn only_discrete_devices_add_memory() {
        let integrated = Device { kind: DeviceKind::Integrated, ..card(6 * GIB) };
        assert_eq!(graphics_memory(&Devices::Known(vec![integrated.clone()])), 0);
        let both = Devices::Known(vec![card(6 * GIB), integrated]);
        assert_eq!(graphics_memory(&both), 6 * GIB - 8 * GIB / 12);
        assert_eq!(graphics_memory(&Devices::Failed(crate::LoadReason::Refused)), 0);
        assert_eq!(graphics_memory(&Devices::Known(vec![card(1)])), 0, "spare memory is not used");
    }

    #[test]
    fn more_free_memory_takes_more_layers() {
        let fit = |free, context| layers_that_fit(LARGE, LARGE.cache(context, CacheType::F16), &[&card(free)]);
        assert_eq!(fit(8 * GIB, 8_192), 33, "all of it");
        assert_eq!(fit(0, 8_192), 0);
        let half = fit(4 * GIB, 8_192);
        assert!((12..20).contains(&half), "{half}");
        assert!(fit(4 * GIB, 32_768) < half, "a larger context leaves less room");
        assert_eq!(layers_that_fit(LARGE, 0, &[]), 0);
    }

    #[test]
    fn several_cards_share_the_layers() {
        let cache = LARGE.cache(8_192, CacheType::F16);
        let one = layers_that_fit(LARGE, cache, &[&card(3 * GIB)]);
        let two = layers_that_fit(LARGE, cache, &[&card(3 * GIB), &card(3 * GIB)]);
        assert!(two == one * 2 || two == one * 2 + 1, "{one} and {two}");
    }

    #[test]
    fn quantized_cache_needs_about_half() {
        // A quarter of the context is room for helper jobs.
        assert_eq!(LARGE.cache(8_192, CacheType::F16), GIB / 4 * 5);
        assert_eq!(LARGE.cache(8_192, CacheType::Q8_0), GIB / 4 * 5 / 64 * 34);
        let hostile = ModelSize { layers: u32::MAX - 1, weights: u64::MAX, cache_per_token: u64::MAX };
        assert!(layers_that_fit(hostile, u64::MAX, &[&card(u64::MAX)]) > 0, "no overflow");
    }
}
