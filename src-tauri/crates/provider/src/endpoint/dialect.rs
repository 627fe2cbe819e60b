//! Records what an endpoint refuses, learned from its error messages. The caller stores the dialect with the endpoint,
//! so that each refusal happens once and not in every turn.

use std::collections::BTreeSet;

use domain::model::EndpointDialect;
use serde::{Deserialize, Serialize};

use super::api_error::EndpointError;

/// Refusals of an endpoint so far. Parameters outside OpenAI's API are sent until the endpoint refuses them. Local
/// servers support them and most others ignore them. The rest reject them with a 400 or 422.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct LearnedDialect {
    /// Parameters that are not sent.
    pub left_out: BTreeSet<String>,
    /// Only parameters of OpenAI's API are sent.
    pub plain: bool,
    /// The limit is called `max_completion_tokens`.
    pub completion_tokens: bool,
    /// At most four stop texts are sent.
    pub few_stops: bool,
    /// An unfinished reply at the end is refused.
    pub no_prefill: bool,
    pub roles: RoleRules,
    /// The server has its own defaults for samplers that are not sent, so disabled samplers are sent explicitly.
    pub own_defaults: bool,
}

/// The message order that an endpoint accepts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RoleRules {
    #[default]
    Free,
    /// One system message at the start, then alternating turns that begin with the user.
    Strict,
    /// Like `Strict`, but without a system message.
    NoSystem,
}

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
const EXTRAS: usize = 27;
/// An endpoint that fixes one of these fixes all of them.
const SAMPLING: [&str; 4] = ["temperature", "top_p", "frequency_penalty", "presence_penalty"];
const LIMITS: [&str; 2] = ["max_tokens", "max_completion_tokens"];

/// Phrases that endpoints use for an unknown parameter.
const UNKNOWN: [&str; 19] = [
    "deprecated",
    "support",
    "unrecogni",
    "not recogni",
    "unknown",
    "unexpected",
    "extra",
    "permitted",
    "not allowed",
    "invalid param",
    "forbidden",
    "additional propert",
    "not a valid",
    "not accepted",
    "no such",
    "does not exist",
    "should not exist",
    "must not be set",
    "cannot be set",
];
/// Phrases that endpoints use for a value out of range. Extra samplers are then omitted; the user must correct other
/// values.
const OUT_OF_RANGE: [&str; 10] = [
    "must be",
    "should be",
    "at least",
    "at most",
    "invalid",
    "greater than",
    "less than",
    "out of range",
    "between",
    "disable",
];
/// Phrases that endpoints use if a model or a server has no tools.
const NO_TOOLS: [&str; 9] = [
    "not support tool",
    "not support function",
    "tools are not supported",
    "tools is not supported",
    "tool use is not supported",
    "tool calling is not supported",
    "function calling is not supported",
    "enable-auto-tool-choice",
    "tools param requires",
];
const MISSING: [&str; 3] = ["required", "missing", "must be provided"];
/// Phrases that endpoints use if the last message must be the user's.
const PREFILL: [&str; 9] = [
    "prefill",
    "end with a user message",
    "expected last role",
    "last message must be",
    "last message should be",
    "last message is not",
    "must end with",
    "continue_final_message",
    "add_generation_prompt",
];
/// Phrases that endpoints use to reject the order of turns.
const ORDER: [&str; 12] = [
    "must alternate",
    "should alternate",
    "alternating",
    "alternate between",
    "roles must",
    "at the beginning",
    "first message",
    "must start with",
    "start with a user",
    "multiple system",
    "more than one system",
    "consecutive",
];
const NO_SYSTEM: [&str; 14] = [
    "only user and assistant",
    "only 'user' and 'assistant'",
    "system role not",
    "system role is not",
    "system messages are not",
    "system message is not",
    "not support system",
    "not support the system",
    "developer instruction is not",
    "invalid role: system",
    "unsupported role: system",
    "role 'system' is not",
    "be 'user' or 'assistant'",
    "be one of 'user', 'assistant'",
];

impl LearnedDialect {
    /// Known restrictions of widely used services, applied before their first refusal.
    pub(crate) fn of_host(host: &str) -> Self {
        let is = |name: &str| host == name || host.strip_suffix(name).is_some_and(|rest| rest.ends_with('.'));
        let mut known = Self::default();
        if is("api.openai.com") || is("api.mistral.ai") {
            (known.plain, known.no_prefill) = (true, true);
        }
        if is("api.mistral.ai") {
            known.left_out.extend(["seed", "stream_options"].map(str::to_owned));
        }
        if is("api.perplexity.ai") {
            known.roles = RoleRules::Strict;
        }
        known
    }

