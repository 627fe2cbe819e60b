//! Samplers beyond those that most servers have.

use domain::sampling::Sampling;
use serde::Serialize;

/// The range of the penalties that llama.cpp takes by itself.
const DEFAULT_RANGE: u32 = 64;

/// Samplers that few servers have, by llama.cpp's names; those that do nothing are not sent.
#[derive(Debug, Default, Serialize)]
pub(super) struct Rare {
    #[serde(skip_serializing_if = "Option::is_none")]
    typical_p: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_n_sigma: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    repeat_last_n: Option<u32>,
    #[serde(flatten)]
    dry: Option<Dry>,
    #[serde(flatten)]
    xtc: Option<Xtc>,
    #[serde(flatten)]
    mirostat: Option<Mirostat>,
    #[serde(flatten)]
    dynatemp: Option<Dynatemp>,
}

#[derive(Debug, Serialize)]
struct Dry {
    dry_multiplier: f32,
    dry_base: f32,
    dry_allowed_length: u32,
    /// -1 is all.
    dry_penalty_last_n: i64,
}

#[derive(Debug, Serialize)]
struct Xtc {
    xtc_probability: f32,
    xtc_threshold: f32,
}

#[derive(Debug, Serialize)]
struct Mirostat {
    mirostat: u32,
    mirostat_tau: f32,
    mirostat_eta: f32,
}

#[derive(Debug, Serialize)]
struct Dynatemp {
    dynatemp_range: f32,
    dynatemp_exponent: f32,
}

impl Rare {
    pub(super) fn of(sampling: &Sampling) -> Self {
        let Sampling { dry, xtc, mirostat, dynatemp, .. } = *sampling;
        let range = (sampling.repeat_range != DEFAULT_RANGE).then_some(sampling.repeat_range);
        Self {
            typical_p: (sampling.typical_p < 1.0).then_some(sampling.typical_p),
            top_n_sigma: (sampling.top_n_sigma > 0.0).then_some(sampling.top_n_sigma),
            repeat_last_n: range,
            dry: (dry.multiplier > 0.0).then_some(Dry {
                dry_multiplier: dry.multiplier,
                dry_base: dry.base,
                dry_allowed_length: dry.allowed_length,
                dry_penalty_last_n: if dry.range == 0 { -1 } else { i64::from(dry.range) },
            }),
            xtc: (xtc.probability > 0.0)
                .then_some(Xtc { xtc_probability: xtc.probability, xtc_threshold: xtc.threshold }),
            mirostat: (mirostat.version > 0).then_some(Mirostat {
                mirostat: mirostat.version,
                mirostat_tau: mirostat.tau,
                mirostat_eta: mirostat.eta,
            }),
            dynatemp: (dynatemp.range > 0.0)
                .then_some(Dynatemp { dynatemp_range: dynatemp.range, dynatemp_exponent: dynatemp.exponent }),
        }
    }
}
