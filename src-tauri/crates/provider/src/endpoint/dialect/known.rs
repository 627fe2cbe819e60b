//! Restrictions of services and APIs that are known before their first refusal.

use std::collections::BTreeSet;

use domain::model::EndpointDialect;

use super::parameters::PARAMETERS;
use super::{LearnedDialect, RoleRules};

impl LearnedDialect {
    /// Known restrictions of widely used services, applied before their first refusal.
    pub(crate) fn of_host(host: &str) -> Self {
        let is = |name: &str| {
            host == name
                || host
                    .strip_suffix(name)
                    .is_some_and(|rest| rest.ends_with('.'))
        };
        let mut known = Self::default();
        if is("api.openai.com") || is("api.mistral.ai") {
            (known.plain, known.no_prefill) = (true, true);
        }
        if is("api.mistral.ai") {
            known
                .left_out
                .extend(["seed", "stream_options"].map(str::to_owned));
        }
        if is("api.perplexity.ai") {
            known.roles = RoleRules::Strict;
        }
        known
    }

    /// Parameters that the APIs other than OpenAI's accept. The names are those of OpenAI and
    /// llama.cpp.
    pub(crate) fn of_api(api: EndpointDialect) -> Self {
        let taken: &[&str] = match api {
            EndpointDialect::OpenAi => return Self::default(),
            EndpointDialect::Text => {
                return Self {
                    left_out: names_of(&["tools"]),
                    ..Self::default()
                };
            }
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
        let left_out = PARAMETERS
            .iter()
            .copied()
            .filter(|name| !taken.contains(name))
            .collect::<Vec<_>>();
        let no_prefill = api == EndpointDialect::Gemini;
        Self {
            left_out: names_of(&left_out),
            no_prefill,
            ..Self::default()
        }
    }

    /// The refusals beyond what all endpoints with this API lack.
    pub fn beyond(&self, api: EndpointDialect) -> Self {
        let known = Self::of_api(api);
        let left_out = self.left_out.difference(&known.left_out).cloned().collect();
        Self {
            left_out,
            no_prefill: self.no_prefill && !known.no_prefill,
            ..self.clone()
        }
    }
}

fn names_of(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{after, left_out};
    use super::*;

    #[test]
    fn each_api_leaves_out_what_it_lacks() {
        let sends = |api, name| LearnedDialect::of_api(api).sends(name);
        assert!(
            sends(EndpointDialect::Anthropic, "temperature")
                && !sends(EndpointDialect::Anthropic, "top_p")
        );
        assert!(
            sends(EndpointDialect::Gemini, "top_k") && !sends(EndpointDialect::Gemini, "min_p")
        );
        assert!(
            sends(EndpointDialect::Ollama, "min_p") && !sends(EndpointDialect::Ollama, "dry_base")
        );
        assert!(sends(EndpointDialect::Text, "min_p") && !sends(EndpointDialect::Text, "tools"));
        let deprecated = after(&["`temperature` is deprecated for this model."]);
        assert!(!deprecated.sends("temperature"), "{deprecated:?}");
        let learned = deprecated
            .or(LearnedDialect::of_api(EndpointDialect::Gemini))
            .beyond(EndpointDialect::Gemini);
        assert_eq!(
            (left_out(&learned), learned.no_prefill),
            (
                vec![
                    "frequency_penalty",
                    "presence_penalty",
                    "temperature",
                    "top_p"
                ],
                false
            ),
            "only what was learned is shown"
        );
    }

    #[test]
    fn known_services_start_with_their_dialect() {
        assert!(LearnedDialect::of_host("api.openai.com").plain);
        assert_eq!(
            LearnedDialect::of_host("api.perplexity.ai").roles,
            RoleRules::Strict
        );
        assert_eq!(
            LearnedDialect::of_host("notapi.openai.com"),
            LearnedDialect::default()
        );
    }
}
