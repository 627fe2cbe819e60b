//! How fast models write on this machine, before they are tried.
//!
//! To write a token, a model reads all of its active weights once. Its speed is therefore the speed
//! of the memory, divided by the bytes of these weights. The KV cache is left out, because it is a
//! small part of them in a usual chat. The estimate serves until a reply was measured.

mod machine;
mod memory;

pub use machine::machine_name;
pub use memory::memory_speed;

use serde::{Deserialize, Serialize};
use worker::protocol::{Device, DeviceKind};

use crate::devices::Devices;

/// Share of the memory's speed that a model reaches, as a rule of thumb.
const USED_SHARE: f64 = 0.7;
/// Bytes of weights that one thread of a processor computes each second, whatever the memory
/// delivers. Measured: SmolLM2 with 98 MB writes 113.5 tokens per second with two threads.
const PER_THREAD: f64 = 5.5e9;
/// Seconds that a graphics device takes for each token besides reading weights. It limits very
/// small models to about 500 tokens per second.
const TOKEN_OVERHEAD: f64 = 0.002;
/// Lower bounds of the memory speed of graphics cards: GiB of memory, and the bytes per second of the
/// slowest common card with at least that much (RTX 4000 SFF Ada, A2, RX 6500 XT).
const CARD_SPEEDS: [(u64, f64); 3] = [(19, 280e9), (11, 200e9), (5, 140e9)];
/// The same for cards with less memory (MX450).
const SMALL_CARD_SPEED: f64 = 80e9;

/// Bytes of weights that one token reads, by the memory that they are in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenReads {
    pub processor: u64,
    pub graphics: u64,
}

impl TokenReads {
    /// Splits `bytes`, of which the share `on_graphics`, from 0 to 1, is on graphics devices.
    pub fn split(bytes: u64, on_graphics: f64) -> Self {
        let graphics = (bytes as f64 * on_graphics.clamp(0.0, 1.0)) as u64;
        let graphics = graphics.min(bytes);
        Self {
            processor: bytes - graphics,
            graphics,
        }
    }

    pub fn total(self) -> u64 {
        self.processor.saturating_add(self.graphics)
    }
}

/// Bytes of weights that models read each second; 0 for graphics without a device.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReadSpeeds {
    pub processor: f64,
    pub graphics: f64,
}

impl ReadSpeeds {
    /// The speeds of a machine whose `memory` delivers so many bytes per second, with `threads` of
    /// the processor. A graphics card gets the lower bound for its size; integrated graphics share
    /// the memory. Of several cards, the slowest counts.
    pub fn of(memory: u64, threads: u32, devices: &Devices) -> Self {
        let from_memory = memory as f64 * USED_SHARE;
        let graphics = devices
            .graphics()
            .into_iter()
            .map(|device| graphics_speed(device, from_memory))
            .reduce(f64::min);
        Self {
            processor: from_memory.min(f64::from(threads) * PER_THREAD),
            graphics: graphics.unwrap_or(0.0),
        }
    }
}

fn graphics_speed(device: &Device, from_memory: f64) -> f64 {
    if device.kind == DeviceKind::Integrated {
        return from_memory;
    }
    let lower_bound = CARD_SPEEDS
        .iter()
        .find(|(gibibytes, _)| device.total >= gibibytes << 30)
        .map_or(SMALL_CARD_SPEED, |(_, speed)| *speed);
    lower_bound * USED_SHARE
}

/// Estimates the tokens per second of a model. `None` if it reads nothing, or reads from a memory
/// without a known speed.
pub fn tokens_per_second(reads: TokenReads, speeds: ReadSpeeds) -> Option<f64> {
    let overhead = if reads.graphics > 0 {
        TOKEN_OVERHEAD
    } else {
        0.0
    };
    let seconds =
        seconds(reads.processor, speeds.processor) + seconds(reads.graphics, speeds.graphics);
    Some(1.0 / (seconds + overhead)).filter(|speed| speed.is_finite() && *speed > 0.0)
}

fn seconds(bytes: u64, speed: f64) -> f64 {
    match bytes {
        0 => 0.0,
        bytes if speed > 0.0 => bytes as f64 / speed,
        _ => f64::INFINITY,
    }
}

