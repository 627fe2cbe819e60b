//! The generators of hostile input, for as long as one likes: `cargo xtask test` runs each once with a fixed seed.

use crate::process::{FEATURES, cargo, run};
use crate::run::{prepare, with_surroundings};
use crate::system::Need;
use crate::ui;
use anyhow::Result;
use clap::Args;
use std::time::{Duration, Instant, SystemTime};

#[derive(Args)]
pub(crate) struct Options {
    /// How long the Rust generators run, and then those of the UI.
    #[arg(long, default_value_t = 10)]
    minutes: u64,
}

/// Where each generator is, a part of its name that no other test has, and what it makes.
const GENERATORS: [[&str; 3]; 6] = [
    ["--lib", "any_text_of_the_grammar", "macros"],
    ["--lib", "any_template_renders", "chat templates"],
    ["--lib", "any_key_is_a_pattern", "lore keys"],
    ["--lib", "chat_file::read::tests", "chat files"],
    ["--test=cards", "damaged::", "cards, pictures and JSON"],
    ["--test=endpoint", "generated::", "event streams"],
];

/// Runs rounds with another seed each, until the time is over or a generator finds something.
///
/// # Errors
/// When a generator finds something; its output has the seed.
pub(crate) fn fuzz(options: &Options) -> Result<()> {
    prepare(&[Need::Build, Need::Test])?;
    let (started, limit) = (Instant::now(), Duration::from_secs(options.minutes * 60));
    let mut seed = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.as_secs();
    while started.elapsed() < limit {
        for [target, filter, what] in GENERATORS {
            eprintln!("{what}: PROPTEST_RNG_SEED={seed}");
            let mut call = cargo("test");
            // The whole workspace: one package alone would have other features and be built again.
            call.args(["--locked", "--quiet", "--workspace"]).args(FEATURES);
            call.args([target, filter]).env("PROPTEST_RNG_SEED", seed.to_string());
            run(with_surroundings(&mut call)?)?;
        }
        seed += 1;
    }
    let seconds = options.minutes * 60 / 4;
    run(ui::npm("test").args(["--", "src/lib/text/hostile"]).env("INGLENOOK_FUZZ_SECONDS", seconds.to_string()))
}
