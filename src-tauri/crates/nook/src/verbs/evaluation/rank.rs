//! `memory rank`: measures recall on files only.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::time::Duration;

use engine::Encoder;
use engine::corpus::{self, CorpusMessage, CorpusRanking};
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::cli::RankArgs;
use crate::failure::CommandError;
use crate::output::Output;
use crate::verbs::export::write_whole;

pub(crate) async fn rank(args: &RankArgs, out: &Output) -> Result<(), CommandError> {
    let encoder = if args.words_only { None } else { encoder()? };
    let messages: Vec<CorpusMessage> = read(&args.messages)?;
    let mut rankings = corpus::rank(
        messages.clone(),
        read(&args.queries)?,
        &args.user,
        encoder.as_ref(),
    )
    .await?;
    if let Some(budget) = args.budget {
        corpus::within(&mut rankings, &messages, budget);
    }
    let mut lines = String::new();
    for ranking in &rankings {
        let line = serde_json::to_string(ranking).map_err(|error| {
            CommandError::because("internal", format!("cannot serialise a ranking: {error}"))
        })?;
        lines.push_str(&line);
        lines.push('\n');
    }
    write_whole(&args.out, lines.as_bytes())?;
    let [middle, slow] =
        [50, 95].map(|percent| percentile(&rankings, percent).as_secs_f64() * 1_000.0);
    let answer = json!({ "queries": rankings.len(), "p50_ms": middle, "p95_ms": slow });
    out.answer(&answer, |_| {
        format!(
            "ranked {} queries, {middle:.1} ms each (median), {slow:.1} ms (95th percentile)",
            rankings.len()
        )
    })
}

/// Returns the encoder that a turn would use, if there is one.
fn encoder() -> Result<Option<Encoder>, CommandError> {
    let found = Encoder::find(&installation::model_dirs());
    found.map_err(|error| {
        CommandError::because("storage", format!("cannot create a thread: {error}"))
    })
}

fn percentile(rankings: &[CorpusRanking], percent: usize) -> Duration {
    let mut took: Vec<Duration> = rankings.iter().map(|ranking| ranking.took).collect();
    took.sort_unstable();
    let place = took.len() * percent / 100;
    took.get(place.min(took.len().saturating_sub(1)))
        .copied()
        .unwrap_or_default()
}

/// Reads a file of JSON lines.
pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, CommandError> {
    let unreadable =
        |error: std::io::Error| CommandError::because("io", format!("{}: {error}", path.display()));
    let mut items = Vec::new();
    for (number, line) in (1..).zip(BufReader::new(File::open(path).map_err(unreadable)?).lines()) {
        let line = line.map_err(unreadable)?;
        if line.trim().is_empty() {
            continue;
        }
        let bad = |error| {
            CommandError::because(
                "badInput",
                format!("{}, line {number}: {error}", path.display()),
            )
        };
        items.push(serde_json::from_str(&line).map_err(bad)?);
    }
    Ok(items)
}
