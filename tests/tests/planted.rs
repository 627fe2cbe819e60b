//! Memory from end to end: planted facts, asked for in whole prompts (memory.md, section 5). Groups F, G, J and K are gates.
//!
//! `PLANTED_SEED` chooses another world. `PLANTED_WHY=B,D` prints, for each question of these groups that failed, what was asked
//! and wanted, and the memory section of its prompt.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a failed helper fails the test, and its table is its message"
)]

use std::env;
use std::path::PathBuf;

use engine::scenario::Probed;
use tests::headless::models_dir;
use tests::planted::{Plan, Size, Table, play};

/// Groups of which nothing may ever fail.
const GATES: [&str; 3] = ["F ", "G ", "J "];

/// Of two sizes, the cases that have one.
type Floors = [(usize, &'static [(&'static str, f64)]); 2];

/// What falls short of its goal as yet: percents a few points below what is measured, so that it gets no worse unnoticed. To be
/// raised with recall, and to go where the goal is met. No encoder is asked here, so a question that shares no word with the
/// answer cannot find it.
/// Where eight are asked, one more makes 12 points.
const FLOORS: Floors = [
    (
        1_000,
        &[
            ("A no word, 1000 tokens", 15.0),
            ("B never a stale one alone", 81.0),
            ("B the newest, older ones dated", 81.0),
            ("B what was before", 87.0),
            ("D several facts", 72.0),
        ],
    ),
    (
        5_000,
        &[
            ("A no word, 1000 tokens", 8.0),
            ("A shared words, 1000 tokens", 97.0),
            ("B never a stale one alone", 82.0),
            ("B the newest, older ones dated", 81.0),
            ("B what was before", 90.0),
        ],
    ),
];

/// The same where the encoder has read everything. A machine that is so slow that it is not waited for has words alone for some
/// questions, so the floor of what shares no word is below what is measured (98, and 86).
const BY_MEANING: Floors = [
    (
        1_000,
        &[
            ("A no word, 1000 tokens", 75.0),
            ("B never a stale one alone", 96.0),
            ("B what was before", 93.0),
            (FAR_OFF, 75.0),
        ],
    ),
    (
        5_000,
        &[
            ("A no word, 1000 tokens", 70.0),
            ("B never a stale one alone", 96.0),
            ("B the newest, older ones dated", 95.0),
            ("B what was before", 93.0),
            (FAR_OFF, 75.0),
        ],
    ),
];

/// Where nothing is to be found, excerpts are called up all the same. By words alone no floor could fail; so it is told when the
/// goal is met.
const FAR_OFF: &str = "H nothing to find: tokens";

async fn table(messages: usize, models: Option<PathBuf>) -> Table {
    let seed = env::var("PLANTED_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let (plan, dir) = (Plan::new(Size::of(messages), seed), tempfile::tempdir().unwrap());
    let (table, answers) = play(&plan, dir.path(), models).await.unwrap();
    println!("{table}");
    if let Ok(groups) = env::var("PLANTED_WHY") {
        groups.split(',').filter(|group| !group.is_empty()).for_each(|group| tell_why(&plan, &table, &answers, group));
    }
    table
}

fn tell_why(plan: &Plan, table: &Table, answers: &[Probed], group: &str) {
    for (name, ..) in table.cases().filter(|(name, ..)| name.starts_with(group)) {
        for id in table.failed(name) {
            let asked = plan.question(id).map(|probe| &probe.text);
            let wanted = plan.wants.get(id).map(|case| &case.wants);
            let memory = answers.iter().find(|answer| answer.id == *id).map(|answer| answer.memory.as_str());
            println!("{name}, {id}: {asked:?} wants {wanted:?}, has\n{}\n", memory.unwrap_or_default());
        }
    }
}

/// The gates, and every goal or its floor.
fn hold(floors: &[(&str, f64)], table: &Table) {
    for (name, percent, goal) in table.cases() {
        let floor = floors.iter().find(|(case, _)| *case == name).map(|(_, floor)| *floor);
        if name == FAR_OFF && floor.is_none() {
            assert!(percent < f64::from(goal), "{name} meets its goal: hold it to that");
            continue;
        }
        let floor = floor.unwrap_or(f64::from(goal));
        let least = if GATES.iter().any(|gate| name.starts_with(gate)) { 100.0 } else { floor };
        assert!(percent >= least, "{name}: {percent:.1} of {least} %, failed: {:?}\n{table}", table.failed(name));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_messages() {
    hold(FLOORS[0].1, &table(FLOORS[0].0, None).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn five_thousand_messages() {
    hold(FLOORS[1].1, &table(FLOORS[1].0, None).await);
}

/// The encoder that comes with the app has read all of it.
#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_messages_by_their_meaning() {
    hold(BY_MEANING[0].1, &table(BY_MEANING[0].0, Some(models_dir())).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn five_thousand_messages_by_their_meaning() {
    hold(BY_MEANING[1].1, &table(BY_MEANING[1].0, Some(models_dir())).await);
}
