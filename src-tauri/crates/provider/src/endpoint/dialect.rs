//! Records what an endpoint refuses, learned from its error messages. The caller stores the dialect
//! with the endpoint, so that each refusal happens once and not in every turn.

use std::collections::BTreeSet;

use parameters::{EXTRAS, LIMITS, SAMPLING};
use phrases::{
    MISSING, NO_SYSTEM, NO_THOUGHTS_BACK, NO_TOOLS, ORDER, OUT_OF_RANGE, PREFILL, THOUGHTS_BACK,
    UNKNOWN,
};
use serde::{Deserialize, Serialize};

use super::api_error::EndpointError;

mod known;
mod parameters;
mod phrases;

pub(crate) use parameters::PARAMETERS;

/// Field of a message with the thoughts of the model.
const REASONING: &str = "reasoning_content";

/// Refusals of an endpoint so far. Parameters outside OpenAI's API are sent until the endpoint
/// refuses them. Local servers support them and most others ignore them. The rest reject them with
/// a 400 or 422.
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
    /// The replies whose thoughts are sent back as `reasoning_content`.
    pub thoughts_back: ThoughtsBack,
    /// The server has its own defaults for samplers that are not sent, so disabled samplers are
    /// sent explicitly.
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

/// The replies of the model whose thoughts an endpoint wants back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ThoughtsBack {
    #[default]
    Never,
    /// Only replies with tool calls.
    WithCalls,
    Always,
}

impl LearnedDialect {
    pub(crate) fn thoughts_back(&self) -> ThoughtsBack {
        if self.sends(REASONING) {
            self.thoughts_back
        } else {
            ThoughtsBack::Never
        }
    }

    pub(crate) fn sends(&self, parameter: &str) -> bool {
        let beyond = self.plain && is_extra(parameter);
        !beyond && !self.left_out.contains(parameter)
    }

    /// Whether the endpoint can continue an unfinished reply. Endpoints with only OpenAI's
    /// parameters start a new reply instead.
    pub(crate) fn prefills(&self) -> bool {
        !self.plain && !self.no_prefill && self.sends("continue_final_message")
    }

    /// Returns the dialect after a refusal, if the refused part can be omitted. `continues` says
    /// that the request ended with an unfinished reply.
    pub(crate) fn learn(&self, error: &EndpointError, continues: bool) -> Option<Self> {
        let mut words = error.message.to_lowercase();
        if let Some(parameter) = &error.parameter {
            words = format!("{words} {parameter}");
        }
        if let Some(learned) = self.learn_thoughts(&words) {
            return Some(learned);
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

    /// Learns whether the endpoint wants the thoughts back. A second refusal means that every reply
    /// needs them.
    fn learn_thoughts(&self, words: &str) -> Option<Self> {
        if !names(words, REASONING) {
            return None;
        }
        let mut learned = self.clone();
        if says(words, &NO_THOUGHTS_BACK) {
            learned.left_out.insert(REASONING.to_owned());
        } else if says(words, &THOUGHTS_BACK) {
            learned.thoughts_back = match self.thoughts_back() {
                ThoughtsBack::Never => ThoughtsBack::WithCalls,
                ThoughtsBack::WithCalls | ThoughtsBack::Always => ThoughtsBack::Always,
            };
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
        let unknown = says(words, &UNKNOWN);
        let out_of_range = says(words, &OUT_OF_RANGE);
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
        let extras = PARAMETERS[..EXTRAS]
            .iter()
            .filter(|name| names(words, name) && self.sends(name));
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
        let about = says(
            words,
            &[
                "role",
                "system",
                "user",
                "assistant",
                "message",
                "instruction",
            ],
        );
        // If the request had no unfinished reply, a complaint about the last message concerns the
        // order of turns.
        let last = says(words, &PREFILL);
        if !about || (last && continues) {
            return;
        }
        if says(words, &NO_SYSTEM) {
            self.roles = RoleRules::NoSystem;
        } else if last || says(words, &ORDER) {
            self.roles = if self.roles == RoleRules::Free {
                RoleRules::Strict
            } else {
                RoleRules::NoSystem
            };
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
            thoughts_back: self.thoughts_back.max(other.thoughts_back),
            own_defaults: self.own_defaults | other.own_defaults,
        }
    }
}

fn is_extra(name: &str) -> bool {
    PARAMETERS[..EXTRAS].contains(&name)
}

fn says(words: &str, any: &[&str]) -> bool {
    any.iter().any(|word| words.contains(word))
}

/// Whether `words` contain `name` as a whole identifier.
fn names(words: &str, name: &str) -> bool {
    let inside = |letter: Option<char>| {
        letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_')
    };
    words.match_indices(name).any(|(at, _)| {
        !inside(words[..at].chars().next_back()) && !inside(words[at + name.len()..].chars().next())
    })
}

#[cfg(test)]
mod tests;
