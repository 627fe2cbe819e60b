//! Detects settings that contradict each other.

use super::layers::Resolved;
use super::list::Values;
use super::owner::SettingOrigin;
use super::words::{FlashAttention, KvCacheType};

/// Settings that contradict each other. They do not stop a turn, because the budget never exceeds
/// the limit. Setting such a value is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Contradiction {
    #[error("{} = {sum} tokens, which exceeds the context limit of {limit}", listed(.parts))]
    Sum {
        /// Setting keys and their values in tokens.
        parts: Vec<(&'static str, u32)>,
        sum: u64,
        limit: u32,
    },
    #[error("trimming {trim_chunk} tokens would empty a history of at most {history_cap} tokens")]
    TrimEmptiesHistory { trim_chunk: u32, history_cap: u32 },
    #[error(
        "the minimum of {min_tail_messages} messages is above the maximum of {message_ceiling}"
    )]
    CeilingBelowTail {
        min_tail_messages: u32,
        message_ceiling: u32,
    },
    #[error("a KV cache of type q8_0 needs flash attention, which is off")]
    QuantizedCacheWithoutFlash,
}

impl Contradiction {
    /// Keys of the settings involved.
    pub fn keys(&self) -> Vec<&'static str> {
        match self {
            Self::Sum { parts, .. } => parts
                .iter()
                .map(|(key, _)| *key)
                .chain(["context_limit"])
                .collect(),
            Self::TrimEmptiesHistory { .. } => vec!["trim_chunk", "history_cap"],
            Self::CeilingBelowTail { .. } => vec!["min_tail_messages", "message_ceiling"],
            Self::QuantizedCacheWithoutFlash => vec!["kv_cache_type", "flash_attention"],
        }
    }
}

fn listed(parts: &[(&'static str, u32)]) -> String {
    let named: Vec<_> = parts
        .iter()
        .map(|(key, tokens)| format!("{} {tokens}", key.replace('_', " ")))
        .collect();
    named.join(" + ")
}

impl Resolved {
    /// Returns the contradictions among explicitly set values. Automatic values always fit.
    pub fn contradictions(&self) -> Vec<Contradiction> {
        [self.sum(), self.trim(), self.tail(), self.cache()]
            .into_iter()
            .flatten()
            .collect()
    }

    fn sum(&self) -> Option<Contradiction> {
        let Values {
            context_limit,
            reply_reserve,
            history_cap,
            retrieval_cap,
            ..
        } = self.values;
        let limit = context_limit?;
        let named = [
            ("reply_reserve", reply_reserve),
            ("history_cap", history_cap),
            ("retrieval_cap", retrieval_cap),
        ];
        let parts: Vec<_> = named
            .into_iter()
            .filter_map(|(key, tokens)| Some((key, tokens?)))
            .collect();
        let sum = parts.iter().map(|(_, tokens)| u64::from(*tokens)).sum();
        (sum > u64::from(limit)).then_some(Contradiction::Sum { parts, sum, limit })
    }

    fn trim(&self) -> Option<Contradiction> {
        let trim_chunk = self.values.trim_chunk?;
        let history_cap = self.values.history_cap?;
        (trim_chunk >= history_cap).then_some(Contradiction::TrimEmptiesHistory {
            trim_chunk,
            history_cap,
        })
    }

    fn cache(&self) -> Option<Contradiction> {
        let Values {
            kv_cache_type,
            flash_attention,
            ..
        } = self.values;
        let both = kv_cache_type == KvCacheType::Q8 && flash_attention == FlashAttention::Off;
        both.then_some(Contradiction::QuantizedCacheWithoutFlash)
    }

    /// The built-in minimum adapts to a ceiling, so only an explicit one can contradict it.
    fn tail(&self) -> Option<Contradiction> {
        let Values {
            min_tail_messages,
            message_ceiling,
            ..
        } = self.values;
        let message_ceiling = message_ceiling?;
        let meant = self.origin("min_tail_messages") != SettingOrigin::BuiltIn;
        (meant && message_ceiling < min_tail_messages).then_some(Contradiction::CeilingBelowTail {
            min_tail_messages,
            message_ceiling,
        })
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
        layers.put(SettingOrigin::Global, layer);
        resolve(&layers)
            .contradictions()
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn reports_parts_that_exceed_the_context_limit() {
        let told = check(&[
            ("context_limit", "8192"),
            ("history_cap", "6000"),
            ("reply_reserve", "3000"),
        ]);
        assert_eq!(
            told,
            [
                "reply reserve 3000 + history cap 6000 = 9000 tokens, which exceeds the context limit of 8192"
            ]
        );
    }

    /// The caps are upper limits, so their sum may reach the context limit.
    #[test]
    fn parts_may_add_up_to_the_limit_exactly() {
        let shares = [
            ("context_limit", "200000"),
            ("history_cap", "150000"),
            ("retrieval_cap", "50000"),
        ];
        assert_eq!(check(&shares), [""; 0]);
        assert_eq!(
            check(&[shares[0], shares[1], ("retrieval_cap", "50001")]).len(),
            1
        );
    }

    #[test]
    fn a_cap_alone_contradicts_nothing() {
        assert_eq!(check(&[("history_cap", "150000")]), [""; 0]);
    }

    #[test]
    fn quantized_cache_needs_flash_attention() {
        let cache = ("kv_cache_type", "\"q8_0\"");
        assert_eq!(check(&[cache]), [""; 0]);
        let told = check(&[cache, ("flash_attention", "\"off\"")]);
        assert_eq!(
            told,
            ["a KV cache of type q8_0 needs flash attention, which is off"]
        );
    }

    #[test]
    fn reports_trim_and_ceiling_contradictions() {
        assert_eq!(
            check(&[("history_cap", "1000"), ("trim_chunk", "1000")]).len(),
            1
        );
        assert_eq!(check(&[("message_ceiling", "4")]), [""; 0]);
        assert_eq!(
            check(&[("message_ceiling", "4"), ("min_tail_messages", "10")]).len(),
            1
        );
    }
}
