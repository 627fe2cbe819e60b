//! Configuration of the property tests that generate hostile texts.

use proptest::prelude::ProptestConfig;
use proptest::test_runner::RngSeed;

/// Runs for some seconds with a fixed seed, so that failures are reproducible. `PROPTEST_CASES` and
/// `PROPTEST_RNG_SEED` override the number of cases and the seed.
pub(crate) fn config(cases: u32) -> ProptestConfig {
    let given = |name: &str| {
        std::env::var(name)
            .ok()
            .and_then(|text| text.parse::<u64>().ok())
    };
    ProptestConfig {
        cases: given("PROPTEST_CASES").map_or_else(
            || rounds(cases),
            |cases| u32::try_from(cases).unwrap_or(u32::MAX),
        ),
        rng_seed: RngSeed::Fixed(given("PROPTEST_RNG_SEED").unwrap_or(27)),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Cases of a property: all of them with `cargo xtask test --all-rounds` and in `cargo xtask fuzz`,
/// a tenth otherwise.
pub(crate) fn rounds(all: u32) -> u32 {
    if std::env::var_os("INGLENOOK_ALL_ROUNDS").is_some() {
        all
    } else {
        all / 10
    }
}
