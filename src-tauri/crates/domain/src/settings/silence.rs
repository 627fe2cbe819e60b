//! Detects settings that have no effect because of another setting. Replies still work; the settings screen shows a
//! hint.

use super::value::Value;

/// Another setting that disables a setting at some values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Silencer {
    pub key: &'static str,
    /// True: it disables at 0. False: it disables at any other value.
    pub at_zero: bool,
}

/// At temperature 0 only the most likely token is used.
const GREEDY: Silencer = Silencer { key: "temperature", at_zero: true };
/// Mirostat replaces all cut-offs.
const MIROSTAT: Silencer = Silencer { key: "mirostat", at_zero: false };

/// Returns the settings that can disable the setting `key`.
pub fn silencers(key: &str) -> &'static [Silencer] {
    match key {
        "top_p" | "min_p" | "top_k" | "typical_p" | "top_n_sigma" | "xtc_probability" | "xtc_threshold"
        | "dynatemp_range" | "dynatemp_exponent" => &[GREEDY, MIROSTAT],
        "mirostat" | "mirostat_tau" | "mirostat_eta" | "seed" => &[GREEDY],
        _ => &[],
    }
}

impl Silencer {
    /// Whether the setting disables others at `value`.
    pub fn holds(&self, value: &Value) -> bool {
        match value {
            Value::Whole(number) => (*number == 0) == self.at_zero,
            Value::Number(number) => (*number == 0.0) == self.at_zero,
            Value::Switch(_) | Value::Text(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::setting;
    use super::*;

    fn silent(key: &str, value: Value) -> Vec<&'static str> {
        let holding = |of: &&str| silencers(of).iter().any(|by| by.key == key && by.holds(&value));
        super::super::SETTINGS.iter().map(|setting| setting.key).filter(holding).collect()
    }

    #[test]
    fn mirostat_and_zero_temperature_disable_cutoffs() {
        assert_eq!(silent("mirostat", Value::Whole(0)), [""; 0]);
        let cuts = silent("mirostat", Value::Whole(2));
        assert!(cuts.contains(&"top_k") && cuts.contains(&"dynatemp_range"), "{cuts:?}");
        assert!(
            !cuts.contains(&"dry_multiplier") && !cuts.contains(&"repeat_penalty"),
            "penalties apply before mirostat"
        );
        let greedy = silent("temperature", Value::Number(0.0));
        assert!(cuts.iter().all(|key| greedy.contains(key)) && greedy.contains(&"mirostat"), "{greedy:?}");
        assert_eq!(silent("temperature", Value::Number(0.01)), [""; 0]);
        assert!(cuts.iter().all(|key| setting(key).is_some()));
    }
}
