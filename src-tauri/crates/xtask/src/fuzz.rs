//! Runs the generators of hostile input for a given time. `cargo xtask test` runs a
//! tenth of each with a fixed seed.

use crate::process::{FEATURES, cargo, run, with_clippy};
use crate::run::{prepare, with_test_environment};
use crate::system::Need;
use crate::ui;
use anyhow::Result;
use clap::Args;
use std::time::{Duration, Instant, SystemTime};

#[derive(Args)]
pub(crate) struct Options {
    /// Minutes for the Rust generators, and the same again for those of the UI.
    #[arg(long, default_value_t = 10)]
    minutes: u64,
}

/// The test target of each generator, a unique part of its name, and the kind of input it
/// generates.
const GENERATORS: [[&str; 3]; 6] = [
    ["--lib", "any_text_of_the_grammar", "macros"],
    ["--lib", "any_template_renders", "chat templates"],
    ["--lib", "any_key_is_a_pattern", "lore keys"],
    ["--lib", "chat_file::read::tests", "chat files"],
    ["--test=it", "cards::damaged::", "cards, pictures and JSON"],
    ["--test=it", "endpoint::generated::", "event streams"],
];

/// Runs rounds with different seeds until the time is up or a generator fails.
///
/// # Errors
/// A generator fails. Its output contains the seed.
pub(crate) fn fuzz(options: &Options) -> Result<()> {
    prepare(&[Need::Build, Need::Test])?;
    let started = Instant::now();
    let limit = Duration::from_secs(options.minutes * 60);
    let mut seed = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)?
        .as_secs();
    while started.elapsed() < limit {
        for [target, filter, what] in GENERATORS {
            eprintln!("{what}: PROPTEST_RNG_SEED={seed}");
            let mut call = cargo("test");
            // Tests the whole workspace, because a single package has other features and would be
            // rebuilt.
            call.args(["--locked", "--quiet", "--workspace"])
                .args(FEATURES);
            call.args([target, filter])
                .env("PROPTEST_RNG_SEED", seed.to_string())
                .env("INGLENOOK_ALL_ROUNDS", "1");
            run(with_test_environment(with_clippy(&mut call))?)?;
        }
        seed += 1;
    }
    let seconds = options.minutes * 60 / 4;
    run(ui::npm("test")
        .args(["--", "src/lib/text/hostile"])
        .env("INGLENOOK_FUZZ_SECONDS", seconds.to_string()))
}
