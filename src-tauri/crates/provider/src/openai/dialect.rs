//! What an endpoint is known to refuse, learned from its own words.

/// What an endpoint has refused so far. Parameters beyond OpenAI's own are sent until one is refused: local servers know
/// them, most others skip them, and the few that do not say so with a 400.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Dialect {
    /// OpenAI's own parameters only, and no more than four stop texts.
    pub(super) plain: bool,
    /// The limit is called `max_completion_tokens`.
    pub(super) completion_tokens: bool,
    /// Temperature, top-p and the two penalties of OpenAI's own are fixed.
    pub(super) fixed_sampling: bool,
    pub(super) unseeded: bool,
    /// No `stream_options`: the usage stays unknown.
    pub(super) no_usage: bool,
    /// An unfinished reply at the end is refused.
    pub(super) no_prefill: bool,
    /// Answers come in no form but the model's own.
    pub(super) shapeless: bool,
}

const EXTRAS: [&str; 22] = [
    "typical_p",
    "top_n_sigma",
    "repeat_last_n",
    "dry_multiplier",
    "dry_base",
    "dry_allowed_length",
    "dry_penalty_last_n",
    "xtc_probability",
    "xtc_threshold",
    "mirostat",
    "mirostat_tau",
    "mirostat_eta",
    "dynatemp_range",
    "dynatemp_exponent",
    "top_k",
    "min_p",
    "repeat_penalty",
    "repetition_penalty",
    "cache_prompt",
    "return_progress",
    "add_generation_prompt",
    "continue_final_message",
];

/// How endpoints say that the last message must be the user's.
const PREFILL: [&str; 5] =
    ["prefill", "end with a user message", "expected last role", "continue_final_message", "add_generation_prompt"];

impl Dialect {
    /// Whether an unfinished reply can be sent for the model to go on with. Endpoints that take none but OpenAI's own
    /// parameters begin a new reply instead.
    pub(super) fn prefills(self) -> bool {
        !self.plain && !self.no_prefill
    }

    /// The dialect after a 400 that said `message`, if it names something that can be left out.
    pub(super) fn learn(self, message: &str) -> Option<Self> {
        let message = message.to_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
        let mut learned = self;
        if says(&["max_completion_tokens"]) {
            learned.completion_tokens = true;
        }
        learned.no_prefill |= says(&PREFILL);
        if says(&["stop"]) && says(&["too long", "too many", "at most", "maximum"]) {
            learned.plain = true;
        }
        if says(&[
            "support",
            "unrecogni",
            "unknown",
            "unexpected",
            "extra",
            "permitted",
            "not allowed",
            "invalid param",
        ]) {
            learned.plain |= says(&EXTRAS);
            learned.fixed_sampling |= says(&["temperature", "top_p", "frequency_penalty", "presence_penalty"]);
            learned.unseeded |= says(&["seed"]);
            learned.no_usage |= says(&["stream_options", "include_usage"]);
        }
        learned.shapeless |= says(&["response_format", "json_schema"]);
        (learned != self).then_some(learned)
    }

    /// What either has learned.
    pub(super) fn or(self, other: Self) -> Self {
        Self {
            plain: self.plain | other.plain,
            completion_tokens: self.completion_tokens | other.completion_tokens,
            fixed_sampling: self.fixed_sampling | other.fixed_sampling,
            unseeded: self.unseeded | other.unseeded,
            no_usage: self.no_usage | other.no_usage,
            no_prefill: self.no_prefill | other.no_prefill,
            shapeless: self.shapeless | other.shapeless,
        }
    }
}
