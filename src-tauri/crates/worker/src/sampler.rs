//! The chain that draws a token.

use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::sampling::LlamaSampler;
use llama_cpp_2::token::LlamaToken;
use llama_cpp_2::token::logit_bias::LlamaLogitBias;
use worker::protocol::{Generate, Sampling};

use crate::vocab::Vocab;

/// Tokens that any penalty looks back on at the most: llama.cpp keeps room for all of them.
const FURTHEST: u32 = 1 << 17;

/// What ends a run of words for DRY, as llama.cpp has it.
const BREAKERS: [&str; 4] = ["\n", ":", "\"", "*"];

/// Tokens from which mirostat's first version learns, as its paper has it.
const MIROSTAT_TOKENS: i32 = 100;

/// Blank tokens in a row after which a reply may end although it says nothing.
const BLANKS: u32 = 16;

/// Draws the tokens of one reply. A small model now and then ends its turn before it has said a word; people who asked
/// something want an answer, so the first words are drawn as if there were no end.
pub(crate) struct Draw {
    /// Knows what may come next; it says itself when there is an end.
    grammar: Option<LlamaSampler>,
    first: LlamaSampler,
    rest: LlamaSampler,
    /// Tokens drawn while nothing is said.
    blanks: u32,
    speaks: bool,
}

