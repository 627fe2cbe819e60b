//! What the user may set about lore. The defaults are those of a fresh SillyTavern (1.4.2).

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// As SillyTavern 1.18, peculiarities included.
    Compatible,
    #[default]
    Corrected,
}

/// In which order the character's and the global books are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// Together, by their entries' order.
    Evenly,
    #[default]
    CharacterFirst,
    GlobalFirst,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LoreSettings {
    pub profile: Profile,
    /// Recent messages that are scanned.
    pub scan_depth: i64,
    /// Percent of the context less the reply.
    pub budget_percent: u32,
    /// In tokens; 0: none.
    pub budget_cap: u32,
    /// Scan further back until so many entries are active; 0: off.
    pub min_activations: u32,
    /// How far back at the most, in messages; 0: to the chat's start.
    pub min_activations_depth_max: u32,
    /// Passes at the most, the first included; 0: no limit.
    pub max_recursion_steps: u32,
    /// Whether "Name: " stands before a message.
    pub include_names: bool,
    /// Whether texts of active entries may wake others.
    pub recursive: bool,
    pub case_sensitive: bool,
    pub match_whole_words: bool,
    /// In a group, only those with the most keys found compete.
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
    /// Tokens for lore in a prompt of `context` tokens: the percentage, rounded, at least 1, at most the cap.
    pub fn budget(&self, context: u32) -> u32 {
        let share = (u64::from(self.budget_percent) * u64::from(context) + 50) / 100;
        let share = u32::try_from(share).unwrap_or(u32::MAX).max(1);
        if self.budget_cap > 0 { share.min(self.budget_cap) } else { share }
    }

    pub(super) fn compatible(&self) -> bool {
        self.profile == Profile::Compatible
    }
}
