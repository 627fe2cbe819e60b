//! Deterministic randomness: the same seed, text and position give the same choice.

use domain::dice::DiceFormula;
use sha2::{Digest, Sha256};

use crate::macros::function::Function;
use crate::macros::run::MacroRun;

pub(crate) const FUNCTIONS: &[Function] = &[("roll", 1, 1, roll), ("dice", 1, 1, roll)];

fn roll(run: &mut MacroRun<'_>, args: &[String]) -> Option<String> {
    let mut numbers = Numbers::next(run);
    let formula = DiceFormula::parse(&args[0])?;
    Some(formula.roll(|below| numbers.below(below)).total.to_string())
}

/// SplitMix64, seeded by a hash: small, fast, and the same on every machine and in every release.
pub(crate) struct Numbers(u64);

impl Numbers {
    /// A different sequence for each call.
    pub(crate) fn next(run: &mut MacroRun<'_>) -> Self {
        run.draws += 1;
        let seed = run.scope.seed.to_le_bytes();
        let draw = run.draws.to_le_bytes();
        let text = run.text_digest();
        Self::hashed(&[&seed, &text, &draw])
    }

    /// The same sequence for this offset in this text of this chat.
    pub(crate) fn at(run: &mut MacroRun<'_>, offset: usize) -> Self {
        let start = offset as u64;
        let text = run.text_digest();
        Self::hashed(&[run.scope.chat_id.as_bytes(), &text, &start.to_le_bytes()])
    }

    fn hashed(parts: &[&[u8]]) -> Self {
        let digest = parts
            .iter()
            .fold(Sha256::new(), |hash, part| hash.chain_update(part))
            .finalize();
        Self(
            digest
                .iter()
                .take(8)
                .fold(0, |number, byte| number << 8 | u64::from(*byte)),
        )
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        let mixed = mixed ^ mixed >> 31;
        ((u128::from(mixed) * u128::from(limit)) >> 64) as u64
    }

    pub(crate) fn one_of<'i, T>(&mut self, items: &'i [T]) -> Option<&'i T> {
        items.get(self.below(items.len() as u64) as usize)
    }
}
