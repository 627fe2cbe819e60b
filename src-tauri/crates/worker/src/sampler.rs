//! Sampler chain of one reply.

use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::sampling::LlamaSampler;
use llama_cpp_2::token::LlamaToken;
use llama_cpp_2::token::logit_bias::LlamaLogitBias;
use worker::protocol::{Generate, WireSampling};

use crate::vocab::Vocab;

/// Maximum range of the penalties in tokens, because llama.cpp allocates memory for all of them.
const MAX_PENALTY_RANGE: u32 = 1 << 17;

/// Sequence breakers of DRY, as in llama.cpp.
const SEQUENCE_BREAKERS: [&str; 4] = ["\n", ":", "\"", "*"];

/// Number of tokens that mirostat 1 estimates from, as in its paper.
const MIROSTAT_TOKENS: i32 = 100;

/// Number of blank tokens after which a reply may end without text.
const BLANKS: u32 = 16;

/// Samples the tokens of one reply. Small models sometimes end their turn before any text. The end of turn is therefore
/// excluded until the reply contains visible text, for at most [`BLANKS`] tokens.
pub(crate) struct TokenSampler {
    /// Restricts the next token; a grammar decides itself when the reply may end.
    grammar: Option<LlamaSampler>,
    first: LlamaSampler,
    rest: LlamaSampler,
    /// Tokens sampled before any visible text.
    blank_tokens: u32,
    has_text: bool,
}

