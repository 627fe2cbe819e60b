//! Random numbers for dice and tables.

use uuid::Uuid;

/// A source of random numbers below a limit. A UUID of version 4 has 122 random bits.
pub(crate) fn random_below(limit: u64) -> u64 {
    let bits = Uuid::new_v4().as_u128();
    // Bits 0 to 61 are random; the fixed bits of a version-4 UUID are above them.
    let random = u128::from((bits as u64) & ((1 << 62) - 1));
    ((random * u128::from(limit)) >> 62) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_numbers_reach_both_ends() {
        let drawn: Vec<u64> = (0..400).map(|_| random_below(6)).collect();
        assert!((0..6).all(|side| drawn.contains(&side)));
        assert!(drawn.iter().all(|side| *side < 6));
        assert_eq!(random_below(1), 0);
    }
}
