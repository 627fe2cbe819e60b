//! Whether an endpoint receives a sampler setting.

use super::dialect::LearnedDialect;

/// Why a setting has no effect with a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsupported {
    /// The endpoint has refused the parameter.
    Refused,
    /// The endpoint accepts only the parameters of OpenAI's own API.
    PlainApi,
    /// No API has such a parameter.
    LocalOnly,
}

/// Parameters that carry a setting with another name.
const OTHER_NAMES: [(&str, &[&str]); 8] = [
    ("repeat_penalty", &["repeat_penalty", "repetition_penalty"]),
    ("repeat_range", &["repeat_last_n"]),
    ("dry_range", &["dry_penalty_last_n"]),
    ("dry_breakers", &["dry_sequence_breakers"]),
    ("sampler_order", &["samplers"]),
    ("banned_tokens", &["logit_bias"]),
    ("ban_end_token", &["ignore_eos"]),
    ("json_schema", &["response_format"]),
];

impl LearnedDialect {
    /// Why the endpoint does not receive the setting with this key; `None` if it does.
    pub fn unsupported(&self, key: &str) -> Option<Unsupported> {
        if key == "banned_strings" {
            return Some(Unsupported::LocalOnly);
        }
        let own = [key];
        let names = OTHER_NAMES
            .iter()
            .find(|(of, _)| *of == key)
            .map_or(&own[..], |(_, names)| *names);
        if names.iter().any(|name| self.sends(name)) {
            return None;
        }
        let refused = names.iter().any(|name| self.left_out.contains(*name));
        Some(if refused {
            Unsupported::Refused
        } else {
            Unsupported::PlainApi
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::dialect::PARAMETERS;
    use super::*;

    #[test]
    fn every_name_is_a_parameter() {
        for name in OTHER_NAMES.iter().flat_map(|(_, names)| names.iter()) {
            assert!(PARAMETERS.contains(name), "{name}");
        }
    }

    #[test]
    fn says_why_a_setting_is_not_sent() {
        let mut dialect = LearnedDialect::default();
        assert_eq!(dialect.unsupported("top_k"), None);
        assert_eq!(
            dialect.unsupported("banned_strings"),
            Some(Unsupported::LocalOnly)
        );
        dialect
            .left_out
            .extend(["repeat_penalty", "samplers"].map(str::to_owned));
        assert_eq!(
            dialect.unsupported("repeat_penalty"),
            None,
            "its other name is still sent"
        );
        assert_eq!(
            dialect.unsupported("sampler_order"),
            Some(Unsupported::Refused)
        );
        dialect.plain = true;
        assert_eq!(dialect.unsupported("grammar"), Some(Unsupported::PlainApi));
        assert_eq!(dialect.unsupported("temperature"), None);
    }
}