/// Why no text of a grammar can be written.
#[derive(Debug)]
pub(crate) struct Ungrammatical(pub(crate) &'static str);

impl Draw {
    /// For a reply to `prompt`, whose end the penalties have seen.
    pub(crate) fn new(request: &Generate, vocab: &Vocab<'_>, prompt: &[LlamaToken]) -> Result<Self, Ungrammatical> {
        let sampling = &request.sampling;
        let grammar = request.grammar.as_ref().map(|grammar| read(grammar, vocab)).transpose()?;
        let never = |token: &LlamaToken| LlamaLogitBias::new(*token, f32::NEG_INFINITY);
        let endless: Vec<LlamaLogitBias> = vocab.ends().iter().map(never).collect();
        let mut first = vec![LlamaSampler::logit_bias(vocab.len(), &endless)];
        first.append(&mut links(sampling, vocab));
        let [mut first, mut rest] = [first, links(sampling, vocab)].map(|links| LlamaSampler::chain(links, true));
        let dry = if sampling.dry_multiplier > 0.0 { dry_range(sampling) } else { 0 };
        let range = sampling.repeat_range.min(FURTHEST).max(dry) as usize;
        let recent = &prompt[prompt.len().saturating_sub(range)..];
        // Role markers and turn ends must stay as likely as they are, or replies run on.
        let recent: Vec<LlamaToken> = recent.iter().filter(|token| !vocab.is_control(**token)).copied().collect();
        first.accept_many(&recent);
        rest.accept_many(&recent);
        Ok(Self { grammar, first, rest, blanks: 0, speaks: false })
    }

    pub(crate) fn next(&mut self, context: &LlamaContext<'_>) -> Result<LlamaToken, Ungrammatical> {
        match &mut self.grammar {
            Some(grammar) => of_grammar(grammar, &mut self.rest, context),
            None => Ok(self.any(context)),
        }
    }

    fn any(&mut self, context: &LlamaContext<'_>) -> LlamaToken {
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

fn read(grammar: &str, vocab: &Vocab<'_>) -> Result<LlamaSampler, Ungrammatical> {
    LlamaSampler::grammar(vocab.model(), grammar, "root").map_err(|_| Ungrammatical("the grammar cannot be read"))
}

/// Draws a token that the grammar allows. llama.cpp aborts the process when a grammar is told of a token that it does not
/// allow, so what it forbids is never among those that are drawn from.
fn of_grammar(
    grammar: &mut LlamaSampler,
    rest: &mut LlamaSampler,
    context: &LlamaContext<'_>,
) -> Result<LlamaToken, Ungrammatical> {
    let mut candidates = context.token_data_array_ith(-1);
    grammar.apply(&mut candidates);
    candidates.data.retain(|candidate| candidate.logit() > f32::NEG_INFINITY);
    if candidates.data.is_empty() {
        return Err(Ungrammatical("no token goes on in the grammar"));
    }
    rest.apply(&mut candidates);
    let token = candidates.selected_token().ok_or(Ungrammatical("no token was drawn"))?;
    grammar.try_accept(token).map_err(|_| Ungrammatical("the grammar has come to no end"))?;
    rest.accept(token);
    Ok(token)
}

/// The links in llama.cpp's own order.
fn links(sampling: &Sampling, vocab: &Vocab<'_>) -> Vec<LlamaSampler> {
    let mut links = penalties(sampling, vocab);
    if sampling.temperature <= 0.0 {
        links.push(LlamaSampler::greedy());
        return links;
    }
    if matches!(sampling.mirostat, 1 | 2) {
        links.push(LlamaSampler::temp(sampling.temperature));
        let Sampling { seed, mirostat_tau: tau, mirostat_eta: eta, .. } = *sampling;
        links.push(match sampling.mirostat {
            1 => LlamaSampler::mirostat(vocab.len(), seed, tau, eta, MIROSTAT_TOKENS),
            _ => LlamaSampler::mirostat_v2(seed, tau, eta),
        });
        return links;
    }
    links.append(&mut cuts(sampling));
    links.push(match sampling.dynatemp_range {
        range if range > 0.0 => LlamaSampler::temp_ext(sampling.temperature, range, sampling.dynatemp_exponent),
        _ => LlamaSampler::temp(sampling.temperature),
    });
    links.push(LlamaSampler::dist(sampling.seed));
    links
}

fn penalties(sampling: &Sampling, vocab: &Vocab<'_>) -> Vec<LlamaSampler> {
    let mut links = Vec::new();
    let Sampling { frequency_penalty, presence_penalty, .. } = *sampling;
    let penalised = sampling.repeat_penalty != 1.0 || frequency_penalty != 0.0 || presence_penalty != 0.0;
    if penalised && sampling.repeat_range > 0 {
        // llama.cpp aborts the process on a penalty that is not positive.
        let penalty = sampling.repeat_penalty.clamp(0.1, 10.0);
        let range = whole(sampling.repeat_range.min(FURTHEST));
        links.push(LlamaSampler::penalties(vocab.len(), range, penalty, frequency_penalty, presence_penalty));
    }
    if sampling.dry_multiplier > 0.0 {
        let base = sampling.dry_base.max(1.0);
        let allowed = whole(sampling.dry_allowed_length);
        let range = whole(dry_range(sampling));
        links.push(LlamaSampler::dry(vocab.model(), sampling.dry_multiplier, base, allowed, range, BREAKERS));
    }
    links
}

/// What leaves out unlikely tokens, and now and then the likeliest.
fn cuts(sampling: &Sampling) -> Vec<LlamaSampler> {
    let mut links = Vec::new();
    if sampling.top_n_sigma > 0.0 {
        links.push(LlamaSampler::top_n_sigma(sampling.top_n_sigma));
    }
    if sampling.top_k > 0 {
        links.push(LlamaSampler::top_k(whole(sampling.top_k)));
    }
    if sampling.typical_p < 1.0 {
        links.push(LlamaSampler::typical(sampling.typical_p.max(0.0), 1));
    }
    if sampling.top_p < 1.0 {
        links.push(LlamaSampler::top_p(sampling.top_p.max(0.0), 1));
    }
    if sampling.min_p > 0.0 {
        links.push(LlamaSampler::min_p(sampling.min_p.min(1.0), 1));
    }
    if sampling.xtc_probability > 0.0 {
        links.push(LlamaSampler::xtc(sampling.xtc_probability, sampling.xtc_threshold, 1, sampling.seed));
    }
    links
}

/// Tokens that DRY looks back on.
fn dry_range(sampling: &Sampling) -> u32 {
    match sampling.dry_range {
        0 => FURTHEST,
        range => range.min(FURTHEST),
    }
}

fn whole(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}
