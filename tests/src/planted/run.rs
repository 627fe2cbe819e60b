//! Runs a plan through the engine and scores it.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use aho_corasick::AhoCorasick;
use engine::Options;
use engine::scenario::{self, Probed, ScenarioError, Timed};
use provider::FakeProvider;

use super::{StoryPlan, Table};
use crate::headless::worker;

/// Runs `steps` in the data folder `dir` and returns the answers. Counts tokens by estimate, so
/// that results are the same on every machine. Uses the encoder in `models`, or only lexical search
/// without one.
///
/// # Errors
/// Same as [`scenario::run`].
pub async fn answers(
    dir: &Path,
    models: Option<PathBuf>,
    steps: Vec<Timed>,
) -> Result<Vec<Probed>, ScenarioError> {
    let provider: Option<Arc<dyn provider::Provider>> = Some(Arc::new(FakeProvider::new()));
    let options = Options {
        data_dir: dir.to_owned(),
        worker: models.is_some().then(worker),
        model_dirs: models.into_iter().collect(),
        without_keychain: true,
        provider,
        ..Options::default()
    };
    scenario::run(options, steps).await
}

/// Runs the whole `plan` in the empty folder `dir`, with the encoder in `models` if given. Returns
/// the scores and the answers.
///
/// # Errors
/// Same as [`scenario::run`].
pub async fn play(
    plan: &StoryPlan,
    dir: &Path,
    models: Option<PathBuf>,
) -> Result<(Table, Vec<Probed>), ScenarioError> {
    let answers = answers(dir, models, plan.steps.clone()).await?;
    let mut table = Table::of(plan, &answers);
    let left = left_in(dir, &plan.erased);
    for word in &plan.erased {
        table.count(
            "G gone from the bytes",
            100,
            word,
            !left.contains(word.as_str()),
        );
    }
    Ok((table, answers))
}

/// Returns the `words` that occur in the database files, ignoring case, because indexes store lower
/// case.
fn left_in<'w>(dir: &Path, words: &'w [String]) -> HashSet<&'w str> {
    let Ok(search) = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(words)
    else {
        return HashSet::new();
    };
    let files = database(dir);
    let found = files.iter().flat_map(|bytes| search.find_iter(bytes));
    found.map(|found| words[found.pattern()].as_str()).collect()
}

/// Returns the contents of the database files. Backups are excluded, because they keep deleted
/// data.
fn database(dir: &Path) -> Vec<Vec<u8>> {
    let files: Vec<PathBuf> = fs::read_dir(dir)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    files
        .iter()
        .filter(|path| path.is_file())
        .filter_map(|path| fs::read(path).ok())
        .collect()
}
