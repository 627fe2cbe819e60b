//! Whether a model fits into this machine's memory.

use local::library::{self, Fit};
use local::{Devices, GgufHeader, graphics_fit, graphics_memory};

use crate::api::{FitReport, Fits};
use crate::settings::hub::Hub;
use crate::settings::model_speeds::expected::{ExpectedSpeeds, ModelBytes, WritingSpeed};

/// Share of the weights that the KV cache of 8,192 tokens takes in common models, for files whose
/// header is not known.
const TYPICAL_CACHE: u64 = 5;

/// Tight means that it fits with less than a fifth to spare.
pub(crate) fn fits(fit: Fit) -> Fits {
    match (fit.fits(), fit.available) {
        (Some(false), _) => Fits::No,
        (Some(true), Some(available)) if fit.needed() > available / 5 * 4 => Fits::Tight,
        _ => Fits::Yes,
    }
}

/// A guess from the size alone.
pub(crate) fn guessed(bytes: u64, available: Option<u64>) -> Fits {
    fits(library::estimate(
        bytes.saturating_add(bytes / TYPICAL_CACHE),
        0,
        0,
        available,
    ))
}

impl Hub {
    /// Bytes that a model may use: the machine's available memory and that of discrete graphics
    /// devices. `None` if the system does not say.
    pub(crate) async fn model_memory(&self) -> Option<u64> {
        memory_with(&self.local().current_devices().await)
    }
}

/// Works like [`Hub::model_memory`], for known devices.
pub(super) fn memory_with(devices: &Devices) -> Option<u64> {
    Some(library::available_memory()?.saturating_add(graphics_memory(devices)))
}

/// `context` is the wanted size in tokens; without one, the default for this model.
pub(crate) fn report(
    header: &GgufHeader,
    bytes: u64,
    context: Option<u32>,
    speeds: &ExpectedSpeeds,
) -> FitReport {
    let devices = speeds.devices();
    let available = memory_with(devices);
    let trained = header
        .context_length
        .filter(|length| *length > 0)
        .unwrap_or(2_048);
    let context = context.map_or_else(
        || library::default_context(trained),
        |wanted| wanted.clamp(256, trained.max(256)),
    );
    let fit = library::fit(header, bytes, context, available);
    FitReport {
        fits: fits(fit),
        weights: fit.weights,
        cache: fit.cache,
        working: fit.working,
        needed: fit.needed(),
        available: fit.available,
        graphics: graphics_fit(header, bytes, context, devices),
        context,
        trained_context: trained,
        largest_context: fit.largest_context(trained),
        architecture: header.architecture.clone(),
        parameters: header.parameters,
        has_template: header.chat_template.is_some(),
        words_per_minute: speeds
            .estimated(ModelBytes::of(header, bytes, context))
            .map(WritingSpeed::words_per_minute),
    }
}
