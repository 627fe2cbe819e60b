//! Detects settings that have no effect because of another setting. Replies still work; the
//! settings screen shows a hint.

use super::value::ConfigValue;

/// Another setting that disables a setting at some values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Disabler {
    pub key: &'static str,
    /// True: it disables at 0. False: it disables at any other value.
    pub at_zero: bool,
}

/// At temperature 0 only the most likely token is used.
const GREEDY: Disabler = Disabler {
    key: "temperature",
    at_zero: true,
};
/// Mirostat replaces all cut-offs.
const MIROSTAT: Disabler = Disabler {
    key: "mirostat",
    at_zero: false,
};

/// Returns the settings that can disable the setting `key`.
pub fn disablers(key: &str) -> &'static [Disabler] {
    match key {
        "top_p" | "min_p" | "top_k" | "typical_p" | "top_n_sigma" | "xtc_probability"
        | "xtc_threshold" | "dynatemp_range" | "dynatemp_exponent" => &[GREEDY, MIROSTAT],
        "mirostat" | "mirostat_tau" | "mirostat_eta" | "seed" => &[GREEDY],
        _ => &[],
    }
}

impl Disabler {
    /// Whether the setting disables others at `value`.
    pub fn disables(&self, value: &ConfigValue) -> bool {
        match value {
            ConfigValue::Whole(number) => (*number == 0) == self.at_zero,
            ConfigValue::Number(number) => (*number == 0.0) == self.at_zero,
            ConfigValue::Switch(_) | ConfigValue::Text(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::setting;
    use super::*;

    fn disabled(key: &str, value: ConfigValue) -> Vec<&'static str> {
        let holding = |of: &&str| {
            disablers(of)
                .iter()
                .any(|by| by.key == key && by.disables(&value))
        };
        super::super::SETTINGS
            .iter()
            .map(|setting| setting.key)
            .filter(holding)
            .collect()
    }

    #[test]
    fn mirostat_and_zero_temperature_disable_cutoffs() {
        assert_eq!(disabled("mirostat", ConfigValue::Whole(0)), [""; 0]);
        let cuts = disabled("mirostat", ConfigValue::Whole(2));
        assert!(
            cuts.contains(&"top_k") && cuts.contains(&"dynatemp_range"),
            "{cuts:?}"
        );
        assert!(
            !cuts.contains(&"dry_multiplier") && !cuts.contains(&"repeat_penalty"),
            "penalties apply before mirostat"
        );
        let greedy = disabled("temperature", ConfigValue::Number(0.0));
        assert!(
            cuts.iter().all(|key| greedy.contains(key)) && greedy.contains(&"mirostat"),
            "{greedy:?}"
        );
        assert_eq!(disabled("temperature", ConfigValue::Number(0.01)), [""; 0]);
        assert!(cuts.iter().all(|key| setting(key).is_some()));
    }
}
