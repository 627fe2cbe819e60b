//! Chance that can be replayed: a roll depends on the seed and on what is rolled for, not on how often was rolled before.

/// Where rolls come from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Chance {
    /// Of chat and turn: preview, swipe and the real run agree.
    Seeded(u64),
    /// Every roll gives this number of [0, 1): recorded cases.
    Fixed(f64),
}

impl Chance {
    /// A number of [0, 1) for whatever these words name.
    pub(super) fn roll(self, words: &[&str]) -> f64 {
        match self {
            Self::Fixed(number) => number,
            Self::Seeded(seed) => {
                let mut hash = Fnv::default();
                hash.write(&seed.to_le_bytes());
                words.iter().for_each(|word| {
                    hash.write(word.as_bytes());
                    hash.write(&[0xff]);
                });
                // 53 bits are what a float holds exactly.
                (mixed(hash.0) >> 11) as f64 / (1_u64 << 53) as f64
            }
        }
    }
}

/// FNV-1a: the same on every machine and in every version, which the standard hasher does not promise.
pub(super) struct Fnv(pub(super) u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    pub(super) fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

/// The finisher of SplitMix64: every bit of the result depends on every bit of the hash.
fn mixed(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rolls_repeat_and_are_spread() {
        let rolls: Vec<f64> = (0..1000).map(|uid| Chance::Seeded(7).roll(&["book", &uid.to_string()])).collect();
        assert_eq!(rolls[3], Chance::Seeded(7).roll(&["book", "3"]));
        assert_ne!(rolls[3], Chance::Seeded(8).roll(&["book", "3"]));
        let low = rolls.iter().filter(|roll| **roll < 0.25).count();
        assert!((200..300).contains(&low), "{low}");
        assert!(rolls.iter().all(|roll| (0.0..1.0).contains(roll)));
    }
}
