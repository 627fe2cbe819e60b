//! Deterministic randomness: the same seed, text and position give the same choice.

use domain::dice::DiceFormula;
use sha2::{Digest, Sha256};

use super::eval::Evaluator;
use super::library::Function;

pub(super) const FUNCTIONS: &[Function] = &[("roll", 1, 1, roll), ("dice", 1, 1, roll)];

fn roll(evaluator: &mut Evaluator<'_>, args: &[String]) -> Option<String> {
    let mut numbers = Numbers::next(evaluator);
    let formula = DiceFormula::parse(&args[0])?;
    Some(formula.roll(|below| numbers.below(below)).total.to_string())
}

/// Chooses one item of a list. If `stable`, the position of the macro decides the choice. Only the
/// chosen item is resolved.
pub(super) fn choose(
    evaluator: &mut Evaluator<'_>,
    index: usize,
    args: usize,
    stable: bool,
    depth: usize,
) -> String {
    let mut numbers = if stable {
        Numbers::of_place(evaluator, index)
    } else {
        Numbers::next(evaluator)
    };
    let parsed = evaluator.parsed;
    let mut items = parsed.arguments(index, args);
    let by_comma = items.len() == 1;
    if by_comma {
        items = parsed
            .split(&items[0], ",")
            .into_iter()
            .map(|item| parsed.trimmed(item))
            .collect();
    }
    let Some(item) = numbers.one_of(&items) else {
        return String::new();
    };
    let value = evaluator.value(item, depth);
    if items.len() == 1 && parsed.literal(item).is_none() {
        // The list may come from a variable, or from blocks that hold one item each.
        let list = value.trim().trim_start_matches("::");
        let separator = if value.contains("::") { "::" } else { "," };
        let listed: Vec<&str> = list.split(separator).map(str::trim).collect();
        return numbers
            .one_of(&listed)
            .map_or(String::new(), |item| (*item).to_owned());
    }
    if by_comma {
        value.replace("\\,", ",")
    } else {
        value
    }
}

/// SplitMix64, seeded by a hash: small, fast, and the same on every machine and in every release.
struct Numbers(u64);

impl Numbers {
    /// A different sequence for each call.
    fn next(evaluator: &mut Evaluator<'_>) -> Self {
        evaluator.draws += 1;
        let (seed, draw) = (
            evaluator.scope.seed.to_le_bytes(),
            evaluator.draws.to_le_bytes(),
        );
        let text = evaluator.text_digest();
        Self::hashed(&[&seed, &text, &draw])
    }

    /// The same sequence for this position of this text in this chat.
    fn of_place(evaluator: &mut Evaluator<'_>, index: usize) -> Self {
        let start = evaluator.parsed.spans[index].start as u64;
        let text = evaluator.text_digest();
        Self::hashed(&[
            evaluator.scope.chat_id.as_bytes(),
            &text,
            &start.to_le_bytes(),
        ])
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

    fn one_of<'i, T>(&mut self, items: &'i [T]) -> Option<&'i T> {
        items.get(self.below(items.len() as u64) as usize)
    }
}
