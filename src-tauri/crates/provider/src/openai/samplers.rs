//! Samplers that only some servers support.

use std::collections::BTreeMap;

use domain::sampling::{SamplerOrder, SamplerStage, Sampling, TokenRules, TokenSelector};
use serde::Serialize;

use crate::endpoint::dialect::LearnedDialect;

/// Default penalty range of llama.cpp, in tokens.
const DEFAULT_RANGE: u32 = 64;

/// Selects the parameters to send by the endpoint's dialect.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ParameterFilter<'a> {
    pub(crate) dialect: &'a LearnedDialect,
}

impl ParameterFilter<'_> {
    /// Returns the value unless the endpoint refuses the parameter.
    pub(crate) fn unless_refused<T>(self, name: &str, value: T) -> Option<T> {
        self.dialect.sends(name).then_some(value)
    }

    /// Like `unless_refused`, but omits the neutral value `off` unless the server has its own
    /// defaults. Some endpoints do not treat it as neutral.
    pub(crate) fn unless_neutral<T: PartialEq>(self, name: &str, value: T, off: T) -> Option<T> {
        self.unless_refused(name, value)
            .filter(|value| *value != off || self.dialect.own_defaults)
    }

    fn if_active<T>(self, name: &str, works: bool, value: T) -> Option<T> {
        self.unless_refused(name, value).filter(|_| works)
    }
}

/// Samplers that few servers support, by llama.cpp's names. Inactive ones are not sent.
#[derive(Debug, Default, Serialize)]
pub(crate) struct ExtraSamplers {
    #[serde(skip_serializing_if = "Option::is_none")]
    typical_p: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_n_sigma: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    repeat_last_n: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dry_multiplier: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dry_base: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dry_allowed_length: Option<u32>,
    /// -1 means the whole context.
    #[serde(skip_serializing_if = "Option::is_none")]
    dry_penalty_last_n: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    xtc_probability: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    xtc_threshold: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mirostat: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mirostat_tau: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mirostat_eta: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dynatemp_range: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dynatemp_exponent: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dry_sequence_breakers: Option<Vec<String>>,
    /// The sampler order, by llama.cpp's names.
    #[serde(skip_serializing_if = "Option::is_none")]
    samplers: Option<Vec<&'static str>>,
    /// Name in vLLM.
    #[serde(skip_serializing_if = "Option::is_none")]
    min_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ignore_eos: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    grammar: Option<String>,
}

/// OpenAI's form: token ids as keys. llama.cpp also accepts texts. `None` if no bias can be sent.
pub(crate) fn logit_bias(
    rules: &TokenRules,
    dialect: &LearnedDialect,
) -> Option<BTreeMap<String, f32>> {
    let mut sums = BTreeMap::new();
    for bias in &rules.logit_bias {
        let keys = match &bias.tokens {
            TokenSelector::Ids(ids) => ids.iter().map(u32::to_string).collect(),
            TokenSelector::Text(text) if dialect.own_defaults => vec![text.clone()],
            TokenSelector::Word(word) if dialect.own_defaults => {
                vec![word.clone(), format!(" {word}")]
            }
            TokenSelector::Text(_) | TokenSelector::Word(_) => Vec::new(),
        };
        for key in keys {
            let sum: &mut f32 = sums.entry(key).or_default();
            *sum = (*sum + bias.bias).clamp(-100.0, 100.0);
        }
    }
    (!sums.is_empty()).then_some(sums)
}

/// llama.cpp's name of a sampler.
fn llama_name(stage: &SamplerStage) -> &'static str {
    match stage {
        SamplerStage::TypicalP => "typ_p",
        other => other.as_str(),
    }
}

impl ExtraSamplers {
    pub(crate) fn of(sampling: &Sampling, sent: ParameterFilter<'_>) -> Self {
        let Sampling {
            dry,
            xtc,
            mirostat,
            dynatemp,
            order,
            rules,
            ..
        } = sampling;
        let default_breakers = dry.breakers == ["\n", ":", "\"", "*"];
        let dry_active = dry.multiplier > 0.0;
        let dry_range = if dry.range == 0 {
            -1
        } else {
            i64::from(dry.range)
        };
        let xtc_active = xtc.probability > 0.0;
        let mirostat_active = mirostat.version > 0;
        let dynatemp_active = dynatemp.range > 0.0;
        Self {
            typical_p: sent.if_active("typical_p", sampling.typical_p < 1.0, sampling.typical_p),
            top_n_sigma: sent.if_active(
                "top_n_sigma",
                sampling.top_n_sigma > 0.0,
                sampling.top_n_sigma,
            ),
            repeat_last_n: sent.if_active(
                "repeat_last_n",
                sampling.repeat_range != DEFAULT_RANGE,
                sampling.repeat_range,
            ),
            dry_multiplier: sent.if_active("dry_multiplier", dry_active, dry.multiplier),
            dry_base: sent.if_active("dry_base", dry_active, dry.base),
            dry_allowed_length: sent.if_active(
                "dry_allowed_length",
                dry_active,
                dry.allowed_length,
            ),
            dry_penalty_last_n: sent.if_active("dry_penalty_last_n", dry_active, dry_range),
            xtc_probability: sent.if_active("xtc_probability", xtc_active, xtc.probability),
            xtc_threshold: sent.if_active("xtc_threshold", xtc_active, xtc.threshold),
            mirostat: sent.if_active("mirostat", mirostat_active, mirostat.version),
            mirostat_tau: sent.if_active("mirostat_tau", mirostat_active, mirostat.tau),
            mirostat_eta: sent.if_active("mirostat_eta", mirostat_active, mirostat.eta),
            dynatemp_range: sent.if_active("dynatemp_range", dynatemp_active, dynatemp.range),
            dynatemp_exponent: sent.if_active(
                "dynatemp_exponent",
                dynatemp_active,
                dynatemp.exponent,
            ),
            dry_sequence_breakers: sent.if_active(
                "dry_sequence_breakers",
                dry_active && !default_breakers,
                dry.breakers.clone(),
            ),
            samplers: sent.if_active(
                "samplers",
                *order != SamplerOrder::default(),
                order.stages().iter().map(llama_name).collect(),
            ),
            min_tokens: sent.if_active("min_tokens", rules.min_tokens > 0, rules.min_tokens),
            ignore_eos: sent.if_active("ignore_eos", rules.ban_end_token, true),
            grammar: sent
                .unless_refused("grammar", rules.grammar.clone())
                .flatten(),
        }
    }
}
