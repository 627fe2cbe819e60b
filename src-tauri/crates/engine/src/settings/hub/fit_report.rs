//! Whether a model fits into this machine's memory.

use local::GgufHeader;
use local::library::{self, Fit};

use crate::api::{FitReport, Fits};

/// Share of the weights that the KV cache of 8,192 tokens takes in common models, for files whose header is not known.
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
    fits(library::estimate(bytes.saturating_add(bytes / TYPICAL_CACHE), 0, 0, available))
}

/// `context` is the wanted size in tokens; without one, the default for this model.
pub(crate) fn report(header: &GgufHeader, bytes: u64, context: Option<u32>, available: Option<u64>) -> FitReport {
    let trained = header.context_length.filter(|length| *length > 0).unwrap_or(2_048);
    let context =
        context.map_or_else(|| library::default_context(trained), |wanted| wanted.clamp(256, trained.max(256)));
    let fit = library::fit(header, bytes, context, available);
    FitReport {
        fits: fits(fit),
        weights: fit.weights,
        cache: fit.cache,
        working: fit.working,
        needed: fit.needed(),
        available: fit.available,
        context,
        trained_context: trained,
        largest_context: fit.largest_context(trained),
        architecture: header.architecture.clone(),
        parameters: header.parameters,
        has_template: header.chat_template.is_some(),
    }
}
