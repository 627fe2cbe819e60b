//! How many cases generators of hostile texts try.

use proptest::prelude::ProptestConfig;
use proptest::test_runner::RngSeed;

/// A number of cases that takes some seconds, from a fixed seed, so that a failure is found again. `PROPTEST_CASES` and
/// `PROPTEST_RNG_SEED` have the last word: a long run by command tries other cases, and more of them.
pub(crate) fn config(cases: u32) -> ProptestConfig {
    let given = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    ProptestConfig {
        cases: given("PROPTEST_CASES").map_or(cases, |cases| u32::try_from(cases).unwrap_or(u32::MAX)),
        rng_seed: RngSeed::Fixed(given("PROPTEST_RNG_SEED").unwrap_or(27)),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}
