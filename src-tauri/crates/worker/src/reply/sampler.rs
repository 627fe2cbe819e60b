//! Sampler chain of one reply.

use std::collections::{BTreeMap, BTreeSet};

use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::json_schema_to_grammar;
use llama_cpp_2::sampling::LlamaSampler;
use llama_cpp_2::token::LlamaToken;
use llama_cpp_2::token::logit_bias::LlamaLogitBias;
use worker::protocol::{Generate, WireSampling, WireSegment};
use worker::token_rules::{WireBias, WireRules, WireStage};

use crate::picture_tokens::is_picture;
use crate::vocab::Vocab;

/// Maximum range of the penalties in tokens, because llama.cpp allocates memory for all of them.
const MAX_PENALTY_RANGE: u32 = 1 << 17;

/// Maximum number of sequence breakers of DRY, because llama.cpp compares each with the whole
/// vocabulary.
const MAX_BREAKERS: usize = 100;

/// A bias of this value or less excludes the token.
const NEVER: f32 = -100.0;

/// Number of tokens that mirostat 1 estimates from, as in its paper.
const MIROSTAT_TOKENS: i32 = 100;

/// Number of blank tokens after which a reply may end without text.
const BLANKS: u32 = 16;

/// Maximum number of times that a reply goes back to avoid a banned text. Then the reply ends
/// before that text.
const MAX_ROLLBACKS: u32 = 200;

/// Samples the tokens of one reply. Small models sometimes end their turn before any text. The end
/// of turn is therefore excluded until the reply contains visible text, for at most [`BLANKS`]
/// tokens, and longer if the request says so.
pub(crate) struct TokenSampler<'model> {
    vocab: &'model Vocab<'model>,
    /// Restricts the next token; a grammar decides itself when the reply may end.
    grammar: Option<LlamaSampler>,
    /// Excludes the ends of a reply.
    endless: LlamaSampler,
    rest: LlamaSampler,
    min_tokens: usize,
    ban_end_token: bool,
    /// The end of the prompt, which the penalties see.
    recent: Vec<LlamaToken>,
    /// The tokens of the reply.
    reply: Vec<LlamaToken>,
    /// Tokens that began a banned text, by their place in the reply.
    banned: Vec<(usize, LlamaToken)>,
    rollbacks: u32,
    has_text: bool,
}

