//! The values of the samplers, from the settings.

use super::list::Values;
use crate::sampling::{self, Dry, Dynatemp, Mirostat, SamplerOrder, Sampling, TokenRules, Xtc};
use crate::token_choice::ALTERNATIVES;

impl Values {
    /// Returns the sampler values. `seed` applies if the settings have none.
    pub fn sampling(&self, seed: u32) -> Sampling {
        Sampling {
            temperature: self.temperature,
            top_p: self.top_p,
            top_k: self.top_k,
            min_p: self.min_p,
            typical_p: self.typical_p,
            top_n_sigma: self.top_n_sigma,
            repeat_penalty: self.repeat_penalty,
            repeat_range: self.repeat_range,
            frequency_penalty: self.frequency_penalty,
            presence_penalty: self.presence_penalty,
            dry: Dry {
                multiplier: self.dry_multiplier,
                base: self.dry_base,
                allowed_length: self.dry_allowed_length,
                range: self.dry_range,
                breakers: sampling::texts(&self.dry_breakers).collect(),
            },
            xtc: Xtc {
                probability: self.xtc_probability,
                threshold: self.xtc_threshold,
            },
            mirostat: Mirostat {
                version: self.mirostat,
                tau: self.mirostat_tau,
                eta: self.mirostat_eta,
            },
            dynatemp: Dynatemp {
                range: self.dynatemp_range,
                exponent: self.dynatemp_exponent,
            },
            max_tokens: self.max_tokens,
            seed: self.seed.unwrap_or(seed),
            order: SamplerOrder::parse(&self.sampler_order),
            rules: self.token_rules(),
            alternatives: if self.token_probabilities {
                ALTERNATIVES
            } else {
                0
            },
        }
    }

    fn token_rules(&self) -> TokenRules {
        let given = |text: &str| {
            Some(text)
                .filter(|text| !text.trim().is_empty())
                .map(str::to_owned)
        };
        let biases = [
            sampling::logit_biases(&self.logit_bias),
            sampling::banned_tokens(&self.banned_tokens),
        ];
        TokenRules {
            logit_bias: biases
                .into_iter()
                .flat_map(Result::unwrap_or_default)
                .collect(),
            banned_strings: sampling::texts(&self.banned_strings).collect(),
            grammar: given(&self.grammar),
            json_schema: given(&self.json_schema),
            min_tokens: self.min_tokens,
            ban_end_token: self.ban_end_token,
        }
    }
}
