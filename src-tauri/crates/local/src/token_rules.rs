//! Converts the sampler order and the token rules to the worker's protocol.

use domain::sampling::{LogitBias, SamplerStage, TokenSelector};
use domain::token_choice::{TokenAlternative, TokenChoice};
use provider::Request;
use worker::token_rules::{WireBias, WireRules, WireStage};

/// A required form of the reply replaces the user's grammar and schema.
pub(crate) fn rules(request: &Request) -> WireRules {
    let (sampling, rules) = (&request.sampling, &request.sampling.rules);
    let grammar = request
        .response_schema
        .as_ref()
        .map(|shape| &shape.grammar)
        .or(rules.grammar.as_ref());
    WireRules {
        order: sampling
            .order
            .stages()
            .iter()
            .map(|stage| wire_stage(*stage))
            .collect(),
        logit_bias: rules
            .logit_bias
            .iter()
            .filter(|bias| bias.bias.is_finite())
            .map(bias)
            .collect(),
        banned_strings: rules.banned_strings.clone(),
        dry_breakers: sampling.dry.breakers.clone(),
        grammar: grammar.cloned(),
        json_schema: rules.json_schema.clone(),
        min_tokens: rules.min_tokens,
        ban_end_token: rules.ban_end_token,
        alternatives: sampling.alternatives,
    }
}

/// Converts a token that the worker reports.
pub(crate) fn choice(token: worker::token_rules::TokenChoice) -> TokenChoice {
    let alternative = |other: worker::token_rules::TokenAlternative| TokenAlternative {
        text: other.text,
        logprob: other.logprob,
    };
    TokenChoice {
        text: token.text,
        logprob: token.logprob,
        alternatives: token.alternatives.into_iter().map(alternative).collect(),
    }
}

fn bias(bias: &LogitBias) -> WireBias {
    let (ids, texts) = match &bias.tokens {
        TokenSelector::Ids(ids) => (ids.clone(), Vec::new()),
        TokenSelector::Text(text) => (Vec::new(), vec![text.clone()]),
        TokenSelector::Word(word) => (Vec::new(), vec![word.clone(), format!(" {word}")]),
    };
    WireBias {
        ids,
        texts,
        bias: bias.bias,
    }
}

fn wire_stage(stage: SamplerStage) -> WireStage {
    match stage {
        SamplerStage::Penalties => WireStage::Penalties,
        SamplerStage::Dry => WireStage::Dry,
        SamplerStage::TopNSigma => WireStage::TopNSigma,
        SamplerStage::TopK => WireStage::TopK,
        SamplerStage::TypicalP => WireStage::TypicalP,
        SamplerStage::TopP => WireStage::TopP,
        SamplerStage::MinP => WireStage::MinP,
        SamplerStage::Xtc => WireStage::Xtc,
        SamplerStage::Temperature => WireStage::Temperature,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_default_orders_are_the_same() {
        let default: Vec<WireStage> = SamplerStage::ALL.into_iter().map(wire_stage).collect();
        assert_eq!(default, WireStage::DEFAULT);
    }

    #[test]
    fn a_word_covers_both_of_its_forms() {
        let word = |bias| LogitBias {
            tokens: TokenSelector::Word("blue".into()),
            bias,
        };
        assert_eq!(bias(&word(-5.0)).texts, ["blue", " blue"]);
    }
}
