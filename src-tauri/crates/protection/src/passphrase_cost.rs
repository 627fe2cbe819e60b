//! The memory and time that deriving a key from a passphrase takes, with Argon2id (RFC 9106).
//!
//! Argon2id uses one lane here: RustCrypto computes lanes one after the other, and libsodium, which
//! others need to read a folder, supports no more.

use std::time::{Duration, Instant};

use argon2::{Algorithm, Argon2, Block, Params, Version};
use secrecy::ExposeSecretMut as _;
use zeroize::Zeroizing;

use crate::keys::{KEY_BYTES, Secret};

const LANES: u32 = 1;
/// Smallest memory that Argon2 works with.
const MIN_MEMORY_KIB: u32 = 8;
/// Largest memory that a key file may ask for.
const MAX_MEMORY_KIB: u32 = 1 << 20;
/// Largest product of memory and passes, in KiB: some ten seconds on a usual machine.
const MAX_WORK_KIB: u64 = 8 << 20;

/// Smallest memory of a measured cost. OWASP recommends at least 46 MiB and one pass.
const MIN_MEASURED_KIB: u32 = 64 << 10;
/// Largest memory of a measured cost, because a model may need the rest.
const MAX_MEASURED_KIB: u32 = 256 << 10;
/// Passes that a measured cost prefers, as RFC 9106 recommends. More memory comes first, because it
/// is what makes guessing expensive.
const PREFERRED_PASSES: u64 = 3;

/// Parameters of Argon2id. They are stored in the key file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PassphraseCost {
    memory_kib: u32,
    passes: u32,
}

/// Why a key cannot be derived from a passphrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CostError {
    #[error(
        "the key file asks for {memory_kib} KiB of memory and {passes} passes, more or less than \
         allowed; use a copy of the key file from a backup"
    )]
    OutOfBounds { memory_kib: u32, passes: u32 },
    #[error(
        "the passphrase cannot be used, because {memory_kib} KiB of memory are not free; \
         close other programs"
    )]
    NotEnoughMemory { memory_kib: u32 },
}

impl PassphraseCost {
    /// # Errors
    /// [`CostError::OutOfBounds`] for values that would be too small for Argon2, or that would use
    /// more than 1 GiB of memory, or the time of eight passes over 1 GiB.
    pub fn new(memory_kib: u32, passes: u32) -> Result<Self, CostError> {
        let cost = Self { memory_kib, passes };
        let memory = MIN_MEMORY_KIB..=MAX_MEMORY_KIB;
        if passes == 0 || !memory.contains(&memory_kib) || cost.work_kib() > MAX_WORK_KIB {
            return Err(CostError::OutOfBounds { memory_kib, passes });
        }
        Ok(cost)
    }

    /// Chooses the cost that takes about `target` on this machine, with 64 to 256 MiB of memory.
    /// Takes a tenth of a second on a usual machine.
    ///
    /// # Errors
    /// [`CostError::NotEnoughMemory`] if 64 MiB are not free.
    pub fn measure(target: Duration) -> Result<Self, CostError> {
        let trial = Self::new(MIN_MEASURED_KIB, 1)?;
        let started = Instant::now();
        trial.derive(b"measured", &[0; 16])?;
        Ok(trial.scaled(started.elapsed(), target))
    }

    /// The cost for `target`, if this one took `took`.
    fn scaled(self, took: Duration, target: Duration) -> Self {
        let work = u128::from(self.work_kib()) * target.as_nanos() / took.as_nanos().max(1);
        let work = u64::try_from(work)
            .unwrap_or(MAX_WORK_KIB)
            .min(MAX_WORK_KIB);
        let memory_kib = u32::try_from(work / PREFERRED_PASSES)
            .unwrap_or(u32::MAX)
            .clamp(MIN_MEASURED_KIB, MAX_MEASURED_KIB);
        let passes = u32::try_from(work / u64::from(memory_kib)).unwrap_or(u32::MAX);
        Self {
            memory_kib,
            passes: passes.max(1),
        }
    }

