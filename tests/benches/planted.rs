//! Planted facts in a large world: what comes back of them, group by group, and how long a prompt takes.
//!
//! `cargo bench -p tests --bench planted -- [words] [MESSAGES [SEED]]`; 20,000 messages and seed 1 unless said otherwise, and with
//! the encoder that comes with the app unless words alone are to do.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement that prints its figures")]

use std::time::Instant;

use tests::headless::models_dir;
use tests::planted::{Plan, Size, play};

#[tokio::main]
async fn main() {
    let mut numbers = std::env::args().filter_map(|argument| argument.parse::<u64>().ok());
    let messages = numbers.next().map_or(20_000, |messages| messages as usize);
    let plan = Plan::new(Size::of(messages), numbers.next().unwrap_or(1));
    let (dir, started) = (tempfile::tempdir().unwrap(), Instant::now());
    let models = (!std::env::args().any(|argument| argument == "words")).then(models_dir);
    let (table, _) = play(&plan, dir.path(), models).await.unwrap_or_else(|error| panic!("{error}"));
    println!("{} steps, {} questions in {:.0?}\n{table}", plan.steps.len(), plan.wants.len(), started.elapsed());
}
