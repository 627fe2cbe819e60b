//! Recall of planted facts in a large world by group, and the time per prompt.
//!
//! Run `cargo xtask bench planted [words] [misses] [MESSAGES [SEED]]`. The default is 20,000
//! messages and seed 1. `words` disables the encoder that ships with the app. `misses` prints each
//! question that was not answered, and what was recalled for it.

use std::time::Instant;

use engine::scenario::Probed;
use tests::headless::models_dir;
use tests::planted::{BUDGET, ExpectedRecall, StoryPlan, StorySize, play};

pub(crate) async fn run() {
    let said = |word: &str| std::env::args().any(|argument| argument == word);
    let mut numbers = std::env::args().filter_map(|argument| argument.parse::<u64>().ok());
    let messages = numbers.next().map_or(20_000, |messages| messages as usize);
    let plan = StoryPlan::new(StorySize::of(messages), numbers.next().unwrap_or(1));
    let (dir, started) = (tempfile::tempdir().unwrap(), Instant::now());
    let models = (!said("words")).then(models_dir);
    let (table, answers) = play(&plan, dir.path(), models)
        .await
        .unwrap_or_else(|error| panic!("{error}"));
    println!(
        "{} steps, {} questions in {:.0?}\n{table}",
        plan.steps.len(),
        plan.wants.len(),
        started.elapsed()
    );
    println!(
        "H, of the budget: {:.1} % in the mean",
        100.0 * used_for_nothing(&plan, &answers)
    );
    if said("misses") {
        answers.iter().for_each(|answer| tell_miss(&plan, answer));
    }
}

/// Returns the mean share of the budget that memory uses for questions without an answer.
fn used_for_nothing(plan: &StoryPlan, answers: &[Probed]) -> f64 {
    let of_nothing = |answer: &&Probed| {
        matches!(
            plan.wants.get(&answer.id).map(|case| &case.wants),
            Some(ExpectedRecall::AtMost(_))
        )
    };
    let used: Vec<f64> = answers
        .iter()
        .filter(of_nothing)
        .map(|answer| f64::from(answer.memory_tokens) / f64::from(BUDGET))
        .collect();
    used.iter().sum::<f64>() / used.len().max(1) as f64
}

fn tell_miss(plan: &StoryPlan, answer: &Probed) {
    let Some(case) = plan
        .wants
        .get(&answer.id)
        .filter(|case| !case.wants.met(answer))
    else {
        return;
    };
    let asked = plan.question(&answer.id).map_or("", |probe| &probe.text);
    println!("\n{}: {asked}\n  wants {:?}", case.name, case.wants);
    for item in &answer.items {
        println!(
            "  {:>4} {}: {}",
            item.tokens,
            item.kind,
            item.text.replace('\n', " ")
        );
    }
}
