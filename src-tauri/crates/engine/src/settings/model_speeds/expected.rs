//! The expected speed of a model: as measured, else estimated and corrected by what other models
//! reached.

use local::speed::{ReadSpeeds, TokenReads, graphics_name, tokens_per_second};
use local::{Devices, GgufHeader, graphics_share, library};

use crate::settings::model_speeds::stored::{MachineSpeeds, MeasuredReply, WeightsPlace, median};

/// Bytes per second of a slow memory, for a choice among models before the memory is measured.
const ASSUMED_MEMORY: u64 = 15_000_000_000;
/// Limits of a correction, so that one odd measurement does not decide everything.
const CORRECTION: std::ops::RangeInclusive<f64> = 0.25..=4.0;
/// A model that reads fewer bytes per token may lie in the caches of the processor. Its speed then
/// does not mean that larger models are faster than estimated.
const CACHED: u64 = 400 << 20;
/// Words per token of English text.
const WORDS: f64 = 0.75;

/// Sizes of a model that decide its speed, in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ModelBytes {
    pub(crate) file: u64,
    /// Bytes of weights that each token reads.
    pub(crate) per_token: u64,
    /// KV cache at its context size.
    pub(crate) cache: u64,
}

impl ModelBytes {
    /// The sizes of a model file of `bytes` with `context` tokens.
    pub(crate) fn of(header: &GgufHeader, bytes: u64, context: u32) -> Self {
        Self {
            file: bytes,
            per_token: header.bytes_per_token(bytes),
            cache: library::fit(header, bytes, context, None).cache,
        }
    }
}

/// The speed at which a model writes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct WritingSpeed {
    pub(crate) tokens_per_second: f64,
    /// Replies were measured. Otherwise it is an estimate.
    pub(crate) is_measured: bool,
}

impl WritingSpeed {
    pub(crate) fn words_per_minute(self) -> u32 {
        words_per_minute(self.tokens_per_second)
    }
}

/// English words per minute, rounded to two digits.
fn words_per_minute(tokens_per_second: f64) -> u32 {
    let words = (tokens_per_second * 60.0 * WORDS).min(f64::from(u32::MAX));
    let step = 10_f64.powf((words.max(1.0).log10().floor() - 1.0).max(0.0));
    ((words / step).round() * step) as u32
}

/// The known speeds of this machine.
#[derive(Debug, Clone)]
pub(crate) struct ExpectedSpeeds {
    known: MachineSpeeds,
    threads: u32,
    devices: Devices,
}

impl ExpectedSpeeds {
    pub(crate) fn new(known: MachineSpeeds, threads: u32, devices: Devices) -> Self {
        Self {
            known,
            threads,
            devices,
        }
    }

    pub(crate) fn devices(&self) -> &Devices {
        &self.devices
    }

    /// The speed of the model file with this SHA-256 in its last replies.
    pub(crate) fn measured(&self, sha256: &str) -> Option<WritingSpeed> {
        let tokens_per_second = self.known.tokens_per_second(sha256)?;
        Some(WritingSpeed {
            tokens_per_second,
            is_measured: true,
        })
    }

    /// An estimate to show. `None` until the memory of this machine is measured.
    pub(crate) fn estimated(&self, bytes: ModelBytes) -> Option<WritingSpeed> {
        self.known.memory?;
        self.assumed(bytes)
    }

    /// An estimate to choose by, which exists before the memory is measured.
    pub(crate) fn assumed(&self, bytes: ModelBytes) -> Option<WritingSpeed> {
        let on_graphics = graphics_share(bytes.file, bytes.cache, &self.devices);
        let reads = TokenReads::split(bytes.per_token, on_graphics);
        let tokens_per_second = tokens_per_second(reads, self.corrected())?;
        Some(WritingSpeed {
            tokens_per_second,
            is_measured: false,
        })
    }

    fn corrected(&self) -> ReadSpeeds {
        let memory = self.known.memory.unwrap_or(ASSUMED_MEMORY);
        let plain = ReadSpeeds::of(memory, self.threads, &self.devices);
        let graphics = WeightsPlace::Graphics(graphics_name(&self.devices));
        ReadSpeeds {
            processor: plain.processor * self.correction(&WeightsPlace::Processor, plain),
            graphics: plain.graphics * self.correction(&graphics, plain),
        }
    }