    /// Parameters that the APIs other than OpenAI's accept. The names are those of OpenAI and llama.cpp.
    pub(crate) fn of_api(api: EndpointDialect) -> Self {
        let taken: &[&str] = match api {
            EndpointDialect::OpenAi => return Self::default(),
            EndpointDialect::Text => return Self { left_out: names_of(&["tools"]), ..Self::default() },
            // Newer models refuse a temperature together with `top_p`.
            EndpointDialect::Anthropic => &["temperature", "stop", "max_tokens", "tools"],
            EndpointDialect::Gemini => &[
                "temperature",
                "top_p",
                "top_k",
                "frequency_penalty",
                "presence_penalty",
                "seed",
                "response_format",
                "stop",
                "max_tokens",
                "tools",
            ],
            EndpointDialect::Ollama => &[
                "typical_p",
                "repeat_last_n",
                "mirostat",
                "mirostat_tau",
                "mirostat_eta",
                "top_k",
                "min_p",
                "repeat_penalty",
                "temperature",
                "top_p",
                "frequency_penalty",
                "presence_penalty",
                "seed",
                "response_format",
                "stop",
                "max_tokens",
                "tools",
            ],
        };
        let left_out = PARAMETERS.iter().copied().filter(|name| !taken.contains(name)).collect::<Vec<_>>();
        let no_prefill = api == EndpointDialect::Gemini;
        Self { left_out: names_of(&left_out), no_prefill, ..Self::default() }
    }

    /// The refusals beyond what all endpoints with this API lack.
    pub fn beyond(&self, api: EndpointDialect) -> Self {
        let known = Self::of_api(api);
        let left_out = self.left_out.difference(&known.left_out).cloned().collect();
        Self { left_out, no_prefill: self.no_prefill && !known.no_prefill, ..self.clone() }
    }

    pub(crate) fn sends(&self, parameter: &str) -> bool {
        let beyond = self.plain && is_extra(parameter);
        !beyond && !self.left_out.contains(parameter)
    }

    /// Whether the endpoint can continue an unfinished reply. Endpoints with only OpenAI's parameters start a new reply
    /// instead.
    pub(crate) fn prefills(&self) -> bool {
        !self.plain && !self.no_prefill && self.sends("continue_final_message")
    }

    /// Returns the dialect after a refusal, if the refused part can be omitted. `continues` says that the request ended
    /// with an unfinished reply.
    pub(crate) fn learn(&self, error: &EndpointError, continues: bool) -> Option<Self> {
        let mut words = error.message.to_lowercase();
        if let Some(parameter) = &error.parameter {
            words = format!("{words} {parameter}");
        }
        let mut learned = self.clone();
        learned.no_prefill |= says(&words, &PREFILL);
        learned.learn_roles(&words, continues);
        if error.refused.is_empty() {
            learned.learn_words(&words);
        } else {
            for refused in &error.refused {
                learned.learn_refused(&refused.name, &refused.why);
            }
        }
        (learned != *self).then_some(learned)
    }

    /// Learns from an entry of an error list, which concerns only this parameter.
    fn learn_refused(&mut self, name: &str, why: &str) {
        let unknown = says(why, &UNKNOWN);
        if says(why, &MISSING) && !unknown {
            return;
        }
        match name {
            "stop" if !unknown => self.learn_stops(),
            "max_tokens" if unknown => self.learn_limit(),
            _ if unknown || is_extra(name) => {
                self.no_prefill |= unknown && is_extra(name);
                self.left_out.insert(name.to_owned());
            }
            _ => {}
        }
    }