/// Reason why the grammar cannot produce text.
#[derive(Debug)]
pub(crate) struct GrammarError(pub(crate) &'static str);

impl TokenSampler {
    /// Creates the chain. The penalties also see the end of `prompt`.
    pub(crate) fn new(request: &Generate, vocab: &Vocab<'_>, prompt: &[LlamaToken]) -> Result<Self, GrammarError> {
        let sampling = &request.sampling;
        let grammar = request.grammar.as_ref().map(|grammar| read(grammar, vocab)).transpose()?;
        let never = |token: &LlamaToken| LlamaLogitBias::new(*token, f32::NEG_INFINITY);
        let endless: Vec<LlamaLogitBias> = vocab.ends().iter().map(never).collect();
        let mut first = vec![LlamaSampler::logit_bias(vocab.len(), &endless)];
        first.append(&mut chain(sampling, vocab));
        let [mut first, mut rest] = [first, chain(sampling, vocab)].map(|chain| LlamaSampler::chain(chain, true));
        let dry = if sampling.dry_multiplier > 0.0 { dry_range(sampling) } else { 0 };
        let range = sampling.repeat_range.min(MAX_PENALTY_RANGE).max(dry) as usize;
        let recent = &prompt[prompt.len().saturating_sub(range)..];
        // Penalising role markers and turn ends would make replies run on.
        let recent: Vec<LlamaToken> = recent.iter().filter(|token| !vocab.is_control(**token)).copied().collect();
        first.accept_many(&recent);
        rest.accept_many(&recent);
        Ok(Self { grammar, first, rest, blank_tokens: 0, has_text: false })
    }

    /// Samples from the logits at index `at` of the last batch.
    pub(crate) fn next(&mut self, context: &LlamaContext<'_>, at: i32) -> Result<LlamaToken, GrammarError> {
        match &mut self.grammar {
            Some(grammar) => of_grammar(grammar, &mut self.rest, context, at),
            None => Ok(self.any(context, at)),
        }
    }

    fn any(&mut self, context: &LlamaContext<'_>, at: i32) -> LlamaToken {
        if self.has_text || self.blank_tokens >= BLANKS {
            return self.rest.sample(context, at);
        }
        let token = self.first.sample(context, at);
        self.rest.accept(token);
        self.blank_tokens += 1;
        token
    }

    /// Records the visible text of the last token.
    pub(crate) fn record_text(&mut self, text: &str) {
        self.has_text |= !text.trim().is_empty();
    }
}

fn read(grammar: &str, vocab: &Vocab<'_>) -> Result<LlamaSampler, GrammarError> {
    LlamaSampler::grammar(vocab.model(), grammar, "root").map_err(|_| GrammarError("the grammar is invalid"))
}

/// Samples a token that the grammar allows. llama.cpp aborts the process if a grammar must accept a token that it
/// forbids, so forbidden tokens are removed before sampling.
fn of_grammar(
    grammar: &mut LlamaSampler,
    rest: &mut LlamaSampler,
    context: &LlamaContext<'_>,
    at: i32,
) -> Result<LlamaToken, GrammarError> {
    let mut candidates = context.token_data_array_ith(at);
    grammar.apply(&mut candidates);
    candidates.data.retain(|candidate| candidate.logit() > f32::NEG_INFINITY);
    if candidates.data.is_empty() {
        return Err(GrammarError("no token of the model matches the grammar"));
    }
    rest.apply(&mut candidates);
    let token = candidates.selected_token().ok_or(GrammarError("no token was sampled"))?;
    grammar.try_accept(token).map_err(|_| GrammarError("the grammar rejected the sampled token"))?;
    rest.accept(token);
    Ok(token)
}

/// Builds the chain in llama.cpp's order.
fn chain(sampling: &WireSampling, vocab: &Vocab<'_>) -> Vec<LlamaSampler> {
    let mut chain = penalties(sampling, vocab);
    if sampling.temperature <= 0.0 {
        chain.push(LlamaSampler::greedy());
        return chain;
    }
    if matches!(sampling.mirostat, 1 | 2) {
        chain.push(LlamaSampler::temp(sampling.temperature));
        let WireSampling { seed, mirostat_tau: tau, mirostat_eta: eta, .. } = *sampling;
        chain.push(match sampling.mirostat {
            1 => LlamaSampler::mirostat(vocab.len(), seed, tau, eta, MIROSTAT_TOKENS),
            _ => LlamaSampler::mirostat_v2(seed, tau, eta),
        });
        return chain;
    }
    chain.append(&mut truncation_samplers(sampling));
    chain.push(match sampling.dynatemp_range {
        range if range > 0.0 => LlamaSampler::temp_ext(sampling.temperature, range, sampling.dynatemp_exponent),
        _ => LlamaSampler::temp(sampling.temperature),
    });
    chain.push(LlamaSampler::dist(sampling.seed));
    chain
}

fn penalties(sampling: &WireSampling, vocab: &Vocab<'_>) -> Vec<LlamaSampler> {
    let mut chain = Vec::new();
    let WireSampling { frequency_penalty, presence_penalty, .. } = *sampling;
    let penalised = sampling.repeat_penalty != 1.0 || frequency_penalty != 0.0 || presence_penalty != 0.0;
    if penalised && sampling.repeat_range > 0 {
        // llama.cpp aborts the process if the penalty is not positive.
        let penalty = sampling.repeat_penalty.clamp(0.1, 10.0);
        let range = whole(sampling.repeat_range.min(MAX_PENALTY_RANGE));
        chain.push(LlamaSampler::penalties(vocab.len(), range, penalty, frequency_penalty, presence_penalty));
    }
    if sampling.dry_multiplier > 0.0 {
        let base = sampling.dry_base.max(1.0);
        let allowed = whole(sampling.dry_allowed_length);
        let range = whole(dry_range(sampling));
        chain.push(LlamaSampler::dry(vocab.model(), sampling.dry_multiplier, base, allowed, range, SEQUENCE_BREAKERS));
    }
    chain
}

/// Truncation samplers, and XTC, which removes the most likely tokens at random.
fn truncation_samplers(sampling: &WireSampling) -> Vec<LlamaSampler> {
    let mut chain = Vec::new();
    if sampling.top_n_sigma > 0.0 {
        chain.push(LlamaSampler::top_n_sigma(sampling.top_n_sigma));
    }
    if sampling.top_k > 0 {
        chain.push(LlamaSampler::top_k(whole(sampling.top_k)));
    }
    if sampling.typical_p < 1.0 {
        chain.push(LlamaSampler::typical(sampling.typical_p.max(0.0), 1));
    }
    if sampling.top_p < 1.0 {
        chain.push(LlamaSampler::top_p(sampling.top_p.max(0.0), 1));
    }
    if sampling.min_p > 0.0 {
        chain.push(LlamaSampler::min_p(sampling.min_p.min(1.0), 1));
    }
    if sampling.xtc_probability > 0.0 {
        chain.push(LlamaSampler::xtc(sampling.xtc_probability, sampling.xtc_threshold, 1, sampling.seed));
    }
    chain
}

/// Returns the DRY range in tokens.
fn dry_range(sampling: &WireSampling) -> u32 {
    match sampling.dry_range {
        0 => MAX_PENALTY_RANGE,
        range => range.min(MAX_PENALTY_RANGE),
    }
}

fn whole(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}
