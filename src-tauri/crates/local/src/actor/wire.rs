//! Requests for replies and their ends, as the worker's protocol has them.

use ::worker::protocol::{self, Generate};
use domain::prompt::Segment;
use provider::{FinishReason, GenerationEvent, ProviderError, Request, Timings, Usage};

use crate::{failure, pictures};

pub(super) fn generate(
    id: u64,
    request: &Request,
    projector: &str,
) -> Result<Generate, ProviderError> {
    let sampling = &request.sampling;
    let pictures = request.prompt.pictures.iter();
    let pictures = pictures
        .map(|picture| pictures::wire(picture, projector).ok_or_else(failure::unreadable_picture));
    Ok(Generate {
        id,
        cache_key: request.cache_key.clone(),
        background: request.background,
        segments: request.prompt.segments.iter().map(segment).collect(),
        pictures: pictures.collect::<Result<_, _>>()?,
        sampling: protocol::WireSampling {
            repeat_penalty: finite(sampling.repeat_penalty, 1.0),
            repeat_range: sampling.repeat_range,
            frequency_penalty: finite(sampling.frequency_penalty, 0.0),
            presence_penalty: finite(sampling.presence_penalty, 0.0),
            dry_multiplier: finite(sampling.dry.multiplier, 0.0),
            dry_base: finite(sampling.dry.base, 1.75),
            dry_allowed_length: sampling.dry.allowed_length,
            dry_range: sampling.dry.range,
            top_n_sigma: finite(sampling.top_n_sigma, 0.0),
            top_k: sampling.top_k,
            typical_p: finite(sampling.typical_p, 1.0),
            top_p: finite(sampling.top_p, 1.0),
            min_p: finite(sampling.min_p, 0.0),
            xtc_probability: finite(sampling.xtc.probability, 0.0),
            xtc_threshold: finite(sampling.xtc.threshold, 0.1),
            temperature: finite(sampling.temperature, 0.0),
            dynatemp_range: finite(sampling.dynatemp.range, 0.0),
            dynatemp_exponent: finite(sampling.dynatemp.exponent, 1.0),
            mirostat: sampling.mirostat.version,
            mirostat_tau: finite(sampling.mirostat.tau, 5.0),
            mirostat_eta: finite(sampling.mirostat.eta, 0.1),
            seed: sampling.seed,
        },
        stop: request.prompt.stop.clone(),
        max_tokens: sampling.max_tokens,
        rules: Box::new(crate::token_rules::rules(request)),
    })
}

/// JSON has no infinity, and no sampler uses it as a value.
fn finite(value: f32, off: f32) -> f32 {
    if value.is_finite() { value } else { off }
}

pub(super) fn segment(segment: &Segment) -> protocol::WireSegment {
    protocol::WireSegment {
        text: segment.text.clone(),
        control: segment.control,
    }
}

pub(super) fn from_done(done: &protocol::Done, first_text_ms: f64) -> GenerationEvent {
    let protocol::Usage {
        prompt,
        reused,
        evaluated,
        generated,
    } = done.usage;
    let usage = Usage {
        prompt: Some(prompt),
        reused: Some(reused),
        evaluated: Some(evaluated),
        generated: Some(generated),
    };
    let protocol::Timings {
        prefill_ms,
        decode_ms,
    } = done.timings;
    let reason = match done.reason {
        protocol::FinishReason::Stop => FinishReason::Stop,
        protocol::FinishReason::Length => FinishReason::Length,
        protocol::FinishReason::Cancelled => FinishReason::Cancelled,
    };
    finished(
        reason,
        usage,
        Timings {
            prefill_ms,
            decode_ms,
            first_text_ms,
        },
    )
}

pub(super) fn finished(reason: FinishReason, usage: Usage, timings: Timings) -> GenerationEvent {
    GenerationEvent::Finished {
        reason,
        usage,
        timings,
    }
}