    /// Learns from an error sentence, which may name only the first of several parameters.
    fn learn_words(&mut self, words: &str) {
        let (unknown, out_of_range) = (says(words, &UNKNOWN), says(words, &OUT_OF_RANGE));
        if words.contains("stop") && says(words, &["too long", "too many", "at most", "maximum"]) {
            return self.learn_stops();
        }
        if names(words, "max_completion_tokens") && !self.completion_tokens {
            self.completion_tokens = true;
            return;
        }
        if unknown && LIMITS.iter().any(|limit| names(words, limit)) {
            self.learn_limit();
        }
        if says(words, &NO_TOOLS) {
            self.left_out.insert("tools".to_owned());
        }
        if says(words, &["response_format", "json_schema"]) {
            self.left_out.insert("response_format".to_owned());
        }
        if unknown && words.contains("include_usage") {
            self.left_out.insert("stream_options".to_owned());
        }
        let extras = PARAMETERS[..EXTRAS].iter().filter(|name| names(words, name) && self.sends(name));
        let extras: Vec<&str> = extras.copied().collect();
        if !extras.is_empty() && (unknown || out_of_range) {
            // An endpoint that rejects a second extra parameter supports none of them.
            self.plain |= unknown && self.left_out.iter().any(|name| is_extra(name));
            self.no_prefill |= unknown;
            self.left_out.extend(extras.into_iter().map(str::to_owned));
        }
        if !unknown {
            return;
        }
        if SAMPLING.iter().any(|name| names(words, name)) {
            self.left_out.extend(SAMPLING.map(str::to_owned));
        }
        for name in ["seed", "stream_options", "logit_bias"] {
            if names(words, name) {
                self.left_out.insert(name.to_owned());
            }
        }
    }

    fn learn_stops(&mut self) {
        if self.few_stops {
            self.left_out.insert("stop".to_owned());
        }
        self.few_stops = true;
    }

    /// The limit has another name, or the endpoint does not support it.
    fn learn_limit(&mut self) {
        if self.completion_tokens {
            self.left_out.insert("max_tokens".to_owned());
        }
        self.completion_tokens = true;
    }

    fn learn_roles(&mut self, words: &str, continues: bool) {
        let about = says(words, &["role", "system", "user", "assistant", "message", "instruction"]);
        // If the request had no unfinished reply, a complaint about the last message concerns the order of turns.
        let last = says(words, &PREFILL);
        if !about || (last && continues) {
            return;
        }
        if says(words, &NO_SYSTEM) {
            self.roles = RoleRules::NoSystem;
        } else if last || says(words, &ORDER) {
            self.roles = if self.roles == RoleRules::Free { RoleRules::Strict } else { RoleRules::NoSystem };
        }
    }

    /// Combines the refusals of both dialects.
    pub(crate) fn or(mut self, other: Self) -> Self {
        self.left_out.extend(other.left_out);
        Self {
            left_out: self.left_out,
            plain: self.plain | other.plain,
            completion_tokens: self.completion_tokens | other.completion_tokens,
            few_stops: self.few_stops | other.few_stops,
            no_prefill: self.no_prefill | other.no_prefill,
            roles: self.roles.max(other.roles),
            own_defaults: self.own_defaults | other.own_defaults,
        }
    }
}

