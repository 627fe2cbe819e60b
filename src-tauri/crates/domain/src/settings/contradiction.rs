//! Values that cannot all be meant at once (S2.4).

use super::layers::Resolved;
use super::list::Values;
use super::owner::Origin;

/// Settings that contradict each other. A turn goes on, for the budget never exceeds the limit; who sets one is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Contradiction {
    #[error("{} are {sum} tokens together, and the context limit is {limit}", listed(.parts))]
    Sum {
        /// Keys and tokens of what is set.
        parts: Vec<(&'static str, u32)>,
        sum: u64,
        limit: u32,
    },
    #[error("a trim of {trim_chunk} tokens would empty a history of at most {history_cap}")]
    TrimEmptiesHistory { trim_chunk: u32, history_cap: u32 },
    #[error("at least {min_tail_messages} messages cannot stay where at most {message_ceiling} may")]
    CeilingBelowTail { min_tail_messages: u32, message_ceiling: u32 },
}

impl Contradiction {
    /// Keys of the settings in it.
    pub fn keys(&self) -> Vec<&'static str> {
        match self {
            Self::Sum { parts, .. } => parts.iter().map(|(key, _)| *key).chain(["context_limit"]).collect(),
            Self::TrimEmptiesHistory { .. } => vec!["trim_chunk", "history_cap"],
            Self::CeilingBelowTail { .. } => vec!["min_tail_messages", "message_ceiling"],
        }
    }
}

fn listed(parts: &[(&'static str, u32)]) -> String {
    let named: Vec<_> = parts.iter().map(|(key, tokens)| format!("{} {tokens}", key.replace('_', " "))).collect();
    named.join(" + ")
}

impl Resolved {
    /// What contradicts itself among the values that somebody set; what is chosen automatically fits by construction.
    pub fn contradictions(&self) -> Vec<Contradiction> {
        [self.sum(), self.trim(), self.tail()].into_iter().flatten().collect()
    }

    fn sum(&self) -> Option<Contradiction> {
        let Values { context_limit, reply_reserve, history_cap, retrieval_cap, .. } = self.values;
        let limit = context_limit?;
        let named = [("reply_reserve", reply_reserve), ("history_cap", history_cap), ("retrieval_cap", retrieval_cap)];
        let parts: Vec<_> = named.into_iter().filter_map(|(key, tokens)| Some((key, tokens?))).collect();
        let sum = parts.iter().map(|(_, tokens)| u64::from(*tokens)).sum();
        (sum > u64::from(limit)).then_some(Contradiction::Sum { parts, sum, limit })
    }

    fn trim(&self) -> Option<Contradiction> {
        let (trim_chunk, history_cap) = (self.values.trim_chunk?, self.values.history_cap?);
        (trim_chunk >= history_cap).then_some(Contradiction::TrimEmptiesHistory { trim_chunk, history_cap })
    }

    /// The built-in floor gives way to a ceiling by itself.
    fn tail(&self) -> Option<Contradiction> {
        let Values { min_tail_messages, message_ceiling, .. } = self.values;
        let message_ceiling = message_ceiling?;
        let meant = self.origin("min_tail_messages") != Origin::BuiltIn;
        (meant && message_ceiling < min_tail_messages)
            .then_some(Contradiction::CeilingBelowTail { min_tail_messages, message_ceiling })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Layer, Layers, Scope, resolve};
    use super::*;

    fn check(stored: &[(&str, &str)]) -> Vec<String> {
        let (layer, problems) = Layer::read(Scope::Global, stored.iter().copied());
        assert_eq!(problems, []);
        let mut layers = Layers::default();
        layers.put(Origin::Global, layer);
        resolve(&layers).contradictions().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn parts_larger_than_the_whole_are_told_with_their_sum() {
        let told = check(&[("context_limit", "8192"), ("history_cap", "6000"), ("reply_reserve", "3000")]);
        assert_eq!(
            told,
            ["reply reserve 3000 + history cap 6000 are 9000 tokens together, and the context limit is 8192"]
        );
    }

    /// Document 2's own figures: caps, not claims, so that they may add up to the limit exactly.
    #[test]
    fn two_hundred_thousand_may_be_shared_out_whole() {
        let shares = [("context_limit", "200000"), ("history_cap", "150000"), ("retrieval_cap", "50000")];
        assert_eq!(check(&shares), [""; 0]);
        assert_eq!(check(&[shares[0], shares[1], ("retrieval_cap", "50001")]).len(), 1);
    }

    #[test]
    fn a_cap_alone_contradicts_nothing() {
        assert_eq!(check(&[("history_cap", "150000")]), [""; 0]);
    }

    #[test]
    fn a_trim_leaves_something_and_a_ceiling_is_not_below_the_floor() {
        assert_eq!(check(&[("history_cap", "1000"), ("trim_chunk", "1000")]).len(), 1);
        assert_eq!(check(&[("message_ceiling", "4")]), [""; 0]);
        assert_eq!(check(&[("message_ceiling", "4"), ("min_tail_messages", "10")]).len(), 1);
    }
}
