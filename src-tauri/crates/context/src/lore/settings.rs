//! User settings for lore. The defaults are those of a fresh SillyTavern.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// Like SillyTavern 1.18, including its peculiarities.
    Compatible,
    #[default]
    Corrected,
}

/// The order of the character's and the global books in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// Together, by the order of their entries.
    Evenly,
    #[default]
    CharacterFirst,
    GlobalFirst,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct LoreSettings {
    pub profile: Profile,
    /// Number of recent messages that are scanned.
    pub scan_depth: i64,
    /// Percentage of the context minus the reply.
    pub budget_percent: u32,
    /// In tokens; 0 means no cap.
    pub budget_cap: u32,
    /// Scans further back until this many entries are active; 0 means off.
    pub min_activations: u32,
    /// Maximum depth for that, in messages; 0 means up to the start of the chat.
    pub min_activations_depth_max: u32,
    /// Maximum number of passes, including the first; 0 means no limit.
    pub max_recursion_steps: u32,
    /// Puts "Name: " before each message.
    pub include_names: bool,
    /// Texts of active entries may trigger other entries.
    pub recursive: bool,
    pub case_sensitive: bool,
    pub match_whole_words: bool,
    /// Only the members of a group with the most matching keys compete.
    pub use_group_scoring: bool,
    pub strategy: Strategy,
}

impl Default for LoreSettings {
    fn default() -> Self {
        Self {
            profile: Profile::default(),
            scan_depth: 2,
            budget_percent: 25,
            budget_cap: 0,
            min_activations: 0,
            min_activations_depth_max: 0,
            max_recursion_steps: 0,
            include_names: true,
            recursive: true,
            case_sensitive: false,
            match_whole_words: true,
            use_group_scoring: false,
            strategy: Strategy::default(),
        }
    }
}

impl LoreSettings {
    /// Token budget for lore in a prompt of `context` tokens: the percentage, rounded, at least 1
    /// and at most the cap.
    pub fn budget(&self, context: u32) -> u32 {
        let share = (u64::from(self.budget_percent) * u64::from(context) + 50) / 100;
        let share = u32::try_from(share).unwrap_or(u32::MAX).max(1);
        if self.budget_cap > 0 {
            share.min(self.budget_cap)
        } else {
            share
        }
    }

    /// Overrides settings with `values`, by our names or SillyTavern's, with or without its prefix
    /// `world_info_`. Values of the wrong type are ignored.
    #[must_use]
    pub fn with_values(mut self, values: &Map<String, Value>) -> Self {
        for (name, value) in values {
            self.set(name.strip_prefix("world_info_").unwrap_or(name), value);
        }
        self
    }

    fn set(&mut self, name: &str, value: &Value) {
        let switch = value.as_bool();
        let count = value.as_u64().and_then(|count| u32::try_from(count).ok());
        match name {
            "depth" | "scan_depth" => put(&mut self.scan_depth, value.as_i64()),
            "budget" | "budget_percent" => put(&mut self.budget_percent, count),
            "budget_cap" => put(&mut self.budget_cap, count),
            "min_activations" => put(&mut self.min_activations, count),
            "min_activations_depth_max" => put(&mut self.min_activations_depth_max, count),
            "max_recursion_steps" => put(&mut self.max_recursion_steps, count),
            "include_names" => put(&mut self.include_names, switch),
            "recursive" => put(&mut self.recursive, switch),
            "case_sensitive" => put(&mut self.case_sensitive, switch),
            "match_whole_words" => put(&mut self.match_whole_words, switch),
            "use_group_scoring" => put(&mut self.use_group_scoring, switch),
            "character_strategy" => put(&mut self.strategy, count.and_then(Strategy::numbered)),
            "strategy" => put(&mut self.strategy, Strategy::deserialize(value).ok()),
            _ => {}
        }
    }

    pub(super) fn compatible(&self) -> bool {
        self.profile == Profile::Compatible
    }
}

impl Strategy {
    fn numbered(number: u32) -> Option<Self> {
        [Self::Evenly, Self::CharacterFirst, Self::GlobalFirst]
            .get(number as usize)
            .copied()
    }
}

fn put<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn budget_is_rounded_capped_and_at_least_one() {
        let settings = |percent, cap| LoreSettings {
            budget_percent: percent,
            budget_cap: cap,
            ..LoreSettings::default()
        };
        assert_eq!(settings(25, 0).budget(4002), 1001);
        assert_eq!(settings(25, 300).budget(4000), 300);
        assert_eq!(settings(1, 0).budget(10), 1);
    }

    #[test]
    fn accepts_our_and_sillytavern_names() {
        let values = json!({"world_info_depth": 7, "budget_percent": 30, "world_info_character_strategy": 2, "recursive": "x"});
        let read = LoreSettings::default().with_values(values.as_object().unwrap());
        assert_eq!(
            (read.scan_depth, read.budget_percent, read.strategy),
            (7, 30, Strategy::GlobalFirst)
        );
        assert!(read.recursive);
    }
}