/// Reason why the grammar cannot produce text.
#[derive(Debug)]
pub(crate) struct GrammarError(pub(crate) &'static str);

impl<'model> TokenSampler<'model> {
    /// Creates the chain. The penalties also see the end of `prompt`.
    pub(crate) fn new(
        request: &Generate,
        vocab: &'model Vocab<'model>,
        prompt: &[LlamaToken],
    ) -> Result<Self, GrammarError> {
        let sampling = &request.sampling;
        let biases = Biases::of(&request.rules, vocab);
        let [mut endless, mut rest] = [true, false].map(|endless| {
            LlamaSampler::chain(chain(request, vocab, biases.link(vocab, endless)), true)
        });
        let dry = if sampling.dry_multiplier > 0.0 {
            dry_range(sampling)
        } else {
            0
        };
        let range = sampling.repeat_range.min(MAX_PENALTY_RANGE).max(dry) as usize;
        let recent = &prompt[prompt.len().saturating_sub(range)..];
        // Penalising role markers and turn ends would make replies run on.
        let recent: Vec<LlamaToken> = recent
            .iter()
            .filter(|token| !is_picture(**token) && !vocab.is_control(**token))
            .copied()
            .collect();
        endless.accept_many(&recent);
        rest.accept_many(&recent);
        Ok(Self {
            vocab,
            grammar: grammar(request, vocab)?,
            endless,
            rest,
            min_tokens: request.rules.min_tokens as usize,
            ban_end_token: request.rules.ban_end_token,
            recent,
            reply: Vec::new(),
            banned: Vec::new(),
            rollbacks: 0,
            has_text: false,
        })
    }

    /// Samples from the logits at index `at` of the last batch.
    pub(crate) fn next(
        &mut self,
        context: &LlamaContext<'_>,
        at: i32,
    ) -> Result<LlamaToken, GrammarError> {
        let place = self.reply.len();
        let filtered = self.grammar.is_some() || self.banned.iter().any(|(at, _)| *at == place);
        let token = if filtered {
            self.filtered(context, at)?
        } else {
            self.any(context, at)
        };
        self.reply.push(token);
        Ok(token)
    }

    /// Records the visible text of the last token.
    pub(crate) fn record_text(&mut self, text: &str) {
        self.has_text |= !text.trim().is_empty();
    }

    /// Drops the tokens of the reply from `place` on, and excludes the one at `place` from being
    /// sampled there again. Returns the remaining tokens; `None` if the reply went back too often.
    pub(crate) fn roll_back(
        &mut self,
        place: usize,
    ) -> Result<Option<&[LlamaToken]>, GrammarError> {
        let Some(token) = self
            .reply
            .get(place)
            .copied()
            .filter(|_| self.rollbacks < MAX_ROLLBACKS)
        else {
            return Ok(None);
        };
        self.rollbacks += 1;
        self.banned.retain(|(at, _)| *at <= place);
        self.banned.push((place, token));
        self.reply.truncate(place);
        for chain in [&mut self.endless, &mut self.rest] {
            chain.reset();
            chain.accept_many(&self.recent);
            chain.accept_many(&self.reply);
        }
        if let Some(grammar) = &mut self.grammar {
            grammar.reset();
            for token in &self.reply {
                grammar
                    .try_accept(*token)
                    .map_err(|_| GrammarError("the grammar rejected its own text"))?;
            }
        }
        Ok(Some(&self.reply))
    }

    /// Whether the reply may not end yet.
    fn is_endless(&self) -> bool {
        let place = self.reply.len();
        let blank = !self.has_text && place < BLANKS as usize;
        self.grammar.is_none() && (self.ban_end_token || place < self.min_tokens || blank)
    }

    fn any(&mut self, context: &LlamaContext<'_>, at: i32) -> LlamaToken {
        if self.is_endless() {
            let token = self.endless.sample(context, at);
            self.rest.accept(token);
            return token;
        }
        self.rest.sample(context, at)
    }

    /// Samples a token that the grammar allows and that is not banned at this place. llama.cpp
    /// aborts the process if a grammar must accept a token that it forbids, so forbidden tokens are
    /// removed before sampling.
    fn filtered(
        &mut self,
        context: &LlamaContext<'_>,
        at: i32,
    ) -> Result<LlamaToken, GrammarError> {
        let mut candidates = context.token_data_array_ith(at);
        if let Some(grammar) = &mut self.grammar {
            grammar.apply(&mut candidates);
        }
        let place = self.reply.len();
        let endless = self.is_endless();
        candidates.data.retain(|candidate| {
            let ends = endless && self.vocab.ends_reply(candidate.id());
            candidate.logit() > f32::NEG_INFINITY
                && !ends
                && !self.banned.contains(&(place, candidate.id()))
        });
        if candidates.data.is_empty() {
            return Err(GrammarError("no token of the model matches the grammar"));
        }
        self.rest.apply(&mut candidates);
        let token = candidates
            .selected_token()
            .ok_or(GrammarError("no token was sampled"))?;
        if let Some(grammar) = &mut self.grammar {
            grammar
                .try_accept(token)
                .map_err(|_| GrammarError("the grammar rejected the sampled token"))?;
        }
        self.endless.accept(token);
        self.rest.accept(token);
        Ok(token)
    }
}

/// Reads the grammar of the request, or makes one from its JSON schema.
fn grammar(request: &Generate, vocab: &Vocab<'_>) -> Result<Option<LlamaSampler>, GrammarError> {
    let text = match (&request.rules.grammar, &request.rules.json_schema) {
        (Some(grammar), _) => grammar.clone(),
        (None, Some(schema)) => json_schema_to_grammar(schema).map_err(|_| {
            GrammarError(
                "the JSON schema is invalid, or uses a feature that llama.cpp does not support",
            )
        })?,
        (None, None) => return Ok(None),
    };
    let invalid = "the grammar is invalid: a rule is missing, badly written, or begins with itself";
    LlamaSampler::grammar(vocab.model(), &text, "root")
        .map(Some)
        .map_err(|_| GrammarError(invalid))
}

/// Biases of the request by token.
struct Biases(Vec<LlamaLogitBias>);

impl Biases {
    fn of(rules: &WireRules, vocab: &Vocab<'_>) -> Self {
        let mut sums: BTreeMap<i32, f32> = BTreeMap::new();
        for WireBias { ids, texts, bias } in &rules.logit_bias {
            let bias = if *bias <= NEVER {
                f32::NEG_INFINITY
            } else {
                *bias
            };
            let plain = |text: &String| WireSegment {
                text: text.clone(),
                control: false,
            };
            let of_texts = texts.iter().flat_map(|text| vocab.tokenize(&plain(text)));
            let ids = ids
                .iter()
                .filter_map(|id| i32::try_from(*id).ok())
                .filter(|id| *id < vocab.len());
            // A text with a token twice gets its bias once.
            let tokens: BTreeSet<i32> = of_texts.map(|LlamaToken(id)| id).chain(ids).collect();
            for token in tokens {
                *sums.entry(token).or_default() += bias;
            }
        }
        Self(
            sums.into_iter()
                .map(|(token, bias)| LlamaLogitBias::new(LlamaToken(token), bias))
                .collect(),
        )
    }

    /// The first link of the chain, if there is anything to add.
    fn link(&self, vocab: &Vocab<'_>, endless: bool) -> Option<LlamaSampler> {
        let never = |token: &LlamaToken| LlamaLogitBias::new(*token, f32::NEG_INFINITY);
        let ends = vocab.ends().iter().filter(|_| endless).map(never);
        let all: Vec<LlamaLogitBias> = self.0.iter().copied().chain(ends).collect();
        (!all.is_empty()).then(|| LlamaSampler::logit_bias(vocab.len(), &all))
    }
}

/// Builds the chain in the order of the request.
fn chain(request: &Generate, vocab: &Vocab<'_>, biases: Option<LlamaSampler>) -> Vec<LlamaSampler> {
    let (sampling, rules) = (&request.sampling, &request.rules);
    let order = if rules.order.is_empty() {
        &WireStage::DEFAULT[..]
    } else {
        &rules.order
    };
    let greedy = sampling.temperature <= 0.0;
    let mirostat = matches!(sampling.mirostat, 1 | 2);
    let works = |stage: &&WireStage| match stage {
        WireStage::Penalties | WireStage::Dry => true,
        WireStage::Temperature => !greedy,
        _ => !greedy && !mirostat,
    };
    let mut chain: Vec<LlamaSampler> = biases.into_iter().collect();
    chain.extend(
        order
            .iter()
            .filter(works)
            .filter_map(|stage| link(*stage, sampling, rules, vocab)),
    );
    let WireSampling {
        seed,
        mirostat_tau: tau,
        mirostat_eta: eta,
        ..
    } = *sampling;
    chain.push(match sampling.mirostat {
        _ if greedy => LlamaSampler::greedy(),
        1 => LlamaSampler::mirostat(vocab.len(), seed, tau, eta, MIROSTAT_TOKENS),
        2 => LlamaSampler::mirostat_v2(seed, tau, eta),
        _ => LlamaSampler::dist(seed),
    });
    chain
}

/// The sampler of one stage; `None` if it is off.
fn link(
    stage: WireStage,
    sampling: &WireSampling,
    rules: &WireRules,
    vocab: &Vocab<'_>,
) -> Option<LlamaSampler> {
    let on = |is_on: bool| is_on.then_some(());
    Some(match stage {
        WireStage::Penalties => penalties(sampling, vocab)?,
        WireStage::Dry => {
            on(sampling.dry_multiplier > 0.0)?;
            let base = sampling.dry_base.max(1.0);
            let (allowed, range) = (
                whole(sampling.dry_allowed_length),
                whole(dry_range(sampling)),
            );
            // llama.cpp reads the texts as C strings.
            let breakers = rules
                .dry_breakers
                .iter()
                .filter(|text| !text.is_empty() && !text.contains('\0'));
            let breakers = breakers.take(MAX_BREAKERS).map(String::as_str);
            LlamaSampler::dry(
                vocab.model(),
                sampling.dry_multiplier,
                base,
                allowed,
                range,
                breakers,
            )
        }
        WireStage::TopNSigma => {
            on(sampling.top_n_sigma > 0.0)?;
            LlamaSampler::top_n_sigma(sampling.top_n_sigma)
        }
        WireStage::TopK => {
            on(sampling.top_k > 0)?;
            LlamaSampler::top_k(whole(sampling.top_k))
        }
        WireStage::TypicalP => {
            on(sampling.typical_p < 1.0)?;
            LlamaSampler::typical(sampling.typical_p.max(0.0), 1)
        }
        WireStage::TopP => {
            on(sampling.top_p < 1.0)?;
            LlamaSampler::top_p(sampling.top_p.max(0.0), 1)
        }
        WireStage::MinP => {
            on(sampling.min_p > 0.0)?;
            LlamaSampler::min_p(sampling.min_p.min(1.0), 1)
        }
        // XTC removes the most likely tokens at random.
        WireStage::Xtc => {
            on(sampling.xtc_probability > 0.0)?;
            LlamaSampler::xtc(
                sampling.xtc_probability,
                sampling.xtc_threshold,
                1,
                sampling.seed,
            )
        }
        WireStage::Temperature => match sampling.dynatemp_range {
            range if range > 0.0 => {
                LlamaSampler::temp_ext(sampling.temperature, range, sampling.dynatemp_exponent)
            }
            _ => LlamaSampler::temp(sampling.temperature),
        },
    })
}

fn penalties(sampling: &WireSampling, vocab: &Vocab<'_>) -> Option<LlamaSampler> {
    let WireSampling {
        frequency_penalty,
        presence_penalty,
        ..
    } = *sampling;
    let penalised =
        sampling.repeat_penalty != 1.0 || frequency_penalty != 0.0 || presence_penalty != 0.0;
    if !penalised || sampling.repeat_range == 0 {
        return None;
    }
    // llama.cpp aborts the process if the penalty is not positive.
    let penalty = sampling.repeat_penalty.clamp(0.1, 10.0);
    let range = whole(sampling.repeat_range.min(MAX_PENALTY_RANGE));
    Some(LlamaSampler::penalties(
        vocab.len(),
        range,
        penalty,
        frequency_penalty,
        presence_penalty,
    ))
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
