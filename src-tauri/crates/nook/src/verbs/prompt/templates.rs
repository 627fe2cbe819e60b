//! `template check` and `template render`.

use std::path::Path;

use engine::Engine;
use engine::api::{Severity, TemplateProblem};
use serde::Serialize;

use crate::cli::TemplateVerb;
use crate::failure::CommandError;
use crate::find;
use crate::output::Output;

#[derive(Serialize)]
struct CheckedTemplate {
    problems: Vec<TemplateProblem>,
}

pub(crate) async fn templates(
    engine: &Engine,
    verb: TemplateVerb,
    out: &Output,
) -> Result<(), CommandError> {
    match verb {
        TemplateVerb::Check { file } => {
            let problems = engine.check_template(read(&file)?).await?;
            let count = errors(&problems);
            out.answer(&CheckedTemplate { problems }, |checked| {
                listed(&checked.problems)
            })?;
            failed(count, &file)
        }
        TemplateVerb::Render { file, chat } => {
            let chat = find::chat(engine, &chat).await?.id;
            let rendered = engine.render_template(read(&file)?, chat).await?;
            out.answer(&rendered, |rendered| match errors(&rendered.problems) {
                0 => rendered.text.clone(),
                _ => listed(&rendered.problems),
            })?;
            failed(errors(&rendered.problems), &file)
        }
    }
}

fn read(file: &Path) -> Result<String, CommandError> {
    std::fs::read_to_string(file).map_err(|error| {
        CommandError::because(
            "unreadable",
            format!("cannot read {}: {error}", file.display()),
        )
    })
}

fn listed(problems: &[TemplateProblem]) -> String {
    let line = |problem: &TemplateProblem| {
        let section = problem
            .section
            .as_ref()
            .map(|name| format!("section {name}: "))
            .unwrap_or_default();
        let severity = match problem.severity {
            Severity::Error => "",
            Severity::Warning => "warning: ",
        };
        format!("{severity}{section}{}", problem.message)
    };
    match problems {
        [] => "no problems found".to_owned(),
        _ => problems.iter().map(line).collect::<Vec<_>>().join("\n"),
    }
}

fn errors(problems: &[TemplateProblem]) -> usize {
    problems
        .iter()
        .filter(|problem| problem.severity == Severity::Error)
        .count()
}

fn failed(count: usize, file: &Path) -> Result<(), CommandError> {
    match count {
        0 => Ok(()),
        count => Err(CommandError::reported(
            "refused",
            format!("{}: {count} problems", file.display()),
        )),
    }
}
