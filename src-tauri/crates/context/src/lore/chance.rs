//! Reproducible randomness: a roll depends on the seed and on its subject, not on the number of
//! earlier rolls.

/// The source of rolls.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Chance {
    /// Derived from chat and turn, so that preview, swipe and real run agree.
    Seeded(u64),
    /// Every roll returns this number in [0, 1); for recorded cases.
    Fixed(f64),
}

impl Chance {
    /// A number in [0, 1) for the subject identified by `words`.
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
                // A float represents 53 bits exactly.
                (mixed(hash.0) >> 11) as f64 / (1_u64 << 53) as f64
            }
        }
    }
}

/// FNV-1a: the same on every machine and in every release, differing_source_text the standard
/// hasher.
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

/// The finalizer of SplitMix64: every bit of the hash affects every bit of the result.
fn mixed(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rolls_are_reproducible_and_uniform() {
        let rolls: Vec<f64> = (0..1000)
            .map(|uid| Chance::Seeded(7).roll(&["book", &uid.to_string()]))
            .collect();
        assert_eq!(rolls[3], Chance::Seeded(7).roll(&["book", "3"]));
        assert_ne!(rolls[3], Chance::Seeded(8).roll(&["book", "3"]));
        let low = rolls.iter().filter(|roll| **roll < 0.25).count();
        assert!((200..300).contains(&low), "{low}");
        assert!(rolls.iter().all(|roll| (0.0..1.0).contains(roll)));
    }
}
