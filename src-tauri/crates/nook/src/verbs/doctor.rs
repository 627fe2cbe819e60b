//! `doctor`: health checks, each with a reason if it fails.

use engine::Engine;
use engine::api::{Health, HealthCheck};

use crate::failure::{CommandError, ErrorReason};
use crate::output::Output;

/// Makes no network requests unless `endpoints` is set.
pub(crate) async fn doctor(
    opened: Result<Engine, CommandError>,
    endpoints: bool,
    out: &Output,
) -> Result<(), CommandError> {
    let health = match opened {
        Ok(engine) => {
            let health = if endpoints {
                engine.health_with_endpoints().await
            } else {
                engine.health().await
            };
            engine.shutdown().await;
            health?
        }
        Err(error) => closed(error),
    };
    report(&health, out)
}

pub(super) fn report(health: &Health, out: &Output) -> Result<(), CommandError> {
    out.answer(health, text)?;
    if health.ok {
        Ok(())
    } else {
        Err(CommandError::reported(
            "unhealthy",
            "some checks failed; see the list",
        ))
    }
}

/// Returns the health report for a data folder that cannot be opened.
fn closed(error: CommandError) -> Health {
    let ErrorReason { kind, message } = match error {
        CommandError::Because(reason) | CommandError::Reported(reason) => reason,
        CommandError::PipeClosed => ErrorReason::new("io", ""),
    };
    let name = if kind == "damaged" {
        "database"
    } else {
        "data folder"
    };
    let check = HealthCheck {
        name: name.to_owned(),
        ok: false,
        reason: message,
    };
    Health {
        ok: false,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        checks: vec![check],
        facts: None,
    }
}

fn text(health: &Health) -> String {
    let line = |check: &HealthCheck| {
        let mark = if check.ok { "ok" } else { "NO" };
        format!("{mark}  {}: {}", check.name, check.reason)
            .trim_end_matches([' ', ':'])
            .to_owned()
    };
    let lines: Vec<_> = health.checks.iter().map(line).collect();
    format!("Inglenook {}\n{}", health.version, lines.join("\n"))
}