    /// KiB.
    #[must_use]
    pub fn memory_kib(self) -> u32 {
        self.memory_kib
    }

    #[must_use]
    pub fn passes(self) -> u32 {
        self.passes
    }

    fn work_kib(self) -> u64 {
        u64::from(self.memory_kib) * u64::from(self.passes)
    }

    /// Derives a key from the bytes of a passphrase.
    pub(crate) fn derive(self, passphrase: &[u8], salt: &[u8; 16]) -> Result<Secret, CostError> {
        let out_of_bounds = CostError::OutOfBounds {
            memory_kib: self.memory_kib,
            passes: self.passes,
        };
        let params = Params::new(self.memory_kib, self.passes, LANES, Some(KEY_BYTES))
            .map_err(|_| out_of_bounds)?;
        let mut blocks = self.allocate(params.block_count())?;
        let mut key = Secret::default();
        Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
            .hash_password_into_with_memory(
                passphrase,
                salt,
                key.expose_secret_mut(),
                blocks.as_mut_slice(),
            )
            .map_err(|_| out_of_bounds)?;
        Ok(key)
    }

    /// Allocates memory that is overwritten afterwards, because the passphrase could be guessed
    /// from it with less work.
    fn allocate(self, blocks: usize) -> Result<Zeroizing<Vec<Block>>, CostError> {
        let mut memory = Zeroizing::new(Vec::<Block>::new());
        memory
            .try_reserve_exact(blocks)
            .map_err(|_| CostError::NotEnoughMemory {
                memory_kib: self.memory_kib,
            })?;
        memory.resize(blocks, Block::default());
        Ok(memory)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use secrecy::ExposeSecret as _;

    use super::*;

    /// Computed with libsodium and with the Python package `cryptography`.
    #[test]
    fn derives_the_key_that_libsodium_derives() {
        let cost = PassphraseCost::new(64, 3).unwrap();
        let key = cost.derive(b"password", b"somesaltsomesalt").unwrap();
        assert_eq!(
            hex::encode(key.expose_secret()),
            "6164c739a04e17de34a80bee65c6a58f4b8a240cbf5652f4a79e35ae02b7c616"
        );
    }

    #[test]
    fn huge_and_empty_costs_are_refused() {
        for (memory_kib, passes) in [
            (100 << 20, 1),
            (u32::MAX, u32::MAX),
            (1 << 20, 9),
            (8, u32::MAX),
            (7, 1),
            (0, 0),
            (64, 0),
        ] {
            let refused = CostError::OutOfBounds { memory_kib, passes };
            assert_eq!(PassphraseCost::new(memory_kib, passes), Err(refused));
        }
        for (memory_kib, passes) in [(8, 1), (1 << 20, 8), (64 << 10, 128)] {
            assert!(PassphraseCost::new(memory_kib, passes).is_ok());
        }
    }

    #[track_caller]
    fn check_scaled(took_ms: u64, expected_mib: u32, expected_passes: u32) {
        let trial = PassphraseCost::new(64 << 10, 1).unwrap();
        let cost = trial.scaled(Duration::from_millis(took_ms), Duration::from_millis(500));
        assert_eq!(
            (cost.memory_kib >> 10, cost.passes),
            (expected_mib, expected_passes)
        );
    }

    #[test]
    fn cost_grows_with_speed_of_the_machine() {
        check_scaled(2_000, 64, 1);
        check_scaled(250, 64, 2);
        check_scaled(100, 106, 3);
        check_scaled(50, 213, 3);
        check_scaled(10, 256, 12);
    }

    proptest! {
        #[test]
        fn any_measured_cost_is_within_limits(took in any::<u64>(), target in any::<u64>()) {
            let trial = PassphraseCost::new(64 << 10, 1).unwrap();
            let cost = trial.scaled(Duration::from_nanos(took), Duration::from_nanos(target));
            prop_assert_eq!(PassphraseCost::new(cost.memory_kib, cost.passes), Ok(cost));
        }
    }
}
