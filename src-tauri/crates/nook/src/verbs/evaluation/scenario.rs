//! `memory scenario`: tests memory end to end with a scripted story.

use std::path::PathBuf;

use engine::Options;
use engine::scenario::{self, Probed, ScenarioError};
use serde_json::json;

use crate::cli::ScenarioArgs;
use crate::failure::{CommandError, ErrorReason};
use crate::output::Output;
use crate::verbs::evaluation::rank::read;
use crate::verbs::export::write_whole;

pub(crate) async fn scenario(
    args: &ScenarioArgs,
    data_dir: Option<PathBuf>,
    out: &Output,
) -> Result<(), CommandError> {
    let steps = read(&args.file)?;
    let own = tempfile::tempdir()?;
    let options = Options {
        data_dir: data_dir.unwrap_or_else(|| own.path().to_owned()),
        model_dirs: installation::model_dirs(),
        without_keychain: true,
        environment: engine::environment(),
        ..Options::default()
    };
    let answers = scenario::run(options, steps).await?;
    match &args.out {
        None => answers
            .iter()
            .try_for_each(|answer| out.answer(answer, text)),
        Some(file) => {
            write_whole(file, lines(&answers)?.as_bytes())?;
            out.answer(&json!({ "probes": answers.len() }), |_| {
                format!("answered {} probes", answers.len())
            })
        }
    }
}

impl From<ScenarioError> for CommandError {
    fn from(error: ScenarioError) -> Self {
        match error {
            ScenarioError::Open(error) => error.into(),
            ScenarioError::Step { step, error } => {
                let ErrorReason { kind, message } = ErrorReason::from(&error);
                Self::because(&kind, format!("step {step}: {message}"))
            }
        }
    }
}

fn lines(answers: &[Probed]) -> Result<String, CommandError> {
    let line = |answer: &Probed| {
        let line = serde_json::to_string(answer);
        line.map_err(|error| {
            CommandError::because("internal", format!("cannot serialise an answer: {error}"))
        })
    };
    let lines: Vec<String> = answers.iter().map(line).collect::<Result<_, _>>()?;
    Ok(lines.into_iter().map(|line| line + "\n").collect())
}

fn text(answer: &Probed) -> String {
    let Probed {
        id,
        memory,
        memory_tokens,
        tokens,
        limit,
        milliseconds,
        ..
    } = answer;
    let memory = if memory.is_empty() { "nothing" } else { memory };
    format!(
        "{id}: {memory_tokens} tokens of memory, {tokens} of {limit} in total, {milliseconds:.0} ms\n{memory}\n"
    )
}
