//! Estimates how many layers of a model fit the memory of graphics devices.

use worker::protocol::{CacheType, Device, DeviceKind, Load};

use crate::devices::Devices;
use crate::gguf::GgufHeader;

/// Memory of a device that stays free for the desktop and for other programs: this share, and at
/// least [`SPARE`].
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
    /// Those of them that belong to experts.
    pub(crate) experts: u64,
    /// Number of the first layers, which have no experts.
    pub(crate) dense_layers: u32,
    /// Bytes of f16 KV cache per token, of all layers.
    pub(crate) cache_per_token: u64,
}

impl ModelSize {
    pub(crate) fn of(header: &GgufHeader, bytes: u64) -> Self {
        let cache_per_token = header.cache_bytes_per_token.unwrap_or(0);
        let experts = header.expert_bytes.min(bytes);
        let (layers, dense_layers) = (header.layers.unwrap_or(0), header.dense_layers);
        Self {
            layers,
            weights: bytes,
            experts,
            dense_layers,
            cache_per_token,
        }
    }

    /// The weights without the experts of the first `layers`.
    pub(crate) fn without_experts(self, layers: u32) -> Self {
        Self {
            weights: self.weights - self.experts_of(layers),
            ..self
        }
    }

    /// Bytes of the experts of the first `layers`.
    pub(crate) fn experts_of(&self, layers: u32) -> u64 {
        let with_experts =
            |layers: u32| u128::from(layers.min(self.layers).saturating_sub(self.dense_layers));
        let share =
            u128::from(self.experts) * with_experts(layers) / with_experts(self.layers).max(1);
        u64::try_from(share).unwrap_or(self.experts)
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
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct GraphicsFit {
    pub layers: u32,
    /// The first layers, whose experts stay in the memory of the processor.
    pub processor_experts: u32,
    /// All layers, with the output layer.
    pub of: u32,
    /// Descriptions of the devices.
    pub devices: Vec<String>,
    /// Free memory of the devices, in bytes.
    #[cfg_attr(feature = "specta", specta(type = f64))]
    pub free: u64,
}

/// Estimates the layers of a model file of `bytes` that `devices` would compute with `context`
/// tokens. `None` without a graphics device.
pub fn graphics_fit(
    header: &GgufHeader,
    bytes: u64,
    context: u32,
    devices: &Devices,
) -> Option<GraphicsFit> {
    let graphics = devices.graphics();
    let size = ModelSize::of(header, bytes);
    (!graphics.is_empty()).then(|| {
        let split = split_that_fits(size, size.cache(context, CacheType::F16), &graphics);
        GraphicsFit {
            layers: split.gpu_layers,
            processor_experts: split.processor_experts,
            of: size.layers.saturating_add(1),
            devices: graphics
                .iter()
                .map(|device| device.description.clone())
                .collect(),
            free: graphics
                .iter()
                .map(|device| device.free)
                .fold(0, u64::saturating_add),
        }
    })
}

/// Bytes that models may use on discrete devices. Integrated ones share the memory of the machine.
pub fn graphics_memory(devices: &Devices) -> u64 {
    let discrete = devices
        .graphics()
        .into_iter()
        .filter(|device| device.kind == DeviceKind::Discrete);
    discrete.map(usable).fold(0, u64::saturating_add)
}

/// Estimates the share of a model file of `bytes` that `devices` would compute, from 0 to 1. `cache`
/// are the bytes of its KV cache.
pub fn graphics_share(bytes: u64, cache: u64, devices: &Devices) -> f64 {
    let room = room(bytes, &devices.graphics());
    let needed = bytes.saturating_add(cache).max(1);
    (room as f64 / needed as f64).min(1.0)
}

/// Bytes that layers of a model with `weights` may take on `devices`.
fn room(weights: u64, devices: &[&Device]) -> u64 {
    let compute = COMPUTE.saturating_add(weights / 20);
    devices
        .iter()
        .map(|device| usable(device).saturating_sub(compute))
        .fold(0, u64::saturating_add)
}

/// Free memory of a device without what stays free.
fn usable(device: &Device) -> u64 {
    device
        .free
        .saturating_sub((device.total / SPARE_SHARE).max(SPARE))
}

/// The parts of a model on graphics devices and on the processor.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct LayerSplit {
    /// Layers on graphics devices, including the output layer.
    pub(crate) gpu_layers: u32,
    /// The first layers, whose experts stay in the memory of the processor.
    pub(crate) processor_experts: u32,
}

/// Splits a model over the free memory of `devices` and the processor. A token uses few of the
/// experts, so they are the first thing that the devices do without: attention and the KV cache
/// gain more from a device than the same bytes of experts.
pub(crate) fn split_that_fits(size: ModelSize, cache: u64, devices: &[&Device]) -> LayerSplit {
    let all = size.layers.saturating_add(1);
    let fits = |experts| layers_that_fit(size.without_experts(experts), cache, devices) >= all;
    if size.experts == 0 || fits(0) {
        return LayerSplit {
            gpu_layers: layers_that_fit(size, cache, devices),
            processor_experts: 0,
        };
    }
    if !fits(size.layers) {
        let gpu_layers = layers_that_fit(size.without_experts(size.layers), cache, devices);
        return LayerSplit {
            gpu_layers,
            processor_experts: if gpu_layers > 0 { size.layers } else { 0 },
        };
    }
    // `fits` is false below a number of layers and true from it on.
    let (mut too_few, mut enough) = (0, size.layers);
    while enough - too_few > 1 {
        let middle = too_few + (enough - too_few) / 2;
        if fits(middle) {
            enough = middle
        } else {
            too_few = middle
        }
    }
    LayerSplit {
        gpu_layers: all,
        processor_experts: enough,
    }
}

/// Returns the number of layers, including the output layer, whose weights and KV cache fit the
/// free memory of `devices`.
pub(crate) fn layers_that_fit(size: ModelSize, cache: u64, devices: &[&Device]) -> u32 {
    let all = size.layers.saturating_add(1);
    if size.layers == 0 {
        return 0;
    }
    let room = room(size.weights, devices);
    // The output layer and the token table are about as large as one layer in most models, and
    // larger in small ones.
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
        Device {
            name: name(),
            description: name(),
            backend: name(),
            kind: DeviceKind::Discrete,
            total: 8 * GIB,
            free,
        }
    }