fn names_of(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn is_extra(name: &str) -> bool {
    PARAMETERS[..EXTRAS].contains(&name)
}

fn says(words: &str, any: &[&str]) -> bool {
    any.iter().any(|word| words.contains(word))
}

/// Whether `words` contain `name` as a whole identifier.
fn names(words: &str, name: &str) -> bool {
    let inside = |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
    words
        .match_indices(name)
        .any(|(at, _)| !inside(words[..at].chars().next_back()) && !inside(words[at + name.len()..].chars().next()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(refusals: &[&str]) -> LearnedDialect {
        refusals.iter().fold(LearnedDialect::default(), |dialect, message| {
            let error = EndpointError { message: (*message).to_owned(), ..EndpointError::default() };
            dialect.learn(&error, false).unwrap_or_else(|| panic!("nothing is learned of: {message}"))
        })
    }

    fn left_out(dialect: &LearnedDialect) -> Vec<&str> {
        dialect.left_out.iter().map(String::as_str).collect()
    }

    #[test]
    fn refused_value_omits_only_its_parameter() {
        for message in [
            "top_k must be -1 (disable), or at least 1, got 0.",
            "Invalid value for 'top_k': 0",
            "`top_k` should be greater than 0",
        ] {
            let dialect = after(&[message]);
            assert_eq!((left_out(&dialect), dialect.plain), (vec!["top_k"], false), "{message}");
        }
    }

    #[test]
    fn two_unknown_parameters_imply_plain() {
        let once = after(&["Unrecognized request argument supplied: top_k"]);
        assert_eq!((left_out(&once), once.plain), (vec!["top_k"], false));
        let twice = after(&["Unrecognized request argument supplied: top_k", "unknown field min_p"]);
        assert!(twice.plain && !twice.sends("dry_base") && twice.sends("temperature"));
    }

    #[test]
    fn learns_role_restrictions() {
        for (message, roles) in [
            ("System message must be at the beginning.", RoleRules::Strict),
            ("Conversation roles must alternate user/assistant/user/assistant/...", RoleRules::Strict),
            (
                "After the optional system message(s), user or tool message(s) should alternate with assistant",
                RoleRules::Strict,
            ),
            ("The first message must have the role user", RoleRules::Strict),
            ("Multiple system messages are unsupported", RoleRules::Strict),
            ("Expected last role User or Tool for serving but got system", RoleRules::Strict),
            ("Only user and assistant roles are supported!", RoleRules::NoSystem),
            ("messages.0.role: Input should be 'user' or 'assistant'", RoleRules::NoSystem),
            ("System role not supported", RoleRules::NoSystem),
            ("Developer instruction is not enabled for models/gemma-3", RoleRules::NoSystem),
        ] {
            assert_eq!(after(&[message]).roles, roles, "{message}");
        }
        let twice = after(&["roles must alternate", "System message must be at the beginning."]);
        assert_eq!(twice.roles, RoleRules::NoSystem, "a second refusal escalates");
    }

    #[test]
    fn model_without_tools_gets_none() {
        for message in [
            "registry.example/library/tiny:latest does not support tools",
            "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set",
            "tools param requires --jinja flag",
        ] {
            assert!(!after(&[message]).sends("tools"), "{message}");
        }
    }

    #[test]
    fn each_api_leaves_out_what_it_lacks() {
        let sends = |api, name| LearnedDialect::of_api(api).sends(name);
        assert!(sends(EndpointDialect::Anthropic, "temperature") && !sends(EndpointDialect::Anthropic, "top_p"));
        assert!(sends(EndpointDialect::Gemini, "top_k") && !sends(EndpointDialect::Gemini, "min_p"));
        assert!(sends(EndpointDialect::Ollama, "min_p") && !sends(EndpointDialect::Ollama, "dry_base"));
        assert!(sends(EndpointDialect::Text, "min_p") && !sends(EndpointDialect::Text, "tools"));
        let deprecated = after(&["`temperature` is deprecated for this model."]);
        assert!(!deprecated.sends("temperature"), "{deprecated:?}");
        let learned = deprecated.or(LearnedDialect::of_api(EndpointDialect::Gemini)).beyond(EndpointDialect::Gemini);
        assert_eq!(
            (left_out(&learned), learned.no_prefill),
            (vec!["frequency_penalty", "presence_penalty", "temperature", "top_p"], false),
            "only what was learned is shown"
        );
    }

    #[test]
    fn learns_nothing_from_other_errors() {
        for message in [
            "messages must not be empty",
            "temperature must be below 2",
            "the model is unknown",
            "model is required",
            "",
        ] {
            let error = EndpointError { message: message.to_owned(), ..EndpointError::default() };
            assert_eq!(LearnedDialect::default().learn(&error, false), None, "{message}");
        }
    }

    #[test]
    fn keeps_a_parameter_reported_as_missing() {
        let error =
            EndpointError::read(r#"{"detail":[{"type":"missing","loc":["body","top_k"],"msg":"Field required"}]}"#);
        assert_eq!(LearnedDialect::default().learn(&error, false), None);
    }

    #[test]
    fn known_services_start_with_their_dialect() {
        assert!(LearnedDialect::of_host("api.openai.com").plain);
        assert_eq!(LearnedDialect::of_host("api.perplexity.ai").roles, RoleRules::Strict);
        assert_eq!(LearnedDialect::of_host("notapi.openai.com"), LearnedDialect::default());
    }

    #[test]
    fn survives_serialisation() {
        let learned = after(&["top_k must be at least 1", "Only user and assistant roles are supported!"]);
        let json = serde_json::to_string(&learned).unwrap();
        assert_eq!(serde_json::from_str::<LearnedDialect>(&json).unwrap(), learned);
        assert_eq!(serde_json::from_str::<LearnedDialect>("{}").unwrap(), LearnedDialect::default());
    }
}