    /// How much faster than estimated the last replies were that a device wrote alone.
    fn correction(&self, place: &WeightsPlace, plain: ReadSpeeds) -> f64 {
        let ratios = self
            .known
            .last_in(place)
            .filter_map(|reply| ratio(reply, plain));
        median(ratios.collect()).map_or(1.0, |ratio| {
            ratio.clamp(*CORRECTION.start(), *CORRECTION.end())
        })
    }
}

fn ratio(reply: &MeasuredReply, plain: ReadSpeeds) -> Option<f64> {
    let ratio = reply.tokens_per_second / tokens_per_second(reply.reads, plain)?;
    let is_cached = reply.reads.total() < CACHED;
    Some(if is_cached { ratio.min(1.0) } else { ratio })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GB: u64 = 1_000_000_000;

    /// A processor that reads 28 GB of weights per second.
    fn machine(replies: &[MeasuredReply]) -> ExpectedSpeeds {
        let mut known = MachineSpeeds::with_memory(40 * GB);
        replies.iter().for_each(|reply| known.add(reply.clone()));
        ExpectedSpeeds::new(known, 8, Devices::Unknown)
    }

    fn reply(model: &str, bytes: u64, tokens_per_second: f64) -> MeasuredReply {
        MeasuredReply {
            model: model.to_owned(),
            place: WeightsPlace::Processor,
            reads: TokenReads::split(bytes, 0.0),
            tokens_per_second,
        }
    }

    fn estimate(speeds: &ExpectedSpeeds, per_token: u64) -> f64 {
        let bytes = ModelBytes {
            file: per_token,
            per_token,
            cache: 0,
        };
        speeds.estimated(bytes).unwrap().tokens_per_second
    }

    fn is_about(value: f64, expected: f64) -> bool {
        (value - expected).abs() < 0.01
    }

    #[test]
    fn measured_reply_replaces_the_estimate() {
        let speeds = machine(&[reply("a", 4 * GB, 3.5)]);
        let measured = speeds.measured("a").unwrap();
        assert_eq!(
            (measured.tokens_per_second, measured.is_measured),
            (3.5, true)
        );
        assert_eq!(measured.words_per_minute(), 160);
        assert_eq!(speeds.measured("b"), None);
    }

    #[test]
    fn measured_reply_corrects_other_models() {
        assert!(is_about(estimate(&machine(&[]), 2 * GB), 14.0));
        let half = machine(&[reply("a", 4 * GB, 3.5)]);
        assert!(is_about(estimate(&half, 2 * GB), 7.0));
        let on_a_card = MeasuredReply {
            place: WeightsPlace::Graphics("A card".to_owned()),
            ..reply("a", 4 * GB, 3.5)
        };
        let other_device = machine(&[on_a_card]);
        assert!(is_about(estimate(&other_device, 2 * GB), 14.0));
    }

    #[test]
    fn odd_measurement_corrects_within_limits() {
        let stuck = machine(&[reply("a", 4 * GB, 0.001)]);
        assert!(is_about(estimate(&stuck, 2 * GB), 14.0 * 0.25));
        let odd = machine(&[reply("a", 4 * GB, 9_999.0)]);
        assert!(is_about(estimate(&odd, 2 * GB), 14.0 * 4.0));
        let mostly = [7.0, 7.0, 9_999.0].map(|speed| reply("a", 4 * GB, speed));
        assert!(is_about(estimate(&machine(&mostly), 2 * GB), 14.0));
    }

    #[test]
    fn model_in_the_caches_makes_no_other_faster() {
        let cached = machine(&[reply("a", GB / 10, 900.0)]);
        assert!(is_about(estimate(&cached, 2 * GB), 14.0));
        let slow = machine(&[reply("a", GB / 10, 140.0)]);
        assert!(is_about(estimate(&slow, 2 * GB), 7.0));
    }

    #[test]
    fn nothing_is_shown_before_the_measurement() {
        let speeds = ExpectedSpeeds::new(MachineSpeeds::default(), 8, Devices::Unknown);
        let bytes = ModelBytes {
            file: GB,
            per_token: GB,
            cache: 0,
        };
        assert_eq!(speeds.estimated(bytes), None);
        assert!(speeds.assumed(bytes).is_some());
    }

    #[test]
    fn words_are_rounded_to_two_digits() {
        let words = [7.0, 2.0, 113.5, 0.1, 0.0].map(words_per_minute);
        assert_eq!(words, [320, 90, 5_100, 5, 0]);
        assert_eq!(words_per_minute(f64::MAX), u32::MAX);
    }
}
