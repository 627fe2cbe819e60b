//! Memory end to end: planted facts, with questions in whole prompts. Groups F, G and J must not
//! fail.
//!
//! `PLANTED_SEED` selects another world. `PLANTED_WHY=B,D` prints each failed question of these
//! groups with its expectation and the memory section of its prompt.

#![allow(clippy::print_stdout, reason = "the table explains a failure")]

use std::env;
use std::path::PathBuf;

use engine::scenario::Probed;
use tests::planted::{StoryPlan, StorySize, Table, play};

/// Groups in which every question must pass.
const GATES: [&str; 3] = ["F ", "G ", "J "];

/// Floors of the cases that have one, for two sizes.
type Floors = [(usize, &'static [(&'static str, f64)]); 2];

/// Floors for cases below their goal, in percent and slightly below the measured values, so that
/// regressions are noticed. Raise them with better recall, and remove them when the goal is
/// reached. No encoder is used here, so a question without shared words cannot find its answer.
/// With eight questions, one of them is 12 points.
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

/// Floors with the encoder. On a slow machine some questions get only lexical search, so the floor
/// of "no word" is below the measured values (98 and 86).
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

/// Excerpts are recalled even if there is nothing to find. With lexical search this case is far
/// below its goal and has no floor, so the test only reports when the goal is reached.
const FAR_OFF: &str = "H nothing to find: tokens";

async fn table(messages: usize, models: Option<PathBuf>) -> Table {
    let seed = env::var("PLANTED_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok())
        .unwrap_or(1);
    let (plan, dir) = (
        StoryPlan::new(StorySize::of(messages), seed),
        tempfile::tempdir().unwrap(),
    );
    let (table, answers) = play(&plan, dir.path(), models).await.unwrap();
    println!("{table}");
    if let Ok(groups) = env::var("PLANTED_WHY") {
        groups
            .split(',')
            .filter(|group| !group.is_empty())
            .for_each(|group| tell_why(&plan, &table, &answers, group));
    }
    table
}

fn tell_why(plan: &StoryPlan, table: &Table, answers: &[Probed], group: &str) {
    for (name, ..) in table.cases().filter(|(name, ..)| name.starts_with(group)) {
        for id in table.failed(name) {
            let asked = plan.question(id).map(|probe| &probe.text);
            let wanted = plan.wants.get(id).map(|case| &case.wants);
            let memory = answers
                .iter()
                .find(|answer| answer.id == *id)
                .map(|answer| answer.memory.as_str());
            println!(
                "{name}, {id}: {asked:?} wants {wanted:?}, has\n{}\n",
                memory.unwrap_or_default()
            );
        }
    }
}

/// Checks the gates, and each case against its floor or goal.
fn hold(floors: &[(&str, f64)], table: &Table) {
    for (name, percent, goal) in table.cases() {
        let floor = floors
            .iter()
            .find(|(case, _)| *case == name)
            .map(|(_, floor)| *floor);
        if name == FAR_OFF && floor.is_none() {
            assert!(
                percent < f64::from(goal),
                "{name} reaches its goal: remove the exception"
            );
            continue;
        }
        let floor = floor.unwrap_or(f64::from(goal));
        let least = if GATES.iter().any(|gate| name.starts_with(gate)) {
            100.0
        } else {
            floor
        };
        assert!(
            percent >= least,
            "{name}: {percent:.1} of {least} %, failed: {:?}\n{table}",
            table.failed(name)
        );
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

/// The same with the encoder that ships with the app.
mod real_model {
    use std::env;

    use tests::headless::models_dir;

    use super::{BY_MEANING, hold, table};

    /// With all rounds, also 5,000 messages.
    #[tokio::test(flavor = "multi_thread")]
    async fn messages_by_their_meaning() {
        let sizes = if env::var_os("INGLENOOK_ALL_ROUNDS").is_some() {
            BY_MEANING.len()
        } else {
            1
        };
        for (messages, floors) in &BY_MEANING[..sizes] {
            hold(floors, &table(*messages, Some(models_dir())).await);
        }
    }
}
