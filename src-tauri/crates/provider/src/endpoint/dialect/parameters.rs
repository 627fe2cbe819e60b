//! Parameters of a request for a reply.

/// Every parameter that can be omitted.
pub(crate) const PARAMETERS: [&str; 39] = [
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
    "dry_sequence_breakers",
    "samplers",
    "min_tokens",
    "ignore_eos",
    "grammar",
    "top_k",
    "min_p",
    "repeat_penalty",
    "repetition_penalty",
    "cache_prompt",
    "return_progress",
    "add_generation_prompt",
    "continue_final_message",
    "temperature",
    "top_p",
    "frequency_penalty",
    "presence_penalty",
    "logit_bias",
    "seed",
    "stream_options",
    "response_format",
    "stop",
    "max_tokens",
    "tools",
    "parallel_tool_calls",
];
/// Number of leading entries of [`PARAMETERS`] that are not part of OpenAI's API.
pub(super) const EXTRAS: usize = 27;
/// An endpoint that fixes one of these fixes all of them.
pub(super) const SAMPLING: [&str; 4] = [
    "temperature",
    "top_p",
    "frequency_penalty",
    "presence_penalty",
];
pub(super) const LIMITS: [&str; 2] = ["max_tokens", "max_completion_tokens"];