    /// An 8B model at Q4: 32 layers, 5 GB of weights, 128 KiB of cache per token.
    const LARGE: ModelSize = ModelSize {
        layers: 32,
        weights: 5_000_000_000,
        experts: 0,
        dense_layers: 0,
        cache_per_token: 131_072,
    };

    /// A 30B mixture of experts at Q4: 48 layers, 18.5 GB of weights, 96 KiB of cache per token.
    const MIXTURE: ModelSize = ModelSize {
        layers: 48,
        weights: 18_500_000_000,
        experts: 17_000_000_000,
        dense_layers: 0,
        cache_per_token: 98_304,
    };

    fn split(free: u64) -> LayerSplit {
        split_that_fits(
            MIXTURE,
            MIXTURE.cache(8_192, CacheType::F16),
            &[&card(free)],
        )
    }

    #[test]
    fn experts_leave_the_device_before_whole_layers() {
        assert_eq!(
            split(64 * GIB),
            LayerSplit {
                gpu_layers: 49,
                processor_experts: 0
            }
        );
        let LayerSplit {
            gpu_layers,
            processor_experts,
        } = split(12 * GIB);
        assert_eq!(gpu_layers, 49, "attention and cache of all layers");
        assert!((20..30).contains(&processor_experts), "{processor_experts}");
        assert!(
            split(8 * GIB).processor_experts > processor_experts,
            "less memory, fewer experts"
        );
        let small = split(2 * GIB);
        assert!(
            small.processor_experts == 48 && (1..49).contains(&small.gpu_layers),
            "{small:?}"
        );
        assert_eq!(split(0), LayerSplit::default());
    }

    #[test]
    fn first_layers_without_experts_free_nothing() {
        let size = ModelSize {
            dense_layers: 3,
            ..MIXTURE
        };
        assert_eq!(
            [0, 3, 48, 99].map(|layers| size.experts_of(layers)),
            [0, 0, size.experts, size.experts]
        );
        assert_eq!(size.experts_of(4), size.experts / 45);
        let all_dense = ModelSize {
            dense_layers: u32::MAX,
            ..MIXTURE
        };
        assert_eq!(all_dense.experts_of(48), 0);
    }

    #[test]
    fn split_of_a_dense_model_is_that_of_its_layers() {
        for free in [0, GIB, 4 * GIB, 8 * GIB] {
            let cache = LARGE.cache(8_192, CacheType::F16);
            let gpu_layers = layers_that_fit(LARGE, cache, &[&card(free)]);
            let expected = LayerSplit {
                gpu_layers,
                processor_experts: 0,
            };
            assert_eq!(split_that_fits(LARGE, cache, &[&card(free)]), expected);
        }
    }

    #[test]
    fn only_discrete_devices_add_memory() {
        let integrated = Device {
            kind: DeviceKind::Integrated,
            ..card(6 * GIB)
        };
        assert_eq!(
            graphics_memory(&Devices::Known(vec![integrated.clone()])),
            0
        );
        let both = Devices::Known(vec![card(6 * GIB), integrated]);
        assert_eq!(graphics_memory(&both), 6 * GIB - 8 * GIB / 12);
        assert_eq!(
            graphics_memory(&Devices::Failed(crate::LoadReason::Refused)),
            0
        );
        assert_eq!(
            graphics_memory(&Devices::Known(vec![card(1)])),
            0,
            "spare memory is not used"
        );
    }

    #[test]
    fn more_free_memory_takes_more_layers() {
        let fit = |free, context| {
            layers_that_fit(LARGE, LARGE.cache(context, CacheType::F16), &[&card(free)])
        };
        assert_eq!(fit(8 * GIB, 8_192), 33, "all of it");
        assert_eq!(fit(0, 8_192), 0);
        let half = fit(4 * GIB, 8_192);
        assert!((12..20).contains(&half), "{half}");
        assert!(
            fit(4 * GIB, 32_768) < half,
            "a larger context leaves less room"
        );
        assert_eq!(layers_that_fit(LARGE, 0, &[]), 0);
    }

    #[test]
    fn share_grows_with_the_free_memory() {
        let share =
            |free| graphics_share(LARGE.weights, GIB, &Devices::Known(vec![card(free * GIB)]));
        assert_eq!(share(8), 1.0);
        assert_eq!(share(0), 0.0);
        let half = share(4);
        assert!((0.3..0.7).contains(&half), "{half}");
        assert_eq!(graphics_share(0, 0, &Devices::Unknown), 0.0);
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
        let hostile = ModelSize {
            layers: u32::MAX,
            weights: u64::MAX,
            experts: u64::MAX,
            dense_layers: 1,
            cache_per_token: u64::MAX,
        };
        assert!(
            layers_that_fit(hostile, u64::MAX, &[&card(u64::MAX)]) > 0,
            "no overflow"
        );
        assert!(
            split_that_fits(hostile, u64::MAX, &[&card(u64::MAX)]).gpu_layers > 0,
            "no overflow"
        );
    }
}