/// Names the graphics devices that compute layers, so that measurements on them can be told apart.
/// Empty without one.
pub fn graphics_name(devices: &Devices) -> String {
    let names = devices
        .graphics()
        .into_iter()
        .map(|device| device.description.as_str());
    names.collect::<Vec<_>>().join(" + ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const GB: u64 = 1_000_000_000;

    fn device(kind: DeviceKind, total: u64) -> Devices {
        Devices::Known(vec![Device {
            name: "Vulkan0".to_owned(),
            description: "A card".to_owned(),
            backend: "Vulkan".to_owned(),
            kind,
            total,
            free: total,
        }])
    }

    fn on_processor(bytes: u64) -> TokenReads {
        TokenReads::split(bytes, 0.0)
    }

    #[test]
    fn two_cores_write_two_tokens_with_eight_billion() {
        let speeds = ReadSpeeds::of(20 * GB, 2, &Devices::Unknown);
        let speed = tokens_per_second(on_processor(5 * GB), speeds).unwrap();
        assert!((2.0..3.0).contains(&speed), "{speed}");
    }

    #[test]
    fn nothing_to_read_or_no_speed_gives_no_estimate() {
        let none = ReadSpeeds::of(0, 0, &Devices::Unknown);
        let some = ReadSpeeds::of(40 * GB, 8, &Devices::Unknown);
        assert_eq!(tokens_per_second(TokenReads::default(), some), None);
        assert_eq!(tokens_per_second(on_processor(GB), none), None);
        let on_a_card = TokenReads::split(GB, 1.0);
        assert_eq!(tokens_per_second(on_a_card, some), None, "there is none");
    }

    #[test]
    fn larger_cards_are_taken_to_be_faster() {
        let speed = |gibibytes: u64| {
            let devices = device(DeviceKind::Discrete, gibibytes << 30);
            ReadSpeeds::of(40 * GB, 8, &devices).graphics
        };
        let speeds = [4, 8, 12, 24].map(speed);
        assert!(speeds.is_sorted() && speeds[0] > 50e9, "{speeds:?}");
    }

    #[test]
    fn integrated_graphics_share_the_memory() {
        let devices = device(DeviceKind::Integrated, 16 << 30);
        let speeds = ReadSpeeds::of(100 * GB, 4, &devices);
        assert_eq!(speeds.graphics, 70e9);
        assert_eq!(speeds.processor, 22e9, "four threads compute less");
        assert_eq!(graphics_name(&devices), "A card");
    }

    proptest! {
        #[test]
        fn estimates_are_numbers(
            processor: u64, graphics: u64, memory: u64, threads: u32, gibibytes in 0_u64..1_000,
        ) {
            let devices = device(DeviceKind::Discrete, gibibytes << 30);
            let reads = TokenReads { processor, graphics };
            let speed = tokens_per_second(reads, ReadSpeeds::of(memory, threads, &devices));
            prop_assert!(speed.is_none_or(|speed| speed.is_finite() && speed > 0.0), "{speed:?}");
        }

        #[test]
        fn larger_models_are_never_faster(
            bytes in 1_u64..1 << 40, more in 0_u64..1 << 40, memory in 1_u64..1 << 40,
        ) {
            let speeds = ReadSpeeds::of(memory, 8, &Devices::Unknown);
            let small = tokens_per_second(on_processor(bytes), speeds).unwrap();
            let large = tokens_per_second(on_processor(bytes + more), speeds).unwrap();
            prop_assert!(large <= small);
        }

        #[test]
        fn faster_memory_never_makes_slower(
            bytes in 1_u64..1 << 40, memory in 1_u64..1 << 40, more in 0_u64..1 << 40,
        ) {
            let speed = |memory| {
                let speeds = ReadSpeeds::of(memory, 8, &Devices::Unknown);
                tokens_per_second(on_processor(bytes), speeds).unwrap()
            };
            prop_assert!(speed(memory) <= speed(memory + more));
        }

        #[test]
        fn split_loses_no_bytes(bytes: u64, share: f64) {
            prop_assert_eq!(TokenReads::split(bytes, share).total(), bytes);
        }
    }
}
