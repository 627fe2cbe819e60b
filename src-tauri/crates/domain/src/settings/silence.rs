//! Settings that do nothing because of what another says: a reply is drawn all the same, and whoever looks is told.

use super::value::Value;

/// Another setting, at whose value one does nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Silencer {
    pub key: &'static str,
    /// It does so at 0; else at anything but 0.
    pub at_zero: bool,
}

/// Always the likeliest token.
const GREEDY: Silencer = Silencer { key: "temperature", at_zero: true };
/// It stands in place of every cut.
const MIROSTAT: Silencer = Silencer { key: "mirostat", at_zero: false };

/// What makes the setting of that key do nothing, whatever its own value is.
pub fn silencers(key: &str) -> &'static [Silencer] {
    match key {
        "top_p" | "min_p" | "top_k" | "typical_p" | "top_n_sigma" | "xtc_probability" | "xtc_threshold"
        | "dynatemp_range" | "dynatemp_exponent" => &[GREEDY, MIROSTAT],
        "mirostat" | "mirostat_tau" | "mirostat_eta" | "seed" => &[GREEDY],
        _ => &[],
    }
}

impl Silencer {
    /// The setting of its key silences others at `value`.
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
    fn mirostat_stands_in_place_of_the_cuts_and_no_heat_in_place_of_all() {
        assert_eq!(silent("mirostat", Value::Whole(0)), [""; 0]);
        let cuts = silent("mirostat", Value::Whole(2));
        assert!(cuts.contains(&"top_k") && cuts.contains(&"dynatemp_range"), "{cuts:?}");
        assert!(!cuts.contains(&"dry_multiplier") && !cuts.contains(&"repeat_penalty"), "penalties work before it");
        let greedy = silent("temperature", Value::Number(0.0));
        assert!(cuts.iter().all(|key| greedy.contains(key)) && greedy.contains(&"mirostat"), "{greedy:?}");
        assert_eq!(silent("temperature", Value::Number(0.01)), [""; 0]);
        assert!(cuts.iter().all(|key| setting(key).is_some()));
    }
}
