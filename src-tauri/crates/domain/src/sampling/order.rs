//! Order in which the samplers of a local model apply.

use serde::{Deserialize, Serialize};

/// A sampler that has a place in the order. Logit biases, bans and the grammar always come first,
/// and the draw always comes last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SamplerStage {
    /// Repetition, frequency and presence penalty.
    Penalties,
    Dry,
    TopNSigma,
    TopK,
    TypicalP,
    TopP,
    MinP,
    Xtc,
    /// Also the dynamic temperature.
    Temperature,
}

/// Names of the stages in the default order, which is that of llama.cpp.
pub const STAGES: &[&str] = &[
    "penalties",
    "dry",
    "top_n_sigma",
    "top_k",
    "typical_p",
    "top_p",
    "min_p",
    "xtc",
    "temperature",
];

impl SamplerStage {
    /// All stages in the default order.
    pub const ALL: [Self; 9] = [
        Self::Penalties,
        Self::Dry,
        Self::TopNSigma,
        Self::TopK,
        Self::TypicalP,
        Self::TopP,
        Self::MinP,
        Self::Xtc,
        Self::Temperature,
    ];

    pub fn as_str(self) -> &'static str {
        STAGES[self as usize]
    }

    /// The stage with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|stage| stage.as_str() == name)
    }
}

/// Every stage exactly once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<SamplerStage>", into = "Vec<SamplerStage>")]
pub struct SamplerOrder([SamplerStage; 9]);

impl Default for SamplerOrder {
    fn default() -> Self {
        Self(SamplerStage::ALL)
    }
}

impl SamplerOrder {
    /// Takes each stage at its first occurrence. Missing stages follow in the default order.
    pub fn of(stages: impl IntoIterator<Item = SamplerStage>) -> Self {
        let mut order: Vec<SamplerStage> = Vec::with_capacity(SamplerStage::ALL.len());
        for stage in stages.into_iter().chain(SamplerStage::ALL) {
            if !order.contains(&stage) {
                order.push(stage);
            }
        }
        order.try_into().map(Self).unwrap_or_default()
    }

    /// Parses names separated by commas, and ignores unknown ones.
    pub fn parse(names: &str) -> Self {
        Self::of(
            names
                .split(',')
                .filter_map(|name| SamplerStage::named(name.trim())),
        )
    }

    pub fn stages(&self) -> &[SamplerStage] {
        &self.0
    }
}

impl std::fmt::Display for SamplerOrder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.map(SamplerStage::as_str).join(", "))
    }
}

impl From<Vec<SamplerStage>> for SamplerOrder {
    fn from(stages: Vec<SamplerStage>) -> Self {
        Self::of(stages)
    }
}

impl From<SamplerOrder> for Vec<SamplerStage> {
    fn from(order: SamplerOrder) -> Self {
        order.0.to_vec()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_and_stages_agree() {
        assert_eq!(SamplerStage::ALL.map(SamplerStage::as_str), STAGES);
        assert_eq!(SamplerOrder::default().to_string(), STAGES.join(", "));
    }

    proptest! {
        #[test]
        fn an_order_contains_every_stage_once(text in "([a-z_]{0,6}|top_k|min_p|xtc|, ?){0,20}") {
            let order = SamplerOrder::parse(&text);
            let mut names: Vec<_> = order.stages().iter().map(|stage| stage.as_str()).collect();
            prop_assert_eq!(SamplerOrder::parse(&order.to_string()), order);
            names.sort_unstable();
            let mut all = STAGES.to_vec();
            all.sort_unstable();
            prop_assert_eq!(names, all);
        }
    }
}
