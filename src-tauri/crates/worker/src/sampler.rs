//! The chain that draws a token.

use llama_cpp_2::sampling::LlamaSampler;
use llama_cpp_2::token::LlamaToken;
use worker::protocol::Sampling;

use crate::vocab::Vocab;

/// Tokens that the repeat penalty looks back on.
const PENALTY_WINDOW: usize = 64;

/// The chain for one reply, which has seen the end of `prompt`.
pub(crate) fn chain(sampling: &Sampling, vocab: &Vocab<'_>, prompt: &[LlamaToken]) -> LlamaSampler {
    let mut chain = LlamaSampler::chain(links(sampling, vocab.len()), true);
    let recent = &prompt[prompt.len().saturating_sub(PENALTY_WINDOW)..];
    // Role markers and turn ends must stay as likely as they are, or replies run on.
    chain.accept_many(recent.iter().filter(|token| !vocab.is_control(**token)));
    chain
}

fn links(sampling: &Sampling, vocab: i32) -> Vec<LlamaSampler> {
    let mut links = Vec::new();
    if sampling.repeat_penalty != 1.0 {
        // llama.cpp aborts the process on a penalty that is not positive.
        let penalty = sampling.repeat_penalty.clamp(0.1, 10.0);
        links.push(LlamaSampler::penalties(vocab, PENALTY_WINDOW as i32, penalty, 0.0, 0.0));
    }
    if sampling.temperature <= 0.0 {
        links.push(LlamaSampler::greedy());
        return links;
    }
    if sampling.top_k > 0 {
        links.push(LlamaSampler::top_k(i32::try_from(sampling.top_k).unwrap_or(i32::MAX)));
    }
    if sampling.top_p < 1.0 {
        links.push(LlamaSampler::top_p(sampling.top_p.max(0.0), 1));
    }
    if sampling.min_p > 0.0 {
        links.push(LlamaSampler::min_p(sampling.min_p.min(1.0), 1));
    }
    links.push(LlamaSampler::temp(sampling.temperature));
    links.push(LlamaSampler::dist(sampling.seed));
    links
}
