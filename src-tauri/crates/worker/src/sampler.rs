//! The chain that draws a token.

use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::sampling::LlamaSampler;
use llama_cpp_2::token::LlamaToken;
use llama_cpp_2::token::logit_bias::LlamaLogitBias;
use worker::protocol::Sampling;

use crate::vocab::Vocab;

/// Tokens that the repeat penalty looks back on.
const PENALTY_WINDOW: usize = 64;

/// Blank tokens in a row after which a reply may end although it says nothing.
const BLANKS: u32 = 16;

/// Draws the tokens of one reply. A small model now and then ends its turn before it has said a word; people who asked
/// something want an answer, so the first words are drawn as if there were no end.
pub(crate) struct Draw {
    first: LlamaSampler,
    rest: LlamaSampler,
    /// Tokens drawn while nothing is said.
    blanks: u32,
    speaks: bool,
}

impl Draw {
    /// For a reply to `prompt`, whose end the penalties have seen.
    pub(crate) fn new(sampling: &Sampling, vocab: &Vocab<'_>, prompt: &[LlamaToken]) -> Self {
        let never = |token: &LlamaToken| LlamaLogitBias::new(*token, f32::NEG_INFINITY);
        let endless: Vec<LlamaLogitBias> = vocab.ends().iter().map(never).collect();
        let mut first = vec![LlamaSampler::logit_bias(vocab.len(), &endless)];
        first.append(&mut links(sampling, vocab.len()));
        let [mut first, mut rest] = [first, links(sampling, vocab.len())].map(|links| LlamaSampler::chain(links, true));
        let recent = &prompt[prompt.len().saturating_sub(PENALTY_WINDOW)..];
        // Role markers and turn ends must stay as likely as they are, or replies run on.
        let recent: Vec<LlamaToken> = recent.iter().filter(|token| !vocab.is_control(**token)).copied().collect();
        first.accept_many(&recent);
        rest.accept_many(&recent);
        Self { first, rest, blanks: 0, speaks: false }
    }

    pub(crate) fn next(&mut self, context: &LlamaContext<'_>) -> LlamaToken {
        if self.speaks || self.blanks >= BLANKS {
            return self.rest.sample(context, -1);
        }
        let token = self.first.sample(context, -1);
        self.rest.accept(token);
        self.blanks += 1;
        token
    }

    /// Learns what the reader got of the last token.
    pub(crate) fn said(&mut self, text: &str) {
        self.speaks |= !text.trim().is_empty();
    }
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
