//! Fast non-cryptographic hashes for change detection and hash tables. They are the same on every
//! platform and in every release, because some are stored.

use std::collections::HashSet;
use std::hash::{BuildHasher, BuildHasherDefault, Hash, Hasher};

/// A hash set with the fast hasher, for data of one turn. Its keys need no protection against hash
/// flooding.
pub(crate) type FastSet<T> = HashSet<T, BuildHasherDefault<Fast>>;

pub(crate) fn of(what: &impl Hash) -> u64 {
    BuildHasherDefault::<Fast>::default().hash_one(what)
}

/// FxHash-like: processes eight bytes per step and mixes the high bits into the low ones.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Fast(u64);

impl Fast {
    fn word(&mut self, word: u64) {
        let mixed = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
        self.0 = mixed ^ (mixed >> 32);
    }
}

impl Hasher for Fast {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.word(u64::from_le_bytes(*word));
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.word(u64::from_le_bytes(last));
        self.word(bytes.len() as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boundaries_between_texts_change_the_hash() {
        let hash = |texts: &[&str]| {
            let mut hash = Fast::default();
            texts.iter().for_each(|text| hash.write(text.as_bytes()));
            hash.finish()
        };
        assert_ne!(hash(&["ab", "c"]), hash(&["a", "bc"]));
        assert_ne!(hash(&["abcdefgh"]), hash(&["abcdefgh\0"]));
        assert_eq!(
            hash(&["The lamps burn."]),
            12_951_454_570_458_064_673,
            "stored hashes stay valid"
        );
    }
}
