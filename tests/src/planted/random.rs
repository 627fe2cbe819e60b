//! Reproducible random numbers, and words that occur in no other text.

use std::collections::HashSet;

/// SplitMix64 (Steele, Lea and Flood, 2014): small, and independent of library versions.
pub(super) struct Random {
    state: u64,
}

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number from 0 to `end`, exclusive.
    pub(super) fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    pub(super) fn of<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }

    pub(super) fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    pub(super) fn shuffle<T>(&mut self, all: &mut [T]) {
        for last in (1..all.len()).rev() {
            all.swap(last, self.below(last + 1));
        }
    }
}

const BEGINNINGS: [&str; 20] = [
    "Bra", "Cle", "Dro", "Fal", "Gri", "Hul", "Jor", "Kel", "Lum", "Mor", "Nib", "Ost", "Pel",
    "Quo", "Rud", "Sky", "Tav", "Urd", "Vex", "Wim",
];
const MIDDLES: [&str; 20] = [
    "ba", "cho", "de", "fi", "go", "hu", "ja", "ke", "li", "mo", "nu", "pa", "qui", "ro", "su",
    "te", "vo", "wa", "xi", "zu",
];
const ENDS: [&str; 20] = [
    "bard", "cot", "dell", "fane", "gorn", "hask", "jin", "kith", "lorn", "mund", "nax", "pell",
    "quist", "rock", "sund", "tarn", "vane", "wick", "yard", "zell",
];

/// Generator of answers, each a unique word.
pub(super) struct Canaries {
    told: HashSet<String>,
}

impl Canaries {
    pub(super) fn new() -> Self {
        Self {
            told: HashSet::new(),
        }
    }

    pub(super) fn next(&mut self, random: &mut Random) -> String {
        loop {
            let middles = [random.of(&MIDDLES), random.of(&MIDDLES)].concat();
            let word = [random.of(&BEGINNINGS), middles.as_str(), random.of(&ENDS)].concat();
            if self.told.insert(word.clone()) {
                return word;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_is_reproducible_and_answers_are_unique() {
        let draw = |seed| {
            let (mut random, mut canaries) = (Random::new(seed), Canaries::new());
            (0..2_000)
                .map(|_| canaries.next(&mut random))
                .collect::<Vec<_>>()
        };
        let all = draw(7);
        assert_eq!(all, draw(7));
        assert_ne!(all, draw(8));
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
    }
}
