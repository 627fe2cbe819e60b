//! `doctor`: health checks, each with a reason if it fails.

use engine::api::{Health, HealthCheck};
use engine::{Engine, OpenError};

use crate::failure::{CommandError, ErrorReason};
use crate::output::Output;

/// Makes no network requests unless `endpoints` is set.
pub(crate) async fn doctor(
    opened: Result<Engine, OpenError>,
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
fn closed(error: OpenError) -> Health {
    let name = match error {
        OpenError::Damaged { .. } => "database",
        OpenError::InUse { .. } | OpenError::Storage { .. } => "data folder",
    };
    let reason = match CommandError::from(error) {
        CommandError::Because(ErrorReason { message, .. })
        | CommandError::Reported(ErrorReason { message, .. }) => message,
        CommandError::PipeClosed => String::new(),
    };
    let check = HealthCheck {
        name: name.to_owned(),
        ok: false,
        reason,
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
